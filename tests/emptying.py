"""Empties the database after a test that committed to it: what was written goes, what Django says of our models stays.

Django's own way deletes the content types and permissions too and makes each anew, after every such test; that takes
several times as long as all the rest.
"""

from functools import cache

from django.core.management.color import no_style
from django.db import DEFAULT_DB_ALIAS, connections

KEPT = {"django_content_type", "auth_permission", "crawler_installation"}  # made with the tables; no test changes them


def empty(test: object) -> None:
    """In the place of `TransactionTestCase._fixture_teardown`, which calls Django's command `flush`."""
    connection = connections[DEFAULT_DB_ALIAS]
    with connection.cursor() as cursor:
        run = cursor.executescript if connection.vendor == "sqlite" else cursor.execute
        run(_statements())


@cache
def _statements() -> str:
    """In one text: to have them run one by one takes several times as long."""
    connection = connections[DEFAULT_DB_ALIAS]
    found = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return "; ".join(["BEGIN", *connection.ops.sql_flush(no_style(), sorted(set(found) - KEPT)), "COMMIT"])
