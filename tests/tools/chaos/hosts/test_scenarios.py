"""Short forms of what `bin/hosts` shows. They take root on Linux, PostgreSQL, and half a minute each."""

import subprocess
import sys

import pytest

from tests.stack import ROOT
from tools.chaos.hosts.network import Unavailable, check_usable
from tools.chaos.hosts.services import programs

LIMIT = 420.0  # seconds; a scenario ends by itself long before


@pytest.fixture(scope="module", autouse=True)
def usable() -> None:
    try:
        check_usable()
        programs()
    except Unavailable as error:
        pytest.skip(str(error))
    pytest.importorskip("psycopg")


@pytest.mark.long
@pytest.mark.parametrize("scenario", ["vanish", "stall", "redis-lost"])
def test_every_promise_is_kept_in(scenario: str) -> None:
    keeps_every_promise(scenario)


@pytest.mark.long
@pytest.mark.parametrize("deployment", ["units", "containers"])
def test_every_promise_is_kept_with_autoscalers_as(deployment: str) -> None:
    keeps_every_promise("autoscale", "--as", deployment)


def keeps_every_promise(*arguments: str) -> None:
    command = [sys.executable, "-P", "-m", "tools.chaos", "hosts", *arguments, "--short", "--seed", "1"]
    done = subprocess.run(
        ["env", f"PYTHONPATH={ROOT}", *command], cwd=ROOT, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 0, done.stdout + done.stderr
