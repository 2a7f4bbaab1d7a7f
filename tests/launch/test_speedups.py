"""The page reader is compiled where that is possible; elsewhere pages are read without it, and the set-up says why."""

import subprocess
import sys
from pathlib import Path

import pytest

from crawler.launch import speedups
from tests.compiled import ROOT, SOURCE, extension


def test_where_there_is_a_compiler_it_can_be_imported(tmp_path: Path) -> None:
    if isinstance(why := extension(), str):
        pytest.skip(why)
    made = speedups.build(SOURCE, tmp_path)
    code = "import crawler_speedups as c; print(c.Scanner((), *range(9)).scan(b'<p>words')[5])"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(tmp_path)}, capture_output=True, check=True
    )
    assert (done.stdout, [made]) == (b"b'words'\n", list(tmp_path.iterdir()))


def test_without_a_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(speedups.CannotBuild, match="no C compiler"):
        speedups.build(SOURCE, tmp_path)


def test_without_headers_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(speedups.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(speedups.CannotBuild, match="python3-dev"):
        speedups.headers()


@pytest.mark.long
def test_what_does_not_compile_leaves_nothing_behind(tmp_path: Path) -> None:
    if isinstance(why := extension(), str):
        pytest.skip(why)
    source = tmp_path / "wrong.c"
    source.write_text("#error wrong\n")
    folder = tmp_path / "packages"
    folder.mkdir()
    with pytest.raises(speedups.CannotBuild, match="could not be compiled"):
        speedups.build(source, folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("is_possible", [True, False])
def test_the_set_up_says_how_pages_are_read(
    is_possible: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def build(source: Path, folder: Path) -> Path:
        assert (source, folder) == (SOURCE, tmp_path)
        if not is_possible:
            raise speedups.CannotBuild("there is no C compiler")
        return speedups.file_in(folder)

    earlier = speedups.file_in(tmp_path)
    earlier.touch()
    monkeypatch.setattr(sys, "argv", ["speedups.py", str(ROOT)])
    monkeypatch.setattr(speedups.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(speedups, "build", build)
    assert speedups.main() == 0
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert ("without the compiled reader: there is no C compiler" in said) is not is_possible
    assert not earlier.exists()
