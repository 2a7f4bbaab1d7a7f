"""Rows are dated by the clock that all processes share. The tables stay as they are: defaults are given by Python."""

from django.db import migrations, models

import crawler.clock

DATED = [
    ("apitoken", "created_at", {"editable": False}),
    ("auditentry", "at", {"db_index": True}),
    ("channel", "created_at", {"editable": False}),
    ("crawl", "created_at", {"editable": False}),
    ("crawl", "round_began_at", {}),
    ("delivery", "created_at", {}),
    ("delivery", "due_at", {}),
    ("disagreement", "seen_at", {}),
    ("notice", "created_at", {}),
    ("repeatedcall", "claimed_at", {"db_index": True}),
    ("schedule", "created_at", {"editable": False}),
]


class Migration(migrations.Migration):
    dependencies = [("crawler", "0019_put_off_pages")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(model, name, models.DateTimeField(default=crawler.clock.now, **more))
                for model, name, more in DATED
            ]
        )
    ]
