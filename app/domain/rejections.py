"""What was left out and why: counts over all candidates, one example a reason, and the smallest change that would let it in."""

from __future__ import annotations

import math

import numpy as np

from app.domain.admission import REASONS, Reason
from app.domain.answer import Rejected, RejectedExample, RejectedOffer
from app.domain.explain import change_text, figure, hours_text, money_text, rounded_up, search_reason_text
from app.domain.hardware import INTRA_LINKS, Floats, Hardware, Ints
from app.domain.knowledge import Knowledge
from app.domain.market import PURCHASE_OPTIONS
from app.domain.market_columns import PRICE_KINDS
from app.domain.market_terms import market_terms
from app.domain.physics import VERDICTS
from app.domain.quota import held_gpus
from app.domain.screening import Screened
from app.domain.search import REASONS as SEARCH_REASONS
from app.domain.smallest_change import smallest_changes
from app.domain.texts import Texts
from app.domain.units import HOURS_PER_DAY

_OF_SHAPES: tuple[Reason, ...] = ("precision", "memory", "batch")
_OF_ESTIMATES: tuple[Reason, ...] = ("deadline", "budget")


def rejected(screened: Screened, knowledge: Knowledge) -> Rejected:
    """Counts for every reason (0 included) and one example for each reason that occurred, in the order of REASONS."""
    texts = knowledge.texts[screened.preferences.language]
    counts = np.bincount(screened.reasons, minlength=len(REASONS))
    price = _price_per_gpu_hour(screened, knowledge)
    examples = tuple(
        _example(screened, reason, price, texts) for code, reason in enumerate(REASONS) if reason != "admitted" and counts[code] > 0
    )
    return Rejected(
        counts={reason: int(counts[code]) for code, reason in enumerate(REASONS) if reason != "admitted"},
        examples=examples,
    )


def _price_per_gpu_hour(screened: Screened, knowledge: Knowledge) -> Floats:
    """Per tariff, in the answer's currency; infinite where unknown, so that examples prefer known prices."""
    terms = market_terms(screened.market, screened.preferences.currency, knowledge.assumptions)
    per_node = terms.price_per_node_hour
    return np.nan_to_num(per_node / screened.market.offers.gpus_per_node[screened.market.tariffs.offer], nan=np.inf)


def _example(screened: Screened, reason: Reason, price: Floats, texts: Texts) -> RejectedExample:
    """The candidate that came nearest: no second reason, then least over the limit (estimates, memory), else the cheapest an hour."""
    rows = np.flatnonzero(screened.reasons == REASONS.index(reason))
    cheapest = price[screened.candidates.tariff[rows]]
    miss, others = _miss(screened, reason, rows), screened.reasons_held[rows] > 1
    nearest = np.lexsort((rows, screened.candidates.nodes[rows], cheapest, miss, others))
    row = int(rows[nearest[0]])
    detail, change = _words(screened, reason, row, texts)
    offer = screened.market.offer_at(int(screened.candidates.offer[row]))
    return RejectedExample(
        offer=RejectedOffer(
            provider=offer.provider,
            region=offer.region,
            sku=offer.sku,
            gpu=offer.gpu,
            gpus=offer.gpus_per_node * int(screened.candidates.nodes[row]),
            option=PURCHASE_OPTIONS[screened.market.tariffs.option[screened.candidates.tariff[row]]],
        ),
        reason=reason,
        detail=detail,
        smallest_change=change,
    )


def _miss(screened: Screened, reason: Reason, rows: Ints) -> Floats:
    """How far each of ``rows`` is from being let in; 0 where the reason has no measure."""
    if reason == "memory":
        shape = screened.shape_row[screened.candidates.shape[rows]]
        usable = screened.found.memory.available_gb[shape]
        return np.nan_to_num(screened.found.smallest_needed_gb[shape] / usable, nan=np.inf)
    if reason in _OF_ESTIMATES:
        place = np.searchsorted(screened.priced, rows)
        return (screened.projection.total_hours if reason == "deadline" else screened.cost)[place]
    return np.zeros(len(rows))


