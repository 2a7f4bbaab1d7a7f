"""`manage.py doctor` names what is missing and what to do, and its exit code says whether crawls can be done."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from redis import Redis

from crawler import extras
from crawler.management import doctor
from tests.web.conftest import NOWHERE

pytestmark = pytest.mark.django_db


def findings() -> dict[str, doctor.Finding]:
    """By what they are about."""
    return {found.about: found for found in doctor.findings()}


def test_all_is_well_but_for_workers_that_nobody_has_started(
    real_redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("doctor")
    shown = capsys.readouterr().out
    assert "error" not in shown
    assert "warning workers       no worker listens to crawl and fetch\n" in shown
    assert "Start some: bin/worker -n 2\n" in shown


def test_a_redis_that_does_not_answer_is_an_error(
    settings: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.REDIS_URL = NOWHERE
    with pytest.raises(SystemExit, match="1"):
        call_command("doctor")
    shown = capsys.readouterr().out
    assert "error   Redis" in shown
    assert "Check REDIS_URL and that the server runs." in shown


def test_an_embedded_redis_that_is_not_running_is_none(settings: Any, tmp_path: Path) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/redis.sock?db=0"
    assert findings()["Redis"].level == "note"


def test_a_redis_that_evicts_keys_is_a_warning(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    before = real_redis.config_get("maxmemory-policy")["maxmemory-policy"]
    real_redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert "noeviction" in findings()["Redis"].to_do
    finally:
        real_redis.config_set("maxmemory-policy", before)


def test_a_full_disk_is_a_warning(real_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 10**18)
    assert findings()["data folder"].level == "warning"


def test_an_extra_that_is_missing_comes_with_the_line_to_type(
    real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = extras.Extra("tea", "Tea needs", ("kettle",), ("no_such_module",), "requirements-tea.txt")
    monkeypatch.setattr(extras, "EXTRAS", (missing,))
    found = findings()["tea"]
    assert (found.text, found.to_do) == ("not installed; tea needs it", "pip install -r requirements-tea.txt")


def test_programs_get_an_object_for_each(real_redis: Redis, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor", json=True)
    first, *_ = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["about"], first["level"]) == ("version", "ok")
