"""The tables of crawls, pages, links, traps and schedules. The database holds the truth; Redis can be rebuilt from it.

The tables of accounts and notices are in `crawler.accounts.models` and `crawler.notices.models`; they are imported here
so that Django finds them."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models

from crawler import clock
from crawler.accounts.models import Allowance, ApiToken, AuditEntry, RepeatedCall, Usage
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.politeness.priorities import USUAL_PRIORITY
from crawler.core.protocol.completion import State
from crawler.core.protocol.counters import Tallies
from crawler.core.protocol.messages import EXTERNAL, PAGE, SITEMAP
from crawler.notices.models import Channel, Delivery, Notice, WebhookSecret, usual_events

__all__ = [
    "NOT_OVER",
    "Allowance",
    "Answer",
    "AnswersTotal",
    "ApiToken",
    "AuditEntry",
    "BranchCounts",
    "Channel",
    "Crawl",
    "Delivery",
    "Disagreement",
    "HookCalls",
    "KeptExtraction",
    "LinkIndex",
    "Notice",
    "Page",
    "PageFacts",
    "PageLinks",
    "PageLoad",
    "PageVariants",
    "RepeatedCall",
    "Schedule",
    "Trap",
    "Usage",
    "VaryingPart",
    "WebhookSecret",
    "usual_events",
]

NOT_OVER = [state for state in State if not state.is_over]


class Crawl(models.Model):
    """One run over one or more start URLs. Its id is the job id that page records are keyed by."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=16, choices=[(s, s) for s in State], default=State.RUNNING)
    start_urls = models.JSONField()
    options = models.JSONField(default=dict)
    sealed = models.TextField(default="", blank=True)  # its credentials and proxy, encrypted; "" = none
    source = models.CharField(max_length=255, default="", blank=True)  # the name of the imported URL list; "" = none
    source_report = models.JSONField(default=dict, blank=True)  # counts of the import, see `crawls.import_urls`
    loaded_at = models.DateTimeField(null=True, blank=True)  # when the import last made progress
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="next_runs")
    schedule = models.ForeignKey("Schedule", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # may see it
    group_controls = models.BooleanField(default=False)  # whether the group's members may pause, resume and so on
    keep = models.BooleanField(default=False)  # exempt from retention
    held_until = models.DateTimeField(null=True, blank=True)  # paused until then: the daily page quota is exhausted
    pause_reason = models.TextField(default="", db_default="", blank=True)  # why it waits for a user; "" = one did it
    paused_at = models.DateTimeField(null=True, blank=True)  # None = neither paused nor held
    idle_seconds = models.FloatField(default=0)  # earlier pauses, and the time between rounds
    created_at = models.DateTimeField(default=clock.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)  # or cancelled
    round = models.SmallIntegerField(
        default=1
    )  # incremented each time pages that are added or asked for again reopen it
    round_began_at = models.DateTimeField(default=clock.now)  # a deadline counts from here

    # Changed in the transaction that changes the rows they count, by the number of rows changed.
    discovered = models.BigIntegerField(default=0)
    outcomes = models.JSONField(default=dict)
    statuses = models.JSONField(default=dict)
    limits = models.JSONField(default=dict)  # `core.protocol.completion.Limit` -> pages it closed
    requests = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    kept_bytes = models.BigIntegerField(default=0, db_default=0)  # of content that was stored
    retries = models.BigIntegerField(default=0)
    samples = models.JSONField(default=list)  # recent progress, see `core.protocol.progress`
    priorities = models.JSONField(default=list)  # of its pages, highest first
    flow = models.JSONField(null=True)  # pages in and out of late, see `core.protocol.flow`; NULL = none yet
    slowed = models.JSONField(null=True)  # host -> how it was slowed down, at worst; NULL = none, or it is not over
    recent = models.JSONField(default=dict)  # the most recently closed pages, see `core.protocol.counters`

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-created_at"], name="crawl_newest_first"),
            models.Index(fields=["state"], condition=models.Q(state__in=NOT_OVER), name="crawl_not_over"),
        ]

    def __str__(self) -> str:
        return f"{self.site} ({self.state})"

    @property
    def site(self) -> str:
        """A short label: the name of its URL list, or the first start URL without the scheme."""
        if self.source:
            return f"{self.source} ({self.discovered:,} URL{'' if self.discovered == 1 else 's'})"
        first: str = self.start_urls[0]
        return first.split("://", 1)[-1].rstrip("/")

    @property
    def chosen(self) -> CrawlOptions:
        return CrawlOptions.from_plain(self.options)

    @property
    def tallies(self) -> Tallies:
        return Tallies(discovered=self.discovered, outcomes=self.outcomes, statuses=self.statuses)

    @property
    def is_over(self) -> bool:
        return State(self.state).is_over


