from __future__ import annotations

import time
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import pairwise
from typing import get_args

import pytest

from app.catalog.embedded import FOLDER, load_embedded, load_history
from app.catalog.gpus import load_gpus
from app.domain.market import FeeKind, PriceKind, Source, Tariff
from app.domain.market_records import MarketRecords
from app.domain.money import Money
from app.domain.units import TERM_HOURS
from tools.make_data.origins import BARRED

BEGINNING = datetime(1, 1, 1, tzinfo=UTC)
END = datetime(9999, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def market() -> MarketRecords:
    return load_embedded()


def in_force(market: MarketRecords, offer: tuple[str, str, str, int], option: str, day: datetime) -> list[Tariff]:
    return [
        tariff
        for tariff in market.tariffs
        if tariff.offer == offer and tariff.option == option and (tariff.valid_from or BEGINNING) <= day < (tariff.valid_to or END)
    ]


def sources(market: MarketRecords) -> list[Source]:
    return [row.source for rows in (market.tariffs, market.fees, market.quotas, market.stock, market.billing_rules) for row in rows]


def test_no_price_is_zero(market: MarketRecords) -> None:
    assert min(tariff.amount.nano for tariff in market.tariffs) > 0
    assert min(reading.price_per_gpu_hour.nano for reading in load_history()) > 0


def test_offer_keys_are_unique(market: MarketRecords) -> None:
    assert len({offer.key for offer in market.offers}) == len(market.offers)


def test_every_offer_has_a_known_card_with_its_memory(market: MarketRecords) -> None:
    gpus = load_gpus()
    assert all(offer.gpu_memory_gb == gpus[offer.gpu].memory_gb for offer in market.offers)


def test_every_row_belongs_to_a_known_platform(market: MarketRecords) -> None:
    known = {provider.id for provider in market.providers}
    used = {row.provider for rows in (market.offers, market.fees, market.quotas, market.billing_rules) for row in rows}
    assert used <= known
    assert {reading.provider for reading in load_history()} <= known


def test_every_tariff_and_stock_row_belongs_to_an_offer_and_every_offer_has_a_price(market: MarketRecords) -> None:
    keys = {offer.key for offer in market.offers}
    assert {tariff.offer for tariff in market.tariffs} == keys
    assert {stock.offer for stock in market.stock} <= keys


def test_validity_intervals_of_one_tariff_do_not_overlap(market: MarketRecords) -> None:
    groups = defaultdict(list)
    for tariff in market.tariffs:
        terms = (tariff.unit, tariff.term_unit, tariff.term_count, tariff.upfront, tariff.minimum_gpus)
        groups[tariff.offer, tariff.option, terms].append((tariff.valid_from or BEGINNING, tariff.valid_to or END))
    for intervals in groups.values():
        assert all(start < end for start, end in intervals)
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(intervals)))


def test_every_row_names_source_and_state_of_its_date(market: MarketRecords) -> None:
    for source in sources(market):
        assert source.name
        assert source.url.startswith("http")
        assert (source.observed_at is None) == (source.date_precision == "unknown")


def test_a_month_or_a_year_stands_as_its_first_day(market: MarketRecords) -> None:
    found = {(source.date_precision, source.observed_at) for source in sources(market) if source.observed_at}
    assert all(day.day == 1 for precision, day in found if precision in {"month", "year"})
    assert all(day.month == 1 for precision, day in found if precision == "year")
    assert {precision for precision, _ in found} == {"day", "month", "year"}


def test_no_shipped_row_names_a_source_that_may_not_be_shipped() -> None:
    for file in (*FOLDER.glob("*.csv"),):
        if file.name == "models.csv":
            continue
        text = file.read_text(encoding="utf-8").casefold()
        assert [name for name in BARRED if name in text] == [], file.name


def test_the_whole_market_loads_quickly() -> None:
    begin = time.process_time()
    load_embedded()
    assert time.process_time() - begin < 0.6


def test_the_files_stay_small() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir() if file.is_file()) < 6_000_000


def test_several_thousand_offers_of_all_platforms_are_shipped(market: MarketRecords) -> None:
    offers = Counter(offer.provider for offer in market.offers)
    assert {"azure": 682, "runpod": 541, "gcp": 788, "aws": 242, "lambda": 377, "aliyun": 128, "coreweave": 20}.items() <= offers.items()
    assert len(offers) == 46
    assert sum(offers.values()) > 3900


def test_undated_catalogue_rows_stay_undated(market: MarketRecords) -> None:
    undated = [t for t in market.tariffs if "skypilot-catalog" in t.source.name]
    assert len(undated) > 1000
    assert {t.source.observed_at for t in undated} == {None}


