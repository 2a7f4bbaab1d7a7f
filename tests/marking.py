"""Which parameters of a test are left to `bin/test --all`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def long_unless(quick: Collection[str], names: Iterable[str]) -> list[Any]:
    """A parameter for each name; those that are not among `quick` are long."""
    return [pytest.param(name, marks=() if name in quick else pytest.mark.long) for name in names]