class Page(models.Model):
    """One normalised URL within one crawl. Only `crawler.storage.writer` writes these rows."""

    OPEN, CLOSED = 0, 1

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False, related_name="pages")
    key = models.BinaryField(max_length=16)  # digest of the URL: unique whatever the URL's length
    url = models.TextField()
    kind = models.CharField(max_length=8, default=PAGE, choices=[(kind, kind) for kind in (PAGE, SITEMAP, EXTERNAL)])
    status = models.SmallIntegerField(default=OPEN, choices=[(OPEN, "open"), (CLOSED, "closed")])
    priority = models.SmallIntegerField(default=USUAL_PRIORITY)  # 0 = last, 10 = first
    depth = models.IntegerField(default=0)  # links from the nearest start URL it was found from
    hops = models.SmallIntegerField(default=0)  # length of the redirect chain that led here
    parent_id = models.BigIntegerField(null=True)  # the page of this crawl it was first found on; None = start URL
    attempts = models.SmallIntegerField(default=0)
    deaths = models.SmallIntegerField(default=0)  # workers that died while they fetched or parsed it
    died_with = models.CharField(max_length=16, default="")  # token of the last lease whose worker died; "" = none
    due_at = models.FloatField(default=0)  # epoch seconds; not requested before
    due_since = models.FloatField(default=0, db_default=0)  # epoch seconds; `due_at`, or its opening; 0 = unknown
    put_off = models.SmallIntegerField(null=True)  # status of the response whose Retry-After set `due_at`; None = none
    not_before = models.FloatField(null=True)  # epoch seconds; the time a user chose for it; None = none
    expires_at = models.FloatField(null=True)  # epoch seconds; not requested after; None = no deadline
    given_up = models.BooleanField(default=False)  # a dead letter: it failed, and a retry may succeed
    given_up_at = models.FloatField(default=0, db_default=0)  # epoch seconds; 0 = it is none, or became one before this
    # Why it takes a slot lane; "" = it does not.
    lane_reason = models.CharField(max_length=16, default="", db_default="", db_column="rendering")
    # Added by a user who may not allow private addresses, or found on such a page, in a crawl that may request them.
    public_only = models.BooleanField(default=False, db_default=False)
    rel = models.CharField(max_length=40, default="")  # "nofollow ugc sponsored" of the first link that led here
    linked = models.BooleanField(default=True)  # found by a link or given by the user; False = by a sitemap only
    in_sitemap = models.BooleanField(default=False)
    lastmod = models.CharField(max_length=40, default="")  # from the sitemap, as written
    trap_id = models.BigIntegerField(null=True)  # the trap that quarantined it
    meta = models.JSONField(null=True)  # name -> value, of its line in a list; NULL = there was none

    outcome = models.CharField(max_length=20, default="", choices=[("", "open"), *((o, o) for o in Outcome)])
    # The `core.protocol.completion.Limit` that closed it. NULL = none did, or an earlier version closed it.
    closed_by = models.CharField(max_length=8, null=True)
    http_status = models.SmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, default="")
    title = models.TextField(default="")
    redirect_to = models.TextField(default="")
    bytes = models.BigIntegerField(default=0)
    elapsed_ms = models.IntegerField(default=0)
    fetched_at = models.DateTimeField(null=True)
    error = models.TextField(default="")
    directives = models.TextField(default="")  # of meta robots and X-Robots-Tag: "noindex nofollow"
    not_followed = models.IntegerField(default=0)  # links skipped because of rel=nofollow or a nofollow page
    reused = models.BooleanField(default=False)  # served from the response cache, without a request

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="page_once_per_crawl")]
        indexes: ClassVar = [
            # The condition is always true: only queries that state it use this index, see `storage.queries.all_rows`.
            models.Index(fields=["crawl", "id"], condition=models.Q(id__gt=0), name="page_in_order"),
            models.Index(fields=["crawl", "priority", "id"], condition=models.Q(status=0), name="page_open"),
            # Here, too, a part of the condition is always true, so that no other query takes it for that of open pages.
            models.Index(
                fields=["crawl", "due_since"], condition=models.Q(status=0, due_since__gte=0), name="page_due"
            ),
            models.Index(fields=["crawl", "trap_id"], condition=models.Q(trap_id__isnull=False), name="page_trapped"),
            models.Index(fields=["crawl", "id"], condition=models.Q(linked=False), name="page_orphan"),
            models.Index(fields=["crawl", "id"], condition=models.Q(given_up=True), name="page_given_up"),
            # The dead letters of all crawls, the newest last: with what selects and counts them.
            models.Index(
                fields=["given_up_at", "id", "crawl", "outcome"],
                condition=models.Q(given_up=True),
                name="page_dead_letters",
            ),
            models.Index(fields=["crawl"], condition=models.Q(reused=True), name="page_reused"),
            models.Index(
                fields=["crawl", "due_at"], condition=models.Q(status=0, put_off__isnull=False), name="page_put_off"
            ),
            models.Index(
                fields=["crawl", "expires_at"],
                condition=models.Q(status=0, expires_at__isnull=False),
                name="page_expiring",
            ),
        ]

    def __str__(self) -> str:
        return self.url


