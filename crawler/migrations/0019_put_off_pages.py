"""Notes on a page that its server asked for a later time (Retry-After), so that a crawl need not wait for it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crawler", "0018_varying_parts")]

    operations = [
        migrations.AddField(model_name="page", name="put_off", field=models.SmallIntegerField(null=True)),
        migrations.AddIndex(
            model_name="page",
            index=models.Index(
                condition=models.Q(("put_off__isnull", False), ("status", 0)),
                fields=["crawl", "due_at"],
                name="page_put_off",
            ),
        ),
    ]
