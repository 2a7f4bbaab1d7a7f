from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0024_list_values'),
    ]

    operations = [
        migrations.AddField(
            model_name='pagefacts',
            name='certificate_error',
            field=models.TextField(db_default='', default=''),
        ),
    ]
