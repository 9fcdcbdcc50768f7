"""The wire's models name exactly the fields of the domain's dataclasses: what one gains, the other must not lack."""

from __future__ import annotations

import dataclasses

import pytest
from pydantic import BaseModel

from app.api import wire_answer, wire_estimate, wire_market, wire_physics, wire_plan, wire_request, wire_runs, wire_workload
from app.domain import answer, configuration, estimate, gpus, hardware, layouts, market, physics, request, workload
from app.store import queries

PAIRS: list[tuple[type[BaseModel], type, set[str]]] = [
    (wire_answer.ExchangeOut, answer.ExchangeUsed, set()),
    (wire_physics.WorkloadOut, answer.WorkloadView, set()),
    (wire_plan.OfferOut, answer.OfferView, set()),
    (wire_plan.PurchaseOut, answer.Purchase, set()),
    (wire_plan.PriceSourceOut, answer.PriceSource, set()),
    (wire_physics.ConfigurationOut, configuration.Configuration, set()),
    (wire_physics.MemoryOut, physics.MemoryEstimate, set()),
    (wire_physics.SpeedOut, physics.SpeedEstimate, set()),
    (wire_plan.TimelineOut, answer.Timeline, set()),
    (wire_plan.BillLineOut, answer.BillLine, set()),
    (wire_plan.BillTotalOut, answer.BillTotal, set()),
    (wire_plan.PlanOut, answer.Plan, set()),
    (wire_answer.RejectedExampleOut, answer.RejectedExample, set()),
    (wire_answer.TrialPlanOut, answer.TrialPlan, set()),
    (wire_answer.MixedStrategyOut, answer.MixedStrategy, set()),
    (wire_answer.RecommendationOut, answer.Recommendation, {"id", "read_as"}),
    (wire_estimate.EstimateOut, estimate.Estimate, set()),
    (wire_estimate.ConfigurationIn, layouts.Pins, set()),
    (wire_estimate.HardwareIn, hardware.Hardware, set()),
    (wire_workload.WorkloadIn, workload.WorkloadSpec, set()),
    (wire_workload.TargetIn, workload.TargetSpec, set()),
    (wire_workload.MeasurementIn, workload.Measurement, set()),
    (wire_workload.CustomNetworkIn, workload.CustomNetwork, set()),
    (wire_request.PreferencesIn, request.Preferences, set()),
    (wire_request.QuotaHeldIn, request.QuotaHeld, set()),
    (wire_market.SourceOut, market.Source, set()),
    (wire_market.FeeOut, market.Fee, set()),
    (wire_market.QuotaOut, market.Quota, set()),
    (wire_market.RateOut, market.Rate, set()),
    (wire_market.GpuOut, gpus.Gpu, set()),
    (wire_market.MarketOfferOut, market.Offer, {"stock", "prices"}),
    (wire_runs.RunOut, queries.CollectRun, set()),
    (wire_runs.QuarantinedOut, queries.Quarantined, set()),
]


@pytest.mark.parametrize(("wire", "domain", "own"), PAIRS, ids=[wire.__name__ for wire, _, _ in PAIRS])
def test_a_wire_model_has_the_fields_of_its_dataclass(wire: type[BaseModel], domain: type, own: set[str]) -> None:
    assert set(wire.model_fields) - own == {field.name for field in dataclasses.fields(domain)}


def test_every_constraint_of_the_domain_can_be_asked_for() -> None:
    nested = {"providers": {"providers_include", "providers_exclude"}, "gpus": {"gpus_include", "gpus_exclude"}}
    asked = {name for field in wire_request.ConstraintsIn.model_fields for name in nested.get(field, {field})}
    assert asked == {field.name for field in dataclasses.fields(request.Constraints)}


@pytest.mark.parametrize(
    ("wire", "domain"), [(wire_workload.WorkloadIn, workload.WorkloadSpec), (wire_request.PreferencesIn, request.Preferences)]
)
def test_a_default_on_the_wire_is_the_domains_default(wire: type[BaseModel], domain: type) -> None:
    plain = (str, int, float, bool, type(None))
    defaults = {field.name: field.default for field in dataclasses.fields(domain) if isinstance(field.default, plain)}
    assert {name: wire.model_fields[name].default for name in defaults} == defaults


def test_default_constraints_on_the_wire_are_the_domains() -> None:
    ours = {name: field.default for name, field in wire_request.ConstraintsIn.model_fields.items()}
    theirs = {field.name: field.default for field in dataclasses.fields(request.Constraints)}
    plain = {name: value for name, value in ours.items() if isinstance(value, int | float | bool | None)}
    assert plain == {name: theirs[name] for name in plain}
    assert tuple(ours["purchase_options"]) == theirs["purchase_options"]
