"""From a request's JSON to the domain's words: every name is looked up, families of cards are expanded, all faults are reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from app.api.names import Cards, Findings, Reading, Vocabulary
from app.api.problems import InvalidRequestError
from app.api.wire import MoneyIn
from app.api.wire_estimate import EstimateIn
from app.api.wire_request import ConstraintsIn, PreferencesIn, RecommendIn
from app.api.wire_workload import PlaceIn, WorkloadIn
from app.domain.gpus import Gpu
from app.domain.hardware import Hardware
from app.domain.money import Money
from app.domain.request import Constraints, Preferences, QuotaHeld, RecommendRequest
from app.domain.workload import Measurement, WorkloadSpec

_Lookup = Callable[[str, str, Findings], str]


def read_question(question: RecommendIn, vocabulary: Vocabulary) -> tuple[RecommendRequest, tuple[Reading, ...]]:
    """The request in the domain's words, and how families of cards were understood.

    Raises:
        InvalidRequestError: it names something unknown; every such name is listed with the names near it.
    """
    findings = Findings()
    request = RecommendRequest(
        workload=_workload(question.workload, vocabulary, findings),
        constraints=_constraints(question.constraints, vocabulary, findings),
        preferences=_preferences(question.preferences, vocabulary, findings),
    )
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    return request, tuple(findings.readings)


def read_estimate(question: EstimateIn, cards: Cards, gpus: Mapping[str, Gpu]) -> tuple[WorkloadSpec, Hardware]:
    """Workload and hardware of an estimate. Where the data lives plays no part in it.

    Raises:
        InvalidRequestError: it names an unknown card, or a family where one card is needed.
    """
    findings = Findings()
    workload = question.workload.spec(measured=_measured(question.workload, cards, findings), located=(None, None))
    name = cards.one(question.hardware.gpu, "/hardware/gpu", findings)
    if findings.faults:
        raise InvalidRequestError(findings.faults)
    return workload, question.hardware.hardware(gpus[name])


def _workload(workload: WorkloadIn, vocabulary: Vocabulary, findings: Findings) -> WorkloadSpec:
    measured = _measured(workload, vocabulary.cards, findings)
    return workload.spec(measured=measured, located=_located(workload.data.located_at, vocabulary, findings))


def _measured(workload: WorkloadIn, cards: Cards, findings: Findings) -> tuple[Measurement, ...]:
    return tuple(
        Measurement(
            gpu=cards.one(item.gpu, f"/workload/measured/{position}/gpu", findings),
            gpus=item.gpus,
            tokens_per_second=item.tokens_per_second,
            seconds_per_step=item.seconds_per_step,
            global_batch_sequences=item.global_batch_sequences,
        )
        for position, item in enumerate(workload.measured)
    )


def _located(place: PlaceIn | None, vocabulary: Vocabulary, findings: Findings) -> tuple[str | None, str | None]:
    if place is None:
        return None, None
    at = "/workload/data/located_at"
    provider = vocabulary.provider(place.provider, f"{at}/provider", findings)
    if place.region is None or provider not in vocabulary.regions:
        return provider, place.region
    return provider, vocabulary.region(place.region, f"{at}/region", findings, provider=provider)


def _constraints(asked: ConstraintsIn, vocabulary: Vocabulary, findings: Findings) -> Constraints:
    at = "/constraints"

    def each(names: Sequence[str], where: str, look_up: _Lookup) -> tuple[str, ...]:
        return _distinct(look_up(name, f"{at}/{where}/{position}", findings) for position, name in enumerate(names))

    def cards(names: Sequence[str], where: str) -> tuple[str, ...]:
        found = (vocabulary.cards.family(name, f"{at}/{where}/{position}", findings) for position, name in enumerate(names))
        return _distinct(name for family in found for name in family)

    return Constraints(
        deadline_hours=asked.deadline_hours,
        budget=_money(asked.budget, f"{at}/budget", vocabulary, findings),
        providers_include=each(asked.providers.include, "providers/include", vocabulary.provider),
        providers_exclude=each(asked.providers.exclude, "providers/exclude", vocabulary.provider),
        countries=each(asked.countries, "countries", vocabulary.country),
        regions=each(asked.regions, "regions", vocabulary.region),
        gpus_include=cards(asked.gpus.include, "gpus/include"),
        gpus_exclude=cards(asked.gpus.exclude, "gpus/exclude"),
        purchase_options=tuple(dict.fromkeys(asked.purchase_options)),
        max_gpus=asked.max_gpus,
        min_gpus=asked.min_gpus,
        max_nodes=asked.max_nodes,
        min_vcpus_per_gpu=asked.min_vcpus_per_gpu,
        min_ram_gb_per_gpu=asked.min_ram_gb_per_gpu,
        in_stock_only=asked.in_stock_only,
        max_price_age_days=asked.max_price_age_days,
        quotas_held=_quotas(asked, vocabulary, findings),
        interruptible=asked.interruptible,
        include_history_prices=asked.include_history_prices,
    )


def _quotas(asked: ConstraintsIn, vocabulary: Vocabulary, findings: Findings) -> tuple[QuotaHeld, ...]:
    """A quota for a family of cards holds for each card of it."""
    held: list[QuotaHeld] = []
    for position, quota in enumerate(asked.quotas_held):
        at = f"/constraints/quotas_held/{position}"
        provider = vocabulary.provider(quota.provider, f"{at}/provider", findings)
        held.extend(
            QuotaHeld(provider=provider, gpu=gpu, gpus=quota.gpus) for gpu in vocabulary.cards.family(quota.gpu, f"{at}/gpu", findings)
        )
    return tuple(held)


def _preferences(asked: PreferencesIn, vocabulary: Vocabulary, findings: Findings) -> Preferences:
    at = "/preferences"
    return Preferences(
        objective=asked.objective,
        currency=vocabulary.currency(asked.currency, f"{at}/currency", findings),
        engineer_hourly_rate=_money(asked.engineer_hourly_rate, f"{at}/engineer_hourly_rate", vocabulary, findings),
        value_of_a_day=_money(asked.value_of_a_day, f"{at}/value_of_a_day", vocabulary, findings),
        language=asked.language,
        limit=asked.limit,
    )


def _money(asked: MoneyIn | None, pointer: str, vocabulary: Vocabulary, findings: Findings) -> Money | None:
    if asked is None:
        return None
    vocabulary.currency(asked.currency, f"{pointer}/currency", findings)
    return asked.money()


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
