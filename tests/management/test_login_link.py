"""`manage.py login-link`."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from crawler.running import announced
from tests.management.calls import exit_code

pytestmark = pytest.mark.django_db


def printed(**options: str) -> str:
    out = StringIO()
    call_command("login_link", stdout=out, **options)
    return out.getvalue().strip()


def test_it_prints_a_link_that_logs_in(client: Client) -> None:
    link = printed(base_url="http://testserver")
    response = client.post(link)
    assert (response.status_code, response["Location"]) == (302, "/")
    assert client.get("/").status_code == 200


def test_it_lets_in_whom_it_is_told_to(client: Client, capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_superuser("root")
    ann = User.objects.create_user("ann", password="forgotten")
    client.post(printed(user="ann", base_url="http://testserver"))
    assert client.session["_auth_user_id"] == str(ann.pk)
    assert exit_code("login_link", "bob") == 1
    assert "no active account 'bob'" in capsys.readouterr().err


def test_it_names_the_address_from_the_settings(settings: Any) -> None:
    settings.CRAWLER_BASE_URL = "https://crawler.example/"
    assert printed().startswith("https://crawler.example/login/")


def test_without_that_setting_it_names_the_address_of_the_bin_up_that_runs(settings: Any, tmp_path: Path) -> None:
    settings.CRAWLER_BASE_URL, settings.DATA_DIR = "", str(tmp_path)
    with announced(tmp_path, "http://127.0.0.1:8123", "redis://", {}):
        assert printed().startswith("http://127.0.0.1:8123/login/")
    assert printed().startswith("http://127.0.0.1:8000/login/")


def test_it_says_what_to_do_when_there_is_nobody_to_let_in(capsys: pytest.CaptureFixture[str]) -> None:
    User.objects.create_user("ann")
    assert exit_code("login_link") == 1
    assert "createsuperuser" in capsys.readouterr().err
