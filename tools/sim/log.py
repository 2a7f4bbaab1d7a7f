"""What the simulated web writes down: every request and every connection, and when each began and ended."""

import msgspec

NEVER = float("inf")


class Request(msgspec.Struct, frozen=True, array_like=True):
    """Times are in monotonic seconds, which are the same in all processes of a machine."""

    at: float  # it arrived; the kernel's own stamp where there is one
    host: int  # its number in the world
    path: str
    status: int = 0  # 0 = it was not answered
    until: float = NEVER  # the answer was sent, or whoever asked hung up; NEVER while it is under way
    retry_after: float = 0.0  # seconds the answer said to stay away
    agent: str = ""
    connection: int = 0


class Connection(msgspec.Struct, frozen=True, array_like=True):
    host: int
    opened: float
    closed: float = NEVER  # NEVER while it is open


class Log(msgspec.Struct, frozen=True):
    requests: tuple[Request, ...]  # in the order of their arrival
    connections: tuple[Connection, ...] = ()

    def answered(self, hosts: set[int]) -> list[Request]:
        """The requests that these hosts have answered."""
        return [request for request in self.requests if request.host in hosts and request.status]
