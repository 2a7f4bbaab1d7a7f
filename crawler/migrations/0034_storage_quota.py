from django.db import migrations, models

from crawler.storage.database import lock_crawls


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0033_installation'),
    ]

    operations = [
        migrations.RunPython(lock_crawls, migrations.RunPython.noop),
        migrations.AddField(
            model_name='allowance',
            name='stored_mb',
            field=models.PositiveIntegerField(blank=True, help_text='Megabytes of kept content. Empty = as CRAWLER_STORED_MB says, 0 = no limit.', null=True),
        ),
        migrations.AddField(
            model_name='allowance',
            name='stored_pages',
            field=models.PositiveBigIntegerField(blank=True, help_text='Empty = as CRAWLER_STORED_PAGES says, 0 = no limit.', null=True),
        ),
        migrations.AddField(
            model_name='crawl',
            name='kept_bytes',
            field=models.BigIntegerField(db_default=0, default=0),
        ),
    ]
