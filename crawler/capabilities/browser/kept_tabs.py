"""Tabs that wait for another page of their site, with their way through the proxy."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.capabilities.browser.tab import TabSlot


class KeptTabs:
    """Those of one process; may be used by any thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: list[tuple[Hashable, TabSlot]] = []  # the one that came last is the last
        self._lock = threading.Lock()

    def take(self, site: Hashable) -> TabSlot | None:
        """One that has shown a page of this site."""
        with self._lock:
            for number in reversed(range(len(self._places))):
                if self._places[number][0] == site:
                    return self._places.pop(number)[1]
        return None

    def put(self, site: Hashable, place: TabSlot) -> TabSlot | None:
        """Returns the one that has to give way, if there are too many."""
        with self._lock:
            self._places.append((site, place))
            return self._places.pop(0)[1] if len(self._places) > self._most else None
