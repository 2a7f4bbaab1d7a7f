from django.db import migrations, models

from crawler.storage.database import lock_crawls


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0027_spiderrequest'),
    ]

    operations = [
        migrations.RunPython(lock_crawls, migrations.RunPython.noop),
        migrations.AddField(
            model_name='page',
            name='given_up_at',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='page',
            name='due_since',
            field=models.FloatField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name='crawl',
            name='flow',
            field=models.JSONField(null=True),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(condition=models.Q(('due_since__gte', 0), ('status', 0)), fields=['crawl', 'due_since'], name='page_due'),
        ),
        migrations.AddIndex(
            model_name='page',
            index=models.Index(
                condition=models.Q(('given_up', True)),
                fields=['given_up_at', 'id', 'crawl', 'outcome'],
                name='page_dead_letters',
            ),
        ),
    ]