@pytest.mark.parametrize("provider", ["ibm", "paperspace", "samsung-scp", "fluidstack", "aws-china", "aliyun", "tencent"])
def test_platforms_with_only_old_figures_are_history(market: MarketRecords, provider: str) -> None:
    kinds = {tariff.kind for tariff in market.tariffs if tariff.offer[0] == provider}
    assert kinds == {"history"}


def test_no_ranking_price_is_dated_before_2026(market: MarketRecords) -> None:
    days = [t.source.observed_at for t in market.tariffs if t.kind in {"list", "observed"} and t.source.observed_at]
    assert min(days) >= datetime(2026, 1, 1, tzinfo=UTC)


def test_auction_floors_are_floors(market: MarketRecords) -> None:
    mithril = [tariff for tariff in market.tariffs if tariff.offer[0] == "mithril"]
    assert [(tariff.option, tariff.kind) for tariff in mithril] == [("spot", "floor")] * 4


def test_google_h100_machines_of_up_to_four_gpus_are_not_on_demand(market: MarketRecords) -> None:
    small = [t for t in market.tariffs if t.offer[0] == "gcp" and t.offer[2] in {"a3-highgpu-1g", "a3-highgpu-2g", "a3-highgpu-4g"}]
    assert {t.kind for t in small if t.option == "on_demand"} == {"quote"}
    assert {t.kind for t in small if t.option == "spot"} == {"list"}


def test_spot_stays_below_on_demand(market: MarketRecords) -> None:
    prices = defaultdict(dict)
    for t in market.tariffs:
        if t.kind in {"list", "observed"} and t.valid_to is None and t.unit == "node_hour" and t.option in {"on_demand", "spot"}:
            prices[t.offer][t.option] = t.amount
    both = [p for p in prices.values() if len(p) == 2 and p["spot"].currency == p["on_demand"].currency]
    assert len(both) > 500
    assert all(p["spot"].nano < p["on_demand"].nano for p in both)


def test_the_nebius_rate_changes_on_its_announced_day(market: MarketRecords) -> None:
    offer = ("nebius", "eu-north1", "gpu-h100-sxm_8gpu-128vcpu-1600gb", 8)
    before = in_force(market, offer, "on_demand", datetime(2026, 9, 30, 23, tzinfo=UTC))
    after = in_force(market, offer, "on_demand", datetime(2026, 10, 1, tzinfo=UTC))
    assert [t.amount for t in before] == [Money.of("30.8", "USD")]
    assert [t.amount for t in after] == [Money.of("36", "USD")]
    assert {t.kind for t in (*before, *after)} == {"list"}


def test_an_azure_reservation_is_the_sum_of_its_term(market: MarketRecords) -> None:
    offer = ("azure", "eastus", "Standard_ND96isr_H100_v5", 8)
    sums = {t.term_count: t for t in market.tariffs if t.offer == offer and t.option == "reserved"}
    assert {count: t.amount for count, t in sums.items()} == {
        1: Money.of("551221", "USD"),
        3: Money.of("1134310", "USD"),
        5: Money.of("1722566", "USD"),
    }
    assert {(t.unit, t.term_unit) for t in sums.values()} == {("node_term", "year")}
    assert float(sums[1].amount.decimal) / TERM_HOURS["year"] / 8 == pytest.approx(7.87, abs=0.01)


def test_a_commitment_without_a_length_has_no_count(market: MarketRecords) -> None:
    open_ended = [t for t in market.tariffs if t.option == "reserved" and t.term_count is None]
    assert {t.offer[0] for t in open_ended} == {"hyperstack"}


def test_a_list_rate_per_gpu_is_multiplied_once(market: MarketRecords) -> None:
    eight = ("hyperstack", "CANADA-1", "n3-H100-SXM5x8", 8)
    now = in_force(market, eight, "on_demand", datetime(2026, 11, 30, tzinfo=UTC))
    assert [t.amount for t in now] == [Money.of("25.6", "USD")]
    crusoe = [t for t in market.tariffs if t.offer == ("crusoe", "all", "H100 80GB HGX", 8)]
    assert [t.amount for t in crusoe] == [Money.of("31.2", "USD")]


def test_each_size_keeps_its_own_rate_where_the_list_states_sizes_apart(market: MarketRecords) -> None:
    amounts = {
        count: [t.amount.decimal for t in market.tariffs if t.offer == ("lambda", "us-east-1", f"gpu_{count}x_h100_sxm5", count)]
        for count in (1, 2, 4, 8)
    }
    assert amounts == {1: [Decimal("4.29")], 2: [Decimal("8.38")], 4: [Decimal("16.36")], 8: [Decimal("31.92")]}