def _words(screened: Screened, reason: Reason, row: int, texts: Texts) -> tuple[str, str]:
    """What is wrong with one candidate, and the smallest change."""
    if reason in _OF_SHAPES:
        return _shape_words(screened, row, texts)
    values = _values(screened, reason, row, texts)
    change = "stock_wait" if reason == "stock" and not screened.constraints.in_stock_only else reason
    return texts.say(f"reject.{reason}", **values), texts.say(f"change.{change}", **values)


def _shape_words(screened: Screened, row: int, texts: Texts) -> tuple[str, str]:
    shape = int(screened.candidates.shape[row])
    found_row = int(screened.shape_row[shape])
    shapes = screened.candidates.shapes.take(np.array([shape]))
    hardware = Hardware(
        gpu=shapes.gpus[int(shapes.gpu_index[0])],
        gpus_per_node=int(shapes.gpus_per_node[0]),
        nodes=int(shapes.nodes[0]),
        intra_node_link=INTRA_LINKS[int(shapes.link[0])],
    )
    code = screened.found.reason[found_row : found_row + 1]
    (change,) = smallest_changes(screened.job, shapes, code)
    needed = float(screened.found.smallest_needed_gb[found_row])
    return search_reason_text(texts, SEARCH_REASONS[int(code[0])], hardware, screened.job, needed), change_text(texts, change)


def _values(screened: Screened, reason: Reason, row: int, texts: Texts) -> dict[str, str]:
    """Everything that a sentence about one candidate may name."""
    market, constraints = screened.market, screened.constraints
    tariff_row = int(screened.candidates.tariff[row])
    offer_row = int(screened.candidates.offer[row])
    offer = market.offer_at(offer_row)
    nodes = int(screened.candidates.nodes[row])
    gpus = nodes * offer.gpus_per_node
    observed = float(market.tariffs.observed_hours[tariff_row])
    age_days = (market.as_of.timestamp() / 3600.0 - observed) / HOURS_PER_DAY
    held = float(held_gpus(market, constraints)[market.offers.provider[offer_row], market.offers.gpu[offer_row]])
    hours, cost = math.nan, math.nan
    if reason in _OF_ESTIMATES:
        place = int(np.searchsorted(screened.priced, row))
        hours, cost = float(screened.projection.total_hours[place]), float(screened.cost[place])
    currency = screened.preferences.currency
    return {
        "provider": offer.provider,
        "region": offer.region,
        "country": offer.country or texts.say("reject.unknown_country"),
        "gpu": offer.gpu,
        "option": PURCHASE_OPTIONS[market.tariffs.option[tariff_row]],
        "kind": PRICE_KINDS[market.tariffs.kind[tariff_row]],
        "age": texts.say("reject.unknown_age") if math.isnan(observed) else texts.say("reject.age_days", days=figure(age_days)),
        "gpus": figure(gpus, 12),
        "nodes": figure(nodes, 12),
        "minimum": figure(float(market.tariffs.minimum_gpus[tariff_row]), 12),
        "maximum": figure(offer.maximum_nodes or 1, 12),
        "vcpus": "?" if offer.vcpus is None else figure(offer.vcpus),
        "ram": "?" if offer.ram_gb is None else figure(offer.ram_gb),
        "held": "" if math.isnan(held) else figure(held, 12),
        "hours": hours_text(texts, rounded_up(hours)) if reason == "deadline" else "",
        "deadline": hours_text(texts, constraints.deadline_hours or 0.0),
        "cost": money_text(texts, cost, currency) if reason == "budget" else "",
        "budget": money_text(texts, screened.budget or 0.0, currency),
    }


def tight(screened: Screened) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Per row of ``plans``: does its memory only just fit?"""
    shape = screened.shape_row[screened.candidates.shape[screened.priced]]
    return np.asarray(screened.found.memory.verdict[shape] == VERDICTS.index("tight"))