class PageLinks(models.Model):
    """All links of one page, packed by `core.html.link_codec`, so that the page's row stays small. Only
    `crawler.storage.writer` writes these rows, together with the page's own."""

    page_id = models.BigIntegerField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    keys = models.BinaryField()
    packed = models.BinaryField()


class LinkIndex(models.Model):
    """Which pages of one part of a crawl link to the targets of one bucket, see `reports.links`. Built on demand; can
    be rebuilt."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+", db_index=False)
    moment = models.CharField(max_length=100)  # `result_cache.moment_of` when it was built
    bucket = models.SmallIntegerField()
    last_page = models.BigIntegerField()  # of the part
    packed = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["crawl", "bucket", "last_page"], name="link_index_part")
        ]


class PageFacts(models.Model):
    """Metadata of one page, from its response headers and its HTML, for the page's view and the reports. Only
    `crawler.storage.writer` writes these rows, together with the page's own; a page without a response has none."""

    page = models.OneToOneField(
        Page, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="facts"
    )  # for joins; the rows of both are deleted together, by `crawler.storage.writer`
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    headers = models.TextField(default="")  # one per line, as received
    first_byte_ms = models.IntegerField(default=0)
    certificate_error = models.TextField(default="", db_default="")  # why it was not trusted; "" = it was
    description = models.TextField(default="")
    h1 = models.TextField(default="")  # the first
    h1_count = models.IntegerField(null=True)  # None = not read
    canonical = models.TextField(default="")  # normalised URL
    canonicals = models.IntegerField(default=0)
    digest = models.BinaryField(max_length=16, default=b"")  # of the visible text; b"" = no text
    sketch = models.BinaryField(max_length=8, default=b"")  # simhash for near-duplicates; b"" = not requested
    words = models.IntegerField(null=True)  # in the visible text; None = not counted
    insecure = models.JSONField(default=list)  # resources an https page loads over http
    malformed = models.JSONField(null=True)  # {"number": of its malformed links, "links": the first}; NULL = none
    fields = models.JSONField(default=dict)  # name -> value, by the crawl's extraction rules
    notes = models.JSONField(default=dict)  # name of a field -> why its value is missing or incomplete
    kept = models.JSONField(default=dict)  # content format -> [object, offset, length], or why it is not stored

    def __str__(self) -> str:
        return f"facts of page {self.page_id}"


class PageLoad(models.Model):
    """How one page loaded in a browser, see `capabilities.browser.page_load`; only rendered pages have one. Only
    `crawler.storage.writer` writes these rows, together with the page's own."""

    page = models.OneToOneField(
        Page, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="load"
    )  # as of `PageFacts`
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    lcp_ms = models.IntegerField(null=True)  # NULL = not known, as of the two below
    cls = models.FloatField(null=True)
    resource_bytes = models.BigIntegerField(null=True)
    resources = models.IntegerField(default=0)
    failed_requests = models.IntegerField(default=0)
    blocked_requests = models.IntegerField(default=0)
    console_errors = models.IntegerField(default=0)
    console = models.JSONField(default=list)  # the first errors
    requests = models.JSONField(default=list)  # the first of them, each as a `Resource` without its empty fields

    def __str__(self) -> str:
        return f"load of page {self.page_id}"


