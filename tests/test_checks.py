"""`manage.py check --deploy` under the production settings, with what the documentation says to set and without it."""

import os
import re
import subprocess
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path

import pytest
from django.conf import LazySettings
from redis import Redis

from crawler import checks
from crawler.frontier.keys import UNNAMED_PROXY
from tests.stack import ROOT

TEXT = (ROOT / "docs" / "deployment.md").read_text()


def documented() -> dict[str, str]:
    """The settings of docs/deployment.md, filled in."""
    given = dict(re.findall(r"^ {4}([A-Z_]+)=(\S+)$", TEXT.partition("In `/etc/crawler.env`")[2], re.MULTILINE))
    secret = "0123456789abcdef" * 4
    return {name: re.sub(r"SECRET_\d|PASSWORD_\d", secret, value) for name, value in given.items()}


CHECK = ("manage.py", "check", "--deploy", "--fail-level", "WARNING")
OF_THE_PLACE = (*CHECK, "--tag", "security")  # the others load every page, and have nothing to do with where it runs


def run(command: Sequence[str], python: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **documented(), "CRAWLER_DATA_DIR": str(folder), **settings}
    environment["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"  # its driver is no part of this
    environment.pop("CRAWLER_CONTENT_STORAGE", None)
    return subprocess.run([python, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_with_what_is_documented_there_is_nothing_to_say(python: str, tmp_path: Path) -> None:
    said = run(CHECK, python, tmp_path)
    assert (said.returncode, said.stderr, "no issues" in said.stdout) == (0, "", True)


def test_what_is_wrong_is_told_by_its_number(python: str, tmp_path: Path, real_redis: Redis, redis_url: str) -> None:
    """Settings, a proxy that forwards and is not trusted, and a clock that is off."""
    real_redis.set(UNNAMED_PROXY, "172.18.0.1")
    guarded = redis_url.replace("redis://", "redis://default:whatever@")  # which a Redis without a password takes
    given = {"REDIS_URL": guarded, "ALLOWED_HOSTS": "*", "CRAWLER_LOGIN_TRIES": "0"}
    skew = {"PYTHONPATH": str(ROOT / "tests" / "skewed"), "TESTS_CLOCK_AHEAD": "600"}
    said = run(OF_THE_PLACE, python, tmp_path, **given, **skew)
    assert said.returncode == 1
    assert re.findall(r"crawler\.([EW]\d+)", said.stderr) == ["E002", "W010", "W011", "W012"]
    assert "600." in said.stderr
    assert "by NTP" in said.stderr


@pytest.mark.parametrize(("trusted", "is_told"), [("127.0.0.1", True), ("172.18.0.0/16", False)])
def test_a_proxy_that_is_trusted_is_not_told(
    real_redis: Redis, settings: LazySettings, trusted: str, is_told: bool
) -> None:
    real_redis.set(UNNAMED_PROXY, "172.18.0.1")
    settings.CRAWLER_TRUSTED_PROXIES = [ip_network(trusted)]
    assert ("crawler.W012" in {message.id for message in checks.deployment()}) is is_told


IN_PRODUCTION = """
import django
from django.conf import settings
from django.http import HttpRequest, HttpResponse

django.setup()

from types import SimpleNamespace
from crawler.web.account.login import remembered

print(settings.SESSION_COOKIE_NAME, settings.SESSION_COOKIE_SECURE)
print(settings.CSRF_COOKIE_NAME, settings.CSRF_COOKIE_SECURE)
answer = remembered(HttpRequest(), HttpResponse(), SimpleNamespace(get_username=lambda: "ann"))
[(name, cookie)] = answer.cookies.items()
print(name, cookie["secure"])
for name in ("ACTIVE_CRAWLS", "PAGES_A_DAY", "STORED_PAGES", "STORED_MB", "LIST_MB"):
    print(getattr(settings, f"CRAWLER_{name}"))
"""


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ({}, [20, 1_000_000, 5_000_000, 50_000, 1000]),
        ({"CRAWLER_ACTIVE_CRAWLS": "0", "CRAWLER_STORED_MB": "7"}, [0, 1_000_000, 5_000_000, 7, 1000]),
    ],
    ids=["defaults", "chosen"],
)
def test_production_has_quotas_and_cookies_that_no_neighbour_can_set(
    python: str, tmp_path: Path, given: dict[str, str], limits: list[int]
) -> None:
    """Cookies go by HTTPS alone; a quota of zero is switched off."""
    said = run(["-c", IN_PRODUCTION], python, tmp_path, **given)
    *cookies, _, _, _, _, _ = lines = said.stdout.splitlines()
    assert cookies == [f"__Host-{name} True" for name in ("sessionid", "csrftoken", "known-browser")], said.stderr
    assert [float(line) for line in lines[-5:]] == limits


def test_without_a_password_for_redis_production_does_not_start(python: str, tmp_path: Path) -> None:
    said = run(OF_THE_PLACE, python, tmp_path, REDIS_URL="redis://127.0.0.1:6379/0")
    assert said.returncode == 1
    assert said.stderr.startswith("REDIS_URL has no password")
    assert "Traceback" not in said.stderr


def test_production_does_not_start_with_the_embedded_redis(python: str, tmp_path: Path) -> None:
    said = run(OF_THE_PLACE, python, tmp_path, REDIS_URL="")
    assert said.returncode == 1
    assert said.stderr.startswith("REDIS_URL is not set. Production requires it")
