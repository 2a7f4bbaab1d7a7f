"""The licence is there, and LICENSES.md has every vendored file and every package with what it states."""

import tomllib

import pytest

from tests import licence_table
from tests.licence_table import FILES, PACKAGES, PAGE, ROOT, VENDOR, VENDORED

LISTED: dict[str, str] = dict(licence_table.rows(PAGE.read_text(), PACKAGES))


def test_the_project_names_its_licence() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (ROOT / "LICENSE").read_text().startswith("BSD 3-Clause License\n\nCopyright")
    assert project["license"] == "BSD-3-Clause"
    assert "[BSD 3-Clause](LICENSE)" in (ROOT / "README.md").read_text()


def test_every_pinned_package_has_a_licence() -> None:
    assert {name: LISTED.get(name, "") for name in licence_table.package_rows({}) if not LISTED.get(name)} == {}


def test_no_package_is_listed_that_is_not_pinned() -> None:
    assert set(LISTED) == set(licence_table.package_rows({}))


def test_the_licences_are_those_that_the_packages_state() -> None:
    stated = {name: licence_table.licence_of(name) for name in LISTED}
    assert {name: text for name, text in stated.items() if text and text != LISTED[name]} == {}


def test_every_vendored_script_and_style_is_listed() -> None:
    files = {str(path.relative_to(VENDOR)) for path in VENDOR.rglob("*") if path.suffix in (".js", ".css")}
    assert files == set(VENDORED)


def test_vendored_files_are_as_they_were_released() -> None:
    listed = PAGE.read_text().partition(FILES)[2].partition("\n\n")[0] + "\n"
    assert FILES + listed == licence_table.table_of_files()


@pytest.mark.parametrize("path", sorted(VENDORED))
def test_a_vendored_file_has_its_licence_next_to_it(path: str) -> None:
    file = VENDOR / path
    assert (file.with_suffix(".LICENSE")).exists() or (file.parent / "LICENSE").exists()
