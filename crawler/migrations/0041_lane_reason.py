"""Why a page takes a slot lane has a name for all lanes. The column stays as it is."""

from __future__ import annotations

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("crawler", "0040_limits_of_pages")]

    operations: ClassVar = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    "page",
                    "rendering",
                    models.CharField(max_length=16, default="", db_default="", db_column="rendering"),
                ),
                migrations.RenameField("page", "rendering", "lane_reason"),
            ]
        )
    ]
