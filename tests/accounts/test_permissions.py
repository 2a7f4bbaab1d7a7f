"""The lists of what somebody sees agree with what they may do, one by one."""

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from crawler.accounts.permissions import groups_of, may, sees_addresses, visible_crawls, visible_schedules
from crawler.core.access.permissions import Right
from crawler.models import Crawl, Schedule
from tests.factories import SITE, a_crawl, a_group, a_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> dict[str, User | AnonymousUser]:
    everybody: dict[str, User | AnonymousUser] = {name: a_person(name) for name in ("ann", "bob", "gone")}
    everybody["staff"] = User.objects.create_user("staff", is_staff=True)
    everybody["root"] = a_person("root", superuser=True)
    everybody["closed root"] = User.objects.create_superuser("closed", is_active=False)
    everybody["nobody"] = AnonymousUser()
    return everybody


@pytest.fixture
def crawls(people: dict[str, User]) -> list[Crawl]:
    """Of every kind: one's own, shared with a group in either way, of nobody."""
    group = a_group("editors", people["bob"])
    return [
        a_crawl(people["ann"]),
        a_crawl(people["ann"], group=group),
        a_crawl(people["ann"], group=group, group_controls=True),
        a_crawl(people["bob"], group=a_group("empty")),
        a_crawl(None),
        a_crawl(None, group=group),
    ]


def test_one_sees_exactly_what_one_may_see(people: dict[str, User], crawls: list[Crawl]) -> None:
    for name, person in people.items():
        seen = set(visible_crawls(person))
        assert seen == {crawl for crawl in crawls if may(person, Right.SEE, crawl)}, name


@pytest.mark.parametrize(
    ("name", "number"),
    [("ann", 3), ("bob", 4), ("gone", 0), ("staff", 6), ("root", 6), ("closed root", 0), ("nobody", 0)],
)
def test_how_many_each_sees(people: dict[str, User], crawls: list[Crawl], name: str, number: int) -> None:
    assert visible_crawls(people[name]).count() == number


def test_members_control_what_they_were_let(people: dict[str, User], crawls: list[Crawl]) -> None:
    assert [may(people["bob"], Right.CONTROL, crawl) for crawl in crawls] == [False, False, True, True, False, False]


def test_a_crawl_without_an_owner_belongs_to_no_visitor(crawls: list[Crawl]) -> None:
    assert not any(may(AnonymousUser(), right, crawl) for right in Right for crawl in crawls)


def test_who_leaves_a_group_sees_no_more_of_it(people: dict[str, User], crawls: list[Crawl]) -> None:
    people["bob"].groups.clear()
    assert visible_crawls(people["bob"]).count() == 1


def test_schedules_are_seen_as_crawls_are(people: dict[str, User]) -> None:
    group = a_group("editors", people["bob"])
    facts = {"start_urls": [SITE], "rule": "every 6h", "next_at": timezone.now(), "owner": people["ann"]}
    schedules = [Schedule.objects.create(**facts), Schedule.objects.create(**facts, group=group)]
    for person in people.values():
        assert set(visible_schedules(person)) == {item for item in schedules if may(person, Right.SEE, item)}
    assert list(visible_schedules(people["bob"])) == [schedules[1]]


@pytest.mark.parametrize(
    ("owner", "seers"),
    [("ann", {"ann"}), ("", {"root"})],  # of nobody: begun on the command line, or left by somebody who was deleted
)
def test_whom_it_tells_is_seen_in_full_by_its_owner_and_without_one_by_superusers(
    people: dict[str, User], owner: str, seers: set[str]
) -> None:
    crawl = a_crawl(people.get(owner), group=a_group("editors", people["bob"]))
    assert {name for name, person in people.items() if sees_addresses(person, crawl)} == seers


def test_one_shares_with_ones_own_groups(people: dict[str, User]) -> None:
    group, other = a_group("editors", people["ann"]), a_group("others")
    assert list(groups_of(people["ann"])) == [group]
    assert list(groups_of(people["root"])) == [group, other]
    assert list(groups_of(AnonymousUser())) == []
