"""Reports are tried on crawls that the real engine works on."""

from tests.bench import bench, database_and_redis, handlers_are_put_back

__all__ = ["bench", "database_and_redis", "handlers_are_put_back"]
