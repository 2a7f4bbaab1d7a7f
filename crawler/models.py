"""The tables: what a crawl is, what became of each page, and whom to tell. The database holds the truth."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models

from crawler import clock
from crawler.core.crawl.completion import State
from crawler.core.crawl.counters import Tallies
from crawler.core.crawl.messages import EXTERNAL, PAGE, SITEMAP, USUAL_PRIORITY
from crawler.core.crawl.notices import DEFAULT_EVENTS, ENDS, Means
from crawler.core.crawl.options import CrawlOptions
from crawler.core.crawl.outcomes import Outcome

_ENDS = [event.value for event in ENDS]
NOT_OVER = [state for state in State if not state.is_over]


class Crawl(models.Model):
    """One run over one or more start URLs. Its id is the job id that page records are keyed by."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    state = models.CharField(max_length=16, choices=[(s, s) for s in State], default=State.RUNNING)
    start_urls = models.JSONField()
    options = models.JSONField(default=dict)
    sealed = models.TextField(default="", blank=True)  # its credentials and proxy, encrypted; "" = none
    source = models.CharField(max_length=255, default="", blank=True)  # the name of its list of URLs; "" = none
    source_report = models.JSONField(default=dict, blank=True)  # what was read of that list, see `crawls.import_urls`
    loaded_at = models.DateTimeField(null=True, blank=True)  # the last sign of life of whoever reads the list
    previous = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="next_runs")
    schedule = models.ForeignKey("Schedule", null=True, blank=True, on_delete=models.SET_NULL, related_name="runs")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # sees it too
    group_controls = models.BooleanField(default=False)  # whether the group's members may pause, resume and so on
    keep = models.BooleanField(default=False)  # whatever its age, it is not deleted
    held_until = models.DateTimeField(null=True, blank=True)  # paused till then: its owner's pages of the day are used
    paused_at = models.DateTimeField(null=True, blank=True)  # since when it is paused or held; None = it is not
    idle_seconds = models.FloatField(default=0)  # earlier pauses, and the time between an end and the next round
    created_at = models.DateTimeField(default=clock.now, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True)  # when it was over: finished or cancelled
    round = models.SmallIntegerField(default=1)  # one more each time dead letters reopen it
    round_began_at = models.DateTimeField(default=clock.now)  # what a deadline counts from

    # Moved in the transaction that changes the rows they count, by the number of rows changed.
    discovered = models.BigIntegerField(default=0)
    outcomes = models.JSONField(default=dict)
    statuses = models.JSONField(default=dict)
    limits = models.JSONField(default=dict)  # `core.crawl.completion.Limit` -> pages it closed
    requests = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    retries = models.BigIntegerField(default=0)
    samples = models.JSONField(default=list)  # recent progress, see `core.crawl.progress`
    priorities = models.JSONField(default=list)  # of its pages, the most urgent first
    recent = models.JSONField(default=dict)  # the pages closed last, see `core.crawl.counters`

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["-created_at"], name="crawl_newest_first"),
            models.Index(fields=["state"], condition=models.Q(state__in=NOT_OVER), name="crawl_not_over"),
        ]

    def __str__(self) -> str:
        return f"{self.site} ({self.state})"

    @property
    def site(self) -> str:
        """A short name for people: its list, or the first start URL without its scheme."""
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
    hops = models.SmallIntegerField(default=0)  # redirects in a row that led here
    parent_id = models.BigIntegerField(null=True)  # the page of this crawl it was first found on; None = start URL
    attempts = models.SmallIntegerField(default=0)
    deaths = models.SmallIntegerField(default=0)  # workers that died while it was in hand: asked for, or read
    died_with = models.CharField(max_length=16, default="")  # token of its last lease whose holder died; "" = none did
    due_at = models.FloatField(default=0)  # epoch seconds before which it must not be asked again
    put_off = models.SmallIntegerField(null=True)  # status of the response whose Retry-After that is; None = our own
    expires_at = models.FloatField(null=True)  # epoch seconds after which it is not asked any more; None = never
    given_up = models.BooleanField(default=False)  # a dead letter: it failed, and another try might do better
    rel = models.CharField(max_length=40, default="")  # "nofollow ugc sponsored" of the first link that led here
    linked = models.BooleanField(default=True)  # whether a link or a person led here; False = a sitemap alone did
    in_sitemap = models.BooleanField(default=False)
    lastmod = models.CharField(max_length=40, default="")  # as its sitemap says
    trap_id = models.BigIntegerField(null=True)  # the trap it is quarantined for

    outcome = models.CharField(max_length=20, default="", choices=[("", "open"), *((o, o) for o in Outcome)])
    http_status = models.SmallIntegerField(null=True)
    content_type = models.CharField(max_length=100, default="")
    title = models.TextField(default="")
    redirect_to = models.TextField(default="")
    bytes = models.BigIntegerField(default=0)
    elapsed_ms = models.IntegerField(default=0)
    fetched_at = models.DateTimeField(null=True)
    error = models.TextField(default="")
    directives = models.TextField(default="")  # what meta robots and X-Robots-Tag say: "noindex nofollow"
    not_followed = models.IntegerField(default=0)  # links left out because of rel=nofollow or a nofollow page
    reused = models.BooleanField(default=False)  # the answer was remembered: nothing was asked for

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="page_once_per_crawl")]
        indexes: ClassVar = [
            # The condition is always true: only questions that say it use this index, see `table.in_order`.
            models.Index(fields=["crawl", "id"], condition=models.Q(id__gt=0), name="page_in_order"),
            models.Index(fields=["crawl", "priority", "id"], condition=models.Q(status=0), name="page_open"),
            models.Index(fields=["crawl", "trap_id"], condition=models.Q(trap_id__isnull=False), name="page_trapped"),
            models.Index(fields=["crawl", "id"], condition=models.Q(linked=False), name="page_orphan"),
            models.Index(fields=["crawl", "id"], condition=models.Q(given_up=True), name="page_given_up"),
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
    """Every link of one page as `core.html.link_codec` packs them, so that a page's row stays small. Only
    `crawler.storage.writer` writes these rows, with the page's own."""

    page_id = models.BigIntegerField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    keys = models.BinaryField()
    packed = models.BinaryField()


class LinkIndex(models.Model):
    """Which pages of a part of a crawl link to the targets of one group, see `reports.links`: it is made when it
    is asked for, and can be made again."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+", db_index=False)
    moment = models.CharField(max_length=100)  # of the crawl, `kept.moment_of`; of another one it is no longer true
    bucket = models.SmallIntegerField()
    last_page = models.BigIntegerField()  # of the part
    packed = models.BinaryField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["crawl", "bucket", "last_page"], name="link_index_part")
        ]


class PageFacts(models.Model):
    """What one page's server and the page itself said, for its own view and the reports. Only `crawler.storage.writer`
    writes these rows, with the page's own; a page nobody answered for has none."""

    page = models.OneToOneField(
        Page, primary_key=True, on_delete=models.DO_NOTHING, db_constraint=False, related_name="facts"
    )  # for joins; the rows of both are deleted together, by `crawler.storage.writer`
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="+")
    headers = models.TextField(default="")  # one a line, as sent
    first_byte_ms = models.IntegerField(default=0)
    description = models.TextField(default="")
    h1 = models.TextField(default="")  # the first
    h1_count = models.IntegerField(null=True)  # None = not read
    canonical = models.TextField(default="")  # normalised URL
    canonicals = models.IntegerField(default=0)
    digest = models.BinaryField(max_length=16, default=b"")  # of the visible text; b"" = there is none
    sketch = models.BinaryField(max_length=8, default=b"")  # for near-duplicates; b"" = not asked for
    words = models.IntegerField(null=True)  # of the visible text; None = not counted
    insecure = models.JSONField(default=list)  # what an https page loads over http
    malformed = models.JSONField(null=True)  # {"number": of its malformed links, "links": the first}; NULL = none
    fields = models.JSONField(default=dict)  # name -> value, by the crawl's extraction rules
    notes = models.JSONField(default=dict)  # name of a field -> why it has no value, or not all of it
    kept = models.JSONField(default=dict)  # form -> [object, offset, length], or a sentence why it is not kept

    class Meta:
        indexes: ClassVar = [
            # The condition is always true: only questions that say it use this index, see `crawler.storage.variants`.
            models.Index(fields=["crawl", "digest", "page"], condition=models.Q(page__gt=0), name="facts_same_text"),
        ]

    def __str__(self) -> str:
        return f"facts of page {self.page_id}"


