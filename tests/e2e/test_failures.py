"""A wrong setting, database or port is one line and exit status 2, never a traceback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest


def run(*command, **settings):
    environment = {**os.environ, **settings}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *command], env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "setting",
    [
        {"TRAINFARE_PORT": "abc"},
        {"TRAINFARE_EMBEDDED_DATA": "maybe"},
        {"TRAINFARE_DATABASE_URL": "nonsense"},
        {"TRAINFARE_DATABASE_URL": "mysql://x/y"},
        {"TRAINFARE_DATABASE_URL": "sqlite+aiosqlite:////proc/x/x.db"},
        {"TRAINFARE_DATABASE_URL": "postgresql+psycopg://nobody@127.0.0.1:1/x"},
    ],
    ids=str,
)
def test_a_wrong_setting_is_one_line(setting):
    done = run("migrate", **setting)
    assert done.returncode == 2
    assert done.stderr.startswith("trainfare: ")
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_damaged_database_file_is_one_line(tmp_path):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database" * 100)
    done = run("migrate", TRAINFARE_DATABASE_URL=f"sqlite+aiosqlite:///{broken}")
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_port_in_use_says_which_setting_to_change(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("serve", "--port", port, TRAINFARE_DATABASE_URL=f"sqlite+aiosqlite:///{tmp_path / 'x.db'}")
    assert done.returncode == 2
    assert "TRAINFARE_PORT" in done.stderr
    assert "Traceback" not in done.stderr
