"""The log as JSON, one object a line, for log collectors. Only `CRAWLER_LOG_FORMAT=json` loads this module."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

_OF_LOGGING = {*logging.makeLogRecord({}).__dict__, "asctime", "message", "taskName"}
_LEFT_OUT = _OF_LOGGING | {"request"}
"""Attributes of a record that are no field of the line. The last is Django's object, whose URL may hold secrets."""


class Json(logging.Formatter):
    """`time` (ISO 8601, UTC), `level`, `logger`, `message`, what `crawler.logs` adds, and `exc_info` where there was an
    error. Characters other than printable ASCII are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: value for name, value in record.__dict__.items() if name not in _LEFT_OUT}
        if record.exc_info:
            line["exc_info"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack_info"] = self.formatStack(record.stack_info)
        return json.dumps(line, default=str)
