"""What monitors ask."""

from __future__ import annotations

import pytest
from django.db import connections
from django.test import Client


def test_a_living_process_says_ok_without_a_login(client: Client) -> None:
    response = client.get("/healthz")
    assert (response.status_code, response.content) == (200, b"ok")


@pytest.mark.django_db
def test_it_is_ready_when_database_and_redis_answer(client: Client, real_redis: object) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json() == {"ready": True, "database": "The database answers.", "redis": "Redis answers."}


@pytest.mark.django_db
def test_without_redis_it_is_not_ready(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json() == {"ready": False, "database": "The database answers.", "redis": "Redis does not answer."}


@pytest.mark.django_db(transaction=True)
def test_without_a_database_it_is_not_ready(client: Client) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connections["default"], "connection", None)  # the open one would go on answering
        patch.setitem(connections["default"].settings_dict, "NAME", "/nowhere/at/all.sqlite3")
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["database"] == "The database does not answer."
