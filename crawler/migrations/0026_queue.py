from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crawler', '0025_certificate_errors'),
    ]

    operations = [
        migrations.AddField(
            model_name='page',
            name='not_before',
            field=models.FloatField(null=True),
        ),
        migrations.SeparateDatabaseAndState(  # the database knows no choices
            state_operations=[
                migrations.AlterField(
                    model_name='page',
                    name='outcome',
                    field=models.CharField(
                        choices=[
                            ("", "open"),
                            ("2xx", "2xx"),
                            ("3xx", "3xx"),
                            ("4xx", "4xx"),
                            ("5xx", "5xx"),
                            ("unchanged", "unchanged"),
                            ("dns", "dns"),
                            ("connect", "connect"),
                            ("tls", "tls"),
                            ("timeout", "timeout"),
                            ("too_large", "too_large"),
                            ("malformed", "malformed"),
                            ("crashed", "crashed"),
                            ("lost", "lost"),
                            ("robots", "robots"),
                            ("limit", "limit"),
                            ("trap", "trap"),
                            ("private_address", "private_address"),
                            ("too_many_redirects", "too_many_redirects"),
                            ("expired", "expired"),
                            ("excluded", "excluded"),
                            ("external", "external"),
                            ("cancelled", "cancelled"),
                        ],
                        default='',
                        max_length=20,
                    ),
                ),
            ],
        ),
    ]
