"""Extracts the fields of a crawl's pages again from the HTML that it kept, without a request: by its extraction rules
or new ones, and by capabilities that read pages. Links are not followed.

The row of the extraction says how far it has come. Its steps are a few pages each: they are read, then one transaction
moves the row on, if it is still where it was, and replaces their fields. So a step may be repeated, or made by two
workers at once. A job makes steps for some seconds and sends the next job; if its worker dies, reconcile sends one.
After a death the pages are read one by one, and one with which workers die is left out.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec
from django.db import DatabaseError, connection, transaction
from django.db.models import F

from crawler import clock
from crawler.accounts import audit
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule, check_rules
from crawler.core.html import links
from crawler.core.html.document import document_of
from crawler.core.html.page_metadata import PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.content_formats import HTML
from crawler.core.pages.outcomes import Outcome
from crawler.core.protocol.messages import PageResult
from crawler.core.protocol.page_readers import page_readers, reader_names
from crawler.core.text.controls import by_surface
from crawler.core.text.gzip import Broken
from crawler.crashpoints import crash_point
from crawler.frontier import keys
from crawler.frontier.leases import Heartbeat
from crawler.models import Crawl, KeptExtraction, Page, PageFacts
from crawler.queueing import queues
from crawler.queueing.duties import NOTHING, DutyResult, Scan
from crawler.storage import fields, queries
from crawler.storage.content.kept import content_by
from crawler.storage.content.objects import ObjectMissing, Reader
from crawler.storage.fields import ExtractedFields

if TYPE_CHECKING:
    from crawler.core.extraction.xpath import Evaluate  # it loads BeautifulSoup

log = logging.getLogger(__name__)

PAGES_PER_STEP = 20
STEP_S = 3.0  # after this no further page is read in a step
JOB_S = 3.0  # after this a job lets others go first
MAX_TRIES = 4  # of a page with which workers die: of its step, then of it alone
TOUCH_S = 4.0  # how often a worker says that it is at work
LOOK_EVERY_S = 5  # for those that are lost
LOST_AFTER = timedelta(seconds=12)  # since it said so

_KEEP_HTML = by_surface(command="--keep html", page="“HTML” under “Content”", api='`keep` with "html"')
NOTHING_KEPT = f"This crawl stored no HTML; start one that keeps it ({_KEEP_HTML})."


def is_possible(options: CrawlOptions) -> bool:
    """Whether a crawl with these options has something to extract again."""
    return HTML in options.keep and bool(options.fields or reader_names())


def start(crawl: Crawl, rules: Sequence[FieldRule] = ()) -> KeptExtraction:
    """Begin an extraction, by new rules if there are any, which then are those of the crawl; one by the same rules that
    is not done goes on. BadInput for rules that cannot be used, and if there is nothing to extract, or to extract it
    from."""
    check_rules("fields", rules)
    with transaction.atomic():
        row = Crawl.objects.select_for_update().get(id=crawl.id)  # other options of it may be changed at the same time
        options = row.chosen
        if HTML not in options.keep:
            raise BadInput("kept", NOTHING_KEPT)
        changed = bool(rules) and tuple(rules) != options.fields
        options = msgspec.structs.replace(options, fields=tuple(rules)) if changed else options
        if not is_possible(options):
            others = "".join(f", or {reader.how}" for reader in page_readers())
            raise BadInput("fields", f"Nothing to extract: enter extraction rules{others}.")
        if changed:
            row.options = options.to_plain()
            row.save(update_fields=["options"])
        found = KeptExtraction.objects.filter(crawl=row).first()
        if found is None or found.done_at is not None or changed:
            now = clock.now()
            begun = KeptExtraction(crawl=row, began_at=now, touched_at=now)
            begun.save(force_insert=found is None)
            audit.note("crawl.extracted_again", row)
            found = begun
    crash_point("extract: committed")
    crawl.options = row.options
    return found


def send(crawl: UUID) -> None:
    """Send the job. If Redis is down, reconcile does it later."""
    queues.send_kept_extraction(str(crawl))


def send_lost(scan: Scan) -> DutyResult:
    """Send a job for each extraction whose worker died, or whose job was lost. Looks for them every few seconds at
    most."""
    if not scan.redis.set(keys.EXTRACTIONS_SEEN, 1, nx=True, ex=LOOK_EVERY_S):
        return NOTHING
    lost = KeptExtraction.objects.filter(done_at=None, touched_at__lt=clock.now() - LOST_AFTER)
    for crawl in lost.values_list("crawl_id", flat=True):
        send(crawl)
    return NOTHING


def job(crawl: UUID, evaluate: Evaluate) -> str:
    """Make some steps; returns a line for the dashboard."""
    queues.kept_extraction_begins(str(crawl))
    if work(crawl, evaluate, for_seconds=JOB_S):
        return "all pages are done"
    send(crawl)
    return "some pages are done"


def work(crawl: UUID, evaluate: Evaluate, for_seconds: float = math.inf) -> bool:
    """Make steps for some seconds, at least one, unless the worker of this job is to end; whether none is left.
    `evaluate`: for rules with XPath."""
    ends = time.monotonic() + for_seconds
    with Heartbeat(partial(_touch, crawl), every=TOUCH_S):
        while True:
            row = KeptExtraction.objects.select_related("crawl").filter(crawl=crawl).first()
            if row is None or row.done_at is not None:
                return True
            _step(row, evaluate)
            if time.monotonic() >= ends or queues.is_stopping():
                return False


def _touch(crawl: UUID) -> bool:
    """Called in a separate thread, whose database connection is closed."""
    try:
        KeptExtraction.objects.filter(crawl=crawl).update(touched_at=clock.now())
    except DatabaseError as error:
        log.warning("it could not be noted that fields of crawl %s are being extracted: %s", crawl, error)
    finally:
        connection.close()
    return True


@dataclass
class _Step:
    """What came of some pages."""

    last_page: int
    seen: int = 0
    missing: int = 0
    failed: int = 0
    readings: list[ExtractedFields] = field(default_factory=list)


def _step(row: KeptExtraction, evaluate: Evaluate) -> None:
    mine = KeptExtraction.objects.filter(crawl=row.crawl_id, began_at=row.began_at, done_at=None)
    here = mine.filter(last_page=row.last_page)
    here.update(tries=F("tries") + 1, touched_at=clock.now())
    crash_point("extract: step begun")
    at_most = PAGES_PER_STEP if row.tries == 0 else 1
    left = queries.all_rows(row.crawl_id).filter(id__gt=row.last_page, status=Page.CLOSED)
    pages = list(left.order_by("id")[:at_most])
    if not pages:
        here.update(done_at=clock.now(), tries=0)
        return
    step = _leave_out(pages[0]) if row.tries >= MAX_TRIES else _read_pages(row.crawl, pages, evaluate)
    with transaction.atomic():
        fields.lock(row.crawl_id)
        moved = here.update(
            last_page=step.last_page,
            tries=0,
            seen=F("seen") + step.seen,
            read=F("read") + len(step.readings),
            missing=F("missing") + step.missing,
            failed=F("failed") + step.failed,
        )
        if moved:  # else another worker was there first, or the extraction was begun anew
            fields.replace(row.crawl_id, step.readings)
            crash_point("extract: fields replaced")
    crash_point("extract: step committed")


def _leave_out(page: Page) -> _Step:
    log.warning("the fields of %s are not extracted: workers died with it", page.url, extra={"page": page.id})
    return _Step(page.id, seen=1, failed=1)


def _read_pages(crawl: Crawl, pages: Sequence[Page], evaluate: Evaluate) -> _Step:
    """Read these pages, or the first of them until the time of a step is over."""
    from crawler.http.fetcher import is_html  # it loads an HTTP parser, which reconcile does without

    facts = PageFacts.objects.in_bulk([page.id for page in pages])
    ends, step = time.monotonic() + STEP_S, _Step(0)
    with Reader() as reader:
        for page in pages:
            known = facts.get(page.id)
            reading = _read(page, known, crawl.chosen.fields, reader, evaluate) if known is not None else None
            if reading is not None:
                step.readings.append(reading)
            elif page.outcome == Outcome.SUCCESS and is_html(page.content_type or "text/html"):
                step.missing += 1
            step.seen, step.last_page = step.seen + 1, page.id
            if time.monotonic() >= ends:
                break
    return step


def _read(
    page: Page, facts: PageFacts, rules: tuple[FieldRule, ...], reader: Reader, evaluate: Evaluate
) -> ExtractedFields | None:
    """What the rules and capabilities find; None if there is no kept HTML that can be read."""
    place = facts.kept.get(HTML)
    if not isinstance(place, list):
        return None
    try:
        html = content_by(reader, facts, HTML)
    except (ObjectMissing, Broken) as error:
        log.warning("the kept HTML of %s cannot be read: %s", page.url, error, extra={"page": page.id})
        return None
    document = document_of(html)
    found = links.extract(document, page.url)
    result = PageResult(
        id=page.id,
        attempt=page.attempts,
        outcome=Outcome.SUCCESS,
        http_status=page.http_status,
        title=page.title,
        links=found.links,
        fetched_at=page.fetched_at.timestamp() if page.fetched_at else 0.0,
        headers=facts.headers,
    )
    if rules:
        from crawler.reports.extraction_text import extracted  # it loads BeautifulSoup, which reconcile does without

        values, notes = extracted(html, page.url, rules, evaluate)
        result = msgspec.structs.replace(result, facts=PageMetadata(fields=values, notes=notes))
    for page_reader in page_readers():
        result = page_reader.read(str(page.crawl_id), result, page.url, html)
    return ExtractedFields(place, result)
