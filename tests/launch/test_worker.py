"""`bin/worker`: RQ's command line, with the settings of `.env`."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from crawler.capabilities.browser.lanes import RENDER
from crawler.core.installation.deployment import GRACE_SETTING, SHORT_GRACE_SECONDS
from crawler.launch.worker import NAMED_BY_HONCHO, command, main, worker_environment
from crawler.worker import Worker
from tests.conftest import free_port
from tests.launch.conftest import environment, link_project

RQ = [sys.executable, "-P", "-m", "rq.cli"]
CLASS = ["-w", "crawler.worker.Worker"]
FORMER_CLASS = "crawler.browser.worker.BrowserWorker"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project folder with a `.env` of its own."""
    link_project(tmp_path)
    return tmp_path


def run(project: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """In a folder that is not the project's, and without settings in the environment."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "crawler.launch.worker", *arguments],
        cwd=os.sep,
        env={**without_settings(), "PYTHONPATH": str(project), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def without_settings() -> dict[str, str]:
    ours = ("CRAWLER_", "REDIS_", "RQ_", "DATABASE_", "DJANGO_")
    return {name: value for name, value in environment().items() if not name.startswith(ours)}


@pytest.mark.parametrize(
    "arguments", [pytest.param((), id="a worker"), pytest.param(("-n", "2"), id="a pool", marks=pytest.mark.long)]
)
def test_it_reads_the_env_file(project: Path, arguments: tuple[str, ...]) -> None:
    port = free_port()
    (project / ".env").write_text(
        f"REDIS_URL=redis://127.0.0.1:{port}/3\nCRAWLER_STARTUP_TIMEOUT=0\nCRAWLER_DATA_DIR={project}/data\n"
    )
    ended = run(project, *arguments)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"Redis at redis://127.0.0.1:{port}/3 is not ready after 0 s: Connection refused.")
    assert ended.stderr.count("\n") == 1


def test_a_setting_that_cannot_be_used_is_one_line(project: Path) -> None:
    ended = run(project, CRAWLER_STARTUP_TIMEOUT="soon", CRAWLER_DATA_DIR=str(project / "data"))
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "CRAWLER_STARTUP_TIMEOUT is 'soon'; it must be a number" in ended.stderr


def test_so_is_a_hook_that_cannot_be_imported(project: Path) -> None:
    ended = run(project, CRAWLER_HOOKS="no_such_module.Prices", CRAWLER_DATA_DIR=str(project / "data"))
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert ended.stderr.startswith("CRAWLER_HOOKS has 'no_such_module.Prices', which cannot be imported")


def test_one_is_a_worker_and_several_are_a_pool() -> None:
    assert command(1) == [*RQ, "worker", "--quiet", *CLASS, "crawl", "fetch"]
    assert command(4) == [*RQ, "worker-pool", "--num-workers", "4", "--quiet", *CLASS, "crawl", "fetch"]


def test_so_does_one_for_pages_in_a_browser() -> None:
    assert command(1, lane=RENDER) == [*RQ, "worker", "--quiet", *CLASS, "render"]
    pool = ["worker-pool", "--num-workers", "2", "--quiet"]
    assert command(2, ["--burst"], lane=RENDER) == [*RQ, *pool, *CLASS, "--burst", "render"]


@pytest.mark.parametrize(
    ("arguments", "queues"),
    [([], ["crawl", "fetch"]), (["--render"], ["render"]), (["--render", "-n", "2", "-v"], ["render"])],
)
def test_the_option_decides_what_is_executed(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], queues: list[str]
) -> None:
    monkeypatch.setattr(os, "execve", lambda program, line, variables: executed.extend(line))
    executed: list[str] = []
    main(arguments)
    assert executed[-len(queues) :] == queues
    assert ("worker-pool" in executed, "--verbose" in executed) == ("-n" in arguments, "-v" in arguments)


def test_pages_in_a_browser_and_scrapy_are_different_workers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--render", "--scrapy"])
    assert ended.value.code == 2
    assert "not allowed with argument --render" in capsys.readouterr().err


def test_the_former_class_for_pages_in_a_browser_is_there() -> None:
    module, _, name = FORMER_CLASS.rpartition(".")
    assert issubclass(getattr(import_module(module), name), Worker)


def test_further_arguments_go_to_rq() -> None:
    told = command(1, ["--burst", "--name", "one"], is_verbose=True)
    assert told == [*RQ, "worker", "--verbose", *CLASS, "--burst", "--name", "one", "crawl", "fetch"]


@pytest.mark.parametrize("number", ["0", "-1", "many"])
def test_wrong_usage_ends_with_2(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["-n", number])
    assert ended.value.code == 2
    assert "Argument -n" in capsys.readouterr().err


def test_under_honcho_which_kills_soon_its_pages_are_given_up_soon() -> None:
    by_honcho = {NAMED_BY_HONCHO: "worker.1"}
    assert float(worker_environment(by_honcho)[GRACE_SETTING]) == SHORT_GRACE_SECONDS
    assert worker_environment({**by_honcho, GRACE_SETTING: "1"})[GRACE_SETTING] == "1"
    assert GRACE_SETTING not in worker_environment({})
