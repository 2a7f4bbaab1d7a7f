import crawler.models
import django.db.models.deletion
import django.utils.timezone
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0012_content'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, default='', max_length=80)),
                ('transport', models.CharField(choices=[('email', 'email'), ('webhook', 'webhook'), ('slack', 'slack'), ('discord', 'discord')], max_length=16)),
                ('address', models.TextField()),
                ('events', models.JSONField(default=crawler.models.usual_events)),
                ('enabled', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('tested_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.RemoveConstraint(
            model_name='notice',
            name='notice_once_per_round',
        ),
        migrations.AddField(
            model_name='delivery',
            name='again',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='delivery',
            name='answer',
            field=models.TextField(default=''),
        ),
        migrations.AddField(
            model_name='delivery',
            name='created_at',
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
        migrations.AddField(
            model_name='delivery',
            name='tried_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='notice',
            name='gathering',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='notice',
            name='number',
            field=models.IntegerField(default=0),
        ),
        migrations.AddField(
            model_name='notice',
            name='pages',
            field=models.JSONField(default=list),
        ),
        migrations.AlterField(
            model_name='notice',
            name='receipt',
            field=models.JSONField(default=dict),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.UniqueConstraint(fields=('crawl', 'round', 'event', 'number'), name='notice_once'),
        ),
        migrations.AddConstraint(
            model_name='notice',
            constraint=models.UniqueConstraint(condition=models.Q(('event__in', ['crawl.finished', 'crawl.failed', 'crawl.cancelled'])), fields=('crawl', 'round'), name='notice_one_end_per_round'),
        ),
        migrations.AddField(
            model_name='channel',
            name='owner',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channels', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='delivery',
            name='channel',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='deliveries', to='crawler.channel'),
        ),
        migrations.AddIndex(
            model_name='channel',
            index=models.Index(fields=['owner', 'created_at'], name='channel_of_owner'),
        ),
    ]
