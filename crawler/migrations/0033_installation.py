"""The id of this database."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0032_public_only'),
    ]

    operations = [
        migrations.CreateModel(
            name='Installation',
            fields=[
                ('number', models.SmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('database_id', models.UUIDField(default=uuid.uuid4)),
            ],
        ),
    ]
