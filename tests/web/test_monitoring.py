"""What monitors ask."""

import threading
import time

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client

from crawler.web import monitoring


def test_a_living_process_says_ok_without_a_login(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok")


@pytest.mark.django_db
def test_it_is_ready_when_database_and_redis_answer(client: Client, real_redis: object) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    said = response.json()
    assert said.pop("clock_skew_seconds")["redis"] == pytest.approx(0, abs=2)
    assert said == {
        "ready": True,
        "database": "The database responds.",
        "migrations": "All migrations are applied.",
        "redis": "Redis responds.",
        "clock": "The clocks agree.",
    }


@pytest.mark.django_db
def test_a_clock_that_is_off_is_told_and_the_process_stays_ready(
    client: Client, real_redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + 600)
    response = client.get("/readyz")
    said = response.json()
    assert (response.status_code, said["ready"]) == (200, True)
    assert said["clock"].startswith("This machine's clock is 600.")
    assert said["clock_skew_seconds"]["redis"] == pytest.approx(600, abs=2)


@pytest.mark.django_db
def test_without_redis_it_is_not_ready(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    said = response.json()
    assert (said["ready"], said["database"], said["redis"]) == (
        False,
        "The database responds.",
        "Redis does not respond.",
    )
    assert (said["clock"], said["clock_skew_seconds"]) == ("The clocks were not compared.", {})


@pytest.mark.django_db(transaction=True)
def test_without_a_database_it_is_not_ready(client: Client) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections["default"], "connection", None)  # the open one would go on answering
        patch.setitem(connections["default"].settings_dict, "NAME", "/nowhere/at/all.sqlite3")
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "The database does not respond."


@pytest.mark.django_db
def test_with_a_migration_that_is_missing_it_is_not_ready(
    client: Client, real_redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "_migrated", threading.Event())
    MigrationRecorder.Migration.objects.filter(app="crawler", name__gte="0007").delete()  # with those it replaces
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "manage.py migrate" in response.json()["migrations"]


@pytest.mark.django_db
def test_with_tables_this_version_cannot_upgrade_it_says_which_version_can(
    client: Client, real_redis: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitoring, "_migrated", threading.Event())
    MigrationRecorder.Migration.objects.filter(app="crawler", name__gte="0014").delete()
    MigrationRecorder.Migration.objects.filter(app="crawler", name__contains="squashed").delete()
    response = client.get("/readyz")
    assert response.status_code == 503
    assert "0013_notices, which this version cannot upgrade" in response.json()["migrations"]
