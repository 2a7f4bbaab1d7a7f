"""What an extracted text is worth: a number, a date, a web address."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from crawler.core.urls import normalise

Value = str | int | float | bool | None

LONGEST_NUMBER = 40  # characters
_BLANK = "' \\u00a0\\u202f\\u2009"
_NUMBER = re.compile(
    rf"(?<![\w.,])[-+−]?(?:\d{{1,3}}(?:[{_BLANK}]\d{{3}})+(?:[.,]\d+)?|\d[\d.,]*\d|\d)(?:[eE][-+]?\d{{1,3}})?(?!\d)"  # noqa: RUF001
)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?P<mark>[,.])\d{3}(?:(?P=mark)\d{3})*")
_DATES = ("%d %B %Y", "%B %d, %Y", "%d %b %Y", "%b %d, %Y", "%Y/%m/%d", "%d.%m.%Y")


class NoValue(Exception):
    """The text is nothing of the type that was asked for; `str` is the reason, for the person who wrote the rule."""


def value_of(kind: str, text: str, base: str) -> Value:
    """The text as a value of this type, one of `rules.TYPES` but boolean. URLs are resolved against the normalised URL
    `base`. Raises NoValue."""
    match kind:
        case "number":
            return number_in(text)
        case "integer":
            return _whole(text)
        case "date":
            return date_in(text)
        case "url":
            return _url(text, base)
        case _:
            return text


def number_in(text: str) -> int | float:
    """The one number in this text, whatever stands around it ("EUR 1,234.50 each").

    1. Blanks and apostrophes before exactly three digits group them.
    2. Of a comma and a point the last is the decimal mark. One that comes twice groups.
    3. A lone comma before exactly three digits groups ("1,234"), else it is the decimal mark ("12,5"); a lone point is
       the decimal mark.
    """
    found = [match[0] for match in _NUMBER.finditer(text)]
    if not found:
        raise NoValue(f"there is no number in {_shown(text)}")
    if len(found) > 1:
        raise NoValue(f"there are {len(found)} numbers in {_shown(text)}; a pattern can say which is meant")
    if len(found[0]) > LONGEST_NUMBER:
        raise NoValue(f"{_shown(text)} is too long for a number")
    try:
        number = float(_plain(found[0]))
    except ValueError:
        raise NoValue(f"{_shown(found[0])} is no number") from None
    if not isfinite(number):
        raise NoValue(f"{_shown(found[0])} is too large a number")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def date_in(text: str) -> str:
    """The date as ISO 8601, with its time if it has one: "2026-03-12", "2026-03-12T09:30:00+00:00". Read are ISO 8601,
    RFC 5322 and a few usual ways of writing a day in English."""
    typed = text.strip()
    for read in (_iso_day, _iso_moment, _written_day, _mail_date):
        try:
            return read(typed)
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    raise NoValue(f"{_shown(text)} is no date that can be read, such as 2026-03-12 or 12 March 2026")


def _whole(text: str) -> int:
    number = number_in(text)
    if not isinstance(number, int):
        raise NoValue(f"{number:g} is not a whole number")
    return number


def _url(text: str, base: str) -> str:
    url = normalise(text, base)
    if url is None:
        raise NoValue(f"{_shown(text)} is not a web address")
    return url


def _plain(number: str) -> str:
    """The number as `float` reads it."""
    text = re.sub(f"[{_BLANK}]", "", number).replace("−", "-")  # noqa: RUF001 (a minus sign)
    commas, points = text.count(","), text.count(".")
    if commas and points:
        decimal = max(text.rfind(","), text.rfind("."))
        return re.sub("[.,]", "", text[:decimal]) + "." + text[decimal + 1 :]
    if (commas or points > 1) and _GROUPED.fullmatch(text):
        return re.sub("[.,]", "", text)
    return text.replace(",", ".")


def _iso_day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def _iso_moment(text: str) -> str:
    return datetime.fromisoformat(text).isoformat()


def _written_day(text: str) -> str:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date().isoformat()  # noqa: DTZ007 (a day has no zone)
        except ValueError:
            continue
    raise ValueError(text)


def _mail_date(text: str) -> str:
    return parsedate_to_datetime(text).isoformat()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")