class Trap(models.Model):
    """An endless series of pages, or the count of a shape of URLs that may become one. See `core.crawl.traps`."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="traps")
    key = models.BinaryField(max_length=16)  # digest of reason and pattern
    reason = models.CharField(max_length=32)
    pattern = models.TextField()  # for people: "/calendar/*/*", "/shop?color=*&size=*"
    pages = models.BigIntegerField(default=0)  # pages of this shape that were let in
    quarantined = models.BigIntegerField(default=0)  # pages closed as a trap
    left_out = models.BigIntegerField(default=0)  # pages beyond those, which have no row
    released = models.BooleanField(default=False)  # a person said that these pages are honest
    seen_values = models.JSONField(default=dict)  # parameter -> digests of its values, while they decide

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="trap_once_per_crawl")]

    def __str__(self) -> str:
        return f"{self.reason}: {self.pattern}"


class VaryingPart(models.Model):
    """A parameter, or a segment of paths, whose value may make no difference to what pages say. See
    `core.urls.variants`."""

    id = models.BigAutoField(primary_key=True)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, db_index=False, related_name="varying_parts")
    key = models.BinaryField(max_length=16)  # of its trap, be there one or not
    pattern = models.TextField()  # for people: "example.com/…?x=*", "example.com/s/*"
    pages = models.IntegerField(default=0)  # that were counted
    same = models.IntegerField(default=0)  # of these, that repeated a text of their variants and led on
    different = models.IntegerField(default=0)  # of these, that said something new
    checks = models.IntegerField(default=0)  # pages that were let in to check the judgement
    is_honest = models.BooleanField(default=False)  # it is not followed any more
    trap = models.OneToOneField(Trap, null=True, on_delete=models.CASCADE, related_name="part")  # None = not judged

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["crawl", "key"], name="varying_part_once_per_crawl")]

    def __str__(self) -> str:
        return self.pattern


class PageVariants(models.Model):
    """The pages whose URLs differ in one varying part alone, counted as `core.urls.variants.Variants` says."""

    id = models.BigAutoField(primary_key=True)
    part = models.ForeignKey(VaryingPart, on_delete=models.CASCADE, db_index=False, related_name="variants")
    key = models.BinaryField(max_length=16)  # of the rest of their URLs
    pages = models.IntegerField(default=0)
    same = models.IntegerField(default=0)
    different = models.IntegerField(default=0)
    texts = models.BinaryField(default=b"")  # digests, one after the other

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["part", "key"], name="page_variants_once_per_part")]

    def __str__(self) -> str:
        return f"variants {bytes(self.key).hex()} of part {self.part_id}"


class Schedule(models.Model):
    """A crawl that is begun again and again, by `clock`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    start_urls = models.JSONField()
    options = models.JSONField(default=dict)
    sealed = models.TextField(default="", blank=True)
    rule = models.CharField(max_length=100)  # "every 6h", or a cron expression
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE)
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")  # as its runs
    group_controls = models.BooleanField(default=False)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    next_at = models.DateTimeField()
    last_error = models.TextField(default="", blank=True)  # why the last time came to nothing

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["next_at"], condition=models.Q(enabled=True), name="schedule_next"),
        ]

    def __str__(self) -> str:
        return f"{self.start_urls[0]} {self.rule}"


