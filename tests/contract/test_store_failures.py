"""A database that stops answering is a 503 that may be tried again, and nothing is remembered that was not stored."""

from __future__ import annotations

from sqlalchemy.exc import OperationalError

from app.api import recommendations
from tests.support.builders import records
from tests.support.service import service

QUESTION = {"workload": {"model": {"preset": "llama-2-7b"}, "method": "lora", "target": {"tokens_b": 0.1}}}


async def test_an_answer_that_could_not_be_stored_is_a_503_and_is_asked_anew(tmp_path, monkeypatch):
    async def stopped(*_, **__):
        statement = "insert"
        raise OperationalError(statement, {}, OSError("stopped"))

    async with service(tmp_path, records()) as client:
        with monkeypatch.context() as broken:
            broken.setattr(recommendations, "store_recommendation", stopped)
            failed = await client.post("/recommend", json=QUESTION)
        assert failed.status_code == 503
        assert failed.headers["content-type"] == "application/problem+json"
        again = await client.post("/recommend", json=QUESTION)
        assert again.status_code == 200
        assert (await client.get(again.headers["location"])).content == again.content
