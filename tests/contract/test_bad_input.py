"""Nothing that is sent gives a 500; every fault is a problem with a pointer that leads to it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.questions import ESTIMATE, QUESTION, changed

pytestmark = pytest.mark.anyio
JSON = {"Content-Type": "application/json"}

NUMBERS = [
    "/workload/lora_rank",
    "/workload/sequence_length",
    "/workload/global_batch_sequences",
    "/workload/attempts",
    "/workload/setup_hours",
    "/workload/target/samples",
    "/workload/target/tokens_per_sample",
    "/workload/target/epochs",
    "/workload/data/dataset_gb",
    "/workload/data/files",
    "/workload/data/checkpoint_gb",
    "/workload/data/checkpoint_interval_minutes",
    "/workload/data/checkpoints_kept",
    "/workload/data/download_gb",
    "/workload/data/keep_storage_days",
    "/workload/data/upload_mbit_s",
    "/constraints/deadline_hours",
    "/constraints/max_gpus",
    "/constraints/min_gpus",
    "/constraints/max_nodes",
    "/constraints/min_vcpus_per_gpu",
    "/constraints/min_ram_gb_per_gpu",
    "/constraints/max_price_age_days",
    "/preferences/limit",
]
NO_NUMBERS: list[str] = [
    '"8"',
    "true",
    "[]",
    "{}",
    "1e400",
    "-1e400",
    "NaN",
    "Infinity",
    "-1",
    "1e300",
    "9" * 400,
    "9" * 5000,
    '"' + "9" * 3000 + '"',
]


def refused(answer: httpx.Response, pointer: str) -> dict[str, Any]:
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    fault: dict[str, Any] = next(error for error in answer.json()["errors"] if error["pointer"] == pointer)
    return fault


@pytest.mark.parametrize("pointer", NUMBERS)
async def test_what_is_no_number_within_limits_is_refused_where_it_stands(client: httpx.AsyncClient, pointer: str) -> None:
    for text in NO_NUMBERS:
        body = json.dumps(changed(QUESTION, pointer, "@")).replace('"@"', text)
        answer = await client.post("/recommend", content=body, headers=JSON)
        assert answer.status_code in {400, 422}, (text, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        if answer.status_code == 422:
            assert answer.json()["errors"][0]["pointer"] == pointer, text


@pytest.mark.parametrize(
    "pointer",
    [
        "/workload/lora_rank",
        "/workload/target/samples",
        "/workload/data/upload_mbit_s",
        "/constraints/deadline_hours",
        "/preferences/limit",
    ],
)
async def test_zero_is_refused_where_it_has_no_meaning(client: httpx.AsyncClient, pointer: str) -> None:
    refused(await client.post("/recommend", json=changed(QUESTION, pointer, 0)), pointer)


UNKNOWN = [
    ("/workload/model/preset", "llama-2-8b", "llama-2-7b"),
    ("/workload/precision", "bf17", "bf16"),
    ("/workload/method", "lorra", "lora"),
    ("/workload/stack", "fdsp", "fsdp"),
    ("/constraints/providers/include/0", "lambada", "lambda"),
    ("/constraints/gpus/include/0", "H101", "H100"),
    ("/constraints/regions/0", "us-east-11", "us-east-1"),
    ("/constraints/countries/0", "UK", ""),
    ("/constraints/purchase_options/0", "spott", "spot"),
    ("/preferences/currency", "USX", "USD"),
    ("/preferences/language", "de", "en"),
]


@pytest.mark.parametrize(("pointer", "given_name", "near"), UNKNOWN)
async def test_an_unknown_name_is_refused_with_near_ones(client: httpx.AsyncClient, pointer: str, given_name: str, near: str) -> None:
    where, _, last = pointer.rpartition("/")
    question = changed(QUESTION, where, [given_name]) if last == "0" else changed(QUESTION, pointer, given_name)
    fault = refused(await client.post("/recommend", json=question), pointer)
    assert near in fault["detail"]


@pytest.mark.parametrize(
    ("pointer", "value", "where"),
    [
        ("/workload/measured", [{"gpu": "A100", "tokens_per_second": 1}], "/workload/measured/0/gpu"),
        ("/workload/measured", [{"gpu": "B52", "tokens_per_second": 1}], "/workload/measured/0/gpu"),
        ("/workload/measured", [{"gpu": "L4-24GB"}], "/workload/measured/0"),
        ("/workload/data/located_at", {"provider": "awz"}, "/workload/data/located_at/provider"),
        ("/workload/data/located_at", {"provider": "aws", "region": "us-oest-1"}, "/workload/data/located_at/region"),
        ("/constraints/quotas_held", [{"provider": "aws", "gpu": "H1000", "gpus": 1}], "/constraints/quotas_held/0/gpu"),
        ("/constraints/quotas_held", [{"provider": "awz", "gpu": "H100", "gpus": 1}], "/constraints/quotas_held/0/provider"),
        ("/constraints/budget", {"amount": "0", "currency": "USD"}, "/constraints/budget"),
        ("/constraints/budget", {"amount": "-1", "currency": "USD"}, "/constraints/budget/amount"),
        ("/constraints/budget", {"amount": "1e400000", "currency": "USD"}, "/constraints/budget/amount"),
        ("/constraints/budget", {"amount": "9999999999", "currency": "USD"}, "/constraints/budget"),
        ("/constraints/budget", {"amount": 5, "currency": "USD"}, "/constraints/budget/amount"),
        ("/constraints/budget", {"amount": "5", "currency": "usd"}, "/constraints/budget/currency"),
        ("/constraints/budget", {"amount": "5", "currency": "XXX"}, "/constraints/budget/currency"),
        ("/constraints/bugdet", 5, "/constraints/bugdet"),
        ("/workload/model", {"layers": 3}, "/workload/model"),
        ("/workload/model", {}, "/workload/model"),
        ("/workload/model", {"preset": "llama-2-7b", "parameters_b": 7}, "/workload/model"),
        ("/workload/target", {}, "/workload/target"),
        ("/workload/target", {"tokens_b": 1, "steps": 5}, "/workload/target/steps"),
        ("/workload/target", {"benchmark": "mlperf/none"}, "/workload/target/benchmark"),
        ("/preferences/objective", "cost_and_delay", "/preferences/value_of_a_day"),
    ],
)
async def test_a_fault_is_reported_where_it_stands(client: httpx.AsyncClient, pointer: str, value: Any, where: str) -> None:
    refused(await client.post("/recommend", json=changed(QUESTION, pointer, value)), where)


async def test_all_unknown_names_are_reported_at_once(client: httpx.AsyncClient) -> None:
    question = changed(changed(QUESTION, "/preferences/currency", "XXX"), "/constraints/gpus", {"include": ["B52"], "exclude": ["A9"]})
    answer = await client.post("/recommend", json=question)
    assert {error["pointer"] for error in answer.json()["errors"]} == {
        "/preferences/currency",
        "/constraints/gpus/include/0",
        "/constraints/gpus/exclude/0",
    }


NASTY_BODIES: list[tuple[str, bytes]] = [
    ("empty", b""),
    ("no JSON", b"{"),
    ("a number", b"5"),
    ("null", b"null"),
    ("a list", b"[]"),
    ("deep lists", b"[" * 100_000),
    ("deep objects", b'{"a":' * 30_000 + b"1" + b"}" * 30_000),
    ("objects just shallow enough to parse", b'{"workload": {"model": {"hf_config": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}}}"),
    ("invalid UTF-8", b'{"workload": "\xff\xfe"}'),
    ("lone surrogate as a value", b'{"workload": {"name": "\\ud800"}}'),
    ("lone surrogate as a key", b'{"\\ud800": 1}'),
    ("null bytes", b"\x00" * 100),
    ("byte order mark", b"\xef\xbb\xbf{}"),
    ("UTF-16", '{"workload": 1}'.encode("utf-16")),
    ("a huge exponent", b'{"workload": 1e999999999}'),
    ("a huge number", b'{"workload": ' + b"9" * 100_000 + b"}"),
]


@pytest.mark.parametrize(("name", "body"), NASTY_BODIES, ids=[name for name, _ in NASTY_BODIES])
@pytest.mark.parametrize("path", ["/recommend", "/estimate"])
async def test_a_nasty_body_is_a_problem(client: httpx.AsyncClient, path: str, name: str, body: bytes) -> None:
    answer = await client.post(path, content=body, headers=JSON)
    assert answer.status_code in {400, 422}, name
    assert answer.headers["content-type"] == "application/problem+json"
    json.loads(answer.content)


async def test_a_duplicate_key_is_read_as_its_last(client: httpx.AsyncClient) -> None:
    body = json.dumps(QUESTION)[:-1] + ', "preferences": {"limit": 1}}'
    answer = await client.post("/recommend", content=body, headers=JSON)
    assert len(answer.json()["plans"]) == 1


async def test_ten_megabytes_are_too_large(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", content=b'{"a": "' + b"x" * 10_000_000 + b'"}', headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


async def test_ten_megabytes_without_a_declared_length_are_too_large(client: httpx.AsyncClient) -> None:
    async def pieces():
        for _ in range(100):
            yield b"x" * 100_000

    answer = await client.post("/recommend", content=pieces(), headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}])
async def test_another_content_type_is_a_415_problem(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await client.post("/recommend", content=json.dumps(QUESTION).encode(), headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (415, "application/problem+json")


async def test_a_content_type_with_a_charset_is_json(client: httpx.AsyncClient) -> None:
    answer = await client.post("/recommend", content=json.dumps(QUESTION), headers={"Content-Type": "application/json; charset=utf-8"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/nowhere", 404), ("DELETE", "/recommend", 405), ("GET", "/recommend", 405)]
)
async def test_a_wrong_address_or_method_is_a_problem(client: httpx.AsyncClient, method: str, path: str, status: int) -> None:
    answer = await client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status


CONFIGS: list[Any] = [
    {},
    {"hidden_size": None},
    {"hidden_size": [1], "num_hidden_layers": {}, "num_attention_heads": "8", "vocab_size": True},
    {"hidden_size": -4096, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000},
    {"hidden_size": 4096, "num_hidden_layers": 0, "num_attention_heads": 0, "vocab_size": 32000},
    {"hidden_size": 4096.5, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 10**18},
    {"architectures": 5, "model_type": ["llama"], "hidden_size": 4096},
    {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": {"j": {"k": 1}}}}}}}}}}},
    {"x": list(range(30_000))},
]


@pytest.mark.parametrize("config", CONFIGS)
async def test_a_senseless_config_is_a_problem(client: httpx.AsyncClient, config: Any) -> None:
    answer = await client.post("/recommend", json=changed(QUESTION, "/workload/model", {"hf_config": config}))
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/workload/model")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=12), parts, max_size=4),
    max_leaves=10,
)
_POINTERS = [
    *NUMBERS,
    "/workload",
    "/workload/model",
    "/workload/target",
    "/workload/data",
    "/workload/measured",
    "/workload/name",
    "/constraints",
    "/constraints/budget",
    "/constraints/gpus",
    "/constraints/countries",
    "/constraints/quotas_held",
    "/preferences",
    "/preferences/currency",
    "/workload/model/hf_config",
    "/workload/model/custom",
    "/workload/model/parameters_b",
]


@given(pointer=st.sampled_from(_POINTERS), value=_JSON)
@settings(max_examples=120)
async def test_any_json_anywhere_in_a_question_is_answered_or_refused(client: httpx.AsyncClient, pointer: str, value: Any) -> None:
    answer = await client.post("/recommend", content=json.dumps(changed(QUESTION, pointer, value)), headers=JSON)
    assert answer.status_code in {200, 422}, answer.text


@given(
    pointer=st.sampled_from(["gpu", "gpus_per_node", "nodes", "intra_node_link", "inter_node_gbit_s", "storage_gb_s", "ram_gb_per_node"]),
    value=_JSON,
)
async def test_any_json_anywhere_in_the_hardware_is_answered_or_refused(client: httpx.AsyncClient, pointer: str, value: Any) -> None:
    answer = await client.post("/estimate", content=json.dumps(changed(ESTIMATE, f"/hardware/{pointer}", value)), headers=JSON)
    assert answer.status_code in {200, 422}, answer.text


@given(
    config=st.dictionaries(
        st.sampled_from(
            [
                "hidden_size",
                "num_hidden_layers",
                "num_attention_heads",
                "vocab_size",
                "intermediate_size",
                "num_key_value_heads",
                "num_local_experts",
                "num_experts_per_tok",
                "model_type",
                "architectures",
                "head_dim",
                "text_config",
                "n_layer",
            ]
        ),
        _JSON | st.integers(-10, 10_000),
        min_size=3,
    )
)
async def test_any_config_is_answered_or_refused(client: httpx.AsyncClient, config: dict[str, Any]) -> None:
    body = json.dumps(changed(ESTIMATE, "/workload/model", {"hf_config": config}))
    answer = await client.post("/estimate", content=body, headers=JSON)
    assert answer.status_code in {200, 422}, answer.text


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=x",
        "limit=1e9",
        "cursor=%00",
        "cursor=AAAA",
        "cursor=%FF",
        "gpu=B52",
        "provider=awz",
        "country=ZZ",
        "region=nowhere",
        "purchase_option=free",
        "gpus_per_node=-1",
        "as_of=yesterday",
        "as_of=1999-01-01T00:00:00Z",
        "as_of=9999-12-31T23:59:59Z",
        "as_of=1e400",
        "as_of=-99999999999999",
    ],
)
async def test_a_bad_query_is_a_problem_that_names_its_parameter(client: httpx.AsyncClient, query: str) -> None:
    answer = await client.get(f"/offers?{query}")
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == f"?{query.partition('=')[0]}"