class Allowance(models.Model):
    """What one person may have, where that is not what the settings say."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="allowance")
    active_crawls = models.PositiveIntegerField(
        null=True, blank=True, help_text="Crawls at a time. Empty = as CRAWLER_ACTIVE_CRAWLS says, 0 = no limit."
    )
    pages_a_day = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty = as CRAWLER_PAGES_A_DAY says, 0 = no limit."
    )

    def __str__(self) -> str:
        return f"allowance of {self.user}"


class Usage(models.Model):
    """How many pages a person's crawls asked for on one day. Moved in the transaction that closes the pages, see
    `crawler.storage.sql`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()  # in UTC
    pages = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "usage"
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "day"], name="usage_once_a_day")]

    def __str__(self) -> str:
        return f"{self.pages} pages on {self.day}"


class Answer(models.Model):
    """What a server said of a URL, remembered for all crawls that may share it. Losing one costs a request."""

    key = models.BinaryField(max_length=16, primary_key=True)  # digest of the URL, and of what was sent beside it
    stored_at = models.FloatField(db_index=True)  # epoch seconds when it was last known to be so
    etag = models.TextField(default="")
    last_modified = models.TextField(default="")
    result = models.BinaryField()  # compressed, see `crawler.storage.response_cache`

    def __str__(self) -> str:
        return bytes(self.key).hex()


class ApiToken(models.Model):
    """A key to the API that acts for one person. Its secret is shown once and kept nowhere: here is only its digest."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret, in hex
    shown = models.CharField(max_length=16)  # the first characters of the secret, for people to know it by
    scopes = models.JSONField(default=list)  # see `core.access.permissions`
    created_at = models.DateTimeField(default=clock.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute
    expires_at = models.DateTimeField(null=True, blank=True)  # None = never
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"


class RepeatedCall(models.Model):
    """A call of the API that may be sent twice: its Idempotency-Key, and the answer once there is one."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)  # keyed digest of method, path and body: bodies may hold passwords
    made_id = models.UUIDField(default=uuid.uuid4)  # the id of what the call makes, whichever try makes it
    claimed_at = models.DateTimeField(default=clock.now, db_index=True)  # when the last try began
    status = models.SmallIntegerField(null=True)  # None = a try is under way, or died
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "key"], name="call_once_per_key")]

    def __str__(self) -> str:
        return self.key


