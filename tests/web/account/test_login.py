"""Signing in and out."""

from django.contrib.auth.models import User
from django.test import Client

from crawler.web.account.login import make_link


def test_a_wrong_password_is_told(client: Client, ann: User) -> None:
    response = client.post("/login/", {"username": "ann", "password": "wrong"})
    assert response.status_code == 200
    assert "correct username and password" in response.content.decode()


def test_after_the_login_one_is_where_one_wanted_to_go(client: Client, ann: User) -> None:
    response = client.post("/login/", {"username": "ann", "password": "secret", "next": "/?page=2"})
    assert response["Location"] == "/?page=2"


def test_the_one_time_link_lets_one_in_once(client: Client, root: User) -> None:
    link = make_link("http://testserver")
    assert client.post(link)["Location"] == "/"
    assert client.get("/").status_code == 200

    assert Client().post(link).status_code == 410
    again = Client().get(link)
    assert again.status_code == 410
    assert "python manage.py login-link" in again.content.decode()


def test_a_look_ahead_does_not_use_the_link_up(client: Client, root: User) -> None:
    link = make_link("http://testserver")
    assert (client.head(link).status_code, client.head(link).content) == (200, b"")
    shown = client.get(link)
    assert (shown.status_code, "Log in</button>" in shown.content.decode()) == (200, True)
    assert client.get("/").status_code == 302
    assert client.post(link).status_code == 302


def test_somebody_who_is_in_is_offered_a_password(as_root: Client, root: User) -> None:
    assert "Set a password" not in as_root.get("/").content.decode()
    root.set_unusable_password()
    root.save()
    as_root.force_login(root)
    assert "Set a password" in as_root.get("/").content.decode()


def test_logging_out_is_done_by_a_button_alone(as_ann: Client) -> None:
    assert as_ann.get("/logout/").status_code == 405
    assert as_ann.get("/").status_code == 200
    assert as_ann.post("/logout/")["Location"] == "/login/"
    assert as_ann.get("/").status_code == 302
