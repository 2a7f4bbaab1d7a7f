"""The tables as the first installations had them."""

import uuid

from django.conf import settings
from django.db import migrations, models

import crawler.clock


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("crawler", "0001_initial"),
        ("crawler", "0002_retries_and_control"),
        ("crawler", "0003_manners_lists_and_freshness"),
        ("crawler", "0004_trap_seen_values"),
        ("crawler", "0005_reused_pages"),
        ("crawler", "0006_links_of_pages"),
    ]

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="Answer",
            fields=[
                ("key", models.BinaryField(max_length=16, primary_key=True, serialize=False)),
                ("stored_at", models.FloatField(db_index=True)),
                ("etag", models.TextField(default="")),
                ("last_modified", models.TextField(default="")),
                ("result", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Schedule",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("start_urls", models.JSONField()),
                ("options", models.JSONField(default=dict)),
                ("sealed", models.TextField(blank=True, default="")),
                ("rule", models.CharField(max_length=100)),
                ("enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(default=crawler.clock.now, editable=False)),
                ("next_at", models.DateTimeField()),
                ("last_error", models.TextField(blank=True, default="")),
                (
                    "owner",
                    models.ForeignKey(blank=True, null=True, on_delete=models.CASCADE, to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("enabled", True)), fields=["next_at"], name="schedule_next")
                ]
            },
        ),
        migrations.CreateModel(
            name="Crawl",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("loading", "loading"),
                            ("running", "running"),
                            ("paused", "paused"),
                            ("finished", "finished"),
                            ("cancelled", "cancelled"),
                        ],
                        default="running",
                        max_length=16,
                    ),
                ),
                ("start_urls", models.JSONField()),
                ("options", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=crawler.clock.now, editable=False)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("discovered", models.BigIntegerField(default=0)),
                ("outcomes", models.JSONField(default=dict)),
                ("statuses", models.JSONField(default=dict)),
                ("requests", models.BigIntegerField(default=0)),
                ("bytes", models.BigIntegerField(default=0)),
                ("retries", models.BigIntegerField(default=0)),
                ("samples", models.JSONField(default=list)),
                (
                    "owner",
                    models.ForeignKey(blank=True, null=True, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL),
                ),
                ("round", models.SmallIntegerField(default=1)),
                ("round_began_at", models.DateTimeField(default=crawler.clock.now)),
                ("loaded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "previous",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.SET_NULL, related_name="next_runs", to="crawler.crawl"
                    ),
                ),
                ("priorities", models.JSONField(default=list)),
                ("sealed", models.TextField(blank=True, default="")),
                ("source", models.CharField(blank=True, default="", max_length=255)),
                ("source_report", models.JSONField(blank=True, default=dict)),
                (
                    "schedule",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=models.SET_NULL, related_name="runs", to="crawler.schedule"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["-created_at"], name="crawl_newest_first"),
                    models.Index(
                        condition=models.Q(("state__in", ["loading", "running", "paused"])),
                        fields=["state"],
                        name="crawl_not_over",
                    ),
                ]
            },
        ),
        migrations.CreateModel(
            name="Disagreement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seen_at", models.DateTimeField(default=crawler.clock.now)),
                ("what", models.TextField()),
                (
                    "crawl",
                    models.ForeignKey(on_delete=models.CASCADE, related_name="disagreements", to="crawler.crawl"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("event", models.CharField(max_length=32)),
                ("receipt", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField(default=crawler.clock.now)),
                ("crawl", models.ForeignKey(on_delete=models.CASCADE, related_name="notices", to="crawler.crawl")),
                ("round", models.SmallIntegerField(default=1)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("crawl", "round"), name="notice_once_per_round")]},
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("transport", models.CharField(max_length=16)),
                ("address", models.TextField()),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "pending"), ("delivered", "delivered"), ("given_up", "given_up")],
                        default="pending",
                        max_length=16,
                    ),
                ),
                ("attempts", models.SmallIntegerField(default=0)),
                ("due_at", models.DateTimeField(default=crawler.clock.now)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("error", models.TextField(default="")),
                ("notice", models.ForeignKey(on_delete=models.CASCADE, related_name="deliveries", to="crawler.notice")),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [
                    models.Index(condition=models.Q(("state", "pending")), fields=["due_at"], name="delivery_pending")
                ],
            },
        ),
        migrations.CreateModel(
            name="Page",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.BinaryField(max_length=16)),
                ("url", models.TextField()),
                ("status", models.SmallIntegerField(choices=[(0, "open"), (1, "closed")], default=0)),
                ("depth", models.IntegerField(default=0)),
                ("hops", models.SmallIntegerField(default=0)),
                ("parent_id", models.BigIntegerField(null=True)),
                ("attempts", models.SmallIntegerField(default=0)),
                ("due_at", models.FloatField(default=0)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("", "open"),
                            ("2xx", "2xx"),
                            ("3xx", "3xx"),
                            ("4xx", "4xx"),
                            ("5xx", "5xx"),
                            ("unchanged", "unchanged"),
                            ("dns", "dns"),
                            ("connect", "connect"),
                            ("tls", "tls"),
                            ("timeout", "timeout"),
                            ("too_large", "too_large"),
                            ("malformed", "malformed"),
                            ("crashed", "crashed"),
                            ("robots", "robots"),
                            ("limit", "limit"),
                            ("trap", "trap"),
                            ("private_address", "private_address"),
                            ("too_many_redirects", "too_many_redirects"),
                            ("expired", "expired"),
                            ("external", "external"),
                            ("cancelled", "cancelled"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("http_status", models.SmallIntegerField(null=True)),
                ("content_type", models.CharField(default="", max_length=100)),
                ("title", models.TextField(default="")),
                ("redirect_to", models.TextField(default="")),
                ("bytes", models.BigIntegerField(default=0)),
                ("elapsed_ms", models.IntegerField(default=0)),
                ("fetched_at", models.DateTimeField(null=True)),
                ("error", models.TextField(default="")),
                (
                    "crawl",
                    models.ForeignKey(
                        db_index=False, on_delete=models.CASCADE, related_name="pages", to="crawler.crawl"
                    ),
                ),
                ("deaths", models.SmallIntegerField(default=0)),
                ("died_with", models.CharField(default="", max_length=16)),
                ("expires_at", models.FloatField(null=True)),
                ("given_up", models.BooleanField(default=False)),
                ("directives", models.TextField(default="")),
                ("in_sitemap", models.BooleanField(default=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("page", "page"), ("sitemap", "sitemap"), ("external", "external")],
                        default="page",
                        max_length=8,
                    ),
                ),
                ("lastmod", models.CharField(default="", max_length=40)),
                ("linked", models.BooleanField(default=True)),
                ("not_followed", models.IntegerField(default=0)),
                ("priority", models.SmallIntegerField(default=5)),
                ("rel", models.CharField(default="", max_length=40)),
                ("reused", models.BooleanField(default=False)),
                ("trap_id", models.BigIntegerField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("given_up", True)), fields=["crawl", "id"], name="page_given_up"),
                    models.Index(
                        condition=models.Q(("expires_at__isnull", False), ("status", 0)),
                        fields=["crawl", "expires_at"],
                        name="page_expiring",
                    ),
                    models.Index(
                        condition=models.Q(("status", 0)), fields=["crawl", "priority", "id"], name="page_open"
                    ),
                    models.Index(
                        condition=models.Q(("trap_id__isnull", False)), fields=["crawl", "trap_id"], name="page_trapped"
                    ),
                    models.Index(condition=models.Q(("linked", False)), fields=["crawl", "id"], name="page_orphan"),
                    models.Index(condition=models.Q(("reused", True)), fields=["crawl"], name="page_reused"),
                ],
                "constraints": [models.UniqueConstraint(fields=("crawl", "key"), name="page_once_per_crawl")],
            },
        ),
        migrations.CreateModel(
            name="PageLinks",
            fields=[
                ("page_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("keys", models.BinaryField()),
                ("packed", models.BinaryField()),
                ("crawl", models.ForeignKey(on_delete=models.CASCADE, related_name="+", to="crawler.crawl")),
            ],
        ),
        migrations.CreateModel(
            name="Trap",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("key", models.BinaryField(max_length=16)),
                ("reason", models.CharField(max_length=32)),
                ("pattern", models.TextField()),
                ("pages", models.BigIntegerField(default=0)),
                ("quarantined", models.BigIntegerField(default=0)),
                ("left_out", models.BigIntegerField(default=0)),
                ("released", models.BooleanField(default=False)),
                ("crawl", models.ForeignKey(on_delete=models.CASCADE, related_name="traps", to="crawler.crawl")),
                ("seen_values", models.JSONField(default=dict)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("crawl", "key"), name="trap_once_per_crawl")]},
        ),
    ]
