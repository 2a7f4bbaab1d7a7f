"""Extras that are not installed, as far as this process can tell, or are all installed."""

import sys

import pytest

from crawler import extras
from crawler.extras import Extra


def leave_out(monkeypatch: pytest.MonkeyPatch, *left_out: Extra) -> None:
    """Neither found nor imported."""
    for extra in left_out:
        for module in extra.modules:
            monkeypatch.setitem(sys.modules, module, None)


def have_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: name)