class ScriptPage(models.Model):
    """A page that says next to nothing without its scripts, of a crawl that renders none. Only `crawler.storage.writer`
    writes these rows, together with the page's own."""

    page = models.OneToOneField(
        Page, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+"
    )  # as of `PageFacts`
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    reason = models.CharField(max_length=16)  # a `Shell`

    def __str__(self) -> str:
        return f"page {self.page_id}, which needs scripts"


class SpiderRequest(models.Model):
    """What a user's spider said about a page when it first yielded a request for it: the callback and what belongs to
    it, as JSON. Only `crawler.storage.writer` writes these rows, together with the page's own."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False, related_name="+")
    key = models.BinaryField(max_length=16)  # of the page
    request = models.TextField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="spider_request_once_per_page")]

    def __str__(self) -> str:
        return f"request of a spider {self.id}"


class HookCalls(models.Model):
    """How often one method of a hook was called in a crawl, see `crawler.capabilities.hooks`. Calls of `on_page` are
    counted in the transaction that closes their page; one whose page was requested again, because its worker died, is
    not."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False, related_name="hook_calls")
    hook = models.CharField(max_length=200)  # the class, as the settings name it
    method = models.CharField(max_length=16)
    calls = models.BigIntegerField(default=0)
    errors = models.BigIntegerField(default=0)  # of these, calls that raised
    timeouts = models.BigIntegerField(default=0)  # of these, calls that took too long, or were not made for that reason
    last_error = models.TextField(default="")
    fields = models.JSONField(default=dict)  # name -> type, of fields from `on_page`; see `core.pages.code_calls`

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["crawl", "hook", "method"], name="hook_method_once_per_crawl")
        ]

    def __str__(self) -> str:
        return f"{self.hook}.{self.method}"


class KeptExtraction(models.Model):
    """The last time a crawl's fields were extracted again from its kept HTML, see `crawls.kept_extraction`."""

    crawl = models.OneToOneField(Crawl, primary_key=True, on_delete=models.CASCADE, related_name="kept_extraction")
    last_page = models.BigIntegerField(default=0)  # the pages up to this one are done
    tries = models.SmallIntegerField(default=0)  # how often the next pages were begun
    seen = models.BigIntegerField(default=0)  # pages of the crawl that were looked at
    read = models.BigIntegerField(default=0)  # of these, pages whose fields were extracted
    missing = models.BigIntegerField(default=0)  # of these, HTML pages without kept HTML that can be read
    failed = models.BigIntegerField(default=0)  # of these, pages that were left out, because workers died with them
    began_at = models.DateTimeField(default=clock.now)
    touched_at = models.DateTimeField(default=clock.now)  # when a worker last began some pages
    done_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"kept HTML of crawl {self.crawl_id}"

    @property
    def counts(self) -> dict[str, int]:
        """Pages by what became of them, as JSON has them."""
        return {"seen": self.seen, "read": self.read, "missing": self.missing, "failed": self.failed}


class Trap(models.Model):
    """A crawler trap, or the counters of a URL pattern that may become one. See `capabilities.traps`."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="traps")
    key = models.BinaryField(max_length=16)  # digest of reason and pattern
    reason = models.CharField(max_length=32)
    pattern = models.TextField()  # as shown: "/calendar/*/*", "/shop?color=*&size=*"
    pages = models.BigIntegerField(default=0)  # pages of this pattern that were accepted
    quarantined = models.BigIntegerField(default=0)  # pages closed as a trap
    left_out = models.BigIntegerField(default=0)  # further pages, which have no row
    released = models.BooleanField(default=False)  # a user released it: these pages are crawled
    seen_values = models.JSONField(default=dict)  # of workers of an earlier version
    evidence = models.JSONField(default=dict, db_default=models.Value({}, models.JSONField()))  # {} = none

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="trap_once_per_crawl")]

    def __str__(self) -> str:
        return f"{self.reason}: {self.pattern}"


class BranchCounts(models.Model):
    """The counts of a crawl's branches, see `capabilities.traps.branches`."""

    crawl = models.OneToOneField(Crawl, on_delete=models.CASCADE, primary_key=True, related_name="+")
    counts = models.BinaryField()  # msgpack

    def __str__(self) -> str:
        return f"branches of {self.crawl_id}"


