"""What a receipt needs to say how long a crawl ran and which limits kept pages from being asked for."""

from datetime import UTC, datetime

from django.db import migrations, models
from django.utils import timezone

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

    dependencies = [
        ("crawler", "0015_audit"),
    ]

    operations = [
        migrations.AddField(
            model_name="crawl",
            name="idle_seconds",
            field=models.FloatField(default=0),
        ),
        migrations.AddField(
            model_name="crawl",
            name="limits",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="crawl",
            name="paused_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
