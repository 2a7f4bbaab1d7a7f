"""People: who they are, what they may see and do, and how much they may crawl.

changes      notes what becomes of accounts in the audit log
links        the first account, and the link that lets its owner in once
invitations  the link by which somebody who was invited chooses a password
permissions  which crawls, schedules and channels a person may see, and what they may do with one
quotas       how much a person may crawl, and has crawled
session_store  how long a login lasts
sessions     where a person is logged in
"""

from crawler.accounts.links import (
    FIRST_NAME,
    LIFETIME,
    LoginTokens,
    account_named,
    first_account,
    link_account,
    make_link,
    redeem,
)
from crawler.accounts.permissions import (
    Anybody,
    groups_of,
    may,
    own_channels,
    rights_of,
    sees_addresses,
    visible_crawls,
    visible_schedules,
)

__all__ = [
    "FIRST_NAME",
    "LIFETIME",
    "Anybody",
    "LoginTokens",
    "account_named",
    "first_account",
    "groups_of",
    "link_account",
    "make_link",
    "may",
    "own_channels",
    "redeem",
    "rights_of",
    "sees_addresses",
    "visible_crawls",
    "visible_schedules",
]
