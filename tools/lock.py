"""Writes the hash-locked requirement files from pyproject.toml: ``python -m tools.lock [--upgrade]``.

Four files, each holding only what the ones before it do not: ``build`` (the build back-end), ``main`` (the service), ``test``, ``dev``.
Pins are kept unless ``--upgrade`` is given or pyproject.toml no longer allows them. No address of a registry is written: whoever installs
says where from.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "requirements"
OPTIONS = (
    *("--quiet", "--generate-hashes", "--universal", "--python-version", "3.11", "--fork-strategy", "fewest"),
    *("--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header"),
)


def pins(path: Path) -> tuple[str, ...]:
    """Names of the packages that a lock file pins, in the file's order."""
    return tuple(line.partition("==")[0] for line in path.read_text().splitlines() if "==" in line and not line.startswith((" ", "#")))


def resolve(name: str, sources: tuple[str, ...], below: tuple[str, ...], *, upgrade: bool, stdin: str = "") -> None:
    """Writes ``requirements/NAME.txt``, held to the pins of the files ``below`` and without what they already install."""
    command = [
        str(Path(sys.executable).with_name("uv")),
        "pip",
        "compile",
        *OPTIONS,
        *sources,
        "--output-file",
        str(FOLDER / f"{name}.txt"),
    ]
    for lower in below:
        command += ["--constraints", str(FOLDER / f"{lower}.txt")]
        for package in pins(FOLDER / f"{lower}.txt"):
            command += ["--no-emit-package", package]
    subprocess.run([*command, *(["--upgrade"] if upgrade else [])], check=True, cwd=ROOT, input=stdin, text=True)  # noqa: S603 - our own words
    print(f"requirements/{name}.txt: {len(pins(FOLDER / f'{name}.txt'))} packages")


def main(arguments: list[str]) -> int:
    """Locks all four files, the lower ones first."""
    upgrade = "--upgrade" in arguments
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    resolve("build", ("-",), (), upgrade=upgrade, stdin="\n".join(project["build-system"]["requires"]))
    resolve("main", ("pyproject.toml",), (), upgrade=upgrade)
    resolve("test", ("pyproject.toml", "--extra", "test"), ("main",), upgrade=upgrade)
    resolve("dev", ("pyproject.toml", "--extra", "test", "--extra", "dev"), ("main", "test"), upgrade=upgrade)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
