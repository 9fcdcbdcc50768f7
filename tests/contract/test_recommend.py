"""POST /recommend and the stored answers, by the contract."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import httpx
import pytest

from app.api.examples import QUESTIONS
from tests.contract.questions import QUESTION, changed

pytestmark = pytest.mark.anyio


async def ask(client: httpx.AsyncClient, question: dict[str, Any], **params: str) -> dict[str, Any]:
    answer = await client.post("/recommend", json=question, params=params)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def test_the_answer_names_the_market_it_rests_on(client: httpx.AsyncClient) -> None:
    answer = await ask(client, QUESTION)
    assert answer["as_of"] == "2026-11-30T12:00:00Z"
    assert answer["catalog_version"] == 1
    assert "oldest_price_age_hours" in answer


async def test_the_same_question_on_the_same_market_gives_the_same_bytes(client: httpx.AsyncClient) -> None:
    first = await client.post("/recommend", json=QUESTION)
    second = await client.post("/recommend", json=dict(reversed(QUESTION.items())))
    assert first.content == second.content


async def test_a_default_that_is_spelled_out_changes_no_byte(client: httpx.AsyncClient) -> None:
    spelled = changed(QUESTION, "/preferences/objective", "expected_cost")
    assert (await client.post("/recommend", json=spelled)).content == (await client.post("/recommend", json=QUESTION)).content


async def test_a_fresh_app_gives_the_same_bytes(client: httpx.AsyncClient, app: Any) -> None:
    from app.wiring import Advisor

    remembered = (await client.post("/recommend", json=QUESTION)).content
    service = app.state.service
    old, service.advisor = service.advisor, Advisor.load()
    try:
        assert (await client.post("/recommend", json=QUESTION)).content == remembered
    finally:
        service.advisor = old


async def test_location_leads_to_the_same_bytes(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", json=QUESTION)
    assert answer.headers["location"] == f"/recommendations/{answer.json()['id']}"
    stored = await client.get(answer.headers["location"])
    assert stored.content == answer.content


async def test_a_stored_answer_is_not_sent_twice(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", json=QUESTION)
    stored = await client.get(answer.headers["location"])
    again = await client.get(answer.headers["location"], headers={"If-None-Match": stored.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_an_unknown_id_is_a_404_problem(client: httpx.AsyncClient) -> None:
    answer = await client.get("/recommendations/rec_0")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_lines_sum_to_the_total_to_the_cent(client: httpx.AsyncClient) -> None:
    for plan in (await ask(client, QUESTION))["plans"]:
        lines = sum(Decimal(line["amount"]["amount"]) for line in plan["bill"]["lines"])
        assert lines == Decimal(plan["bill"]["total"]["p50"])


async def test_ranks_count_from_one_and_the_limit_holds(client: httpx.AsyncClient) -> None:
    plans = (await ask(client, QUESTION))["plans"]
    assert [plan["rank"] for plan in plans] == list(range(1, len(plans) + 1))
    assert 1 <= len(plans) <= 2


async def test_what_the_contract_names_is_in_a_plan(client: httpx.AsyncClient) -> None:
    plan = (await ask(client, QUESTION))["plans"][0]
    assert set(plan) >= {
        "rank",
        "offer",
        "nodes",
        "gpus",
        "purchase",
        "price_source",
        "configuration",
        "memory",
        "speed",
        "timeline_hours",
        "gpu_hours",
        "bill",
        "probability",
        "scenarios",
        "availability",
        "warnings",
        "why",
        "break_even",
    }
    assert set(plan["memory"]["breakdown_gb"]) == {"weights", "gradients", "optimizer", "activations", "logits", "overhead"}
    assert [scenario["name"] for scenario in plan["scenarios"]] == ["as_expected", "slower_30_percent", "one_interruption", "worst_case"]
    assert set(plan["timeline_hours"]["total"]) == {"p10", "p50", "p90"}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/constraints/deadline_hours", 0.001),
        ("/constraints/budget", {"amount": "0.01", "currency": "USD"}),
        ("/constraints/min_gpus", 64),
        ("/constraints/providers", {"include": ["lambda"], "exclude": ["lambda"]}),
        ("/constraints/countries", ["CN"]),
        ("/constraints/max_price_age_days", 0.001),
    ],
)
async def test_contradictory_limits_give_no_plan_and_the_reasons(client: httpx.AsyncClient, pointer: str, value: Any) -> None:
    answer = await ask(client, changed(QUESTION, pointer, value))
    assert answer["plans"] == []
    assert sum(answer["rejected"]["counts"].values()) > 0


async def test_rejected_counts_name_every_reason_of_the_contract(client: httpx.AsyncClient) -> None:
    counts = (await ask(client, QUESTION))["rejected"]["counts"]
    assert set(counts) >= {"memory", "quota", "stock", "precision", "region", "deadline", "budget", "stale", "price_unknown"}


async def test_a_family_of_cards_is_expanded_and_said(client: httpx.AsyncClient) -> None:
    question = changed(changed(QUESTION, "/constraints/max_gpus", 8), "/constraints/gpus", {"include": ["A100-80GB"], "exclude": []})
    answer = await ask(client, question)
    (reading,) = answer["read_as"]
    assert (reading["pointer"], reading["given"]) == ("/constraints/gpus/include/0", "A100-80GB")
    assert "A100-SXM4-80GB" in reading["read_as"]
    assert answer["plans"]
    assert {plan["offer"]["gpu"] for plan in answer["plans"]} <= set(reading["read_as"])


async def test_amounts_come_in_the_currency_asked_with_the_rate_used(client: httpx.AsyncClient) -> None:
    answer = await ask(client, changed(QUESTION, "/preferences/currency", "CNY"))
    assert answer["currency"] == "CNY"
    assert {line["amount"]["currency"] for plan in answer["plans"] for line in plan["bill"]["lines"]} == {"CNY"}
    assert ("USD", "CNY") in {(rate["from"], rate["to"]) for rate in answer["exchange"]}


async def test_sentences_come_in_the_language_asked(client: httpx.AsyncClient) -> None:
    why = (await ask(client, changed(QUESTION, "/preferences/language", "zh")))["plans"][0]["why"]
    assert any("\u4e00" <= letter <= "\u9fff" for sentence in why for letter in sentence)


async def test_as_of_moves_the_market_and_the_key(client: httpx.AsyncClient) -> None:
    now = await ask(client, QUESTION)
    then = await ask(client, QUESTION, as_of="2026-11-30T06:00:00+08:00")
    assert then["as_of"] == "2026-11-29T22:00:00Z"
    assert then["id"] != now["id"]


async def test_as_of_without_an_offset_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", json=QUESTION, params={"as_of": "2026-11-29T22:00:00"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "?as_of"


@pytest.mark.parametrize("name", QUESTIONS)
async def test_every_documented_example_is_answered(client: httpx.AsyncClient, name: str) -> None:
    assert (await ask(client, QUESTIONS[name][1]))["plans"]


async def test_only_a_measurement_and_steps_are_enough(client: httpx.AsyncClient) -> None:
    question = {
        "workload": {
            "method": "full",
            "measured": [{"gpu": "A10-24GB", "gpus": 1, "seconds_per_step": 0.5}],
            "target": {"steps": 10000},
        },
        "constraints": {"providers": {"include": ["lambda"], "exclude": []}},
    }
    assert (await ask(client, question))["plans"][0]["speed"]["basis"] == "measured"


async def test_an_instant_before_the_first_rate_is_refused_and_said(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", json=QUESTION, params={"as_of": "2001-01-01T00:00:00Z"})
    assert answer.json()["errors"][0]["code"] == "no_exchange_rate"


async def test_a_stated_mfu_takes_the_place_of_the_model(client: httpx.AsyncClient) -> None:
    speed = (await ask(client, changed(QUESTION, "/workload/assumed_mfu", 0.25)))["plans"][0]["speed"]
    assert (speed["basis"], speed["mfu"]) == ("stated", pytest.approx(0.25, rel=0.02))


async def test_without_as_of_the_market_is_that_of_the_day_or_of_the_last_publication(client: httpx.AsyncClient, app: Any) -> None:
    from datetime import timedelta

    service = app.state.service
    old = service.clock
    try:
        service.clock = lambda: old() + timedelta(hours=5)
        assert (await ask(client, QUESTION))["as_of"] == "2026-11-30T12:00:00Z"
        service.clock = lambda: old() + timedelta(hours=13)
        assert (await ask(client, QUESTION))["as_of"] == "2026-12-01T00:00:00Z"
    finally:
        service.clock = old
