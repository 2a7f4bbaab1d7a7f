from django.db import migrations


class Migration(migrations.Migration):
    """By itself, so that it waits for no other table while it holds this one."""

    dependencies = [
        ('crawler', '0036_trap_evidence'),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name='pagefacts',
            name='facts_same_text',
        ),
    ]
