"""What a schema takes from a row."""

from __future__ import annotations

from typing import Any

from ninja import Schema


def fields_of(schema: type[Schema], row: object, **known: Any) -> dict[str, Any]:
    """Each field of the schema: as known, else from the row."""
    return {name: known[name] if name in known else getattr(row, name) for name in schema.model_fields}
