"""Reads the recorded suites in tests/data."""

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of tests/data/<name>.json; they must be as many as the file says."""
    suite = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    assert len(suite["cases"]) == suite["count"]
    recorded: list[dict[str, Any]] = suite["cases"]
    return recorded
