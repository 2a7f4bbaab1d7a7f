"""Choosing a password by an invitation."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.accounts.login_links import invite, link_for

NEW = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}


@pytest.fixture
def link(db: None) -> str:
    return link_for(invite("ann@example.com"), "http://testserver")


def test_one_chooses_a_password_and_is_in(client: Client, link: str) -> None:
    assert "ann@example.com" in client.get(link).content.decode()
    assert client.post(link, NEW)["Location"] == "/"
    assert client.get("/").status_code == 200
    assert User.objects.get(username="ann@example.com").check_password("correct horse battery")


def test_looking_does_not_use_it_up_but_choosing_does(client: Client, link: str) -> None:
    assert [client.get(link).status_code for _ in range(2)] == [200, 200]
    client.post(link, NEW)
    assert (Client().get(link).status_code, Client().post(link, NEW).status_code) == (410, 410)


@pytest.mark.parametrize("second", ["", "something else 1"])
def test_a_slip_of_the_pen_is_told_and_the_link_lives(client: Client, link: str, second: str) -> None:
    response = client.post(link, {**NEW, "new_password2": second})
    assert response.status_code == 400
    assert client.get(link).status_code == 200
    assert not User.objects.get(username="ann@example.com").has_usable_password()
