"""A PostgreSQL server of the test session's own: no network port, no fsync, gone at the end."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

REQUIRED = os.environ.get("TRAINFARE_REQUIRE_POSTGRES") == "1"
MISSING = (
    "NO POSTGRESQL: initdb and pg_ctl are neither in PATH nor in /usr/lib/postgresql/*/bin. "
    "The PostgreSQL half of these tests does NOT run. Install the package postgresql (Debian); "
    "TRAINFARE_REQUIRE_POSTGRES=1 turns this into a failure."
)
_SETTINGS = "-c listen_addresses='' -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c max_connections=60"


@dataclass(frozen=True, slots=True)
class Server:
    """A running server, reached through a socket in ``folder``."""

    folder: Path

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://tester@/{database}?host={self.folder}"

    def create(self, database: str, *, template: str = "template1") -> None:
        self._run("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", database, template)

    def drop(self, database: str) -> None:
        self._run("DROP DATABASE {} WITH (FORCE)", database)

    def _run(self, statement: str, *names: str) -> None:
        with psycopg.connect(f"host={self.folder} user=tester dbname=postgres", autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def find_binaries() -> Path | None:
    """The folder of initdb and pg_ctl: that of the newest version installed, else that in PATH."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name), reverse=True)
    in_path = [Path(found).resolve().parent for name in ("pg_ctl",) if (found := shutil.which(name))]
    return next((folder for folder in (*versions, *in_path) if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@contextmanager
def run_server(binaries: Path) -> Iterator[Server]:
    """Start a server on an empty cluster, stop and delete it at the end. As root it runs as ``nobody``, since PostgreSQL refuses root."""
    user = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="trainfare-pg-"))
    if user:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)

    def call(program: str, *arguments: str) -> None:
        command = [str(binaries / program), *arguments]
        done = subprocess.run(command, user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            message = f"{program} failed: {done.stderr}"
            raise RuntimeError(message)

    data, log = str(folder / "data"), str(folder / "log")
    try:
        call("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        call("pg_ctl", "-D", data, "-l", log, "-w", "-t", "60", "-o", f"{_SETTINGS} -k {folder}", "start")
        try:
            yield Server(folder)
        finally:
            call("pg_ctl", "-D", data, "-w", "-t", "30", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
