"""Sharing over the API: who else sees a crawl, what the others may do, and what an earlier crawl sent."""

import pytest
from django.contrib.auth.models import User

from crawler.core.access.credentials import parse
from crawler.core.access.permissions import Scope
from crawler.encryption import opened, seal
from crawler.models import Crawl, Schedule
from tests.api.calling import Caller, a_token
from tests.factories import a_finished_crawl, a_group

HERE = {"start_urls": ["http://127.0.0.1:8/"], "allow_private": True}


def test_a_crawl_is_shared_with_a_group_and_no_longer(by_ann: Caller, ann: User, bob: User) -> None:
    a_group("editors", ann, bob)
    path = f"/crawls/{a_finished_crawl(ann).id}"
    assert by_ann.post(f"{path}/share", {"group": "editors", "group_controls": True}).json()["changed"] is True
    said = by_ann.get(path).json()
    assert (said["group"], said["group_controls"]) == ("editors", True)
    assert by_ann.post(f"{path}/share", {"group": None}).json()["group"] is None
    assert by_ann.get("/me").json()["groups"] == ["editors"]


def test_a_user_cannot_share_with_a_group_of_others(by_ann: Caller, ann: User, bob: User) -> None:
    a_group("editors", bob)
    response = by_ann.post(f"/crawls/{a_finished_crawl(ann).id}/share", {"group": "editors"})
    assert (response.status_code, response.json()["errors"][0]["field"]) == (422, "group")


def test_a_crawl_is_kept_and_no_longer(by_ann: Caller, ann: User) -> None:
    path = f"/crawls/{a_finished_crawl(ann).id}"
    for keep in (True, False):
        assert by_ann.post(f"{path}/keep", {"keep": keep}).json()["changed"] is True
        assert by_ann.get(path).json()["keep"] is keep


def test_a_crawl_is_shared_from_its_start_with_its_schedule(by_root: Caller, root: User, real_redis: object) -> None:
    a_group("editors", root)
    by_root.post("/crawls", {**HERE, "schedule": "every 6h", "group": "editors"})
    assert [item.group.name for item in (Crawl.objects.get(), Schedule.objects.get()) if item.group] == ["editors"] * 2


def test_a_group_that_cannot_be_shared_with_starts_nothing(by_root: Caller, real_redis: object) -> None:
    assert by_root.post("/crawls", {**HERE, "group": "nobody"}).status_code == 422
    assert not Crawl.objects.exists()


def test_what_an_earlier_crawl_sent_is_sent_again_to_its_hosts_alone(
    by_root: Caller, root: User, real_redis: object
) -> None:
    earlier = a_finished_crawl(root, start_urls=HERE["start_urls"], sealed=seal(parse(bearer="swordfish")))
    same = {**HERE, "same_credentials": str(earlier.id)}
    made = by_root.post("/crawls", same).json()
    assert opened(Crawl.objects.get(pk=made["id"]).sealed) == parse(bearer="swordfish")
    for changed in ({"start_urls": ["http://127.0.0.2:9/"]}, {"bearer": "other"}):
        response = by_root.post("/crawls", {**same, **changed})
        assert response.json()["errors"][0]["field"] == "same_credentials"


@pytest.mark.parametrize("caller", ["bob", "root"])
def test_credentials_of_a_crawl_of_others_are_not_taken(
    ann: User, bob: User, root: User, real_redis: object, caller: str
) -> None:
    group = a_group("editors", ann, bob)
    earlier = a_finished_crawl(ann, group=group, group_controls=True, sealed=seal(parse(bearer="swordfish")))
    body = {"start_urls": earlier.start_urls, "same_credentials": str(earlier.id)}
    response = Caller(a_token({"bob": bob, "root": root}[caller], *Scope)).post("/crawls", body)
    assert [error["field"] for error in response.json()["errors"]] == ["same_credentials"]


def test_credentials_of_a_crawl_without_an_owner_are_for_superusers(by_root: Caller, real_redis: object) -> None:
    earlier = a_finished_crawl(None, start_urls=HERE["start_urls"], sealed=seal(parse(bearer="swordfish")))
    assert by_root.post("/crawls", {**HERE, "same_credentials": str(earlier.id)}).status_code == 201
