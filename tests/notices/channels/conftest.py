"""Channels are tried without Redis or a database."""

import pytest


@pytest.fixture(autouse=True)
def _uses_database_and_redis() -> None:
    """Not here."""
