from __future__ import annotations

import pytest

from app.catalog.embedded import FOLDER, load_embedded, load_history
from app.catalog.gpus import load_gpus
from tests.support.facts import FACTS, needs_facts
from tools.make_data.__main__ import files_of, main
from tools.make_data.build import DataSet, build


@pytest.fixture(scope="module")
def data() -> DataSet:
    assert FACTS is not None
    return build(FACTS)


@needs_facts
def test_the_same_facts_give_the_shipped_files_byte_for_byte(data: DataSet) -> None:
    for name, text in files_of(data).items():
        assert (FOLDER / name).read_bytes() == text.encode(), f"{name} differs: run `make data`"


@needs_facts
def test_what_is_read_back_is_what_was_built(data: DataSet) -> None:
    shipped = load_embedded()
    assert shipped.offers == data.records.offers
    assert shipped.tariffs == data.records.tariffs
    assert shipped.fees == data.records.fees
    assert shipped.quotas == data.records.quotas
    assert shipped.stock == data.records.stock
    assert shipped.billing_rules == data.records.billing_rules
    assert shipped.rates == data.records.rates
    assert shipped.providers == data.records.providers
    assert len(load_history()) == len(data.records.history)
    assert load_gpus() == data.gpus


@needs_facts
def test_every_row_read_is_shipped_folded_or_counted_with_a_reason(data: DataSet) -> None:
    tally = data.tally
    assert tally.read["prices-catalog.csv"] == 3286
    assert sum(rows for (file, _), rows in tally.left_out.items() if file == "prices-catalog.csv") == 0
    terms_left_out = {reason: rows for (file, reason), rows in tally.left_out.items() if file == "prices-terms.csv"}
    assert terms_left_out == {
        "a cap on the monthly bill, not a tariff": 1,
        "placeholder, not a price": 1,
        "source cloud-auditor: no licence": 15,
        "source sooddvs: no licence": 167,
    }


def test_without_a_folder_the_maker_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