def test_a_newer_list_price_makes_the_older_one_history(market: MarketRecords) -> None:
    offer = ("hyperstack", "CANADA-1", "n3-H100-SXM5x8", 8)
    found = [(t.amount.decimal, t.kind, t.valid_to) for t in market.tariffs if t.offer == offer and t.option == "on_demand"]
    assert found == [(Decimal("19.2"), "history", datetime(2026, 8, 22, tzinfo=UTC)), (Decimal("25.6"), "list", None)]


def test_capacity_blocks_and_local_zones_are_kept_apart(market: MarketRecords) -> None:
    blocks = {t.offer: t.amount.decimal for t in market.tariffs if t.option == "capacity_block"}
    assert blocks["aws", "us-east-1-dfw-2a", "u-p6e-gb200x72", 72] == Decimal("761.904")
    assert blocks["aws", "us-east-1", "p5.48xlarge", 8] == Decimal("41.528")
    assert len(blocks) == 69


def test_placeholders_and_monthly_caps_are_no_prices(market: MarketRecords) -> None:
    assert not [t for t in market.tariffs if t.offer[0] == "runpod" and "MI300X" in t.offer[2] and "community" in t.offer[2]]
    assert not [t for t in market.tariffs if t.offer[0] == "vultr" and t.unit == "node_month"]


def test_a_machine_that_cannot_be_ordered_is_a_quote_and_out_of_stock(market: MarketRecords) -> None:
    offer = ("vultr", "all", "vbm-256c-3072gb-8-b200-gpu", 8)
    assert {(t.option, t.kind) for t in market.tariffs if t.offer == offer} == {("on_demand", "quote"), ("spot", "list")}
    assert [s.status for s in market.stock if s.offer == offer] == ["unavailable"]


def test_unconfirmed_currencies_are_flagged(market: MarketRecords) -> None:
    seeweb = [offer for offer in market.offers if offer.provider == "seeweb"]
    assert seeweb
    assert all("currency unconfirmed" in offer.note for offer in seeweb)


def test_real_but_extreme_prices_are_kept(market: MarketRecords) -> None:
    prices = {t.offer: t.amount.decimal for t in market.tariffs if t.option == "on_demand" and t.kind == "list"}
    assert prices["azure", "brazilsouth", "Standard_ND128isr_NDR_GB200_v6", 4] == Decimal("216.32")


def test_yuan_and_euro_prices_keep_their_currency(market: MarketRecords) -> None:
    currency = {t.offer[0]: t.amount.currency for t in market.tariffs if t.kind != "history"}
    assert (currency["autodl"], currency["scaleway"], currency["ovhcloud"]) == ("CNY", "EUR", "EUR")
    assert {t.amount.currency for t in market.tariffs if t.offer[0] == "aws-china"} == {"CNY"}


def test_brokers_name_the_platform_behind_them(market: MarketRecords) -> None:
    brokers = {provider.id for provider in market.providers if provider.kind == "broker"}
    assert brokers == {"shadeform", "spheron", "primeintellect"}
    assert all(offer.upstream for offer in market.offers if offer.provider in brokers)


def test_a_reworked_4090_is_its_own_card(market: MarketRecords) -> None:
    reworked = {offer.gpu_memory_gb for offer in market.offers if offer.gpu == "RTX4090-48GB-modified"}
    assert reworked == {48.0}


def test_no_machine_has_a_link_with_one_gpu_and_every_larger_one_has_one(market: MarketRecords) -> None:
    assert all((offer.intra_node_link == "none") == (offer.gpus_per_node == 1) for offer in market.offers)


@pytest.mark.parametrize(
    ("sku", "speed"),
    [
        ("p5.48xlarge", 3200),
        ("p4d.24xlarge", 400),
        ("Standard_ND96isr_H100_v5", 3200),
        ("Standard_ND96amsr_A100_v4", 1600),
        ("a3-megagpu-8g", 1600),
    ],
)
def test_documented_networks_are_known(market: MarketRecords, sku: str, speed: float) -> None:
    assert {offer.inter_node_gbit_s for offer in market.offers if offer.sku == sku and offer.provider != "aws-china"} == {speed}


def test_a_machine_without_infiniband_has_no_known_network(market: MarketRecords) -> None:
    assert {offer.inter_node_gbit_s for offer in market.offers if offer.sku == "Standard_ND96is_H100_v5"} == {None}


def test_countries_follow_regions(market: MarketRecords) -> None:
    country = {(offer.provider, offer.region): offer.country for offer in market.offers}
    assert country["aws", "eu-west-1"] == "IE"
    assert country["vast", ", US, NA"] == "US"
    assert country["hyperbolic", "default"] is None
    assert country["daytona", "earth"] is None
    assert country["aliyun", "cn-hongkong"] == "HK"


