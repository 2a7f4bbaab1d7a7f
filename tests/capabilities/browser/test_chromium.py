"""Where Chromium is found, and what is said if it cannot be used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import playwright
import pytest

from crawler.capabilities.browser import chromium
from crawler.capabilities.browser.chromium import BrowserMissing, explain_failure, installed, is_sandboxed, require

ROOT = Path(__file__).resolve().parents[3]


def program_in(folder: Path, name: str, script: str = "exit 0") -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def forget_sandboxes() -> None:
    is_sandboxed.cache_clear()


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(chromium, "_MAC_OS", ())
    return tmp_path


def test_the_named_program_comes_before_the_path_and_that_before_the_downloaded_one(
    empty_path: Path, settings: object
) -> None:
    downloaded = program_in(empty_path, "downloaded")
    assert require(str(downloaded)) == downloaded
    on_path = program_in(empty_path, "chromium")
    assert require(str(downloaded)) == on_path
    settings.CRAWLER_CHROMIUM = sys.executable  # type: ignore[attr-defined]  # pytest-django's wrapper has no types
    assert require(str(downloaded)) == Path(sys.executable)


def test_a_headless_shell_comes_before_a_browser_with_windows(empty_path: Path) -> None:
    program_in(empty_path, "chromium")
    shell = program_in(empty_path, "chromium-headless-shell")
    assert installed() == shell


def test_what_playwright_switches_off_stays_off() -> None:
    switches = Path(playwright.__file__).parent / "driver/package/lib/server/electron/loader.js"
    found = re.search(r"var disabledFeatures = \[(.*?)\]", switches.read_text(), re.DOTALL)
    assert found is not None
    theirs = set(re.findall(r'^  "(\w+)"', found[1], re.MULTILINE))
    assert theirs
    assert theirs <= set(chromium.FEATURES_OFF)


def test_without_any_the_message_says_how_to_install_one(empty_path: Path) -> None:
    assert installed() is None
    with pytest.raises(BrowserMissing, match=r"apt install chromium.*brew install.*dnf install.*CRAWLER_CHROMIUM"):
        require(str(empty_path / "none"))


AS_ROOT = "ERROR:zygote_host_impl_linux.cc(100)] Running as root without --no-sandbox is not supported."


@pytest.mark.parametrize(
    ("user", "script", "expected"),
    [
        (1000, f"echo '{AS_ROOT}' >&2; exit 1", True),  # any user but root has the sandbox, or no browser
        (0, f"echo '{AS_ROOT}' >&2; exit 1", False),
        (0, "exit 0", True),
    ],
)
def test_the_sandbox_is_off_only_where_chromium_refuses_it_to_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, script: str, expected: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert is_sandboxed(program_in(tmp_path, "chromium", script)) is expected


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "x\n  - [pid=7][err] FATAL:zygote_host_impl_linux.cc] No usable sandbox! Update your kernel",
            "user namespaces",
        ),
        ("x\n  - [pid=7][err] libnss3.so: cannot open\n  - [pid=7] <gracefully close>", ": libnss3.so: cannot open"),
        ("Executable doesn't exist", ": Executable doesn't exist"),
        ("", "no reason given"),
    ],
)
def test_a_chromium_that_does_not_start_is_explained_in_one_line(said: str, expected: str) -> None:
    line = explain_failure(said)
    assert expected in line
    assert "\n" not in line


def test_chromium_gets_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "secret")
    assert set(chromium.environment()) <= set(chromium._PASSED_ON)


def test_the_project_works_without_playwright_and_names_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['playwright'] = None\n"
        "import django; django.setup()\n"
        "from crawler.capabilities.browser import renderer\n"
        "try: renderer.Renderer()\n"
        "except renderer.BrowserMissing as error: print(error)"
    )
    env = {**os.environ, "DJANGO_SETTINGS_MODULE": "crawler.settings.test"}
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=ROOT, check=True)
    assert "pip install -r requirements-browser.txt" in told.stdout


def test_the_tests_use_the_playwright_that_renders_pages() -> None:
    pinned = [line for line in (ROOT / "requirements-browser.txt").read_text().splitlines() if "==" in line]
    assert set(pinned) <= set((ROOT / "requirements-dev.txt").read_text().splitlines())
