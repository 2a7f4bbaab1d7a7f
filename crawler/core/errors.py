"""The errors this project raises on purpose.

    CrawlerError
    ├── BadInput            invalid input of a user; says what to do
    │   ├── RefusedAddress  a start URL whose address may not be requested
    │   └── OverQuota       the quota of the user is exhausted; says when to try again
    ├── NoCrawl             there is no such crawl, or not any more
    ├── TooBusy             too many slow calls are in progress; says when to try again
    ├── LoadStopped         a crawl was cancelled or deleted while its list was imported
    ├── MissingHere         this machine lacks what a page needs; another worker may have it
    ├── CannotWork          a page cannot be worked on, and another attempt would not do better
    ├── SealBroken          a crawl's credentials cannot be decrypted: SECRET_KEY has changed
    ├── NewerMessage        a batch or report of a newer version of the project; names the unknown part
    ├── NotUpgradable       this version cannot upgrade the tables; says which version can
    ├── ServiceDown         Redis or the database does not respond; trying again later may help
    ├── FetchError          raised and caught within `http`, where it becomes an outcome
    └── TransportError      a notice was not delivered; says whether another try may help (`notices.send`)

Expected failures of requests (a 404, a time-out, robots.txt) are not errors but an `Outcome`.
"""

from __future__ import annotations

from crawler.core.text.controls import Surface, spoken


def first_line(error: BaseException) -> str:
    """What an error of another library says, for the middle of a sentence."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


class CrawlerError(Exception):
    """The base of all errors raised on purpose. `str(error)` is one line for a user."""


class BadInput(CrawlerError):
    """Invalid input.

    `field` names the option or form field ("start_urls", "include", ...); the message says what is wrong and what to
    do about it. Trying again with the same input never helps. `str(error)` is for the command
    line, `message` for pages.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(spoken(message, Surface.COMMAND))
        self.field = field
        self.raw = message  # for another BadInput
        self.message = spoken(message, Surface.PAGE)

    def on(self, surface: Surface) -> str:
        """The message with the names that the controls have there."""
        return spoken(self.raw, surface)


class RefusedAddress(BadInput):
    """A start URL whose host resolves to an address that is not public and was not allowed."""


class OverQuota(BadInput):
    """The quota of the user is exhausted. Unlike other bad input it may be accepted later."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__("quota", message)
        self.retry_after = retry_after  # seconds


class NoCrawl(CrawlerError, LookupError):
    """There is no such crawl, or not any more. Trying again never helps."""

    def __init__(self, message: str = "There is no such crawl; it may have been deleted.") -> None:
        super().__init__(message)


class TooBusy(CrawlerError):
    """Too many slow calls are in progress. Trying again later helps."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds


class LoadStopped(CrawlerError):
    """A user cancelled or deleted the crawl while its list was imported."""


class MissingHere(CrawlerError):
    """This machine lacks what a page needs; the message says what to install. Trying again helps once it is."""


class CannotWork(CrawlerError):
    """A page cannot be worked on, and another attempt would not do better."""


class SealBroken(CrawlerError):
    """The credentials were encrypted with another SECRET_KEY. Trying again helps once that key is set again."""

    def __init__(self) -> None:
        super().__init__(
            "The credentials of this crawl cannot be read, because SECRET_KEY has changed since they were stored. "
            "Restore the old key, or start the crawl again and enter the credentials again."
        )


class NewerMessage(CrawlerError):
    """A worker of a newer version sent this message. Another worker may understand it."""


class NotUpgradable(CrawlerError):
    """This version cannot upgrade the tables. Trying again helps after another version has upgraded them."""

    def __init__(self, applied: str, commit: str) -> None:
        super().__init__(
            f"The database's last migration is {applied}, which this version cannot upgrade: check out commit "
            f"{commit}, run `python manage.py migrate`, then return to this version."
        )


class ServiceDown(CrawlerError):
    """Redis or the database cannot be reached. Trying again may help once it is back."""


class TransportError(CrawlerError):
    """The message was not accepted, or that is unknown. `permanent` means that a retry is pointless."""

    def __init__(self, message: str, permanent: bool) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
