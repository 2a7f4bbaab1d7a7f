"""Messages between manager and fetch jobs arrive as they were sent."""

from __future__ import annotations

import msgspec

from crawler.core.crawl.messages import (
    Batch,
    FetchPolicy,
    PageResult,
    PageTask,
    Slice,
    SliceReport,
    decode_report,
    encode_report,
)
from crawler.core.crawl.outcomes import Outcome


def test_a_batch_travels_as_plain_values() -> None:
    policy = FetchPolicy(
        user_agent="x", obey_robots=True, delay=0.5, concurrency=2, private_hosts=("10.0.0.0/8",), max_body_bytes=9
    )
    part = Slice("example.com", (PageTask(1, "http://example.com/", 1),))
    batch = Batch(crawl="c", site="example.com", id="b", token="t", policy=policy, slices=(part,))
    plain = batch.to_plain()
    assert Batch.from_plain(plain) == batch
    assert (
        msgspec.json.encode(plain["slices"])
        == b'[["example.com",[[1,"http://example.com/",1,null,"page","",""]],false]]'
    )


def test_a_report_travels_as_bytes() -> None:
    result = PageResult(id=1, attempt=2, outcome=Outcome.REDIRECT, http_status=301, redirect_to="http://b/", links=())
    report = SliceReport(batch="b", token="t", slice=3, host="h", results=(result,), next_at=1.5, done=True)
    assert decode_report(encode_report(report)) == report
