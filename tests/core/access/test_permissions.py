"""Who may do what with a crawl, and what tokens may do."""

from itertools import product

import pytest

from crawler.core.access.permissions import DEFAULT_SCOPES, Relation, Right, Scope, checked, held, may
from crawler.core.errors import BadInput

SEE, CONTROL, OWN = Right.SEE, Right.CONTROL, Right.OWN


@pytest.mark.parametrize(
    ("standing", "rights"),
    [
        (Relation(), set()),
        (Relation(members_control=True), set()),  # what members may do is nothing to a stranger
        (Relation(is_member=True), {SEE}),
        (Relation(is_member=True, members_control=True), {SEE, CONTROL}),
        (Relation(is_staff=True), {SEE}),
        (Relation(is_staff=True, members_control=True), {SEE}),
        (Relation(is_staff=True, is_member=True, members_control=True), {SEE, CONTROL}),
        (Relation(is_owner=True), {SEE, CONTROL, OWN}),
        (Relation(is_superuser=True), {SEE, CONTROL, OWN}),
    ],
)
def test_each_standing_has_its_rights(standing: Relation, rights: set[Right]) -> None:
    assert {right for right in Right if may(standing, right)} == rights


@pytest.mark.parametrize("facts", list(product([False, True], repeat=5)))
def test_whoever_may_do_more_may_do_less(facts: tuple[bool, ...]) -> None:
    standing = Relation(*facts)
    assert may(standing, OWN) <= may(standing, CONTROL) <= may(standing, SEE)


def test_scopes_come_once_each_in_their_order() -> None:
    assert checked(["crawls:write", "crawls:read", "crawls:write"]) == DEFAULT_SCOPES


@pytest.mark.parametrize("names", [[], ["crawls"], ["crawls:read", ""]])
def test_other_names_and_none_are_refused(names: list[str]) -> None:
    with pytest.raises(BadInput):
        checked(names)


def test_a_stored_name_of_another_version_allows_nothing() -> None:
    assert held(["crawls:read", "moon:fly"]) == {Scope.CRAWLS_READ}
