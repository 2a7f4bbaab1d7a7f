"""The hooks that the settings name: imports their classes, and makes one object of each in a process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from crawler.capabilities.hooks import conf

TRANSPORT = "hook"  # of deliveries to them; the address is the name of the class

ON_PAGE, ON_CLOSED, ON_FINISHED = "on_page", "on_closed", "on_finished"
METHODS = (ON_PAGE, ON_CLOSED, ON_FINISHED)
MAX_HOOKS = 8  # a page may wait for each of them
MAX_NAME = 200  # characters


class Hook:
    """One class that the settings name. Its object is made at the first call, in the thread of that call."""

    def __init__(self, name: str, of_class: type) -> None:
        self.name, self._class = name, of_class
        self.methods = frozenset(method for method in METHODS if callable(getattr(of_class, method, None)))
        self._making = threading.Lock()
        self._made: Any = None

    def method(self, name: str) -> Any:
        """The bound method. Raises what the class raises when its object is made."""
        with self._making:
            if self._made is None:
                self._made = self._class()
        return getattr(self._made, name)


def loaded() -> tuple[Hook, ...]:
    """The hooks in the order of the setting. Raises ImproperlyConfigured with one line that says what to do."""
    return _loaded(conf.hooks())


def with_method(method: str) -> tuple[Hook, ...]:
    """Those that have this method."""
    return tuple(hook for hook in loaded() if method in hook.methods)


def names_with(method: str) -> tuple[str, ...]:
    return tuple(hook.name for hook in with_method(method))


@lru_cache(maxsize=8)
def _loaded(names: Sequence[str]) -> tuple[Hook, ...]:
    if len(names) > MAX_HOOKS:
        raise ImproperlyConfigured(f"CRAWLER_HOOKS names {len(names)} classes; the maximum is {MAX_HOOKS}.")
    if len(set(names)) < len(names):
        raise ImproperlyConfigured("CRAWLER_HOOKS names a class twice; name each once.")
    return tuple(_hook(name) for name in names)


def _hook(name: str) -> Hook:
    module, _, of_class = name.rpartition(".")
    if not module or len(name) > MAX_NAME:
        raise ImproperlyConfigured(f"CRAWLER_HOOKS has {name!r}; write module.Class, such as my_hooks.prices.Prices.")
    try:
        found = getattr(import_module(module), of_class)
    except Exception as error:
        reason = str(error).strip().splitlines() or [""]
        raise ImproperlyConfigured(
            f"CRAWLER_HOOKS has {name!r}, which cannot be imported ({type(error).__name__}: {reason[0]}). "
            "Write module.Class, and put the module's folder on PYTHONPATH."
        ) from error
    hook = Hook(name, found)
    if not isinstance(found, type) or not hook.methods:
        raise ImproperlyConfigured(
            f"CRAWLER_HOOKS has {name!r}, which is not a class with one of the methods {', '.join(METHODS)}; add one."
        )
    return hook
