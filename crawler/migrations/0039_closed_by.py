from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0038_branch_counts'),
    ]

    operations = [
        migrations.AddField(
            model_name='page',
            name='closed_by',
            field=models.CharField(max_length=8, null=True),
        ),
    ]
