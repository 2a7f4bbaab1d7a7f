"""Accounts' crawls and limits, facts of pages, the API, channels, the audit log, links and varying parts of URLs.

Crawls that are there already get what their receipt needs to say how long they ran and which limits kept pages from
being asked for.
"""

import uuid
from datetime import UTC, datetime

from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

import crawler.clock
import crawler.models

MAXIMA = {"max_pages": "pages", "max_bytes": "bytes", "max_depth": "depth"}


def fill(apps, schema_editor):
    """Of crawls that are there already: a pause began when the last page closed, as far as is known; which limit closed
    pages follows from the options where they name one, and is read from the pages' rows where they name several."""
    Crawl, Page = apps.get_model("crawler", "Crawl"), apps.get_model("crawler", "Page")
    needed = ("id", "state", "options", "outcomes", "samples", "created_at", "finished_at", "round_began_at")
    for crawl in Crawl.objects.only(*needed).iterator():
        values = {}
        if crawl.state == "paused":
            moved = datetime.fromtimestamp(crawl.samples[-1][0], UTC) if crawl.samples else timezone.now()
            values["paused_at"] = max(crawl.created_at, moved)
        if limits := limits_of(crawl, Page):
            values["limits"] = limits
        if values:
            Crawl.objects.filter(id=crawl.id).update(**values)


def limits_of(crawl, Page):
    limits = {}
    cut_off, expired = crawl.outcomes.get("limit", 0), crawl.outcomes.get("expired", 0)
    chosen = [MAXIMA[name] for name in MAXIMA if crawl.options.get(name) is not None]
    if cut_off > 0 and len(chosen) == 1 and not crawl.options.get("sitemaps") and not crawl.options.get("sitemap_urls"):
        limits[chosen[0]] = cut_off
    elif cut_off > 0:
        rows = Page.objects.filter(crawl_id=crawl.id, outcome="limit").order_by()
        for error, number in rows.values_list("error").annotate(number=models.Count("id")):
            limits[named(error)] = limits.get(named(error), 0) + number
    if expired > 0:
        limits[limit_of_time(crawl)] = expired
    return limits


def named(error):
    if error.startswith("deeper than"):
        return "depth"
    if error.startswith("more than"):
        return "sitemaps"
    return "bytes" if error.endswith(" bytes") else "pages"


def limit_of_time(crawl):
    deadline, ttl = crawl.options.get("deadline"), crawl.options.get("page_ttl")
    if ttl is None:
        return "deadline"
    if deadline is None:
        return "page_ttl"
    passed = ((crawl.finished_at or timezone.now()) - crawl.round_began_at).total_seconds()
    return "deadline" if passed >= deadline else "page_ttl"


