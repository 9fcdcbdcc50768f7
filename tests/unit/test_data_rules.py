"""Each anomaly of the sources is treated by a rule; here each rule meets a small row made for it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.catalog.gpus import load_gpus
from app.domain.market import Offer, Tariff
from app.domain.money import Money
from tools.make_data import catalog, chinese, fees, terms
from tools.make_data.age import HISTORY_BEFORE, is_history
from tools.make_data.dates import observed
from tools.make_data.fee_units import GIB_IN_GB, UnitError, free_gb, in_gb, normal_unit, per_unit_price
from tools.make_data.fold import joined, offers_and_tariffs
from tools.make_data.links import intra_node_link
from tools.make_data.origins import BARRED, barred_by, of_page, of_repository_text
from tools.make_data.places import country_of
from tools.make_data.providers import provider_id
from tools.make_data.reading import Reading, whole_node
from tools.make_data.tally import Tally

GPUS = load_gpus()

CATALOG_ROW = {
    "provider": "nebius",
    "region": "eu-north1",
    "zone": "",
    "instance_type": "gpu-h100-sxm_8gpu",
    "gpu_model": "H100-SXM5-80GB",
    "source_gpu_name": "H100",
    "gpu_count": "8",
    "gpu_memory_gb_each": "80",
    "vcpus": "128",
    "ram_gb": "1600",
    "price_on_demand_per_hour": "23.6",
    "price_spot_per_hour": "",
    "currency": "USD",
    "source": "skypilot-org/skypilot-catalog:catalogs/v8/nebius/vms.csv@0123456789abcdef",
    "note": "",
}
TERMS_ROW = {
    "provider": "nebius",
    "region": "",
    "instance_type": "NVIDIA HGX H100",
    "gpu_model": "H100-SXM5-80GB",
    "gpu_count": "1",
    "vcpus": "16",
    "ram_gb": "200",
    "inter_node_gbit_s": "",
    "purchase_option": "on_demand",
    "term_unit": "hour",
    "term_count": "1",
    "upfront": "none",
    "min_gpus": "1",
    "price": "3.85",
    "price_per": "gpu_hour",
    "currency": "USD",
    "effective_from": "",
    "as_of": "2026-08-22",
    "source": "getcomputable/gpu-index:tests/fixtures/observatory/nebius/prices.html@055204ad (Apache-2.0)",
    "note": "",
}
CN_ROW = {
    "provider": "autodl",
    "gpu_model": "RTX 4090",
    "gpu_count": "1",
    "gpu_memory_gb": "24",
    "billing_mode": "on_demand",
    "price": "1.98",
    "currency": "CNY",
    "price_unit": "per_gpu_hour",
    "vcpus": "",
    "ram_gb": "",
    "interconnect": "",
    "as_of": "2026-10-04",
    "source_url": "https://www.autodl.com/home",
    "note": "",
}
FEE_ROW = {
    "provider": "aws",
    "region": "us-east-1",
    "fee_kind": "block_storage",
    "sku": "gp3",
    "unit": "GB_month",
    "price": "0.08",
    "currency": "USD",
    "tier_from": "",
    "tier_to": "",
    "free_allowance": "",
    "as_of": "2026-07",
    "source_url": "https://aws.amazon.com/ebs/pricing/",
    "note": "",
}


def catalog_readings(**changes: str) -> list[Reading]:
    return list(catalog.readings([{**CATALOG_ROW, **changes}], GPUS, Tally()))


def terms_readings(**changes: str) -> list[Reading]:
    return list(terms.readings([{**TERMS_ROW, **changes}], GPUS, Tally()))


def folded(*readings: Reading) -> tuple[list[Offer], list[Tariff]]:
    return offers_and_tariffs(list(readings), GPUS, Tally())


def fee_records(*rows: dict[str, str]) -> list[fees.Fee]:
    files = {name: [] for name in fees.FILES}
    files[fees.FILES[0]] = [{**FEE_ROW, **row} for row in rows]
    return fees.fees(files, {"oci": ["us-phoenix-1", "af-casablanca-1"]}, Tally())[0]


@pytest.mark.parametrize("price", ["0", "0.0", "-1"])
def test_a_zero_or_negative_price_is_refused(price: str) -> None:
    with pytest.raises(ValueError, match="above zero"):
        whole_node(price, 8, "USD", per_gpu=True)


@given(nano=st.integers(1, 10**12), gpus=st.integers(1, 72))
def test_a_rate_per_gpu_times_its_gpus_is_exact(nano: int, gpus: int) -> None:
    price = Money(nano, "USD").decimal
    assert whole_node(f"{price:f}", gpus, "USD", per_gpu=True) == Money(nano * gpus, "USD")
    assert whole_node(f"{price:f}", gpus, "USD", per_gpu=False) == Money(nano, "USD")


def test_a_gpu_without_its_machine_is_a_component() -> None:
    (reading,) = terms_readings(
        provider="gcp",
        region="us-central1",
        instance_type="SKU: H200 141GB GPU running in Americas",
        gpu_model="H200-SXM-141GB",
        price="9.3117",
        note="GPU component only: vCPU, RAM and local SSD of the machine are priced separately",
    )
    (offer,), _ = folded(reading)
    assert offer.component


def test_a_slice_with_its_share_of_the_machine_is_no_component() -> None:
    assert not terms.is_component("SKU: A4 Nvidia B200 (1 gpu slice) running in Americas", "complete machine share (1 GPU slice)")


def test_an_auction_floor_is_kind_floor() -> None:
    (reading,) = catalog_readings(
        price_on_demand_per_hour="", price_spot_per_hour="8", note="AUCTION FLOOR: source has price = spot = 1.00 per GPU-hour"
    )
    assert (reading.kind, reading.option) == ("floor", "spot")


def test_a_whole_term_sum_stays_a_sum_with_its_term() -> None:
    (reading,) = terms_readings(
        provider="azure",
        purchase_option="reserved",
        term_unit="year",
        term_count="3",
        upfront="all",
        price="1134310",
        price_per="whole_term",
        gpu_count="8",
    )
    assert (reading.unit, reading.term_unit, reading.term_count, reading.upfront) == ("node_term", "year", 3, "all")
    assert reading.amount == Money.of("1134310", "USD")


def test_a_commitment_without_a_length_has_no_count() -> None:
    (reading, *_) = terms_readings(purchase_option="reserved", term_unit="month", term_count="")
    assert (reading.term_unit, reading.term_count) == ("month", None)


def test_an_hourly_price_has_no_term() -> None:
    (reading, *_) = terms_readings()
    assert (reading.term_unit, reading.term_count) == (None, None)


def test_a_future_rate_ends_the_present_one_on_its_day_and_the_present_one_stays_true() -> None:
    now = terms_readings(gpu_count="8", price_per="instance_hour", price="30.8")
    later = terms_readings(gpu_count="8", price_per="instance_hour", price="36", effective_from="2026-10-01", as_of="2026-10-07")
    _, (first, second) = folded(*now, *later)
    assert (first.valid_to, second.valid_from, second.valid_to) == (
        datetime(2026, 10, 1, tzinfo=UTC),
        datetime(2026, 10, 1, tzinfo=UTC),
        None,
    )
    assert (first.kind, second.kind) == ("list", "list")


def test_azures_meter_start_opens_no_interval() -> None:
    (reading,) = terms_readings(provider="azure", gpu_count="8", price_per="instance_hour", effective_from="2023-12-01")
    assert reading.announced is None


def test_the_newest_dated_figure_wins_and_the_older_one_ends_there() -> None:
    machines = catalog_readings()
    all_readings = joined(machines, terms_readings(), Tally())
    _, tariffs = folded(*all_readings)
    on_machine = [t for t in tariffs if t.offer[2] == "gpu-h100-sxm_8gpu"]
    assert [(t.amount.decimal, t.kind) for t in on_machine] == [(Decimal("23.6"), "observed"), (Decimal("30.8"), "list")]
    assert on_machine[0].valid_to == on_machine[1].valid_from == datetime(2026, 8, 22, tzinfo=UTC)


def test_an_equal_figure_read_again_only_renews_the_date() -> None:
    _, tariffs = folded(*joined(catalog_readings(price_on_demand_per_hour="30.8"), terms_readings(), Tally()))
    (tariff,) = [t for t in tariffs if t.offer[2] == "gpu-h100-sxm_8gpu"]
    assert (tariff.source.observed_at, tariff.valid_from, tariff.kind) == (datetime(2026, 8, 22, tzinfo=UTC), None, "list")


def test_a_lowest_presets_price_is_not_carried_to_other_machines() -> None:
    out = joined(catalog_readings(), terms_readings(note='"from" price, vCPU and RAM vary'), Tally())
    assert {reading.sku for reading in out} == {"gpu-h100-sxm_8gpu", "NVIDIA HGX H100"}
    assert [r.amount.decimal for r in out if r.sku == "gpu-h100-sxm_8gpu"] == [Decimal("23.6")]


def test_a_rate_for_one_gpu_is_not_carried_to_sizes_that_the_list_states_apart() -> None:
    one = terms_readings(instance_type="1x NVIDIA H100 SXM", price="4.29")
    eight = terms_readings(instance_type="8x NVIDIA H100 SXM", price="3.99", gpu_count="8", vcpus="128")
    out = joined(catalog_readings(), [*one, *eight], Tally())
    assert [r.amount.decimal for r in out if r.sku == "gpu-h100-sxm_8gpu"] == [Decimal("23.6"), Decimal("31.92")]


def test_products_with_nvlink_bridges_are_not_mixed_with_plain_ones() -> None:
    plain = catalog_readings(instance_type="n3-H100x8", gpu_model="H100-PCIE-80GB")
    out = joined(plain, terms_readings(instance_type="NVIDIA H100 NVLink", gpu_model="H100-PCIE-80GB", price="2.6"), Tally())
    assert {r.sku for r in out} == {"n3-H100x8", "NVIDIA H100 NVLink"}


@pytest.mark.parametrize(
    ("note", "price_per"), [("0.50 looks like a placeholder", "gpu_hour"), ("monthly cap = 672 x hourly price", "instance_month")]
)
def test_placeholders_and_caps_are_left_out(note: str, price_per: str) -> None:
    assert terms_readings(note=note, price_per=price_per) == []


def test_a_listed_machine_that_cannot_be_ordered_is_a_quote() -> None:
    (reading,) = terms_readings(note="list price only: deploy_ondemand=false and locations empty", gpu_count="8", price_per="instance_hour")
    assert reading.kind == "quote"


@pytest.mark.parametrize("source", [f"{name}/prices:prices.csv@0123abcd" for name in BARRED])
def test_rows_of_sources_that_may_not_be_shipped_are_left_out(source: str) -> None:
    assert barred_by(source)
    assert catalog_readings(source=source) == []


def test_a_source_whose_terms_are_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="not known"):
        of_repository_text("someone/new:prices.csv@0123abcd")


def test_a_repository_becomes_an_address_at_its_commit() -> None:
    origin = of_repository_text("Azure/karpenter-provider-azure:pkg/pricing.go@0123abcd")
    assert origin.url == "https://github.com/Azure/karpenter-provider-azure/blob/0123abcd/pkg/pricing.go"
    assert of_page("https://www.autodl.com/home").name == "autodl.com/home"


@pytest.mark.parametrize(
    ("text", "start", "precision"),
    [
        ("2026-07-04", datetime(2026, 7, 4, tzinfo=UTC), "day"),
        ("2026-07", datetime(2026, 7, 1, tzinfo=UTC), "month"),
        ("2026", datetime(2026, 1, 1, tzinfo=UTC), "year"),
        ("", None, "unknown"),
    ],
)
def test_a_date_is_as_exact_as_its_source(text: str, start: datetime | None, precision: str) -> None:
    assert observed(text) == (start, precision)


@pytest.mark.parametrize("text", ["2026-7-4", "yesterday", "2026-13", "04.07.2026"])
def test_a_text_that_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"date|month"):
        observed(text)


@pytest.mark.parametrize(
    ("text", "old"),
    [("2024-10-09", True), ("2025", True), ("2025-12-31", True), ("2026-01-01", False), ("2026", False), ("2026-07", False)],
)
def test_a_figure_is_history_when_it_cannot_date_from_this_year(text: str, old: bool) -> None:  # noqa: FBT001
    start, precision = observed(text)
    assert is_history("any", start, precision) is old
    assert HISTORY_BEFORE.year == 2026


def test_undated_sources_are_history_only_when_left_far_behind() -> None:
    old = of_repository_text("skypilot-org/skypilot-catalog:catalogs/v6/ovhcloud/vms.csv@0123abcd")
    living = of_repository_text("skypilot-org/skypilot-catalog:catalogs/v8/lambda/vms.csv@0123abcd")
    assert is_history(old.id, None, "unknown")
    assert not is_history(living.id, None, "unknown")


def test_a_leased_card_is_reserved_for_its_period_and_paid_ahead() -> None:
    (reading, *_) = chinese.readings([{**CN_ROW, "billing_mode": "monthly", "price_unit": "per_gpu_month", "price": "1100"}], GPUS, Tally())
    assert (reading.option, reading.unit, reading.term_unit, reading.term_count, reading.upfront) == (
        "reserved",
        "node_month",
        "month",
        1,
        "all",
    )


@pytest.mark.parametrize(
    "change",
    [
        {"gpu_model": "H800", "gpu_memory_gb": "80"},
        {"gpu_memory_gb": "48", "gpu_model": "RTX 3090"},
        {"note": "member price (95 % of list)"},
        {"note": "fraction of a card, total memory 4 GB"},
        {"source_url": ""},
        {"source_url": "https://huggingface.co/datasets/brian8808/gpu-price-index"},
    ],
)
def test_chinese_rows_that_cannot_be_trusted_are_counted_and_left_out(change: dict[str, str]) -> None:
    tally = Tally()
    assert list(chinese.readings([{**CN_ROW, **change}], GPUS, tally)) == []
    assert sum(tally.left_out.values()) == 1


def test_one_platform_has_one_id() -> None:
    assert (provider_id("ovh"), provider_id("voltage-park")) == ("ovhcloud", "voltagepark")
    assert (provider_id("alibaba"), provider_id("aliyun")) == ("alibaba", "aliyun")


@pytest.mark.parametrize(
    ("card", "count", "link"),
    [
        ("H100-SXM5-80GB", 8, "nvlink"),
        ("H100-SXM5-80GB", 1, "none"),
        ("A100-PCIE-80GB", 8, "pcie"),
        ("RTX4090-24GB", 8, "pcie"),
        ("H100-NVL-94GB", 2, "nvlink_pair"),
        ("MI300X-192GB", 8, "xgmi"),
        ("TPU-v5e", 8, "ici"),
        ("Trainium2-96GB", 16, "other"),
        ("A100-80GB", 8, "pcie"),
    ],
)
def test_the_link_inside_a_machine_follows_the_cards_form(card: str, count: int, link: str) -> None:
    assert intra_node_link(GPUS[card], count, provider="x", sku="y", bridged=False) == link


def test_bridges_and_boards_of_old_cards_are_told_apart() -> None:
    assert intra_node_link(GPUS["H100-PCIE-80GB"], 8, provider="hyperstack", sku="n3-H100x8-NVLink", bridged=True) == "nvlink_pair"
    assert intra_node_link(GPUS["V100-16GB"], 8, provider="aws", sku="p3.16xlarge", bridged=False) == "nvlink"
    assert intra_node_link(GPUS["V100-16GB"], 4, provider="azure", sku="Standard_NC24s_v3", bridged=False) == "pcie"


@pytest.mark.parametrize(
    ("provider", "region", "country"),
    [
        ("aws", "us-gov-west-1", "US"),
        ("vast", ", CN, AS", "CN"),
        ("shadeform", "warsaw-poland-1", "PL"),
        ("runpod", "SE", "SE"),
        ("coreweave", "europe", None),
        ("aws", "xx-new-1", None),
    ],
)
def test_a_country_is_told_only_by_the_regions_name(provider: str, region: str, country: str | None) -> None:
    assert country_of(provider, region) == country


@given(nano=st.integers(1, 10**10))
def test_a_price_per_gib_is_converted_within_half_a_nano(nano: int) -> None:
    price = Decimal(nano).scaleb(-9)
    converted = Decimal(per_unit_price(f"{price:f}", normal_unit("GiB_month", "block_storage", "disk", zero=False)))
    assert abs(converted * GIB_IN_GB - price) <= Decimal("0.0000000006")


def test_a_disk_sold_by_size_is_given_per_gb_of_that_size() -> None:
    normal = normal_unit("disk_month", "block_storage", "Premium SSD P4 LRS 32 GiB", zero=False)
    assert per_unit_price("5.28", normal) == "0.153668225"


@pytest.mark.parametrize("unit", ["IOPS_month", "MBps_month", "VPU_GB_month", "Mbps_month", "disk_hour", ""])
def test_charges_that_are_not_per_gb_have_no_place(unit: str) -> None:
    with pytest.raises(UnitError):
        normal_unit(unit, "block_storage", "x", zero=False)


def test_bounds_and_allowances_come_out_in_gb() -> None:
    assert in_gb("10 TB") == 10000
    assert in_gb("1024", binary=True) == 1024 * GIB_IN_GB
    assert in_gb("") is None
    assert free_gb("100 GB a month over all services and regions") == 100
    assert free_gb("3000 IOPS") == 0
    assert free_gb("plan field bandwidth (GB a month)") == 0


def test_a_free_first_tier_becomes_the_allowance_of_its_list() -> None:
    found = fee_records(
        {
            "fee_kind": "egress_internet",
            "sku": "out",
            "unit": "GB",
            "price": "0",
            "tier_from": "0",
            "tier_to": "10240",
            "free_allowance": "10240 GB a month",
        },
        {"fee_kind": "egress_internet", "sku": "out", "unit": "GB", "price": "0.0085", "tier_from": "10240"},
    )
    assert [(fee.tier_from_gb, fee.tier_to_gb, fee.free_gb, str(fee.amount)) for fee in found] == [(0, None, 10240, "0.0085")]


def test_a_list_with_a_bounded_end_goes_on_as_unknown_never_as_free() -> None:
    found = fee_records({"fee_kind": "object_storage", "sku": "first 50 TB", "price": "0.023", "tier_from": "0", "tier_to": "51200"})
    assert [(fee.tier_from_gb, fee.amount is None) for fee in found] == [(0, False), (51200, True)]


def test_a_stated_zero_is_kept_as_zero() -> None:
    (fee,) = fee_records({"fee_kind": "egress_internet", "sku": "out", "unit": "GB", "price": "0"})
    assert fee.amount == Money.of("0", "USD")


def test_a_charge_without_a_figure_has_no_amount() -> None:
    (fee,) = fee_records({"price": "", "note": "not captured"})
    assert fee.amount is None


def test_a_fee_for_an_area_is_written_for_the_regions_inside() -> None:
    found = fee_records(
        {"provider": "oci", "region": "North America, Europe, UK", "fee_kind": "egress_internet", "sku": "out", "unit": "GB"}
    )
    assert [fee.region for fee in found] == ["us-phoenix-1"]


def test_a_stopped_machine_at_full_rate_is_said_so() -> None:
    (fee,) = fee_records(
        {"fee_kind": "stopped_disk", "unit": "hour", "price": "", "note": "price = full droplet rate; billing ends when destroyed"}
    )
    assert (fee.unit, fee.amount) == ("machine_hour", None)
