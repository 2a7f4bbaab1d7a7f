from pathlib import Path
from typing import Any

import pytest

from tests.bench import bench, database_and_redis, handlers_are_put_back
from tests.content_storages import kept_in

__all__ = ["bench", "database_and_redis", "handlers_are_put_back"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    """Where these tests keep content."""
    kept_in(tmp_path, settings)
    return tmp_path
