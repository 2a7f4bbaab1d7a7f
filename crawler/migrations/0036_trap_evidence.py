from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0035_script_pages'),
    ]

    operations = [
        migrations.AddField(
            model_name='trap',
            name='evidence',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
