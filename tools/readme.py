"""Writes what a recommendation prints into both READMEs: ``python -m tools.readme``, or ``make readme``.

The first ``text`` block of each README holds the output of the command that stands above it.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
SHOWN = re.compile(
    r"^```\n(?P<command>\.venv/bin/trainfare recommend [^\n]*)\n```\n\n```text\n(?P<output>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


def printed(command: str) -> str:
    """What a command of the README prints, without blanks at the ends of lines."""
    words = shlex.split(command)
    words[0] = str(Path(sys.executable).with_name(Path(words[0]).name))
    output = subprocess.run(words, check=True, cwd=ROOT, capture_output=True, text=True).stdout  # noqa: S603 - the README's own command
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def main() -> int:
    """Refreshes both pages; 1 when a page has no ``text`` block under a recommend command."""
    for page in READMES:
        text = page.read_text(encoding="utf-8")
        found = SHOWN.search(text)
        if found is None:
            print(f"{page.name}: no output block under a recommend command", file=sys.stderr)
            return 1
        page.write_text(text[: found.start("output")] + printed(found["command"]) + text[found.end("output") :], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
