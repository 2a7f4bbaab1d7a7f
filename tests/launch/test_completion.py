"""What shells complete: real ones are typed into, where they are installed."""

import os
import pty
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from crawler.launch import completion, site_crawler
from crawler.launch.completion import SHELLS
from crawler.management.parsers import table

PATIENCE_S = 30.0
INTERACTIVE = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}
SET_UP = {
    "bash": "source {folder}/_site-crawler",
    "zsh": "fpath=({folder} $fpath); autoload -Uz compinit; compinit -D -u",
}
TYPED = [
    ("site-crawler cra", "site-crawler crawl "),
    ("site-crawler crawl --max-de", "--max-depth"),
    ("site-crawler crawl --externals ch", "--externals check "),
    ("site-crawler crawl --list u", "--list urls.txt "),
    ("site-crawler list --js", "--json"),
    ("site-crawler admin rel", "admin release-trap "),
    ("site-crawler completion fi", "completion fish "),
]


def needed(shell: str) -> str:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    return program


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path, shell: str) -> Path:
    (tmp_path / "_site-crawler").write_text(completion.script(shell))
    (tmp_path / "urls.txt").touch()
    return tmp_path


def test_it_has_every_command_and_every_option(shell: str) -> None:
    words = completion.script(shell)
    commands = {*table()["commands"], *site_crawler.OTHER_NAMES, *site_crawler.OF_DJANGO, "admin"}
    flags = [argument["flags"] for group in table()["commands"]["crawl"]["groups"] for argument in group["arguments"]]
    wanted = commands | {flag.lstrip("-") for found in flags for flag in found if flag.startswith("-")}
    assert [word for word in sorted(wanted) if word not in words] == []


def test_the_shell_can_read_it(shell: str, folder: Path) -> None:
    subprocess.run([needed(shell), "-n", folder / "_site-crawler"], check=True, timeout=60)


@pytest.mark.parametrize(("typed", "completed"), TYPED)
def test_what_a_user_types_is_completed(shell: str, folder: Path, typed: str, completed: str) -> None:
    needed(shell)
    if shell == "fish":
        script = f'source _site-crawler; complete -C "{typed}"'
        told = subprocess.run(
            ["fish", "-c", script], cwd=folder, capture_output=True, text=True, check=True, timeout=60
        )
        assert [line.split("\t")[0] for line in told.stdout.splitlines()] == [completed.rsplit(maxsplit=1)[-1]]
    else:
        assert completed in screen(shell, folder, typed, completed)


def screen(shell: str, folder: Path, typed: str, awaited: str) -> str:
    """What a terminal shows after TAB, as soon as it has what is awaited."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execve(  # noqa: S606 (the shell itself is tested)
            shutil.which(shell) or shell, [shell, *INTERACTIVE[shell]], {"TERM": "dumb", "PATH": os.environ["PATH"]}
        )
    try:
        os.write(terminal, f"{SET_UP[shell].format(folder=folder)}; echo READ''Y\n".encode())
        until(terminal, "READY\r\n")
        os.write(terminal, f"{typed}\t".encode())
        return until(terminal, awaited)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)


def until(terminal: int, awaited: str) -> str:
    seen, deadline = "", time.monotonic() + PATIENCE_S
    while awaited not in seen and time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 4096).decode(errors="replace")
    return seen
