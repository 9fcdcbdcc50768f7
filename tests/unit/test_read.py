"""Reading: fields are taken out, leftovers and absences are told, damage is seen; a record is kept whole or not at all."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from app.catalog.gpus import load_gpus
from app.domain.hardware import usual_link
from app.domain.money import Money
from scrapers import html
from scrapers.base import GPU_HOUR, NODE_HOUR, NODE_MONTH, NODE_TERM, Stated, Term, digest_of
from scrapers.names import CARD_MEMORY_GB
from scrapers.read import DamagedPageError, Page, Record, RefusedError
from scrapers.sight import Sight, usual_link_of

TABLE = Stated("https://acme.example/prices", date(2026, 8, 20))
ONE = Money.of("1", "USD")


def page(text: str) -> Page:
    return Page.of("a", "https://acme.example", text.encode())


def row(**fields: object) -> Record:
    return Record(fields, "/rows/0", "https://acme.example")


class TestRecord:
    def test_what_is_taken_is_gone_and_the_rest_is_left_over(self) -> None:
        record = row(id="a", price=Decimal("1.5"), spec={"gpus": 8, "new": 1}, badge="hot")
        record.text("id")
        record.record("spec").whole("gpus")
        record.ignore("badge")
        assert record.leftovers() == ("price", "spec.new")

    def test_a_very_wide_record_is_narrowed_on_purpose(self) -> None:
        record = row(a=1, b=2, c=3)
        record.only("a", "d")
        assert record.field_names() == ("a",)

    @pytest.mark.parametrize("value", [None, "absent"])
    def test_a_required_field_that_is_absent_or_null_refuses_the_record_with_its_place(self, value: object) -> None:
        record = row() if value == "absent" else row(id=None)
        with pytest.raises(RefusedError, match="missing_field at /rows/0/id"):
            record.text("id")

    def test_a_field_that_may_be_absent_is_none(self) -> None:
        record = row(a=None)
        assert record.may_text("a") is None
        assert record.may_whole("b") is None
        assert record.may_record("c") is None
        assert record.leftovers() == ()

    @pytest.mark.parametrize(("name", "value"), [("text", 5), ("text", " "), ("flag", 1), ("records", {}), ("record", [])])
    def test_a_field_of_another_type_is_refused(self, name: str, value: object) -> None:
        with pytest.raises(RefusedError, match="wrong_type"):
            getattr(row(a=value), name)("a")

    def test_a_card_is_never_the_nearest_one(self) -> None:
        assert row(gpu="H100 SXM").gpu("gpu", memory_gb=80) == "H100-SXM5-80GB"
        for text, memory in (("H100 SXM", 94), ("H101", None), ("A100", None)):
            with pytest.raises(RefusedError, match="unknown_gpu"):
                row(gpu=text).gpu("gpu", memory_gb=memory)

    def test_a_row_of_a_table_is_named_by_its_css_path_and_heading(self) -> None:
        with pytest.raises(RefusedError) as caught:
            Record({}, "#t > tr:nth-of-type(2)", "a").text("Price")
        assert caught.value.pointer == "#t > tr:nth-of-type(2) [Price]"


class TestJson:
    def test_fractions_are_exact(self) -> None:
        assert page('{"a": [{"p": 0.1}]}').json().at("/a/0/p").value == Decimal("0.1")

    @pytest.mark.parametrize("text", ["", "{", '{"a": 1', "NaN", '{"a": Infinity}', "[" * 100_000, '{"a": 1} x', "9" * 5000])
    def test_what_is_no_whole_json_is_damaged(self, text: str) -> None:
        with pytest.raises(DamagedPageError):
            page(text).json()

    @pytest.mark.parametrize("text", ['callback({"a": 1});', 'var plans = {"a": 1};', 'window.x.y={"a": 1}', '/* c */ cb({"a": 1})'])
    def test_json_in_one_call_or_assignment_is_unwrapped(self, text: str) -> None:
        assert page(text).jsonp().value == {"a": 1}

    def test_a_wrapper_that_was_cut_off_is_damaged(self) -> None:
        with pytest.raises(DamagedPageError):
            page('callback({"a": {"b": 1}').jsonp()

    def test_json_behind_a_marker_is_read_to_its_own_end(self) -> None:
        assert page("<script>plans = [1, 2]; other()</script>").json_after("plans =").value == [1, 2]

    @pytest.mark.parametrize("text", ["nothing", "plans = [1] plans = [2]"])
    def test_a_marker_that_is_not_there_once_refuses_the_page(self, text: str) -> None:
        with pytest.raises(RefusedError, match="missing_field"):
            page(text).json_after("plans =")

    def test_a_pointer_to_nothing_refuses(self) -> None:
        for pointer in ("/b", "/a/2", "/a/x", "/a/0/p/q"):
            with pytest.raises(RefusedError, match="missing_field"):
                page('{"a": [{"p": 1}]}').json().at(pointer)


class TestCsv:
    def test_rows_below_the_heading_are_records(self) -> None:
        found = list(page('"Version","1"\n"SKU","Price"\n"a","1.5"\n"b,c","2"\n').csv(first_heading="SKU"))
        assert [(each.text("SKU"), each.number("Price"), each.pointer) for each in found] == [
            ("a", Decimal("1.5"), "/3"),
            ("b,c", Decimal(2), "/4"),
        ]

    @pytest.mark.parametrize("text", ["x,y\n1,2\n", "SKU,Price\na\n", "SKU,Price\na,1\nb,2", 'SKU,Price\n"a'])
    def test_one_that_was_cut_off_is_damaged(self, text: str) -> None:
        with pytest.raises(DamagedPageError):
            list(page(text).csv(first_heading="SKU"))


class TestHtml:
    TEXT = (
        "<html><body><h2>GPUs</h2><table id='t'><tr><th>GPU</th><th>Plan</th><th>Price</th></tr>"
        "<tr><td rowspan=2>H100</td><td>1x</td><td>$1</td></tr><tr><td>8x</td><td>$8</td><td>new</td></tr>"
        "<tr><td colspan=2>A100</td><td>$2</td></tr></table></body></html>"
    )

    def test_cells_that_span_are_repeated(self) -> None:
        given = page(self.TEXT)
        (table,) = html.tables_with(html.soup(given), given, "GPU", "Price")
        rows = [{name: record.text(name) for name in record.field_names()} for record in table.records()]
        assert table.above == "GPUs"
        assert rows == [
            {"GPU": "H100", "Plan": "1x", "Price": "$1"},
            {"GPU": "H100", "Plan": "8x", "Price": "$8", "(4)": "new"},
            {"GPU": "A100", "Plan": "A100", "Price": "$2"},
        ]

    def test_the_place_of_a_row_finds_it_again(self) -> None:
        given = page(self.TEXT)
        root = html.soup(given)
        for record in html.tables(root, given)[0].records():
            assert len(root.select(record.pointer)) == 1

    @pytest.mark.parametrize("at", [40, 120, 200, -8])
    def test_a_page_that_was_cut_off_is_damaged(self, at: int) -> None:
        with pytest.raises(DamagedPageError, match="cut_off"):
            html.soup(page(self.TEXT[:at]))

    def test_a_heading_that_is_gone_refuses_the_page(self) -> None:
        given = page(self.TEXT)
        with pytest.raises(RefusedError, match="no table"):
            html.tables_with(html.soup(given), given, "Rate")


class TestSight:
    def offer(self, see: Sight, where: Record | Stated = TABLE, **changed: object) -> None:
        given: dict[str, object] = {
            "sku": "a",
            "region": "all",
            "gpu": "H100-SXM5-80GB",
            "gpus": 8,
            "price": ONE,
            "per": NODE_HOUR,
        } | changed
        see.offer(where, **given)  # type: ignore[arg-type]

    def test_a_refused_record_leaves_nothing_behind(self) -> None:
        see = Sight()
        with see.record(row()) as record:
            self.offer(see, record)
            record.text("gone")
        reading = see.reading()
        assert reading.observations == ()
        assert [each.reason for each in reading.rejections] == ["missing_field"]

    def test_fields_that_nobody_read_are_told_once_with_their_number(self) -> None:
        see = Sight()
        for _ in range(3):
            with see.record(row(new=1)):
                pass
        (notice,) = see.reading().notices
        assert (notice.reason, notice.detail) == ("unread_field", "new, in 3 records")

    def test_a_price_per_gpu_and_one_per_machine_are_told_apart(self) -> None:
        see = Sight()
        self.offer(see, sku="per gpu", per=GPU_HOUR)
        self.offer(see, sku="per machine", per=NODE_HOUR)
        self.offer(see, sku="month", per=NODE_MONTH, price=Money.of("730", "USD"))
        self.offer(see, sku="year", per=NODE_TERM, price=Money.of("8760", "USD"), option="reserved", term=Term("year", 1), upfront="all")
        hours = {each.sku: each.node_hour() for each in see.reading().offers}
        assert hours == {"per gpu": 8, "per machine": 1, "month": 1, "year": 1}

    def test_a_provider_whose_month_has_other_hours_says_so(self) -> None:
        see = Sight()
        self.offer(see, per=NODE_MONTH, price=Money.of("720", "USD"))
        assert see.reading().offers[0].node_hour(720) == 1

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"price": Money(0, "USD")}, "zero_price"),
            ({"gpus": 0}, "out_of_range"),
            ({"gpu": "H100"}, "unknown_gpu"),
            ({"region": " "}, "missing_field"),
            ({"option": "reserved"}, "missing_field"),
            ({"ram_gb": 0}, "out_of_range"),
        ],
    )
    def test_an_offer_that_cannot_be_is_refused(self, changed: dict[str, object], reason: str) -> None:
        with pytest.raises(RefusedError, match=reason):
            self.offer(Sight(), **changed)

    def test_an_answer_that_contradicts_itself_is_believed_on_neither_side(self) -> None:
        see = Sight()
        self.offer(see, TABLE.at("1"))
        self.offer(see, TABLE.at("2"), price=Money.of("2", "USD"))
        self.offer(see, TABLE.at("3"), sku="b")
        reading = see.reading()
        assert [each.sku for each in reading.offers] == ["b"]
        assert [(each.reason, each.pointer) for each in reading.rejections] == [("contradiction", "1"), ("contradiction", "2")]

    def test_spot_and_on_demand_of_one_machine_stand_side_by_side(self) -> None:
        see = Sight()
        self.offer(see)
        self.offer(see, option="spot", price=Money.of("0.4", "USD"))
        assert [each.option for each in see.reading().offers] == ["on_demand", "spot"]

    def test_a_zone_never_overwrites_its_region(self) -> None:
        see = Sight()
        self.offer(see, region="us-east-1")
        self.offer(see, region="us-east-1", zone_kind="local_zone", price=Money.of("2", "USD"))
        assert [each.region for each in see.reading().offers] == ["us-east-1", "us-east-1 (local_zone)"]

    def test_stock_of_nothing_that_is_offered_is_refused(self) -> None:
        see = Sight()
        see.stock(TABLE, sku="a", region="all", gpus=8, available=True)
        assert [each.reason for each in see.reading().rejections] == ["stock_without_offer"]

    def test_a_fee_per_gib_becomes_one_per_gb(self) -> None:
        see = Sight()
        see.fee(TABLE, kind="file_storage", sku="nfs", unit="GiB_month", price=Money.of("0.20", "USD"))
        (fee,) = see.reading().fees
        assert (fee.unit, fee.amount) == ("GB_month", Money(186_264_515, "USD"))

    def test_a_fee_in_a_unit_that_has_no_place_is_refused(self) -> None:
        with pytest.raises(RefusedError, match="unknown_unit"):
            Sight().fee(TABLE, kind="block_storage", sku="iops", unit="IOPS_month", price=ONE)

    def test_prose_that_changed_refuses_what_was_read_from_it(self) -> None:
        digest = digest_of("Storage costs  $0.10")
        Sight().unchanged(TABLE, "Storage costs\n$0.10", digest)
        with pytest.raises(RefusedError, match="prose_changed"):
            Sight().unchanged(TABLE, "Storage costs $0.12", digest)


@pytest.mark.parametrize("card", sorted(CARD_MEMORY_GB))
def test_the_usual_link_of_a_card_is_the_domains(card: str) -> None:
    for gpus in (1, 8):
        assert usual_link_of(card, gpus) == usual_link(load_gpus()[card], gpus)
