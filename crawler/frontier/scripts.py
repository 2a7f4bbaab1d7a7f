"""Loads Lua files, those in the folder next to this module or of a capability; each is wrapped by exactly one Python
method.

A line `-- Uses: name` in a script prepends the functions of `lua/shared/name.lua`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from redis import Redis
from redis.commands.core import Script

_FOLDER = Path(__file__).resolve().parent / "lua"


@cache
def _script(name: str, folder: Path) -> Script:
    text = (folder / f"{name}.lua").read_text()
    shared = [line.removeprefix("-- Uses: ") for line in text.splitlines() if line.startswith("-- Uses: ")]
    parts = [*((_FOLDER / "shared" / f"{part}.lua").read_text() for part in shared), text]
    return Script(None, "\n".join(parts).encode())  # type: ignore[arg-type]  # each call names its client


def run(redis: Redis, name: str, keys: list[str], args: list[Any], folder: Path = _FOLDER) -> Any:
    """Run `<name>.lua` of the folder. `redis` may be a pipeline; then the answer is part of its results."""
    return _script(name, folder)(keys=keys, args=args, client=redis)
