from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0031_webhook_secret'),
    ]

    operations = [
        migrations.AddField(
            model_name='page',
            name='public_only',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
