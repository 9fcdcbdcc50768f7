"""The house rules that no linter knows: what the files beside the code promise, and that it is so."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from app.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
READMES = (ROOT / "README.md", ROOT / "README.zh-CN.md")
PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))
LOCKS = ("build", "main", "test", "dev")


def tracked() -> list[Path]:
    """Every file that git keeps, or would keep once added."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    return dict(re.findall(r"^([a-z0-9.-]+)==([^\s\\;]+)", text, re.MULTILINE))


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def blocks(page: Path) -> list[str]:
    """The fenced command blocks of a page."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [block for language, block in fenced if not language]


class TestMakefile:
    text = (ROOT / "Makefile").read_text()

    def test_help_lists_every_target(self) -> None:
        phony = re.search(r"^\.PHONY: (.*)$", self.text, re.MULTILINE)
        assert phony is not None
        targets = set(re.findall(r"^([a-z-]+):", self.text, re.MULTILINE))
        assert set(phony[1].split()) == targets
        shown = subprocess.run(["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        assert {line.split()[0] for line in shown.splitlines()} == targets
        assert all(len(line.split()) > 1 for line in shown.splitlines())

    def test_the_module_behind_each_target_exists(self) -> None:
        for module in re.findall(r"python -m ([a-z_.]+)", self.text):
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module

    @pytest.mark.parametrize("target", ["run", "test", "bench", "lint", "types", "openapi", "lock", "help"])
    def test_the_promised_target_is_there(self, target: str) -> None:
        assert re.search(rf"^{target}:", self.text, re.MULTILINE)


class TestRequirements:
    def test_every_pin_is_hashed(self) -> None:
        for name in LOCKS:
            text = (ROOT / "requirements" / f"{name}.txt").read_text()
            for entry in re.split(r"\n(?=\S)", text.strip()):
                assert re.match(r"[a-z0-9.-]+==\S+", entry), entry
                assert "--hash=sha256:" in entry, entry

    def test_no_package_is_pinned_twice(self) -> None:
        names = [package for name in LOCKS for package in pins(name)]
        assert len(names) == len(set(names))

    def test_every_declared_dependency_is_locked(self) -> None:
        declared = {
            "build": PROJECT["build-system"]["requires"],
            "main": PROJECT["project"]["dependencies"],
            **PROJECT["project"]["optional-dependencies"],
        }
        for name, wanted in declared.items():
            known = {package for lock in LOCKS[: LOCKS.index(name) + 1] for package in pins(lock)}
            assert {re.split(r"[\[<>=~!]", each)[0] for each in wanted} <= known

    def test_installed_packages_are_the_locked_ones(self) -> None:
        for name in ("main", "test"):
            text = (ROOT / "requirements" / f"{name}.txt").read_text()
            for line in re.findall(r"^([a-z0-9.-]+==.*?) ?\\?$", text, re.MULTILINE):
                wanted = Requirement(line)
                if wanted.marker is None or wanted.marker.evaluate():
                    assert version(wanted.name) in wanted.specifier, wanted


class TestContainer:
    text = (ROOT / "Dockerfile").read_text()

    def test_every_base_is_pinned_to_a_patch_release(self) -> None:
        bases = re.findall(r"^FROM (\S+)", self.text, re.MULTILINE)
        assert bases
        assert all(re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", base) for base in bases)
        assert len(set(bases)) == 1

    def test_it_ends_as_a_user_without_rights(self) -> None:
        users = re.findall(r"^USER (\S+)", self.text, re.MULTILINE)
        assert users
        assert users[-1].isdigit()
        assert int(users[-1]) > 0

    def test_it_installs_by_hash(self) -> None:
        installs = re.findall(r"pip install (.*)$", self.text, re.MULTILINE)
        assert installs
        assert all("--require-hashes" in each or "--no-deps" in each for each in installs)

    def test_what_it_copies_exists_and_is_sent(self) -> None:
        sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
        copied = {name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", self.text, re.MULTILINE) for name in line.split()}
        assert copied == sent
        assert all((ROOT / name).exists() for name in copied)

    def test_it_carries_no_secret(self) -> None:
        assert not re.search(r"(?i)(password|token|secret|api_key)\s*=", self.text)

    def test_it_stops_on_the_signal_the_server_understands_and_tells_its_health(self) -> None:
        assert "STOPSIGNAL SIGTERM" in self.text
        assert "HEALTHCHECK" in self.text
        assert "/readyz" in self.text

    def test_its_settings_exist(self) -> None:
        named = set(re.findall(r"TRAINFARE_([A-Z_]+)=", self.text))
        assert named <= {field.upper() for field in Settings.model_fields}


class TestContinuousIntegration:
    path = ROOT / ".ci" / "run"

    def test_it_is_strict_and_executable(self) -> None:
        assert "set -euo pipefail" in self.path.read_text()
        assert self.path.stat().st_mode & 0o111

    def test_it_demands_postgresql_and_ends_with_the_tests(self) -> None:
        lines = self.path.read_text().strip().splitlines()
        assert "export TRAINFARE_REQUIRE_POSTGRES=1" in lines
        assert lines[-1] == "make test"


class TestTrackedFiles:
    def test_none_names_a_registry_or_a_place_on_some_machine(self) -> None:
        # Written in parts, so that this file does not find itself.
        hosts = ("pypi" + ".org", "python" + "hosted.org", "registry" + ".npmjs", "deb" + ".debian.org")
        places = ("/" + "work/", "/" + "tmp/", "/" + "root/", "/" + "home/")
        allowed = {"docs/operations.md": ("--tmpfs /" + "tmp ",)}
        for path in tracked():
            if path.suffix in {".woff2", ".png", ".ico", ".gz"}:
                continue
            text = path.read_text(encoding="utf-8")
            for phrase in allowed.get(str(path.relative_to(ROOT)), ()):
                text = text.replace(phrase, "")
            for word in (*hosts, *places):
                assert word not in text, f"{path.relative_to(ROOT)} names {word}"

    def test_no_module_has_a_name_that_says_nothing(self) -> None:
        names = {path.stem for path in tracked() if path.suffix == ".py"}
        assert not names & {"utils", "util", "helpers", "helper", "common", "manager", "misc"}

    def test_no_source_file_has_outgrown_its_page(self) -> None:
        longest = 450
        one_form = {ROOT / "app" / "api" / "wire_answer.py"}  # the answer's form, field by field, with each field's meaning
        for path in tracked():
            if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in {"app", "scrapers", "tools"} and path not in one_form:
                assert len(path.read_text().splitlines()) <= longest, path.relative_to(ROOT)


class TestDocuments:
    @pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
    def test_every_link_inside_leads_somewhere(self, page: Path) -> None:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if re.match(r"https?:", target):
                continue
            name, _, anchor = target.partition("#")
            goal = (page.parent / name).resolve() if name else page
            assert goal.exists(), f"{page.name} → {target}"
            assert goal.is_relative_to(ROOT)
            if anchor:
                assert anchor in {slug(heading) for heading in re.findall(r"^#+ (.*)$", goal.read_text(), re.MULTILINE)}, target

    def test_decisions_are_numbered_without_a_gap_and_listed(self) -> None:
        folder = ROOT / "docs" / "adr"
        pages = sorted(folder.glob("[0-9]*.md"))
        assert [page.name[:4] for page in pages] == [f"{number:04d}" for number in range(1, len(pages) + 1)]
        index = (folder / "README.md").read_text()
        for page in pages:
            title = page.read_text().splitlines()[0]
            assert title.startswith(f"# {page.name[:4]} ")
            assert f"| [{page.name[:4]}]({page.name}) | {title[7:]} |" in index

    def test_every_decision_says_why_what_follows_and_what_would_change_it(self) -> None:
        for page in (ROOT / "docs" / "adr").glob("[0-9]*.md"):
            headings = re.findall(r"^## (.*)$", page.read_text(), re.MULTILINE)
            assert headings[:4] == ["Context", "Decision", "Consequences", "What would change our mind"], page.name

    def test_every_setting_is_documented_with_its_default(self) -> None:
        rows = re.findall(r"^\| `TRAINFARE_([A-Z_]+)` \| `([^`]*)` \|", (ROOT / "docs" / "operations.md").read_text(), re.MULTILINE)
        defaults = {name.upper(): str(field.default) for name, field in Settings.model_fields.items()}
        assert {name: text.lower() for name, text in rows} == {name: text.lower() for name, text in defaults.items()}

    def test_the_version_has_its_place_in_the_changelog(self) -> None:
        assert f"## {PROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()

    def test_the_licence_is_the_one_declared(self) -> None:
        assert PROJECT["project"]["license"] == "Apache-2.0"
        text = (ROOT / "LICENSE").read_text()
        assert "Apache License" in text
        assert "END OF TERMS AND CONDITIONS" in text


class TestReadmes:
    def test_both_languages_have_the_same_outline(self) -> None:
        outlines = [[len(marks) for marks in re.findall(r"^(#+) ", page.read_text(), re.MULTILINE)] for page in READMES]
        assert outlines[0] == outlines[1]

    def test_both_languages_show_the_same_commands(self) -> None:
        assert blocks(READMES[0]) == blocks(READMES[1])
        assert blocks(READMES[0])

    def test_both_languages_lead_to_the_same_pages(self) -> None:
        links = [{link for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if not link.startswith("README")} for page in READMES]
        assert links[0] == links[1]

    def test_the_commands_they_name_exist(self) -> None:
        makefile = (ROOT / "Makefile").read_text()
        for page in (*READMES, ROOT / "CONTRIBUTING.md"):
            text = page.read_text()
            for target in re.findall(r"(?:^|`)make ([a-z]+)\b", text, re.MULTILINE):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{page.name}: make {target}"
