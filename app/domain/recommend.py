"""``POST /recommend``: from a question to the whole answer. Pure: the market, the knowledge and the question decide every byte."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from app.domain.answer import Amount, CurvePoint, ExchangeUsed, MixedStrategy, OfferView, Plan, Recommendation, TrialPlan
from app.domain.billing import metered_hours
from app.domain.detail import PlanDetail, detail
from app.domain.explain import money_text
from app.domain.fx import rates_used
from app.domain.hardware import Bools, Floats, Ints
from app.domain.knowledge import Knowledge
from app.domain.layout_warnings import layout_warnings
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import Market
from app.domain.memory import memory_of_row
from app.domain.planning_notes import planning_notes
from app.domain.ranking import (
    PlanFigures,
    best_of_each,
    cheapest_by_count,
    choose_shown,
    objective_value,
    pareto_front,
    ranked,
    stable_keys,
)
from app.domain.reasons import break_evens, why
from app.domain.rejections import rejected, tight
from app.domain.request import RecommendRequest, RequestError
from app.domain.screening import Screened, screen
from app.domain.texts import Texts
from app.domain.views import speed_view, workload_view

_CURVE_GPUS = 3
_ON_DEMAND = PURCHASE_OPTIONS.index("on_demand")
_ASSUMED_CURRENCY = "USD"
"""Ranges of fees that nobody publishes are in this currency."""
_COMMITTED = frozenset({"reserved", "capacity_block"})
_TO_RECORD = ("step_time", "all_reduce", "storage", "first_step", "send_back")


def recommend(request: RecommendRequest, *, market: Market, knowledge: Knowledge) -> Recommendation:
    """Rank every plan of ``market`` for one workload.

    Raises:
        WorkloadError: the workload cannot be understood; the pointer is inside the workload.
        RequestError: the request contradicts itself; the pointer is inside the request.
        ExchangeError: no published rate leads to the answer's currency.
    """
    if request.preferences.objective == "cost_and_delay" and request.preferences.value_of_a_day is None:
        detail_text = "The objective cost_and_delay needs preferences.value_of_a_day."
        raise RequestError(pointer="/preferences/value_of_a_day", code="missing", detail=detail_text)
    return _Answer(screen(request, market=market, knowledge=knowledge), knowledge).recommendation()


class _Answer:
    """Puts one answer together. Rows are rows of ``screened.plans`` throughout."""

    def __init__(self, screened: Screened, knowledge: Knowledge) -> None:
        self.screened = screened
        self.knowledge = knowledge
        self.texts: Texts = knowledge.texts[screened.preferences.language]
        self.currency = screened.preferences.currency
        self.tight: Bools = tight(screened)
        self.details: dict[int, PlanDetail] = {}

    def recommendation(self) -> Recommendation:
        screened = self.screened
        shown, backup = self._shown()
        rows = [int(row) for row in shown]
        front = self._front
        on_front = set(front.tolist())
        plans = tuple(self._plan(shown, place, front=row in on_front) for place, row in enumerate(rows))
        ages = [plan.price_source.age_hours for plan in plans if plan.price_source.age_hours is not None]
        trial = self._trial(shown)
        return Recommendation(
            as_of=screened.market.as_of,
            catalog_version=screened.market.catalog_version,
            oldest_price_age_hours=max(ages, default=None),
            prices_without_date=sum(plan.price_source.observed_at is None for plan in plans),
            currency=self.currency,
            exchange=self._exchange(plans),
            workload=workload_view(screened.job, planning_notes(screened.job, self.knowledge.assumptions, self.texts)),
            candidates=len(screened.candidates),
            plans=plans,
            pareto=tuple(place + 1 for place, row in enumerate(rows) if row in on_front),
            front=tuple(self._point(int(row)) for row in front),
            curve=tuple(self._point(int(row)) for row in self._curve(shown)),
            backup=backup,
            mixed_strategy=self._mixed(shown, trial),
            rejected=rejected(screened, self.knowledge),
            trial_plan=trial,
        )

    @cached_property
    def _gpus(self) -> Ints:
        plans = self.screened.plans
        return plans.nodes * self.screened.market.offers.gpus_per_node[plans.offer]

    @cached_property
    def _keys(self) -> Ints:
        """A total order of the plans by identity: the market's tariffs are sorted by key, so their rows are identities."""
        return stable_keys([self.screened.plans.tariff, self.screened.plans.nodes])

    @cached_property
    def _admitted(self) -> Ints:
        return self.screened.admitted()

    def _figures(self, rows: Ints) -> PlanFigures:
        projection = self.screened.projection
        return PlanFigures(
            cost=self.screened.cost[rows],
            cost_p90=projection.cost_p90[rows],
            hours=projection.total_hours[rows],
            tight=self.tight[rows],
            key=self._keys[rows],
        )

    @cached_property
    def _order(self) -> Ints:
        """Admitted rows from best to worst, one for each GPU model, purchase option and term of a provider."""
        screened, rows = self.screened, self._admitted
        figures = self._figures(rows)
        order = ranked(figures, objective_value(figures, screened.preferences.objective))
        offers, tariffs, plans = screened.market.offers, screened.market.tariffs, screened.plans
        offer, tariff = plans.offer[rows], plans.tariff[rows]
        terms = (tariffs.term_hours[tariff] * 1e3).astype(np.int64)
        group = stable_keys([offers.provider[offer], offers.gpu[offer], tariffs.option[tariff], terms])
        return rows[best_of_each(order, group)]

    def _shown(self) -> tuple[Ints, int | None]:
        order = self._order
        if len(order) == 0:
            return order, None
        offers, plans = self.screened.market.offers, self.screened.plans
        provider = offers.provider[plans.offer]
        names: dict[str, int] = {name: code for code, name in enumerate(self.screened.market.providers)}
        upstream = provider.copy()
        for row in order:
            owner = self.screened.market.offer_at(int(plans.offer[row])).upstream
            if owner is not None:
                upstream[row] = names.setdefault(owner, len(names))
        if self.screened.preferences.objective == "worst_case_cost":
            order = self._by_drawn_p90(order)
        return choose_shown(order, provider, upstream, self.screened.preferences.limit)

    def _by_drawn_p90(self, order: Ints) -> Ints:
        """The head of ``order`` sorted by the P90 that is shown; the columns only approximate it, closely enough to choose the head."""
        head = order[: 2 * self.screened.preferences.limit]
        shown = np.array([self._detail(int(row)).bill.total.p90 for row in head])
        return np.concatenate((head[np.argsort(shown, kind="stable")], order[len(head) :]))

    @cached_property
    def _front(self) -> Ints:
        figures = self._figures(self._admitted)
        by_key = np.argsort(figures.key, kind="stable")
        return self._admitted[by_key[pareto_front(figures.cost[by_key], figures.hours[by_key])]]

    def _curve(self, shown: Ints) -> Ints:
        """Cheapest row at each count for the first GPU models of the list; deadline and budget are left aside: they are the question."""
        screened = self.screened
        gpu = screened.market.offers.gpu[screened.plans.offer]
        wanted = list(dict.fromkeys(gpu[shown].tolist()))[:_CURVE_GPUS]
        rows = np.flatnonzero(screened.projection.price_known)
        figures: tuple[Floats, Floats] = (screened.cost[rows], screened.projection.total_hours[rows])
        return rows[cheapest_by_count(*figures, self._keys[rows], gpu[rows], self._gpus[rows], wanted)]

    def _point(self, row: int) -> CurvePoint:
        screened = self.screened
        offer = int(screened.plans.offer[row])
        offers = screened.market.offers
        return CurvePoint(
            gpu=screened.market.gpus[offers.gpu[offer]].name,
            gpus=int(self._gpus[row]),
            hours=float(screened.projection.total_hours[row]),
            cost=Amount(float(screened.cost[row]), self.currency),
            provider=screened.market.providers[offers.provider[offer]],
            option=PURCHASE_OPTIONS[screened.market.tariffs.option[screened.plans.tariff[row]]],
        )

    def _detail(self, row: int) -> PlanDetail:
        if row not in self.details:
            screened = self.screened
            self.details[row] = detail(
                screened.job,
                screened.market,
                screened.plans,
                screened.constraints,
                screened.preferences,
                self.knowledge.assumptions,
                row,
                self.texts,
                tight=bool(self.tight[row]),
            )
        return self.details[row]

    def _plan(self, shown: Ints, place: int, *, front: bool) -> Plan:
        screened, row = self.screened, int(shown[place])
        found_row = screened.found_row(row)
        parts = self._detail(row)
        projection = screened.projection
        speed = speed_view(
            screened.job,
            screened.found.speed,
            found_row,
            screened.scale,
            loading=float(projection.loading_factor[row]),
            stall=float(projection.checkpoint_factor[row]),
        )
        price = parts.purchase.price_per_node_hour
        return Plan(
            rank=place + 1,
            offer=self._offer(row),
            nodes=int(screened.plans.nodes[row]),
            gpus=int(self._gpus[row]),
            purchase=parts.purchase,
            price_source=parts.price_source,
            configuration=screened.found.configuration.at(found_row),
            memory=memory_of_row(screened.job, screened.found.memory, screened.found.configuration.at(found_row), found_row),
            speed=speed,
            timeline_hours=parts.timeline,
            gpu_hours=parts.gpu_hours,
            checkpoint_interval_minutes=float(projection.checkpoint_interval_minutes[row]),
            bill=parts.bill,
            probability=parts.probability,
            scenarios=parts.scenarios,
            availability=parts.availability,
            warnings=(*parts.warnings, *layout_warnings(screened, row, self.texts)),
            why=why(screened, shown, place, front=front, speed=speed, texts=self.texts),
            break_even=break_evens(
                screened,
                shown,
                place,
                mfu=speed.mfu,
                price_per_node_hour=(float(price.decimal), price.currency),
                knowledge=self.knowledge,
                texts=self.texts,
            ),
        )

    def _offer(self, row: int) -> OfferView:
        offer = self.screened.market.offer_at(int(self.screened.plans.offer[row]))
        return OfferView(
            provider=offer.provider,
            region=offer.region,
            country=offer.country,
            sku=offer.sku,
            gpu=offer.gpu,
            gpus_per_node=offer.gpus_per_node,
            gpu_memory_gb=offer.gpu_memory_gb,
            vcpus=offer.vcpus,
            ram_gb=offer.ram_gb,
            intra_node_link=offer.intra_node_link,
            inter_node_gbit_s=offer.inter_node_gbit_s,
            upstream=offer.upstream,
        )

    def _converted(self, amount: float, currency: str) -> float:
        used = rates_used(self.screened.market.rates, (currency,), self.currency)
        return amount * float(used[0].rate) if used else amount

    def _node_price(self, row: int) -> float:
        """Price of one node-hour in the answer's currency."""
        price = self._detail(row).purchase.price_per_node_hour
        return self._converted(float(price.decimal), price.currency)

    def _exchange(self, plans: tuple[Plan, ...]) -> tuple[ExchangeUsed, ...]:
        """The rates behind the amounts shown, and behind the caller's own money."""
        preferences, constraints = self.screened.preferences, self.screened.constraints
        currencies = {plan.purchase.price.currency for plan in plans}
        currencies |= {line.unit_price.currency for plan in plans for line in plan.bill.lines if line.unit_price is not None}
        own = (constraints.budget, preferences.engineer_hourly_rate, preferences.value_of_a_day)
        currencies |= {money.currency for money in own if money is not None}
        if any(line.status == "unknown" for plan in plans for line in plan.bill.lines):
            currencies.add(_ASSUMED_CURRENCY)
        return rates_used(self.screened.market.rates, currencies, self.currency)

    def _trial(self, shown: Ints) -> TrialPlan | None:
        """Half an hour on the best plan that is bought by the hour, at its real steps and minimum; None when every plan is a commitment."""
        options = [PURCHASE_OPTIONS[self.screened.market.tariffs.option[self.screened.plans.tariff[row]]] for row in shown]
        place = next((place for place, option in enumerate(options) if option not in _COMMITTED), None)
        if place is None:
            return None
        row = int(shown[place])
        hours = self.knowledge.assumptions.trial_hours.value
        meter = self._detail(row).purchase
        step, minimum = np.array([meter.billing_step_seconds]), np.array([meter.minimum_seconds])
        paid = float(metered_hours(np.array([hours]), step, minimum)[0])
        return TrialPlan(
            plan=place + 1,
            minutes=round(hours * 60.0),
            cost=Amount(round(paid * int(self.screened.plans.nodes[row]) * self._node_price(row), 2), self.currency),
            record=tuple(self.texts.say(f"trial.{key}") for key in _TO_RECORD),
        )

    def _mixed(self, shown: Ints, trial: TrialPlan | None) -> MixedStrategy | None:
        """Try by the hour before committing, when the best plan is a commitment and an hourly plan stands in the list."""
        if trial is None or trial.plan == 1:
            return None
        first, hourly = int(shown[0]), int(shown[trial.plan - 1])
        cost = round(float(self.screened.cost[first]) + trial.cost.value, 2)
        views = self._offer(hourly), self._offer(first)
        text = self.texts.say(
            "mixed.text",
            trial=f"{views[0].provider} {views[0].gpu}",
            cost=money_text(self.texts, trial.cost.value, self.currency),
            main=f"{views[1].provider} {views[1].gpu}",
        )
        return MixedStrategy(trial_plan=trial.plan, main_plan=1, cost=Amount(cost, self.currency), text=text)
