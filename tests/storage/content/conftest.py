from pathlib import Path
from typing import Any

import pytest

from tests.content_storages import kept_in


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Path:
    """Where these tests keep content."""
    kept_in(tmp_path, settings)
    return tmp_path
