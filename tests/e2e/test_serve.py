"""``trainfare serve`` on an empty folder: it migrates, loads the shipped data, and prints a line that works."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest


@pytest.fixture(scope="module")
def curl_line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("serve")
    environment = {**os.environ, "TRAINFARE_DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'served.db'}", "TRAINFARE_PORT": "0"}
    with subprocess.Popen([sys.executable, "-m", "app.cli", "serve"], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        yield next(line for line in process.stdout if line.startswith("curl "))
        process.terminate()
        process.wait(timeout=30)


def test_the_printed_line_gets_a_recommendation(curl_line: str) -> None:
    words = shlex.split(curl_line)
    url, body = next(word for word in words if word.startswith("http://")), words[-1]
    answer = httpx.post(url, content=body, headers={"Content-Type": "application/json"}, timeout=60)
    assert answer.json()["plans"]


def test_the_served_process_is_ready(curl_line: str) -> None:
    address = next(word for word in shlex.split(curl_line) if word.startswith("http://")).removesuffix("/recommend")
    assert httpx.get(f"{address}/readyz", timeout=30).json()["offers"] > 3000
