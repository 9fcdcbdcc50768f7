"""Every command that the READMEs show works: those that end are run, and the server that ``make run`` starts is asked what they ask."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.readme import READMES, ROOT, SHOWN

TRAINFARE = str(Path(sys.executable).with_name("trainfare"))
FENCED = re.findall(r"^```(\w*)\n(.*?)^```$", READMES[0].read_text(), re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, block in FENCED if not language for line in block.splitlines()]
ENDING = [command for command in COMMANDS if command.startswith(".venv/bin/trainfare ")]
ASKING = [command for command in COMMANDS if command.startswith("curl ")]
SERVED_AT = "http://127.0.0.1:8000"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """What a server on an empty database says when it is ready; it runs as ``make run`` runs it, on a free port."""
    folder = tmp_path_factory.mktemp("served")
    environment = os.environ | {"TRAINFARE_DATABASE_URL": f"sqlite+aiosqlite:///{folder / 'new' / 'trainfare.db'}", "TRAINFARE_PORT": "0"}
    with (
        (folder / "errors.txt").open("w+") as errors,
        subprocess.Popen([TRAINFARE, "serve"], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        assert process.stdout is not None
        said: list[str] = []
        for line in process.stdout:
            said.append(line.strip())
            if line.startswith("curl "):
                break
        try:
            assert said, (folder / "errors.txt").read_text()
            assert said[-1].startswith("curl "), (folder / "errors.txt").read_text()
            yield said
        finally:
            process.terminate()
            process.wait(timeout=30)


def asked(command: str) -> dict[str, object]:
    """What a curl line gets."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    done = subprocess.run(shlex.split(command), cwd=ROOT, capture_output=True, check=True, timeout=60)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_every_command_is_of_a_kind_that_is_tried() -> None:
    assert set(COMMANDS) == {"make run", "make test", *ENDING, *ASKING}
    assert ENDING
    assert ASKING


@pytest.mark.parametrize("command", ENDING)
def test_the_command_ends_well_and_says_something(command: str, tmp_path: Path) -> None:
    words = [TRAINFARE, *shlex.split(command)[1:]]
    environment = os.environ | {"TRAINFARE_DATABASE_URL": f"sqlite+aiosqlite:///{tmp_path / 'trainfare.db'}"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.strip()


@pytest.mark.parametrize("command", ASKING)
def test_the_curl_line_gets_ranked_plans(command: str, server: list[str]) -> None:
    port = re.search(r"http://127\.0\.0\.1:(\d+)", server[-1])
    assert port is not None
    assert SERVED_AT in command
    plans = asked(command.replace(SERVED_AT, port[0]))["plans"]
    assert isinstance(plans, list)
    assert [plan["rank"] for plan in plans] == list(range(1, 11))


def test_the_line_that_the_server_prints_gets_ranked_plans(server: list[str]) -> None:
    assert asked(server[-1])["plans"]


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_table_shown_is_what_the_command_prints(page: Path) -> None:
    """Headings and ranks; the figures move with the data, and ``make readme`` refreshes them."""
    shown = SHOWN.search(page.read_text())
    assert shown is not None
    done = subprocess.run(
        [TRAINFARE, *shlex.split(shown["command"])[1:]], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    texts = (shown["output"], done.stdout)
    headings = [re.search(r"^ *# +provider.*$", text, re.MULTILINE) for text in texts]
    assert headings[0] is not None
    assert headings[1] is not None
    assert headings[0][0].split() == headings[1][0].split()
    ranks = [re.findall(r"^ *(\d+) \S+/", text, re.MULTILINE) for text in texts]
    assert ranks[0] == ranks[1]
    assert ranks[0]
