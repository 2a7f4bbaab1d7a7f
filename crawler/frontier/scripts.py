"""Loads Lua files, those in the folder next to this module or of a capability; each is wrapped by exactly one Python
method.

A line `-- Uses: name` in a script prepends the functions of `lua/shared/name.lua`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

from redis import Redis
from redis.client import Pipeline
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
    script = _script(name, folder)
    if isinstance(redis, Pipeline):
        return _queue(redis, script, keys, args)
    return script(keys=keys, args=args, client=redis)


_sent = WeakKeyDictionary[Pipeline, set[str]]()
"""Pipeline -> the scripts that it sends as a whole."""


def _queue(pipe: Pipeline, script: Script, keys: list[str], args: list[Any]) -> Any:
    """Add the call to the pipeline, which sends each script as a whole once: then Redis certainly has it. redis-py asks
    for that before, which takes a round trip of its own."""
    sent = _sent.setdefault(pipe, set())
    if not pipe.command_stack:
        sent.clear()
    if script.sha in sent:
        return pipe.evalsha(script.sha, len(keys), *keys, *args)
    sent.add(script.sha)
    return pipe.eval(cast(str, script.script), len(keys), *keys, *args)
