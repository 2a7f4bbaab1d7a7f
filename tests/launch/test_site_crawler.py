"""The command `site-crawler`: its help, its names, and what it says to wrong ones."""

import subprocess
import sys

import pytest

from crawler import version
from crawler.launch import site_crawler
from crawler.launch.manage import commands

PROMISED = {"crawl", "up", "worker", "list", "show", "report", "diff", "export", "why"}
PROMISED |= {"add", "pause", "resume", "delete", "login-link"}
SLOW = ("django", "msgspec", "redis", "rq")
"""Packages that help must not wait for."""


def run(*arguments: str, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", [site_crawler.PROGRAM, *arguments])
    return site_crawler.main()


def test_help_has_every_command_once(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help", monkeypatch=monkeypatch) == run("admin", monkeypatch=monkeypatch) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    named = [name for line in lines for name in line.strip().partition("  ")[0].split(", ")]
    ours = {name.replace("_", "-") for name in commands()} - site_crawler.HIDDEN
    others = {*site_crawler.LAUNCHED, *site_crawler.OTHER_NAMES, *site_crawler.OF_DJANGO, "admin"}
    assert sorted(named) == sorted(ours | others)
    assert set(named) > PROMISED
    assert all(line.strip().partition("  ")[2].strip() for line in lines)


def test_without_a_command_it_prints_help(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out.startswith("usage: site-crawler COMMAND")


@pytest.mark.parametrize(
    "arguments", [("--help",), ("admin", "--help"), ("--version",), ("report", "--help"), ("up", "--help"), ("man",)]
)
def test_these_import_no_large_package(arguments: tuple[str, ...]) -> None:
    script = (
        f"import sys; sys.argv[1:] = {arguments!r}\n"
        "from crawler.launch import site_crawler\n"
        "try:\n"
        "    site_crawler.main()\n"
        "finally:\n"
        f"    print([name for name in {SLOW!r} if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60).stdout
    assert told.splitlines()[-1] == "[]"


def test_its_version(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version", monkeypatch=monkeypatch) == 0
    assert capsys.readouterr().out == f"{version.described()}\n"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("crwal", "site-crawler has no command 'crwal'. Did you mean crawl? (see site-crawler --help)"),
        ("zzz", "site-crawler has no command 'zzz'. (see site-crawler --help)"),
    ],
)
def test_a_wrong_name(
    typed: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(typed, monkeypatch=monkeypatch) == 2
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["list"], ["status"]),
        (["show", "x"], ["status", "x"]),
        (["login-link", "ann"], ["login-link", "ann"]),
        (["admin", "migrate"], ["migrate"]),
        (["admin", "new-hook", "x"], ["new-hook", "x"]),
    ],
)
def test_a_command_is_that_of_django(typed: list[str], meant: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    ran = list[list[str]]()
    monkeypatch.setattr("crawler.launch.manage.main", ran.append)
    assert run(*typed, monkeypatch=monkeypatch) == 0
    program = "site-crawler admin" if typed[0] == "admin" else "site-crawler"
    assert ran == [[program, *meant]]


def test_what_is_for_operators_is_below_admin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("reconcile", monkeypatch=monkeypatch) == 2
    assert "Did you mean admin reconcile? (see site-crawler --help)" in capsys.readouterr().err


def test_a_command_for_operators_that_there_is_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run("admin", "migrat", monkeypatch=monkeypatch)
    assert ended.value.code == 2
    assert "Did you mean migrate?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "usage"),
    [
        (("list",), "site-crawler list [-h] [--json] [ID]"),
        (("pause", "x"), "site-crawler pause [-h] ID"),
        (("schedule", "list"), "site-crawler schedule list [-h] [--json]"),
        (("admin", "scale"), "site-crawler admin scale [-h] [--json]"),
    ],
)
def test_the_help_of_a_command_has_it_as_it_was_typed(
    typed: tuple[str, ...], usage: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(*typed, "--help", monkeypatch=monkeypatch)
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: {usage}\n")
