"""A site on a host of its own, which notes when each request came in and how many were being answered at once."""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.site import Reply
from tools.chaos.hosts.host import Host
from tools.chaos.hosts.network import address_of, inside
from tools.chaos.site import Content, Site

PORT = 8080
_SO_TIMESTAMPNS = 35  # socket(7); Python has no name for it


@dataclass(frozen=True)
class Exchange:
    """A request and its response. `came` is the moment its first packet reached the kernel, so that a busy harness
    shortens no gap."""

    path: str
    came: float  # epoch seconds
    left: float


class HostSite(Site):
    """Listens on the address of a number, which is one of the host's."""

    def __init__(self, host: Host, number: int, content: Content, latency: float) -> None:
        self.exchanges: list[Exchange] = []
        self._here = threading.local()
        inside(host.pid, lambda: super(HostSite, self).__init__(content, latency, (address_of(number), PORT)))
        self._server.socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
        self._server.RequestHandlerClass = _timing(self._server.RequestHandlerClass, self._here)

    def page_at(self, path: str) -> Reply:
        came = self._here.came
        reply = super().page_at(path)
        self.exchanges.append(Exchange(path, came, time.time()))
        return reply


def gaps(exchanges: Sequence[Exchange]) -> list[float]:
    """Seconds between one request and the next."""
    moments = sorted(exchange.came for exchange in exchanges)
    return [later - earlier for earlier, later in itertools.pairwise(moments)]


def most_at_once(exchanges: Sequence[Exchange], left_out: Sequence[tuple[float, float]] = ()) -> int:
    """The largest number of requests that were being answered at one moment, but for those between two `left_out`."""
    steps = sorted([(exchange.came, 1) for exchange in exchanges] + [(exchange.left, -1) for exchange in exchanges])
    numbers = itertools.accumulate(step for _, step in steps)
    counted = (
        number
        for (moment, _), number in zip(steps, numbers, strict=True)
        if not any(began <= moment <= ended for began, ended in left_out)
    )
    return max(counted, default=0)


def _timing(handler: Any, here: threading.local) -> Any:
    class Handler(handler):
        def setup(self) -> None:
            if hasattr(os, "sched_setscheduler"):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -10)
            super().setup()

        def handle_one_request(self) -> None:
            here.came = _arrival(self.connection)
            super().handle_one_request()

    return Handler


def _arrival(connection: socket.socket) -> float:
    """When the next bytes reached the kernel; now if it does not tell. Waits for something to read."""
    try:
        found = connection.recvmsg(1, socket.CMSG_SPACE(16), socket.MSG_PEEK)[1]
    except OSError:
        return time.time()  # the next read raises it
    for _, kind, data in found:
        if kind == _SO_TIMESTAMPNS:
            whole, nano = struct.unpack("qq", data)
            return float(whole + nano / 1e9)
    return time.time()