class Disagreement(models.Model):
    """A moment when the two completion checks did not say the same, or the counters did not match the rows."""

    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="disagreements")
    seen_at = models.DateTimeField(default=clock.now)
    what = models.TextField()

    def __str__(self) -> str:
        return self.what


class Notice(models.Model):
    """The outbox: what must be told about a crawl. Its row is written in the transaction that makes it true."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    crawl = models.ForeignKey(Crawl, on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=32)  # see `core.crawl.notices`
    round = models.SmallIntegerField(default=1)  # the crawl's, when this became true
    number = models.IntegerField(default=0)  # of those of this event in this round: 0, 1, 2, ...
    receipt = models.JSONField(default=dict)  # of that moment; empty for pages
    pages = models.JSONField(default=list)  # ids of the pages it tells of
    gathering = models.BooleanField(default=False)  # further pages may be added: nobody was sent it yet
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["crawl", "round", "event", "number"], name="notice_once"),
            models.UniqueConstraint(
                fields=["crawl", "round"], condition=models.Q(event__in=_ENDS), name="notice_one_end_per_round"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.crawl_id}"


def usual_events() -> list[str]:
    return list(DEFAULT_EVENTS)


class Channel(models.Model):
    """Where one person is told of all their crawls."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels")
    name = models.CharField(max_length=80, default="", blank=True)  # as the person calls it
    transport = models.CharField(max_length=16, choices=[(means.value, means.value) for means in Means])
    address = models.TextField()  # encrypted where it is a secret, see `core.crawl.notices`
    events = models.JSONField(default=usual_events)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    tested_at = models.DateTimeField(null=True, blank=True)  # when its owner last tried it

    class Meta:
        indexes: ClassVar = [models.Index(fields=["owner", "created_at"], name="channel_of_owner")]

    def __str__(self) -> str:
        return f"{self.transport} of {self.owner_id}"


class Delivery(models.Model):
    """One address a notice goes to. Delivered at least once; `id` lets the receiver drop a second copy."""

    PENDING, DELIVERED, GIVEN_UP = "pending", "delivered", "given_up"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    transport = models.CharField(max_length=16)
    address = models.TextField()  # encrypted where it is a secret
    state = models.CharField(max_length=16, default=PENDING, choices=[(s, s) for s in (PENDING, DELIVERED, GIVEN_UP)])
    attempts = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    due_at = models.DateTimeField(default=clock.now)
    tried_at = models.DateTimeField(null=True)  # when the last try began
    delivered_at = models.DateTimeField(null=True)
    answer = models.TextField(default="")  # what the receiver said when it took it
    error = models.TextField(default="")  # of the last try
    again = models.BooleanField(default=False)  # a person had the notice sent once more

    class Meta:
        verbose_name_plural = "deliveries"
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=models.Q(state="pending"), name="delivery_pending"),
        ]

    def __str__(self) -> str:
        return f"{self.transport} of notice {self.notice_id}"


class AuditRows(models.QuerySet["AuditEntry"]):
    """What was written stays as it was written."""

    def update(self, **values: object) -> int:
        raise TypeError(AuditEntry.STAYS)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError(AuditEntry.STAYS)


class AuditEntry(models.Model):
    """Who did what, when and from where. Only `crawler.accounts.audit` writes these rows; nothing changes them. They
    name people and things by their keys and by what these were called, so that they outlive both."""

    STAYS = "The audit log is added to; nothing in it is changed or deleted."

    at = models.DateTimeField(default=clock.now, db_index=True)
    act = models.CharField(max_length=40)  # "crawl.started", "account.changed"
    actor_id = models.BigIntegerField(null=True)  # of the account; None = nobody's, or nobody known
    actor = models.CharField(max_length=150, default="")  # the account's name by then, or the system's user
    token_id = models.BigIntegerField(null=True)  # the API token they came by
    via = models.CharField(max_length=8)  # web, api, command, system
    address = models.CharField(max_length=45, default="")
    kind = models.CharField(max_length=40, default="")  # of what it was done to
    key = models.CharField(max_length=64, default="")
    name = models.CharField(max_length=200, default="")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    objects = AuditRows.as_manager()

    class Meta:
        verbose_name = "entry of the audit log"
        verbose_name_plural = "audit log"
        indexes: ClassVar = [models.Index(fields=["kind", "key"], name="audit_of_thing")]

    def __str__(self) -> str:
        return f"{self.act} {self.name}".strip()

    def save(self, *args: Any, **more: Any) -> None:
        if not self._state.adding:
            raise TypeError(self.STAYS)
        super().save(*args, **more)

    def delete(self, *args: Any, **more: Any) -> tuple[int, dict[str, int]]:
        raise TypeError(self.STAYS)
