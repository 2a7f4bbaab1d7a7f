"""The table of extras is that of pyproject.toml, and what it says can be typed."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from crawler import extras
from crawler.extras import ALL, EXTRAS, Extra
from tests.missing import leave_out
from tests.stack import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL: dict[str, list[str]] = PROJECT["optional-dependencies"]
NOT_FOR_USERS = {ALL, "dev"}

each_extra = pytest.mark.parametrize("extra", EXTRAS, ids=lambda extra: extra.name)


def named(requirement: str) -> str:
    """A requirement without its versions, and without its condition."""
    parsed = Requirement(requirement)
    wanted = f"[{','.join(sorted(parsed.extras))}]" if parsed.extras else ""
    return f"{parsed.name}{wanted}"


def test_the_packages_of_each_extra_are_those_of_the_project() -> None:
    stated = {name: tuple(map(named, packages)) for name, packages in OPTIONAL.items() if name not in NOT_FOR_USERS}
    assert {extra.name: extra.packages for extra in EXTRAS} == stated


def test_there_is_an_extra_with_all_of_them() -> None:
    assert named(OPTIONAL[ALL][0]) == f"site-crawler[{','.join(sorted(extra.name for extra in EXTRAS))}]"


def test_no_package_of_an_extra_is_installed_without_it() -> None:
    base = {Requirement(package).name for package in PROJECT["dependencies"]}
    assert base.isdisjoint({Requirement(package).name for extra in EXTRAS for package in extra.packages})


@each_extra
def test_where_pip_installed_the_crawler_it_is_added_by_its_name(extra: Extra, tmp_path: Path) -> None:
    assert extra.install_line(tmp_path) == f'pip install "site-crawler[{extra.name}]"'


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("pipx_metadata.json", 'pipx install --force "site-crawler[xlsx]"'),
        ("uv-receipt.toml", 'uv tool install "site-crawler[xlsx]"'),
        ("pyvenv.cfg", 'pip install "site-crawler[xlsx]"'),
    ],
)
def test_it_is_added_by_the_program_that_made_the_environment(file: str, line: str, tmp_path: Path) -> None:
    (tmp_path / file).touch()
    assert extras.XLSX.install_line(tmp_path, tmp_path) == line


def test_uvx_is_given_it_in_the_next_call(tmp_path: Path) -> None:
    line = extras.XLSX.install_line(tmp_path, tmp_path / "archive-v0" / "rYGAVFsuIzZ4nt8Z")
    assert line == 'uvx --from "site-crawler[xlsx]" site-crawler'


@each_extra
def test_a_clone_has_it_pinned_in_the_file_that_is_named(extra: Extra) -> None:
    named_file = re.fullmatch(r"pip install (?:-r (?P<file>\S+)|(?P<package>\S+))", extra.install_line())
    assert named_file
    if named_file["package"]:
        assert named_file["package"].strip('"') == extra.packages[0]
        return
    pinned = re.findall(r"(?m)^([\w.-]+)==", (ROOT / named_file["file"]).read_text())
    assert {Requirement(package).name.lower() for package in extra.packages} <= {name.lower() for name in pinned}


@each_extra
def test_a_missing_one_is_said_in_one_sentence(extra: Extra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    package = extra.packages[0].partition("[")[0]
    assert re.fullmatch(rf"[A-Z].* needs? {package}, which is not installed: pip install \S.*[^.]", extra.missing)


def test_it_is_missing_once_its_modules_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert extras.XLSX.missing == ""
    leave_out(monkeypatch, extras.XLSX)
    assert not extras.XLSX.is_installed
    assert "xlsxwriter" in sys.modules
