import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Facts are joined with their pages. The table stays as it is: the column and its index are there already."""

    dependencies = [('crawler', '0009_pagesview')]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveField("pagefacts", "page_id"),
                migrations.AddField(
                    "pagefacts",
                    "page",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        primary_key=True,
                        related_name="facts",
                        serialize=False,
                        to="crawler.page",
                    ),
                ),
            ]
        )
    ]
