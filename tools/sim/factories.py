"""Small worlds and logs, made by hand."""

from tools.sim.log import Connection, Log, Request
from tools.sim.truth import Terms
from tools.sim.world import Health, Host, Page, World

TERMS = Terms(delay=0.2, concurrency=2)
US = "SiteCrawler/1.0"
ROBOTS = "/robots.txt"


def star(number: int, pages: int, **facts: object) -> Host:
    """Host `number` of its world: a start page with links to all its other pages."""
    links = tuple((number, place) for place in range(1, pages))
    rest = [Page(f"/{number}-{place}") for place in range(1, pages)]
    return Host(f"127.11.0.{number + 1}", (Page(f"/{number}-0", links=links), *rest), **facts)  # type: ignore[arg-type]  # named by the caller


def of_stars(number: int, pages: int, port: int, *, hanging: int | None = None) -> World:
    """So many hosts of one shape, one of which may be dead."""
    health = {hanging: Health.HANGING}
    return World(tuple(star(place, pages, health=health.get(place, Health.WELL)) for place in range(number)), port)


def asked(at: float, path: str, host: int = 0, **facts: object) -> Request:
    """A request that was answered 10 ms later, unless it says otherwise."""
    usual: dict[str, object] = {"status": 200, "until": at + 0.01, "agent": US}
    return Request(at, host, path, **{**usual, **facts})  # type: ignore[arg-type]  # named by the caller


def log_of(*requests: Request, connections: tuple[Connection, ...] = ()) -> Log:
    return Log(tuple(sorted(requests, key=lambda request: request.at)), connections)
