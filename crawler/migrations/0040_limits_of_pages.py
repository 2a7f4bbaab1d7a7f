"""Pages of earlier versions name the limit that closed them, where their crawl had several; else the crawl says it."""

from __future__ import annotations

from typing import ClassVar

from django.apps.registry import Apps
from django.db import migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Case, Q, Value, When

OF_OUTCOME_LIMIT = ("pages", "bytes", "depth", "sitemaps")

NAMED = Case(
    When(error__startswith="deeper than ", then=Value("depth")),
    When(error__startswith="more than ", then=Value("sitemaps")),
    When(Q(error__startswith="beyond the limit of ") & Q(error__endswith=" bytes"), then=Value("bytes")),
    default=Value("pages"),
)


def name_limits(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Each crawl in a transaction of its own, with its row locked first, as the writer does it."""
    Crawl, Page = apps.get_model("crawler", "Crawl"), apps.get_model("crawler", "Page")
    for crawl, limits in list(Crawl.objects.values_list("id", "limits")):
        if sum(limits.get(limit, 0) > 0 for limit in OF_OUTCOME_LIMIT) < 2:  # noqa: PLR2004
            continue
        with transaction.atomic():
            Crawl.objects.select_for_update().filter(id=crawl).first()
            rows = Page.objects.filter(crawl_id=crawl, id__gt=0, outcome="limit", closed_by=None)
            rows.update(closed_by=NAMED)


class Migration(migrations.Migration):
    atomic = False

    dependencies: ClassVar = [("crawler", "0039_closed_by")]

    operations: ClassVar = [migrations.RunPython(name_limits, migrations.RunPython.noop)]
