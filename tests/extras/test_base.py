"""Without any extra, as after `pip install site-crawler`, the whole project loads and its commands work."""

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from crawler import extras
from crawler.core.errors import BadInput
from crawler.extras import EXTRAS
from crawler.launch import up
from crawler.management.parsers import parser_of
from tests.conftest import free_port
from tests.missing import leave_out
from tests.stack import ROOT

WITHOUT = f"import sys\nsys.modules.update(dict.fromkeys({[name for extra in EXTRAS for name in extra.modules]}))\n"


def without_extras(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it where no extra can be imported."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "crawler.settings.test", **variables}
    command = [sys.executable, "-c", WITHOUT + code]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_apps_addresses_admin_commands_and_jobs_load() -> None:
    code = """
import django
django.setup()
from django.core.management import call_command, get_commands, load_command_class
from importlib import import_module
for name in ("settings.urls", "jobs", "worker", "launch.up", "launch.crawl", "launch.worker", "launch.web_worker"):
    import_module(f"crawler.{name}")
for name, app in get_commands().items():
    if app == "crawler":
        load_command_class(app, name)
call_command("check", fail_level="WARNING")
from django.contrib import admin
print(len(admin.site._registry) > 0)
"""
    ended = without_extras(code)
    assert (ended.stdout.splitlines()[-1], ended.returncode) == ("True", 0), ended.stderr


@pytest.mark.parametrize("modules", ["crawler.settings.urls", "crawler.launch.forked_worker, crawler.fetcher.loop"])
def test_nothing_of_an_extra_is_loaded_before_it_is_wanted(modules: str) -> None:
    code = f"import sys, django; django.setup(); import {modules}; print(*sys.modules)"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "crawler.settings.test"}
    command = [sys.executable, "-c", code]
    loaded = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout
    of_extras = {name for extra in EXTRAS for name in extra.modules}
    by_others = {"lxml", "opentelemetry"}  # BeautifulSoup and redis-py load them where they are
    assert of_extras & set(loaded.split()) <= by_others


def test_rqs_dashboard_says_what_to_install_when_it_is_started() -> None:
    code = "import runpy\nrunpy.run_module('crawler.launch.rq_dashboard', run_name='__main__')\n"
    ended = without_extras(code)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("RQ's dashboard needs rq-dashboard, which is not installed: pip install ")
    assert ended.stderr.count("\n") == 1


def test_up_starts_everything_but_the_dashboard_and_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    leave_out(monkeypatch, extras.DASHBOARD)
    options = parser_of("up", "bin/up").parse_args([])
    up._choose_dashboard(options)
    assert up._commands().keys() >= {"web", "worker", "clock"}
    assert "dashboard" not in up._commands()
    assert up._dashboard(options, tmp_path) == f"not installed ({extras.DASHBOARD.install_line()})"


def test_up_refuses_a_port_for_a_dashboard_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, extras.DASHBOARD)
    with pytest.raises(BadInput) as refused:
        up._choose_dashboard(Namespace(dashboard_port=free_port()))
    assert str(refused.value) == extras.DASHBOARD.missing


@pytest.mark.parametrize(
    ("name", "value", "extra"),
    [
        ("DATABASE_URL", "postgres://user:secret@127.0.0.1/name", extras.POSTGRES),
        ("CRAWLER_CONTENT_STORAGE", "s3://bucket", extras.S3),
        ("CRAWLER_ALLAUTH", "on", extras.AUTH),
        ("CRAWLER_HTTP_CLIENT", "curl", extras.CURL),
    ],
)
def test_a_setting_that_needs_one_stops_each_start_in_one_line(
    tmp_path: Path, name: str, value: str, extra: extras.Extra
) -> None:
    code = "from crawler.launch.manage import main\nmain(['manage.py', 'status'])\n"
    variables = {"DJANGO_SETTINGS_MODULE": "crawler.settings.development", "CRAWLER_DATA_DIR": str(tmp_path)}
    ended = without_extras(code, **variables, **{name: value})
    assert (ended.returncode, ended.stdout) != (0, "")
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.rstrip("\n").endswith(extra.install_line())
