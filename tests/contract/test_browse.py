"""The lists: filters, pages, tags, what they rest on."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.api.paging import encode

pytestmark = pytest.mark.anyio
DATED = ["/offers", "/fees", "/quotas", "/providers", "/fx", "/prices/history?provider=aws"]
LISTS = [*DATED, "/gpus", "/models", "/runs", "/quarantine"]


async def get(client: httpx.AsyncClient, path: str, **params: Any) -> dict[str, Any]:
    answer = await client.get(path, params=params or None)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def everything(client: httpx.AsyncClient, path: str, **params: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    page = await get(client, path, **params)
    items += page["items"]
    while page["next_cursor"]:
        page = await get(client, path, **params, cursor=page["next_cursor"])
        items += page["items"]
    return items


@pytest.mark.parametrize("path", LISTS)
async def test_a_list_is_items_and_a_cursor(client: httpx.AsyncClient, path: str) -> None:
    assert {"items", "next_cursor"} <= set(await get(client, path))


@pytest.mark.parametrize("path", DATED)
async def test_a_list_that_rests_on_prices_says_which(client: httpx.AsyncClient, path: str) -> None:
    assert {"as_of", "catalog_version", "oldest_price_age_hours"} <= set(await get(client, path))


@pytest.mark.parametrize("path", LISTS)
async def test_an_unchanged_list_is_not_sent_twice(client: httpx.AsyncClient, path: str) -> None:
    first = await client.get(path)
    again = await client.get(path, headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/offers?provider=aws", 17), ("/fees", 100), ("/quotas", 7), ("/gpus", 10), ("/models", 50), ("/providers", 9), ("/fx", 4)],
)
async def test_pages_join_to_the_whole_list(client: httpx.AsyncClient, path: str, limit: int) -> None:
    path, _, query = path.partition("?")
    filters = dict([query.split("=")]) if query else {}
    whole = (await get(client, path, **filters, limit=1000))["items"]
    assert len(whole) > limit
    assert await everything(client, path, **filters, limit=limit) == whole


async def test_pages_of_the_price_history_join_to_the_whole(client: httpx.AsyncClient) -> None:
    whole = (await get(client, "/prices/history", provider="lambda", limit=1000))["items"]
    assert await everything(client, "/prices/history", provider="lambda", limit=100) == whole[:1000]


async def test_a_cursor_with_other_filters_is_refused(client: httpx.AsyncClient) -> None:
    cursor = (await get(client, "/offers", provider="aws", limit=1))["next_cursor"]
    answer = await client.get("/offers", params={"provider": "azure", "cursor": cursor})
    assert answer.json()["errors"][0]["code"] == "cursor_of_other_filters"


async def test_a_forged_cursor_of_wrong_types_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/gpus", params={"cursor": encode((5, "x"), ["gpus", None, None])})
    assert answer.json()["errors"][0]["code"] == "invalid_cursor"


async def test_offers_pass_every_filter_given(client: httpx.AsyncClient) -> None:
    items = await everything(client, "/offers", gpu="H100", country="us", purchase_option="spot", limit=1000)
    assert items
    assert all(item["gpu"].startswith("H100") and item["country"] == "US" for item in items)
    assert {price["option"] for item in items for price in item["prices"]} == {"spot"}


async def test_an_offer_shows_exact_prices_with_their_sources(client: httpx.AsyncClient) -> None:
    (offer, *_) = (await get(client, "/offers", provider="lambda", limit=1))["items"]
    price = offer["prices"][0]
    assert set(price["amount"]) == {"amount", "currency"}
    assert price["source"]["url"]
    assert "observed_at" in price["source"]


async def test_a_fee_without_a_figure_is_null_and_not_zero(client: httpx.AsyncClient) -> None:
    fees = await everything(client, "/fees", limit=1000)
    assert any(fee["amount"] is None for fee in fees)


async def test_fees_of_a_region_include_those_of_every_region(client: httpx.AsyncClient) -> None:
    fees = (await get(client, "/fees", provider="aws", region="us-east-1", limit=1000))["items"]
    assert {fee["region"] for fee in fees} <= {"all", "us-east-1"}
    assert {fee["provider"] for fee in fees} == {"aws"}


async def test_providers_say_how_fresh_they_are(client: httpx.AsyncClient) -> None:
    items = {item["id"]: item for item in (await get(client, "/providers", limit=1000))["items"]}
    assert items["aws"]["prices"] > 0
    assert all(item["prices_without_date"] <= item["prices"] for item in items.values())


async def test_the_market_of_an_instant_can_be_asked_for(client: httpx.AsyncClient) -> None:
    page = await get(client, "/offers", as_of="2026-11-30T10:00:00Z", limit=1)
    assert page["as_of"] == "2026-11-30T10:00:00Z"


async def test_spot_prices_of_a_provider_come_with_quantiles(client: httpx.AsyncClient) -> None:
    history = await get(client, "/prices/history", provider="gcp", purchase_option="spot", limit=1)
    assert history["quantiles"]
    for month in history["quantiles"]:
        assert float(month["p10"]["amount"]) <= float(month["p50"]["amount"]) <= float(month["p90"]["amount"])
        assert month["option"] == "spot"


async def test_models_have_the_names_that_requests_use(client: httpx.AsyncClient) -> None:
    assert "llama-2-7b" in {item["preset"] for item in await everything(client, "/models", family="llama")}


async def test_a_healthy_service_is_ready(client: httpx.AsyncClient) -> None:
    assert await get(client, "/healthz") == {"status": "ok"}
    assert (await get(client, "/readyz"))["status"] == "ready"


async def test_a_callers_request_id_comes_back(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"X-Request-Id": "bot-7"})
    assert answer.headers["x-request-id"] == "bot-7"


async def test_a_senseless_request_id_is_replaced(client: httpx.AsyncClient) -> None:
    answer = await client.get("/healthz", headers={"X-Request-Id": "a b\tc"})
    assert answer.headers["x-request-id"].isalnum()


async def test_meters_count_by_route_and_not_by_address(client: httpx.AsyncClient) -> None:
    await client.get("/recommendations/rec_meter")
    text = (await client.get("/metrics")).text
    assert 'route="/recommendations/{id}"' in text
    assert "rec_meter" not in text
