"""Empties the database after a test that committed to it: what was written goes, what Django says of our models stays.

Django's own way deletes the content types and permissions too and makes each anew, after every such test; that takes
several times as long as all the rest.
"""

from functools import cache

from django.core.management.color import no_style
from django.db import connections

KEPT = {"django_content_type", "auth_permission", "crawler_installation"}  # made with the tables; no test changes them


def empty(command: object, *, database: str, **options: object) -> None:
    """In the place of the `handle` of Django's command `flush`."""
    operations = connections[database].ops
    operations.execute_sql_flush(operations.sql_flush(no_style(), _tables(database)))


@cache
def _tables(database: str) -> tuple[str, ...]:
    found = connections[database].introspection.django_table_names(only_existing=True, include_views=False)
    return tuple(sorted(set(found) - KEPT))
