"""Small worlds and logs, made by hand."""

from tools.sim.log import Connection, Log, Request
from tools.sim.truth import Terms

TERMS = Terms(delay=0.2, concurrency=2)
US = "SiteCrawler/1.0"
ROBOTS = "/robots.txt"


def asked(at: float, path: str, host: int = 0, **facts: object) -> Request:
    """A request that was answered 10 ms later, unless it says otherwise."""
    usual: dict[str, object] = {"status": 200, "until": at + 0.01, "agent": US}
    return Request(at, host, path, **{**usual, **facts})  # type: ignore[arg-type]  # named by the caller


def log_of(*requests: Request, connections: tuple[Connection, ...] = ()) -> Log:
    return Log(tuple(sorted(requests, key=lambda request: request.at)), connections)
