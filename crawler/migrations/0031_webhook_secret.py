"""The secrets of webhooks."""

import crawler.clock
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0030_answer_bytes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='WebhookSecret',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('address_digest', models.CharField(max_length=64)),
                ('secret', models.TextField()),
                ('previous', models.TextField(blank=True, default='')),
                ('previous_until', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField(default=crawler.clock.now, editable=False)),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('owner', 'address_digest'), name='webhook_secret_once'), models.UniqueConstraint(condition=models.Q(('owner', None)), fields=('address_digest',), name='webhook_secret_without_owner')],
            },
        ),
    ]
