"""Which private addresses a person may reach by what they name for a crawl. The right is the person's, not the crawl's.

A superuser may start a crawl that requests any address. Others may control it, if it is shared with them; but what
they name themselves (a URL to add, a pattern that lets more links in, the address of a receiver) gets no further than
a crawl of their own would. `docs/decisions/security.md` has the reasons.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from crawler.core.access.credentials import CHANGEABLE
from crawler.core.errors import BadInput
from crawler.core.options.receivers import MAY_BE_SECRET
from crawler.core.urls.addresses import EVERYTHING

NAMING = ("include", "exclude", *MAY_BE_SECRET, *CHANGEABLE)
"""The options that decide where requests go, or what is sent with them."""


class Namer(msgspec.Struct, frozen=True):
    """The person who names URLs or addresses for a crawl."""

    may_allow_private: bool = False  # a superuser, or the operator on the machine itself
    is_owner: bool = False  # of this crawl


OPERATOR = Namer(may_allow_private=True, is_owner=True)
"""Commands and code of the project: who can run them can read the database."""


def is_limited(namer: Namer, private_hosts: Collection[str]) -> bool:
    """Whether this person may reach fewer addresses than the crawl, whose `private_hosts` these are."""
    return EVERYTHING in private_hosts and not namer.may_allow_private


def private_hosts_for(namer: Namer, of_crawl: Sequence[str], of_installation: Sequence[str]) -> tuple[str, ...]:
    """The private addresses that may be requested for what this person names."""
    return tuple(of_installation if is_limited(namer, of_crawl) else of_crawl)


def may_add_hosts(namer: Namer) -> bool:
    """Whether this person may add pages of hosts that are not in a list. Superusers may do what its owner may."""
    return namer.is_owner or namer.may_allow_private


def check_change(namer: Namer, private_hosts: Collection[str], options: Collection[str]) -> None:
    """BadInput for the first of these options of a crawl that this person may not change."""
    if not is_limited(namer, private_hosts):
        return
    for name in options:
        if name in NAMING:
            raise BadInput(
                name,
                "This crawl may request private addresses, so only a superuser can change which URLs it requests, "
                "where its notices go and how it logs in. Ask one, or start a crawl of your own.",
            )
