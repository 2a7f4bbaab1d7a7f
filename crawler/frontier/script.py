"""Loads the Lua files beside this module; each is wrapped by exactly one Python method.

A line `-- Uses: name` in a script puts the function of `lua/shared/name.lua` in front of it.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from redis import Redis

_FOLDER = Path(__file__).resolve().parent / "lua"


@cache
def _source(name: str) -> str:
    text = (_FOLDER / f"{name}.lua").read_text()
    shared = [line.removeprefix("-- Uses: ") for line in text.splitlines() if line.startswith("-- Uses: ")]
    return "\n".join([*((_FOLDER / "shared" / f"{part}.lua").read_text() for part in shared), text])


def run(redis: Redis, name: str, keys: list[str], args: list[Any]) -> Any:
    """Run `lua/<name>.lua`. `redis` may be a pipeline; then the answer comes with its execution."""
    return redis.register_script(_source(name))(keys=keys, args=args, client=redis)
