"""Who may do what with a crawl."""

from itertools import product

import pytest

from crawler.core.access.permissions import Relation, Right, may

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
