"""Messages between manager and fetch jobs arrive as they were sent, also those of another version of the project.

`tests/data/messages` has each kind as every version so far wrote it; the last file of a kind is of this version. When a
message changes, add a file with the next number, and leave the others as they are: they must go on being understood.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crawler.capabilities.browser.page_load import PageLoad, Resource
from crawler.core.errors import NewerMessage
from crawler.core.extraction.rules import FieldRule
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.pages.code_calls import CodeCall
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.core.protocol.messages import (
    USUAL_VERSION,
    VERSION,
    Batch,
    BatchHead,
    PageResult,
    PageTask,
    SitemapEntry,
    Slice,
    SliceReport,
    decode_head,
    decode_report,
    encode_report,
)

RECORDED = Path(__file__).parents[2] / "data" / "messages"


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
        == b'[["example.com",[[1,"http://example.com/",1,null,"page","","","",""]],false]]'
    )


def test_a_report_travels_as_bytes() -> None:
    result = PageResult(id=1, attempt=2, outcome=Outcome.REDIRECT, http_status=301, redirect_to="http://b/", links=())
    report = SliceReport(batch="b", token="t", slice=3, host="h", results=(result,), next_at=1.5, done=True)
    assert decode_report(encode_report(report)) == report


BATCH = Batch(
    crawl="0f9d2a52-6a57-4b7b-8f5e-0a3b7c1d9e77",
    site="example.com",
    id="fetch-71fa0b7c789d6310",
    token="0123456789abcdef",
    policy=FetchPolicy(
        user_agent="crawler",
        obey_robots=True,
        delay=0.5,
        concurrency=4,
        private_hosts=("10.0.0.0/8",),
        max_body_bytes=10_000_000,
        per_minute=30.0,
        throttle=False,
        sitemaps=True,
        own_hosts=("example.com",),
        sealed="encrypted",
        sketches=True,
        fields=(FieldRule(name="price", selector=".price"),),
        keep=("html",),
        page_timeout=10.0,
        render="auto",
        wait_for=("main",),
        blocked_hosts=("*.ads.example",),
        render_seconds=20.0,
        scroll=True,
        screenshot="page",
        screenshot_format="png",
        ignore_tls_errors=True,
        engine="scrapy",
        spider="shop.spiders.Prices",
        login_url="http://example.com/login",
        login_check="a.account",
    ),
    slices=(
        Slice("example.com", (PageTask(7, "http://example.com/a", 2, 1_800_000_000.0, "sitemap", '"x"', "yesterday"),)),
        Slice("example.org", (PageTask(8, "http://example.org/", 1, lane_reason="root", note="{}"),), suspects=True),
    ),
    needs_slot=True,
)
REPORT = SliceReport(
    batch=BATCH.id,
    token=BATCH.token,
    slice=1,
    host="example.org",
    next_at=1_800_000_001.5,
    requests=1,
    done=True,
    results=(
        PageResult(
            id=7,
            attempt=2,
            outcome=Outcome.SUCCESS,
            http_status=200,
            content_type="text/html",
            title="A page",
            redirect_to="http://example.com/b",
            links=("http://example.com/c",),
            bytes=1256,
            elapsed_ms=31,
            requests=2,
            fetched_at=1_800_000_000.25,
            retry_after=5.0,
            robots_unreachable=True,
            error="an error",
            directives="noindex",
            rels={"http://example.com/c": "nofollow"},
            link_keys=b"keys",
            linkage=b"links",
            not_followed=1,
            etag='"x"',
            last_modified="yesterday",
            entries=(SitemapEntry("http://example.com/d", "2026-11-23", 5, is_sitemap=True),),
            sitemaps=("http://example.com/sitemap.xml",),
            is_hopeless=True,
            reused=True,
            headers="Server: x",
            first_byte_ms=12,
            facts=PageMetadata(description="A description"),
            kept={"html": ["object", 0, 10]},
            lane_reason="root",
            needs_lane="root",
            load=PageLoad(
                lcp_ms=812,
                cls=0.02,
                console_errors=1,
                failed_requests=1,
                blocked_requests=2,
                resources=3,
                resource_bytes=41_200,
                console=("Uncaught Error: x",),
                requests=(Resource("http://example.com/x.js", "script", 404, 120, 31, "an error", "failed"),),
            ),
            code_calls=(
                CodeCall(name="my_hooks.Prices", error="an error", timed_out=True, fields={"price": "number"}),
            ),
            certificate_error="its certificate has expired",
            process_ended=True,
            link_notes={"http://example.com/c": "{}"},
            barred_links=("http://example.com/bye",),
        ),
    ),
)


def recorded(kind: str) -> list[dict[str, Any]]:
    """The messages of this kind, oldest first."""
    files = sorted(RECORDED.glob(f"{kind}-*.json"), key=lambda file: int(file.stem.partition("-")[2]))
    return [json.loads(file.read_text()) for file in files]


@pytest.mark.parametrize("message", recorded("batch"))
def test_batches_of_every_version_are_understood(message: dict[str, Any]) -> None:
    batch = Batch.from_plain(message)
    assert [task.id for part in batch.slices for task in part.pages] == [7, 8]
    assert batch.policy.user_agent == "crawler"


@pytest.mark.parametrize("message", recorded("report"))
def test_reports_of_every_version_are_understood(message: dict[str, Any]) -> None:
    report = decode_report(bytes.fromhex(message["raw"]))
    assert (report.batch, report.slice, report.done) == (REPORT.batch, REPORT.slice, True)
    assert [(result.id, result.outcome) for result in report.results] == [(7, Outcome.SUCCESS)]


def test_the_last_recorded_messages_are_those_of_this_version() -> None:
    """If this fails, add a file with the next number; see above."""
    batch, report = recorded("batch")[-1], recorded("report")[-1]
    assert json.loads(json.dumps(BATCH.to_plain())) == batch
    assert Batch.from_plain(batch) == BATCH
    assert encode_report(REPORT).hex() == report["raw"]
    assert json.loads(msgspec.json.encode(REPORT)) == report["message"]
    assert decode_report(bytes.fromhex(report["raw"])) == REPORT


def test_unknown_fields_are_ignored() -> None:
    plain = json.loads(json.dumps(BATCH.to_plain()))
    policy = {**plain["policy"], "new": 1}
    first, *others = plain["slices"]
    slices = [[first[0], [[*task, "new"] for task in first[1]], first[2], "new"], *others]
    assert Batch.from_plain({**plain, "new": [1], "policy": policy, "slices": slices}) == BATCH
    fields = msgspec.msgpack.decode(encode_report(REPORT))
    results = [{**result, "new": {}} for result in fields["results"]]
    assert decode_report(msgspec.msgpack.encode({**fields, "new": 1, "results": results})) == REPORT


def test_a_message_without_a_version_is_older() -> None:
    plain = BATCH.to_plain()
    del plain["version"]
    assert Batch.from_plain(plain) == BATCH
    fields = msgspec.msgpack.decode(encode_report(REPORT))
    del fields["version"]
    assert decode_report(msgspec.msgpack.encode(fields)) == REPORT


OTHER_SLICES: dict[str, Any] = {"slices": "of another form"}
OTHER_OUTCOME: dict[str, Any] = {"results": [{"id": 7, "attempt": 2, "outcome": "new"}]}
NEWER = {"version": VERSION + 1}


def changed_report(change: dict[str, Any]) -> bytes:
    return msgspec.msgpack.encode(msgspec.msgpack.decode(encode_report(REPORT)) | change)


@pytest.mark.parametrize("change", [{}, OTHER_SLICES])
def test_of_a_newer_batch_only_the_head_is_understood(change: dict[str, Any]) -> None:
    plain = BATCH.to_plain() | NEWER | change
    with pytest.raises(NewerMessage):
        Batch.from_plain(plain)
    head = BatchHead.from_plain(plain)
    assert (head.crawl, head.site, head.id, head.token) == (BATCH.crawl, BATCH.site, BATCH.id, BATCH.token)


@pytest.mark.parametrize("change", [{}, OTHER_OUTCOME])
def test_of_a_newer_report_only_the_head_is_understood(change: dict[str, Any]) -> None:
    raw = changed_report(NEWER | change)
    with pytest.raises(NewerMessage):
        decode_report(raw)
    head = decode_head(raw)
    assert msgspec.structs.replace(head, version=USUAL_VERSION) == msgspec.structs.replace(REPORT, results=())


def test_a_malformed_message_of_this_version_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError):
        Batch.from_plain(BATCH.to_plain() | OTHER_SLICES)
    with pytest.raises(msgspec.ValidationError):
        decode_report(changed_report(OTHER_OUTCOME))


@pytest.mark.parametrize("raw", [b"", b"\xc1 nonsense", b"\x80", b"\x01"])
def test_what_is_no_report_has_no_head(raw: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_report(raw)
    with pytest.raises(msgspec.DecodeError):
        decode_head(raw)
