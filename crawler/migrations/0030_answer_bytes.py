"""How much cached responses take, one by one and at most in all."""

from __future__ import annotations

from typing import ClassVar

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Length

ROW_BYTES = 100


def measure(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    size = Length("result") + Length("etag") + Length("last_modified") + ROW_BYTES
    apps.get_model("crawler", "Answer").objects.update(bytes=size)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("crawler", "0029_pause_reason")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="answer",
            name="bytes",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.RunPython(measure, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="answer",
            index=models.Index(fields=["stored_at", "bytes"], name="answer_oldest"),
        ),
        migrations.CreateModel(
            name="AnswersTotal",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("bytes", models.BigIntegerField()),
            ],
        ),
    ]
