"""Trying to come in again and again: by the login, the admin, links, old passwords and tokens."""

import logging
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from crawler.accounts import logins
from crawler.accounts.login_links import invite, link_for
from crawler.frontier.rate_limit import FAILED_LOGINS, MemoryRateLimiter
from crawler.web.account.login import make_link
from tests.factories import a_person

OFFICE, STRANGER = "198.51.100.7", "203.0.113.5"


@pytest.fixture(autouse=True)
def three_tries(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CRAWLER_LOGIN_TRIES = 3
    monkeypatch.setattr(logins, "_in_memory", MemoryRateLimiter(FAILED_LOGINS))


def log_in(browser: Client, password: str, name: str = "ann", address: str = STRANGER) -> Any:
    return browser.post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address)


def fail(times: int, **more: Any) -> None:
    for _ in range(times):
        assert log_in(Client(), "wrong", **more).status_code == 200


def test_after_some_wrong_passwords_no_password_is_looked_at(ann: User, real_redis: Redis) -> None:
    fail(3)
    refused = log_in(Client(), "secret")
    assert refused.status_code == 429
    assert 890 <= int(refused["Retry-After"]) <= 900
    assert "Too many tries. Wait 15 minutes, then try again." in refused.content.decode()


def test_a_name_that_is_nobodys_gets_the_very_same_answers(ann: User, real_redis: Redis) -> None:
    def answers(name: str) -> list[tuple[int, str]]:
        said = [log_in(Client(), "wrong", name) for _ in range(4)]
        alerts = [one.content.decode().partition('role="alert">')[2].partition("</div>")[0] for one in said]
        return [(one.status_code, alert) for one, alert in zip(said, alerts, strict=True)]

    assert answers("ann") == answers("nobody-at-all")


def test_from_another_address_a_name_has_no_further_tries(ann: User, real_redis: Redis) -> None:
    fail(2)
    fail(1, address=OFFICE)
    assert log_in(Client(), "secret", address="192.0.2.9").status_code == 429


def test_an_address_has_no_further_tries_by_other_names(ann: User, real_redis: Redis) -> None:
    for number in range(9):
        fail(1, name=f"name{number}")
    assert log_in(Client(), "secret").status_code == 429
    assert log_in(Client(), "secret", address=OFFICE).status_code == 302


def test_one_ipv6_network_counts_as_one_address(ann: User, real_redis: Redis) -> None:
    for number in range(9):
        fail(1, name=f"name{number}", address=f"2001:db8::{number:x}")
    assert log_in(Client(), "secret", address="2001:db8::ff").status_code == 429


def test_whoever_keeps_failing_does_not_keep_the_owner_out(ann: User, real_redis: Redis) -> None:
    mine = Client()
    assert log_in(mine, "secret", address=OFFICE).status_code == 302
    mine.post("/logout/")
    fail(3)
    for number in range(9):
        fail(1, name=f"name{number}", address=OFFICE)  # not even from next door
    assert log_in(Client(), "secret", address=OFFICE).status_code == 429
    assert log_in(mine, "secret", address=OFFICE).status_code == 302


