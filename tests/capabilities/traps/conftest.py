"""A fetch job runs in this process, over a real Redis: see `tests.bench`."""

from tests.bench import bench, database_and_redis, handlers_are_put_back

__all__ = ["bench", "database_and_redis", "handlers_are_put_back"]
