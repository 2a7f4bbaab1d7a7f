"""A superuser in a browser and with a token, and a crawl whose jobs run in this process."""

from tests.api.conftest import by_root
from tests.bench import bench, database_and_redis
from tests.web.conftest import as_root, root

__all__ = ["as_root", "bench", "by_root", "database_and_redis", "root"]