def test_a_known_browser_has_tries_of_its_own_and_no_more(ann: User, real_redis: Redis) -> None:
    mine = Client()
    log_in(mine, "secret")
    mine.post("/logout/")
    assert [log_in(mine, "wrong").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert log_in(Client(), "secret", address=OFFICE).status_code == 302  # those of strangers are as they were


@pytest.mark.parametrize("made_up", ["", "abc", "WyJhIiwiYiJd:1:2", "a" * 4000])
def test_a_mark_that_was_made_up_makes_no_browser_known(ann: User, real_redis: Redis, made_up: str) -> None:
    browser = Client()
    browser.cookies["known-browser"] = made_up
    fail(3)
    assert log_in(browser, "secret").status_code == 429


def test_a_browser_known_to_one_is_a_stranger_to_another(ann: User, real_redis: Redis) -> None:
    a_person("bob")
    browser = Client()
    log_in(browser, "secret", "bob", address=OFFICE)
    browser.post("/logout/")
    fail(3)
    assert log_in(browser, "secret", address=OFFICE).status_code == 429


def test_whoever_gets_in_has_used_up_nothing(ann: User, real_redis: Redis) -> None:
    for _ in range(12):
        assert log_in(Client(), "secret").status_code == 302


def test_the_count_ends_by_itself(ann: User, real_redis: Redis) -> None:
    fail(3)
    assert all(0 < real_redis.pttl(key) <= 900_000 for key in real_redis.keys("*tries*"))
    real_redis.delete(*real_redis.keys("*tries*"))
    assert log_in(Client(), "secret").status_code == 302


def test_redis_holds_no_name(ann: User, real_redis: Redis) -> None:
    fail(1, name="hunter2")
    assert not [key for key in real_redis.keys("*") if b"hunter2" in key]


def test_without_redis_each_process_counts_for_itself(ann: User, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        fail(3)
        assert log_in(Client(), "secret").status_code == 429
    assert "each process counts failed log-ins on its own" in caplog.text
    assert log_in(Client(), "secret", name=a_person("bob").username, address=OFFICE).status_code == 302


def test_what_a_stranger_says_of_their_address_is_not_believed(ann: User, real_redis: Redis, settings: Any) -> None:
    for number in range(9):
        log_in(Client(headers={"X-Forwarded-For": f"192.0.2.{number}"}), "wrong", f"name{number}")
    assert log_in(Client(), "secret").status_code == 429


def test_behind_a_proxy_that_was_not_named_people_do_not_count_as_one(ann: User, real_redis: Redis) -> None:
    for number in range(12):
        log_in(Client(headers={"X-Forwarded-For": STRANGER}), "wrong", f"name{number}", address="127.0.0.1")
    assert log_in(Client(headers={"X-Forwarded-For": OFFICE}), "secret", address="127.0.0.1").status_code == 302


def test_the_admins_own_forms_are_the_same_doors(ann: User, root: User, real_redis: Redis) -> None:
    browser = Client()
    assert browser.get("/admin/", follow=True).redirect_chain[-1][0] == "/login/?next=%2Fadmin%2F"
    assert browser.post("/admin/login/", {"username": "root", "password": "secret"})["Location"] == "/login/"
    typed = {"username": "root", "password": "secret", "next": "/admin/"}
    assert browser.post("/login/", typed)["Location"] == "/admin/"
    assert browser.get("/admin/login/?next=/admin/")["Location"] == "/admin/"
    assert browser.get("/admin/password_change/")["Location"] == "/account/password/"
    browser.force_login(ann)
    assert browser.get("/admin/", follow=True).status_code == 403  # and no loop


def test_old_passwords_cannot_be_tried_at_somebody_elses_browser(as_ann: Client, real_redis: Redis) -> None:
    def change(old: str) -> Any:
        new = {"new_password1": "correct horse battery", "new_password2": "correct horse battery"}
        return as_ann.post("/account/password/", {"old_password": old, **new})

    assert [change("wrong").status_code for _ in range(4)] == [200, 200, 200, 429]
    assert change("secret").status_code == 429


def test_a_good_link_opens_whatever_was_tried_before(root: User, real_redis: Redis) -> None:
    dead = [Client().get(f"/login/MQ/abc-{number}/", REMOTE_ADDR=STRANGER) for number in range(12)]
    assert [one.status_code for one in dead] == [*[410] * 9, 429, 429, 429]
    assert Client().get("/invitation/MQ/abc-def/", REMOTE_ADDR=STRANGER).status_code == 429
    assert Client().post(make_link(""), REMOTE_ADDR=STRANGER).status_code == 302
    invitation = link_for(invite("bob@example.com"), "")
    assert Client().get(invitation, REMOTE_ADDR=STRANGER).status_code == 200


def test_a_link_is_in_no_log(root: User, real_redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    link = make_link("")
    with caplog.at_level(logging.DEBUG):
        for _ in range(2):
            Client().post(link)
        for _ in range(10):
            Client().get("/login/MQ/swordfish-token/", REMOTE_ADDR=STRANGER)
    token = link.rstrip("/").rpartition("/")[2]
    assert token not in caplog.text
    assert "swordfish" not in caplog.text


def test_of_wrong_tokens_an_address_has_so_many(real_redis: Redis, db: None) -> None:
    asked = [
        Client(headers={"Authorization": f"Bearer sc_{number}"}).get("/api/v1/me", REMOTE_ADDR=STRANGER)
        for number in range(11)
    ]
    assert [one.status_code for one in asked] == [*[401] * 9, 429, 429]
    assert "Retry-After" in asked[-1]


def test_wrong_tokens_and_dead_links_keep_no_user_of_their_address_out(ann: User, real_redis: Redis) -> None:
    for number in range(40):
        Client(headers={"Authorization": f"Bearer sc_{number}"}).get("/api/v1/me", REMOTE_ADDR=STRANGER)
        Client().get(f"/login/MQ/abc-{number}/", REMOTE_ADDR=STRANGER)
    assert log_in(Client(), "secret", address=STRANGER).status_code == 302


def test_behind_the_gateway_of_a_container_users_do_not_count_as_one(ann: User, real_redis: Redis) -> None:
    def typed(name: str, password: str) -> int:
        browser = Client(headers={"X-Forwarded-For": STRANGER})
        return log_in(browser, password, name, address="172.18.0.1").status_code  # type: ignore[no-any-return]

    for number in range(12):
        typed(f"name{number}", "wrong")
    assert typed("ann", "secret") == 302
    assert [typed("bob", "wrong") for _ in range(4)] == [200, 200, 200, 429]  # an account counts as before
