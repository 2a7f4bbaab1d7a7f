"""The manager's jobs run in this process, over a real Redis: see `tests.bench`."""

from tests.bench import _uses_database_and_redis, bench, database_and_redis, handlers_are_put_back

__all__ = ["_uses_database_and_redis", "bench", "database_and_redis", "handlers_are_put_back"]