class VaryingPart(models.Model):
    """Of workers of an earlier version, which may run beside this one; a later version deletes this table."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False, related_name="varying_parts")
    key = models.BinaryField(max_length=16)  # the key its trap has, or would have
    pattern = models.TextField()  # as shown: "example.com/…?x=*", "example.com/s/*"
    pages = models.IntegerField(default=0)  # counted pages
    same = models.IntegerField(default=0)  # of these, pages that repeated the text of a variant and had links
    different = models.IntegerField(default=0)  # of these, pages with new text
    checks = models.IntegerField(default=0)  # pages accepted to verify the judgement
    is_honest = models.BooleanField(default=False)  # no longer observed
    trap = models.OneToOneField(Trap, null=True, on_delete=models.CASCADE, related_name="part")  # None = no trap

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="varying_part_once_per_crawl")]

    def __str__(self) -> str:
        return self.pattern


class PageVariants(models.Model):
    """The same."""

    id = models.BigAutoField(primary_key=True)
    part = models.ForeignKey(VaryingPart, on_delete=models.CASCADE, db_index=False, related_name="variants")
    key = models.BinaryField(max_length=16)  # digest of the rest of their URLs
    pages = models.IntegerField(default=0)
    same = models.IntegerField(default=0)
    different = models.IntegerField(default=0)
    texts = models.BinaryField(default=b"")  # concatenated digests

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["part", "key"], name="page_variants_once_per_part")]

    def __str__(self) -> str:
        return f"variants {bytes(self.key).hex()} of part {self.part_id}"


class Schedule(models.Model):
    """A recurring crawl, started by `clock`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    start_urls = models.JSONField()
    options = models.JSONField(default=dict)
    sealed = models.TextField(default="", blank=True)
    rule = models.CharField(max_length=100)  # "every 6h", or a cron expression
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE)
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # see Crawl
    group_controls = models.BooleanField(default=False)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    next_at = models.DateTimeField()
    last_error = models.TextField(default="", blank=True)  # why the last run could not start

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=models.Q(enabled=True), name="schedule_next"),
        ]

    def __str__(self) -> str:
        return f"{self.start_urls[0]} {self.rule}"


class Answer(models.Model):
    """A cached response, for all crawls that share its cache partition. Losing one costs a request."""

    key = models.BinaryField(max_length=16, primary_key=True)  # digest of the URL and the request headers that matter
    stored_at = models.FloatField(db_index=True)  # epoch seconds when it was last validated
    etag = models.TextField(default="")
    last_modified = models.TextField(default="")
    result = models.BinaryField()  # compressed, see `crawler.storage.response_cache`
    bytes = models.IntegerField(default=0, db_default=0)  # what the row takes

    class Meta:
        # For the sum over all, which reads nothing but this index.
        indexes: ClassVar = [models.Index(fields=["stored_at", "bytes"], name="answer_oldest")]

    def __str__(self) -> str:
        return bytes(self.key).hex()


class AnswersTotal(models.Model):
    """One row: what all cached responses take at most. Each transaction that stores some adds to it; responses that are
    replaced, expire or are forgotten are subtracted when it is counted again."""

    id = models.SmallIntegerField(primary_key=True)  # of the only row, `crawler.storage.response_cache`
    bytes = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.bytes} bytes"


class Installation(models.Model):
    """One row: the id of this database, by which Redis is known to be its own. Copies of the database have the same."""

    number = models.SmallIntegerField(primary_key=True, default=1)  # of the only row
    database_id = models.UUIDField(default=uuid.uuid4)

    def __str__(self) -> str:
        return str(self.database_id)


class Disagreement(models.Model):
    """Recorded when the two completion checks disagreed, or the counters did not match the rows."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="disagreements")
    seen_at = models.DateTimeField(default=clock.now)
    what = models.TextField()

    def __str__(self) -> str:
        return self.what
