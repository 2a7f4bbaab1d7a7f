"""A worker of a later version of the project, whose messages earlier ones do not understand. Started with the arguments
of `rq`."""

import sys
from typing import Any

import msgspec
from rq.cli import main

from crawler import jobs  # noqa: F401 (sets up Django)
from crawler.core.protocol import messages
from crawler.queueing import wakeups

NEWER = messages.VERSION + 1


def newer_batches() -> None:
    """Their policy has a field that must not be ignored."""
    to_plain = messages.Batch.to_plain

    def newer(batch: messages.Batch) -> dict[str, Any]:
        return {**to_plain(batch), "version": NEWER, "new": ["what must not be ignored"]}

    messages.Batch.to_plain = newer  # type: ignore[method-assign]


def newer_reports() -> None:
    encode = messages.encode_report

    def newer(report: messages.SliceReport) -> bytes:
        fields = msgspec.msgpack.decode(encode(report))
        return msgspec.msgpack.encode({**fields, "version": NEWER, "new": {"as": "well"}})

    wakeups.encode_report = newer


if __name__ == "__main__":
    messages.VERSION = NEWER
    newer_batches()
    newer_reports()
    sys.exit(main())
