"""The committed OpenAPI document is the application's, and says enough."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest

from app.api.examples import ESTIMATE, QUESTIONS
from tools.write_openapi import DOCUMENT, document

METHODS = {"get", "post", "put", "patch", "delete"}


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return result


def operations(committed: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{method} {path}", call) for path, calls in committed["paths"].items() for method, call in calls.items() if method in METHODS]


def test_the_committed_document_is_the_applications() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == document(), "run `make openapi` and read the difference"


def test_every_call_of_this_release_is_there_and_no_other(committed: dict[str, Any]) -> None:
    assert set(committed["paths"]) == {
        "/recommend",
        "/recommendations/{id}",
        "/estimate",
        "/offers",
        "/fees",
        "/quotas",
        "/gpus",
        "/models",
        "/providers",
        "/fx",
        "/prices/history",
        "/runs",
        "/quarantine",
        "/healthz",
        "/readyz",
        "/metrics",
    }


def test_operation_ids_are_unique_and_free_of_paths(committed: dict[str, Any]) -> None:
    ids = [call["operationId"] for _, call in operations(committed)]
    assert len(set(ids)) == len(ids)
    assert all(name.replace("_", "").isalpha() for name in ids)


def test_every_documented_error_is_a_problem(committed: dict[str, Any]) -> None:
    errors = [answer for _, call in operations(committed) for status, answer in call["responses"].items() if status >= "400"]
    assert errors
    assert all(list(answer["content"]) == ["application/problem+json"] for answer in errors)


def test_calls_with_a_body_document_what_can_be_wrong_with_it(committed: dict[str, Any]) -> None:
    for name, call in operations(committed):
        if "requestBody" in call:
            assert {"400", "413", "415", "422"} <= set(call["responses"]), name


def test_every_field_is_described(committed: dict[str, Any]) -> None:
    schemas = committed["components"]["schemas"]
    fields = {f"{name}.{field}": part for name, schema in schemas.items() for field, part in schema.get("properties", {}).items()}
    assert [name for name, part in fields.items() if "description" not in part and "$ref" not in part] == []
    assert [name for name, schema in schemas.items() if "description" not in schema] == []


def test_every_reference_leads_somewhere(committed: dict[str, Any]) -> None:
    text = json.dumps(committed)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(committed["components"]["schemas"])


def test_the_documented_examples_fit_their_schemas(committed: dict[str, Any]) -> None:
    shared = {"components": committed["components"]}
    for name, value in [*(("RecommendIn", question) for _, question in QUESTIONS.values()), ("EstimateIn", ESTIMATE)]:
        jsonschema_rs.validator_for({"$ref": f"#/components/schemas/{name}", **shared}).validate(value)
