"""The options of a crawl that logs in."""

from __future__ import annotations

from crawler.capabilities.login.logout import is_logout_url
from crawler.core.composed import Part
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import check_selector
from crawler.core.options.conflicts import Conflict, chosen
from crawler.core.options.kinds import OptionGroup, OptionSet, Text, option
from crawler.core.urls.normalise import parse_user_url

_FIRST = ("login_url", "login_fields", "login_check")
LOGIN = OptionGroup("Log-in", "a form with user and password", "log-in", 30, _FIRST)


def _check_login_url(field: str, typed: str) -> None:
    try:
        parse_user_url(typed)
    except BadInput as error:
        raise BadInput(field, f"Invalid log-in page: {error.message}") from None


def _check_login_check(field: str, typed: str) -> None:
    check_selector(field, "Sign of being logged in", typed)


class LoginOptions(Part):
    """The page of the form, and how success is recognised."""

    follows = "exclude"

    login_url: str = option(
        Text("https://example.com/login", _check_login_url, "no log-in"),
        LOGIN,
        "Log-in form",
        "Log in at this page first. The crawler sends its form once for all workers, with your values for its "
        "fields, and again when the session ends. Log-out links are not followed.",
        in_fetch=True,
        version=3,  # an earlier one would request the pages without it
        bars=is_logout_url,
    )
    login_check: str = option(
        Text("a.my-account", _check_login_check, "the form is gone"),
        LOGIN,
        "Sign of being logged in",
        "CSS selector that matches only after log-in. Without one, the log-in succeeded if the form is gone.",
        command_help="CSS selector that matches only after log-in",
        in_fetch=True,
    )


CONFLICTS = (
    Conflict(
        "login_url",
        chosen("login_url"),
        chosen("revisit", "response_ttl"),
        "Pages behind a log-in are not shared with other crawls, so a crawl that logs in cannot fetch only changes "
        "or reuse responses. Leave out these options, or the log-in.",
    ),
    Conflict(
        "engine",
        chosen("engine"),
        chosen("login_url"),
        "Pages that run through Scrapy are not logged in. Leave out the log-in, or choose the engine “Built in”.",
    ),
)

OPTIONS = (OptionSet(LoginOptions, CONFLICTS, changeable=("login_check",)),)
