"""The whole data set from a folder of facts, in memory: what ``__main__`` writes and the tests look at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.domain.gpus import Gpu
from app.domain.market import Offer, Source, Stock, Tariff
from app.domain.market_records import MarketRecords
from tools.make_data import catalog, chinese, fees, history, quotas, terms
from tools.make_data.billing_rules import billing_rules
from tools.make_data.cards import gpus
from tools.make_data.facts_files import rows_of
from tools.make_data.fold import joined, offers_and_tariffs
from tools.make_data.origins import Origin, of_page
from tools.make_data.outdated import outdated
from tools.make_data.providers import providers
from tools.make_data.rates import rates
from tools.make_data.reading import Reading
from tools.make_data.tally import Tally

ECB_FILE = Path("payloads") / "ecb" / "eurofxref-hist_90_rows.csv"
"""Beside the facts folder."""
_NO_STOCK = ("not in stock when read", "no stock when read", "listed, but not to be ordered on demand")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSet:
    """Records ready to be written; in ``records.history`` the source is its id."""

    records: MarketRecords
    gpus: dict[str, Gpu]
    origins: tuple[Origin, ...]
    regions: tuple[tuple[str, str, str | None], ...]
    offer_sources: dict[tuple[str, str, str, int], Source]
    tally: Tally


def build(facts: Path) -> DataSet:
    """Read, judge and fold all facts.

    Raises:
        FileNotFoundError: a facts file is missing.
        ValueError: a row breaks a rule that has no treatment.
    """
    tally = Tally()
    cards = gpus(rows_of(facts / "gpus.csv"))
    base = list(catalog.readings(rows_of(facts / catalog.FILE), cards, tally))
    lists: list[Reading] = list(terms.readings(rows_of(facts / terms.FILE), cards, tally))
    chinese_rows = list(chinese.readings(rows_of(facts / chinese.FILE), cards, tally))
    readings = [*joined(base, lists, tally), *chinese_rows]
    offers, tariffs = offers_and_tariffs(readings, cards, tally)
    kinds = {info.id: info.kind for info in providers({offer.provider for offer in offers})}
    tariffs = outdated(offers, tariffs, kinds, tally)
    regions: dict[str, set[str]] = {}
    for offer in offers:
        regions.setdefault(offer.provider, set()).add(offer.region)
    fee_records, fee_origins = fees.fees({name: rows_of(facts / name) for name in fees.FILES}, regions, tally)
    quota_records, quota_origins = quotas.quotas({name: rows_of(facts / name) for name in quotas.FILES}, tally)
    rules = billing_rules()
    past, past_origins = history.history(rows_of(facts / history.FILE), cards, tally)
    used = {
        *(offer.provider for offer in offers),
        *(fee.provider for fee in fee_records),
        *(quota.provider for quota in quota_records),
        *(rule.provider for rule in rules),
        *(reading.provider for reading in past),
    }
    records = MarketRecords(
        providers=tuple(providers(used)),
        offers=tuple(offers),
        tariffs=tuple(tariffs),
        fees=tuple(fee_records),
        quotas=tuple(quota_records),
        stock=tuple(_stock(offers, tariffs)),
        billing_rules=tuple(rules),
        rates=tuple(rates(facts.resolve().parent / ECB_FILE)),
        history=tuple(past),
    )
    origins = {
        *(reading.origin for reading in readings),
        *fee_origins.values(),
        *quota_origins.values(),
        *past_origins.values(),
        *(of_page(rule.source.url) for rule in rules),
    }
    return DataSet(
        records=records,
        gpus=cards,
        origins=tuple(_used_origins(origins, records)),
        regions=tuple(sorted({(offer.provider, offer.region, offer.country) for offer in offers}, key=lambda row: row[:2])),
        offer_sources=_offer_sources(tariffs),
        tally=tally,
    )


def _used_origins(origins: Iterable[Origin], records: MarketRecords) -> list[Origin]:
    """Only sources that a shipped row names."""
    used: set[Source] = {tariff.source for tariff in records.tariffs}
    used |= {fee.source for fee in records.fees}
    used |= {quota.source for quota in records.quotas}
    used |= {stock.source for stock in records.stock}
    used |= {rule.source for rule in records.billing_rules}
    places = {(source.name, source.url) for source in used}
    ids = {row.source for row in records.history}
    return sorted(origin for origin in origins if (origin.name, origin.url) in places or origin.id in ids)


def _offer_sources(tariffs: Iterable[Tariff]) -> dict[tuple[str, str, str, int], Source]:
    """The newest source that prices a machine."""
    newest: dict[tuple[str, str, str, int], Source] = {}
    floor = datetime(1, 1, 1, tzinfo=UTC)
    for tariff in tariffs:
        known = newest.get(tariff.offer)
        if known is None or (tariff.source.observed_at or floor) > (known.observed_at or floor):
            newest[tariff.offer] = tariff.source
    return newest


def _stock(offers: Iterable[Offer], tariffs: Iterable[Tariff]) -> list[Stock]:
    """Machines that their source calls out of stock or without a place to be had."""
    tariffs = tuple(tariffs)
    sources = _offer_sources(tariffs)
    out = {offer.key for offer in offers if any(words in offer.note for words in _NO_STOCK)}
    out |= {tariff.offer for tariff in tariffs if tariff.offer[0] == "vultr" and _NO_STOCK[-1] in tariff.note}
    return [Stock(offer=key, status="unavailable", source=sources[key]) for key in sorted(out)]
