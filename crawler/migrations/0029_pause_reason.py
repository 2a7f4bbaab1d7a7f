"""Why a crawl is paused that no user paused: its log-in has failed."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("crawler", "0028_queue_figures")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="crawl",
            name="pause_reason",
            field=models.TextField(blank=True, db_default="", default=""),
        ),
    ]