class Migration(migrations.Migration):
    replaces = [
        ("crawler", "0007_facts_of_pages"),
        ("crawler", "0008_people"),
        ("crawler", "0009_pagesview"),
        ("crawler", "0010_reports"),
        ("crawler", "0011_api"),
        ("crawler", "0012_content"),
        ("crawler", "0013_notices"),
        ("crawler", "0014_frame"),
        ("crawler", "0015_audit"),
        ("crawler", "0016_ended"),
        ("crawler", "0017_every_link"),
        ("crawler", "0018_varying_parts"),
        ("crawler", "0019_put_off_pages"),
        ("crawler", "0020_one_clock"),
    ]

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("crawler", "0001_squashed_0006_links_of_pages"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="schedule",
            name="group",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to="auth.group"
            ),
        ),
        migrations.AddField(model_name="schedule", name="group_controls", field=models.BooleanField(default=False)),
        migrations.AddField(
            model_name="crawl",
            name="group",
            field=models.ForeignKey(
                blank=True, null=True, on_delete=models.SET_NULL, related_name="+", to="auth.group"
            ),
        ),
        migrations.AddField(model_name="crawl", name="group_controls", field=models.BooleanField(default=False)),
        migrations.AddField(model_name="crawl", name="held_until", field=models.DateTimeField(blank=True, null=True)),
        migrations.AddField(model_name="crawl", name="keep", field=models.BooleanField(default=False)),
        migrations.AddField(model_name="crawl", name="recent", field=models.JSONField(default=dict)),
        migrations.AddField(model_name="crawl", name="idle_seconds", field=models.FloatField(default=0)),
        migrations.AddField(model_name="crawl", name="limits", field=models.JSONField(default=dict)),
        migrations.AddField(model_name="crawl", name="paused_at", field=models.DateTimeField(blank=True, null=True)),
        migrations.AddField(model_name="notice", name="gathering", field=models.BooleanField(default=False)),
        migrations.AddField(model_name="notice", name="number", field=models.IntegerField(default=0)),
        migrations.AddField(model_name="notice", name="pages", field=models.JSONField(default=list)),
        migrations.RemoveConstraint(model_name="notice", name="notice_once_per_round"),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(fields=("crawl", "round", "event", "number"), name="notice_once"),
        ),
        migrations.AddConstraint(
            model_name="notice",
            constraint=models.UniqueConstraint(
                condition=models.Q(("event__in", ["crawl.finished", "crawl.failed", "crawl.cancelled"])),
                fields=("crawl", "round"),
                name="notice_one_end_per_round",
            ),
        ),
        migrations.AddField(model_name="delivery", name="again", field=models.BooleanField(default=False)),
        migrations.AddField(model_name="delivery", name="answer", field=models.TextField(default="")),
        migrations.AddField(
            model_name="delivery", name="created_at", field=models.DateTimeField(default=crawler.clock.now)
        ),
        migrations.AddField(model_name="delivery", name="tried_at", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="page", name="put_off", field=models.SmallIntegerField(null=True)),
        migrations.AddIndex(
            model_name="page",
            index=models.Index(condition=models.Q(("id__gt", 0)), fields=["crawl", "id"], name="page_in_order"),
        ),
        migrations.AddIndex(
            model_name="page",
            index=models.Index(
                condition=models.Q(("put_off__isnull", False), ("status", 0)),
                fields=["crawl", "due_at"],
                name="page_put_off",
            ),
        ),
        migrations.CreateModel(
            name="Allowance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "active_crawls",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Crawls at a time. Empty = as CRAWLER_ACTIVE_CRAWLS says, 0 = no limit.",
                        null=True,
                    ),
                ),
                (
                    "pages_a_day",
                    models.PositiveIntegerField(
                        blank=True, help_text="Empty = as CRAWLER_PAGES_A_DAY says, 0 = no limit.", null=True
                    ),
                ),
                (
                    "user",
                    models.OneToOneField(
                        on_delete=models.CASCADE, related_name="allowance", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=100)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("shown", models.CharField(max_length=16)),
                ("scopes", models.JSONField(default=list)),
                ("created_at", models.DateTimeField(default=crawler.clock.now, editable=False)),
                ("last_used_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "user",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_index=True, default=crawler.clock.now)),
                ("act", models.CharField(max_length=40)),
                ("actor_id", models.BigIntegerField(null=True)),
                ("actor", models.CharField(default="", max_length=150)),
                ("token_id", models.BigIntegerField(null=True)),
                ("via", models.CharField(max_length=8)),
                ("address", models.CharField(default="", max_length=45)),
                ("kind", models.CharField(default="", max_length=40)),
                ("key", models.CharField(default="", max_length=64)),
                ("name", models.CharField(default="", max_length=200)),
                ("before", models.JSONField(null=True)),
                ("after", models.JSONField(null=True)),
            ],
            options={
                "verbose_name": "entry of the audit log",
                "verbose_name_plural": "audit log",
                "indexes": [models.Index(fields=["kind", "key"], name="audit_of_thing")],
            },
        ),
        migrations.CreateModel(
            name="Channel",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(blank=True, default="", max_length=80)),
                ("transport", models.CharField(max_length=16)),
                ("address", models.TextField()),
                ("events", models.JSONField(default=crawler.models.usual_events)),
                ("enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=crawler.clock.now, editable=False)),
                ("tested_at", models.DateTimeField(blank=True, null=True)),
                (
                    "owner",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="channels", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={"indexes": [models.Index(fields=["owner", "created_at"], name="channel_of_owner")]},
        ),
        migrations.CreateModel(
            name="LinkIndex",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("moment", models.CharField(max_length=100)),
                ("bucket", models.SmallIntegerField()),
                ("last_page", models.BigIntegerField()),
                ("packed", models.BinaryField()),
                (
                    "crawl",
                    models.ForeignKey(db_index=False, on_delete=models.CASCADE, related_name="+", to="crawler.crawl"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("crawl", "bucket", "last_page"), name="link_index_part")
                ]
            },
        ),
        migrations.CreateModel(
            name="PageFacts",
            fields=[
                ("headers", models.TextField(default="")),
                ("first_byte_ms", models.IntegerField(default=0)),
                ("description", models.TextField(default="")),
                ("h1", models.TextField(default="")),
                ("h1_count", models.IntegerField(null=True)),
                ("canonical", models.TextField(default="")),
                ("canonicals", models.IntegerField(default=0)),
                ("digest", models.BinaryField(default=b"", max_length=16)),
                ("sketch", models.BinaryField(default=b"", max_length=8)),
                ("words", models.IntegerField(null=True)),
                ("insecure", models.JSONField(default=list)),
                ("fields", models.JSONField(default=dict)),
                ("kept", models.JSONField(default=dict)),
                ("crawl", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="crawler.crawl")),
                (
                    "page",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=models.DO_NOTHING,
                        primary_key=True,
                        related_name="facts",
                        serialize=False,
                        to="crawler.page",
                    ),
                ),
                ("notes", models.JSONField(default=dict)),
                ("malformed", models.JSONField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("page__gt", 0)), fields=["crawl", "digest", "page"], name="facts_same_text"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="VaryingPart",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.BinaryField(max_length=16)),
                ("pattern", models.TextField()),
                ("pages", models.IntegerField(default=0)),
                ("same", models.IntegerField(default=0)),
                ("different", models.IntegerField(default=0)),
                ("checks", models.IntegerField(default=0)),
                ("is_honest", models.BooleanField(default=False)),
                (
                    "crawl",
                    models.ForeignKey(
                        db_index=False, on_delete=models.CASCADE, related_name="varying_parts", to="crawler.crawl"
                    ),
                ),
                (
                    "trap",
                    models.OneToOneField(null=True, on_delete=models.CASCADE, related_name="part", to="crawler.trap"),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("crawl", "key"), name="varying_part_once_per_crawl")]
            },
        ),
        migrations.CreateModel(
            name="PageVariants",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.BinaryField(max_length=16)),
                ("pages", models.IntegerField(default=0)),
                ("same", models.IntegerField(default=0)),
                ("different", models.IntegerField(default=0)),
                ("texts", models.BinaryField(default=b"")),
                (
                    "part",
                    models.ForeignKey(
                        db_index=False, on_delete=models.CASCADE, related_name="variants", to="crawler.varyingpart"
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("part", "key"), name="page_variants_once_per_part")]
            },
        ),
        migrations.CreateModel(
            name="RepeatedCall",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.CharField(max_length=255)),
                ("digest", models.CharField(max_length=64)),
                ("made_id", models.UUIDField(default=uuid.uuid4)),
                ("claimed_at", models.DateTimeField(db_index=True, default=crawler.clock.now)),
                ("status", models.SmallIntegerField(null=True)),
                ("headers", models.JSONField(default=dict)),
                ("body", models.TextField(default="")),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("user", "key"), name="call_once_per_key")]},
        ),
        migrations.CreateModel(
            name="Usage",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("pages", models.BigIntegerField(default=0)),
                ("user", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "verbose_name_plural": "usage",
                "constraints": [models.UniqueConstraint(fields=("user", "day"), name="usage_once_a_day")],
            },
        ),
        migrations.AddField(
            model_name="delivery",
            name="channel",
            field=models.ForeignKey(
                null=True, on_delete=models.SET_NULL, related_name="deliveries", to="crawler.channel"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