def test_the_yuan_cross_of_the_newest_day_is_right(market: MarketRecords) -> None:
    newest = max(rate.day for rate in market.rates)
    rates = {rate.quote: rate.rate for rate in market.rates if rate.day == newest}
    assert newest == date(2026, 10, 30)
    assert rates["CNY"] / rates["USD"] == pytest.approx(Decimal("6.6529"), abs=Decimal("0.0001"))
    assert {rate.base for rate in market.rates} == {"EUR"}


def test_dollar_and_yuan_are_known_on_every_published_day(market: MarketRecords) -> None:
    days = {currency: {rate.day for rate in market.rates if rate.quote == currency} for currency in ("USD", "CNY")}
    assert days["USD"] == days["CNY"]
    assert len(days["USD"]) == 90


def test_fee_tiers_start_at_zero_and_join_without_gaps(market: MarketRecords) -> None:
    lists = defaultdict(list)
    for fee in market.fees:
        lists[fee.provider, fee.region, fee.kind, fee.sku, fee.unit].append(fee)
    for key, tiers in lists.items():
        ordered = sorted(tiers, key=lambda fee: fee.tier_from_gb)
        assert ordered[0].tier_from_gb == 0, key
        assert ordered[-1].tier_to_gb is None, key
        assert all(a.tier_to_gb == pytest.approx(b.tier_from_gb) for a, b in pairwise(ordered)), key
        assert len({fee.free_gb for fee in tiers}) == 1, key


def test_aws_egress_is_one_schedule_with_its_free_part(market: MarketRecords) -> None:
    tiers = [fee for fee in market.fees if (fee.provider, fee.region, fee.kind) == ("aws", "us-east-1", "egress_internet")]
    assert [(fee.tier_from_gb, fee.tier_to_gb, str(fee.amount)) for fee in tiers] == [
        (0, 10000, "0.09"),
        (10000, 50000, "0.085"),
        (50000, 150000, "0.07"),
        (150000, None, "0.05"),
    ]
    assert {fee.free_gb for fee in tiers} == {100}


def test_a_price_per_gib_becomes_a_price_per_gb(market: MarketRecords) -> None:
    fees = {(fee.provider, fee.region, fee.sku): fee for fee in market.fees}
    balanced = fees["gcp", "us-central1", "pd-balanced"]
    assert (balanced.unit, str(balanced.amount)) == ("GB_month", "0.093132257")


def test_stated_zeros_stay_zero_and_unknown_charges_stay_empty(market: MarketRecords) -> None:
    free = [fee for fee in market.fees if fee.provider == "runpod" and fee.kind in {"egress_internet", "ingress_internet"}]
    assert {fee.amount.nano for fee in free if fee.amount} == {0}
    full_rate = {fee.provider for fee in market.fees if fee.unit == "machine_hour"}
    assert {"vultr", "digitalocean", "civo", "hyperstack", "oci", "ovhcloud"} <= full_rate
    assert all(fee.amount is None for fee in market.fees if fee.unit == "machine_hour")


def test_fees_speak_the_records_vocabulary(market: MarketRecords) -> None:
    assert {fee.unit for fee in market.fees} <= {"GB", "GB_hour", "GB_day", "GB_month", "address_hour", "address_month", "machine_hour"}
    assert {fee.kind for fee in market.fees} <= set(get_args(FeeKind))
    assert {tariff.kind for tariff in market.tariffs} <= set(get_args(PriceKind))


def test_billing_rules_say_step_and_minimum(market: MarketRecords) -> None:
    rules = {rule.provider: (rule.step_seconds, rule.minimum_seconds) for rule in market.billing_rules}
    assert {"aws": (1, 60), "gcp": (1, 60), "lambda": (60, 60), "vultr": (3600, 3600), "ibm": (1, 0)}.items() <= rules.items()


def test_usable_memory_is_below_the_marketed_figure_in_binary_and_near_it() -> None:
    gpus = load_gpus()
    assert gpus["A100-SXM4-80GB"].usable_memory_gb == pytest.approx(79.2 * 1.073741824, abs=0.01)
    assert all(0.9 * gpu.memory_gb < gpu.usable_memory_gb < 1.0738 * gpu.memory_gb for gpu in gpus.values())


def test_cards_without_bf16_have_no_bf16_rate() -> None:
    gpus = load_gpus()
    assert gpus["V100-16GB"].peak_tflops("bf16") is None
    assert gpus["RTX4090-24GB"].peak_tflops("bf16") == 165.2


def test_history_is_thin_and_reaches_back() -> None:
    readings = load_history()
    assert 3000 < len(readings) < 8000
    assert {reading.provider for reading in readings} >= {"gcp", "aws", "azure", "lambda", "nebius"}
    assert min(reading.day for reading in readings).year == 2022
