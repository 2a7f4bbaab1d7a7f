"""Who may name private addresses for a crawl, and hosts for a list."""

import pytest

from crawler.core.access.reach import (
    NAMING,
    OPERATOR,
    Namer,
    check_change,
    is_limited,
    may_add_hosts,
    private_hosts_for,
)
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CHANGEABLE

SUPERUSER, OWNER, MEMBER = Namer(may_allow_private=True), Namer(is_owner=True), Namer()
EVERYTHING, FEW = ("*",), ("10.0.0.0/8",)


@pytest.mark.parametrize(
    ("namer", "of_crawl", "reached"),
    [
        (OPERATOR, EVERYTHING, EVERYTHING),
        (SUPERUSER, EVERYTHING, EVERYTHING),
        (OWNER, EVERYTHING, FEW),  # an owner who is no superuser any more
        (MEMBER, EVERYTHING, FEW),
        (MEMBER, (), ()),  # the installation allowed none when the crawl was started
        (MEMBER, FEW, FEW),
    ],
)
def test_private_addresses_are_for_superusers(
    namer: Namer, of_crawl: tuple[str, ...], reached: tuple[str, ...]
) -> None:
    assert private_hosts_for(namer, of_crawl, FEW) == reached
    assert is_limited(namer, of_crawl) == (reached != of_crawl)


def test_owners_and_superusers_add_hosts_to_a_list() -> None:
    assert [may_add_hosts(namer) for namer in (OPERATOR, SUPERUSER, OWNER, MEMBER)] == [True, True, True, False]


@pytest.mark.parametrize("name", [*CHANGEABLE, "login_fields"])
def test_only_what_names_addresses_is_kept_from_others(name: str) -> None:
    check_change(SUPERUSER, EVERYTHING, [name])
    check_change(MEMBER, FEW, [name])
    if name not in NAMING:
        check_change(MEMBER, EVERYTHING, [name])
        return
    with pytest.raises(BadInput) as refused:
        check_change(MEMBER, EVERYTHING, ["delay", name])
    assert refused.value.field == name
