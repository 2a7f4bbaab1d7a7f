"""Every error this project raises on purpose, as one tree.

    CrawlerError
    ├── BadInput            something a person gave us cannot be used; says what to do
    │   ├── RefusedAddress  a start URL that leads to an address we may not ask
    │   └── OverQuota       the person has as many crawls or pages as they may have; says when to try again
    ├── LoadStopped         a crawl was cancelled or deleted while its list was being read
    ├── SealBroken          a crawl's credentials cannot be read: SECRET_KEY is not the one they were sealed under
    ├── NotUpgradable       the tables are between two that this version can upgrade; says which version can
    ├── ServiceDown         Redis or the database does not answer; trying again later may help
    ├── FetchError          raised and caught within `http`, where it becomes an outcome
    └── TransportError      a notice was not delivered; says whether another try may help (`notices.channels.transport`)

Expected trouble while fetching (a 404, a time-out, robots.txt) is not an error: it is an `Outcome`.
"""

from __future__ import annotations


class CrawlerError(Exception):
    """The base of all errors raised on purpose. `str(error)` is one line fit for a person."""


class BadInput(CrawlerError):
    """What was given cannot be used.

    `field` names the option or form field at fault ("start_urls", "include", ...); the message says what
    is wrong and what to do about it. Trying again with the same input never helps.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class RefusedAddress(BadInput):
    """A start URL whose host resolves to an address that is not public and was not allowed."""


class OverQuota(BadInput):
    """A person has as many crawls, or pages a day, as they may have. Unlike other bad input it may be good later."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__("quota", message)
        self.retry_after = retry_after  # seconds


class LoadStopped(CrawlerError):
    """Somebody cancelled or deleted the crawl while its list was being read."""


class SealBroken(CrawlerError):
    """Credentials were sealed under another SECRET_KEY. Trying again helps once that one is set again."""

    def __init__(self) -> None:
        super().__init__(
            "The credentials of this crawl cannot be read, because SECRET_KEY is not the one they were stored under. "
            "Set it to what it was, or start the crawl again and give them anew."
        )


class NotUpgradable(CrawlerError):
    """The tables are between two that this version can upgrade. Trying again helps once another version was here."""

    def __init__(self, applied: str, commit: str) -> None:
        super().__init__(
            f"The database's last migration is {applied}, which this version cannot upgrade: check out commit "
            f"{commit}, run `python manage.py migrate`, then return to this version."
        )


class ServiceDown(CrawlerError):
    """Redis or the database cannot be reached. Trying again may help once it is back."""
