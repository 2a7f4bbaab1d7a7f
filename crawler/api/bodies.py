"""Reading a body as JSON: strictly, so that nothing gets in that a table could not keep."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from django.http import HttpRequest
from ninja.parser import Parser

from crawler.api.problems import Problem

MOST_LEVELS = 50


class StrictParser(Parser):
    """RFC 8259 without the liberties of Python's own parser: no NaN, no half of a surrogate pair, no NUL in a text."""

    def parse_body(self, request: HttpRequest) -> dict[str, Any]:
        if request.content_type == "multipart/form-data":
            raise no_form()
        return cast(dict[str, Any], read_json(request.body or b"{}"))


def no_form() -> Problem:
    return Problem(415, "This call takes JSON, not a form; a form is for POST /crawls/list alone.")


def read_json(text: bytes) -> Any:
    """Problem when it is no JSON, or has what no table could keep."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise Problem(400, f"The body is not JSON: {error}.") from None
    _check(value, MOST_LEVELS)
    return value


def _check(value: Any, levels: int) -> None:
    if levels == 0:
        raise Problem(400, f"The body nests more than {MOST_LEVELS} levels deep.")
    if isinstance(value, str) and "\0" in value:
        raise Problem(400, "The body has a NUL character in a text; leave it out.")
    for part in [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check(part, levels - 1)
