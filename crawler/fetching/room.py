"""How much of large bodies this process holds at a time: a hundred hosts that send ten megabytes each, at the same
moment, must not fill its memory."""

from __future__ import annotations

import threading

LARGE = 512 * 1024  # bytes; a smaller body needs no room
MOST = 40 * 1024 * 1024  # bytes of room


class Room:
    """Threads wait here until there is room for what they read."""

    def __init__(self, most: int = MOST) -> None:
        self._most = self._free = most
        self._changed = threading.Condition()

    def take(self, size: int, seconds: float) -> Share | None:
        """Room for so many bytes, or all of it for more than there can be; None when none was free for so long."""
        wanted = min(size, self._most)
        with self._changed:
            if not self._changed.wait_for(lambda: self._free >= wanted, seconds):
                return None
            self._free -= wanted
        return Share(self, wanted)

    def give_back(self, size: int) -> None:
        with self._changed:
            self._free += size
            self._changed.notify_all()


class Share:
    """Some of the room. It is given back when nobody refers to this any more: it goes along with the body."""

    __slots__ = ("_room", "_size")

    def __init__(self, room: Room, size: int) -> None:
        self._room, self._size = room, size

    def __del__(self) -> None:
        self._room.give_back(self._size)


room = Room()
"""Of this process."""
