"""The log as JSON, one object a line, for log collectors. Only `CRAWLER_LOG_FORMAT=json` loads this module."""

from __future__ import annotations

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter


class Json(JsonFormatter):
    """`time` (ISO 8601, UTC), `level`, `logger`, `message`, what `crawler.logs` adds, and `exc_info` where there was an
    error. Characters other than printable ASCII are escaped."""

    def __init__(self) -> None:
        super().__init__(
            "{levelname}{name}{message}",
            style="{",
            timestamp="time",
            rename_fields={"levelname": "level", "name": "logger"},
            json_ensure_ascii=True,
            reserved_attrs=[*RESERVED_ATTRS, "request"],  # Django's request object, whose URL may hold secrets
        )
