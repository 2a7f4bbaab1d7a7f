"""The capabilities, a line each: what a crawl may do besides being exact. The kernel asks for what they give to a seam.

A capability is a folder of `crawler.capabilities`. Its `SEAMS` name those it uses; for the seam "lanes" its
module `lanes` has a tuple `LANES`. Nothing is searched for, and a name without its module is an error.
docs/decisions/structure.md says why the names stand at the ground and the imports come later.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TypeVar

CAPABILITIES = (
    "browser",
    "hooks",
    "scrapy",
    "cache",
    "extraction",
    "content",
    "login",
    "traps",
    "telemetry",
)
"""In the order of their entries."""

T = TypeVar("T")


def entries(seam: str, kind: type[T]) -> tuple[T, ...]:
    """What the capabilities give to this seam. TypeError for an entry that is not of this kind."""
    found = _entries(seam)
    for entry in found:
        if not isinstance(entry, kind):
            raise TypeError(f"{entry!r} in the {seam} of a capability is not a {kind.__name__}")
    return found  # type: ignore[return-value]  # checked above


@cache
def _entries(seam: str) -> tuple[object, ...]:
    packages = [f"crawler.capabilities.{name}" for name in CAPABILITIES]
    modules = [import_module(f"{package}.{seam}") for package in packages if seam in import_module(package).SEAMS]
    return tuple(entry for module in modules for entry in getattr(module, seam.upper()))
