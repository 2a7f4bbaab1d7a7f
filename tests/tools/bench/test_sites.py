"""Where the manuals come from."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.bench import sites
from tools.bench.services import Unavailable
from tools.bench.sites import MANUALS, Manual

MANUAL = Manual("small", "small manual", "small-doc", "usr/share/doc/small-doc/html")
COPIES = "#!/bin/sh\ncp {package} small-doc_1_all.deb\n"
FAILS = "#!/bin/sh\necho 'E: Unable to locate package small-doc' >&2\nexit 100\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package with a manual of one page."""
    if shutil.which("dpkg-deb") is None:
        pytest.skip("there is no dpkg-deb here")
    tree = tmp_path / "tree"
    (tree / MANUAL.place).mkdir(parents=True)
    (tree / MANUAL.place / "index.html").write_text("<title>Small</title>")
    (tree / "DEBIAN").mkdir()
    control = "Package: small-doc\nVersion: 1\nArchitecture: all\nMaintainer: a@example.org\nDescription: small\n"
    (tree / "DEBIAN" / "control").write_text(control)
    sites._run(["dpkg-deb", "-b", str(tree), "small.deb"], tmp_path)
    return tmp_path / "small.deb"


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of an `apt-get` that is found before the system's."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "apt-get").touch(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder / "apt-get"


def test_a_manual_is_fetched_once(tmp_path: Path, package: Path, apt: Path) -> None:
    apt.write_text(COPIES.format(package=package))
    root = sites.unpacked(MANUAL, tmp_path / "sites")

    assert (root / "index.html").read_text() == "<title>Small</title>"
    assert [entry.name for entry in (tmp_path / "sites").iterdir()] == ["small-doc"]
    apt.write_text(FAILS)
    assert sites.unpacked(MANUAL, tmp_path / "sites") == root


def test_what_apt_says_is_told(tmp_path: Path, apt: Path) -> None:
    apt.write_text(FAILS)
    with pytest.raises(Unavailable, match="apt-get failed: E: Unable to locate package small-doc"):
        sites.unpacked(MANUAL, tmp_path / "sites")


def test_where_there_is_no_apt_that_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="there is no apt here"):
        sites.unpacked(MANUAL, tmp_path / "sites")


def test_half_a_package_is_no_manual(tmp_path: Path, package: Path, apt: Path) -> None:
    apt.write_text(f"#!/bin/sh\nhead -c 300 {package} >small-doc_1_all.deb\n")
    with pytest.raises(Unavailable, match="dpkg-deb failed"):
        sites.unpacked(MANUAL, tmp_path / "sites")
    assert sites.root_in(tmp_path / "sites", MANUAL) is None
    assert list((tmp_path / "sites").iterdir()) == []


def test_a_manual_is_found_in_whichever_folder_its_package_was_unpacked(tmp_path: Path) -> None:
    for manual in MANUALS:
        place = tmp_path / f"{manual.name}-by-hand" / manual.place
        place.mkdir(parents=True)
        (place / "index.html").touch()
        assert sites.root_in(tmp_path, manual) == place.resolve()
