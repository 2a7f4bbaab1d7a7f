"""The page of the API's tokens: made there, shown once, revoked."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from crawler.accounts.tokens import make_token
from crawler.core.access.permissions import Scope
from crawler.models import ApiToken
from crawler.web.account.tokens import MEANINGS
from tests.factories import a_person

TYPED = {"name": "nightly build", "scopes": ["crawls:read"], "expires_at": "30"}


def secret_on(html: str) -> str:
    found = re.search(r'id="secret" type="text" value="(sc_[\w-]+)"', html)
    assert found
    return found.group(1)


def test_a_token_is_made_and_its_secret_shown_this_once(as_ann: Client, client: Client) -> None:
    response = as_ann.post("/account/tokens/", TYPED)
    secret = secret_on(response.content.decode())
    assert "no-store" in response["Cache-Control"]
    assert secret not in as_ann.get("/account/tokens/").content.decode()
    said = client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).json()
    assert (said["user"], said["scopes"]) == ("ann", ["crawls:read"])


@pytest.mark.parametrize(("lives", "days"), [("30", 30), ("365", 365), ("", None)])
def test_it_lives_as_long_as_was_chosen(as_ann: Client, lives: str, days: int | None) -> None:
    as_ann.post("/account/tokens/", {**TYPED, "expires_at": lives})
    token = ApiToken.objects.get()
    assert (token.expires_at and (token.expires_at - token.created_at).days) == days


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "Give the token a name"),
        ({"scopes": []}, "Choose at least one"),
        ({"scopes": ["crawls:everything"]}, "is not one of the available choices"),
        ({"expires_at": "7000"}, "is not one of the available choices"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(as_ann: Client, wrong: dict[str, object], said: str) -> None:
    response = as_ann.post("/account/tokens/", {**TYPED, **wrong})
    assert response.status_code == 400
    assert said in response.content.decode()
    assert not ApiToken.objects.exists()


def test_ones_own_tokens_are_listed_alone(as_ann: Client, ann: User) -> None:
    for user, name in ((ann, "my build"), (a_person("bob"), "his build")):
        make_token(user, name, ["crawls:read"], now=timezone.now())
    html = as_ann.get("/account/tokens/").content.decode()
    assert "my build" in html
    assert "his build" not in html


def test_a_token_is_revoked_by_its_owner_alone(as_ann: Client, ann: User) -> None:
    mine, _ = make_token(ann, "mine", ["crawls:read"], now=timezone.now())
    his, _ = make_token(a_person("bob"), "his", ["crawls:read"], now=timezone.now())
    for token in (mine, his):
        as_ann.post(f"/account/tokens/{token.pk}/revoke")
    assert list(ApiToken.objects.filter(revoked_at=None)) == [his]


def test_revoking_twice_is_no_error(as_ann: Client, ann: User) -> None:
    token, _ = make_token(ann, "mine", ["crawls:read"], now=timezone.now())
    for said in ("Revoked: the token no longer works.", "That token was already revoked."):
        response = as_ann.post(f"/account/tokens/{token.pk}/revoke", follow=True)
        assert [str(message) for message in response.context["messages"]] == [said]


def test_every_scope_has_a_meaning_for_people() -> None:
    assert set(MEANINGS) == set(Scope)
