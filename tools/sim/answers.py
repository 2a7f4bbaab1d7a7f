"""What a host of the simulated web answers to a request."""

from dataclasses import dataclass
from http import HTTPStatus

from tools.sim.world import Answer, Host, Page, Robots, World

OURS = "SiteCrawler"  # the name a robots.txt may call us by


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: str = ""
    media_type: str = "text/html"
    location: str = ""
    retry_after: int = 0  # seconds; 0 = the host does not say

    @property
    def at_once(self) -> bool:
        """Whether it is said without thinking, as by a limiter in front of the site."""
        return self.retry_after > 0

    def encoded(self) -> bytes:
        body = self.body.encode()
        head = f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}\r\nContent-Length: {len(body)}\r\n"
        head += f"Content-Type: {self.media_type}; charset=utf-8\r\n"
        head += f"Location: {self.location}\r\n" if self.location else ""
        head += f"Retry-After: {self.retry_after}\r\n" if self.retry_after else ""
        return f"{head}\r\n".encode() + body


NOT_HERE = Reply(404, "not here")


def statuses(page: Page) -> tuple[int, ...]:
    """What it answers the first time, the second, and so on; the last for ever."""
    match page.answer:
        case Answer.PAGE:
            return (200,)
        case Answer.MISSING:
            return (404,)
        case Answer.BROKEN:
            return (500,)
        case Answer.FLAKY:
            return (500, 200)
        case Answer.BUSY:
            return (503, 200)
        case Answer.LIMITED:
            return (429, 200)
        case Answer.MOVED:
            return (301,)


def page_reply(world: World, host: int, page: Page, before: int) -> Reply:
    """What it answers when it was asked for `before` times already."""
    told = statuses(page)
    status = told[min(before, len(told) - 1)]
    if status == 200:
        return Reply(status, _html(world, host, page))
    if status == 301 and page.target is not None:
        return Reply(status, location=world.url(page.target))
    return Reply(status, "not now", retry_after=page.retry_after)


def robots_reply(host: Host, before: int) -> Reply:
    match host.robots:
        case Robots.MISSING:
            return NOT_HERE
        case Robots.DOWN:
            return Reply(503, "not now")
        case Robots.LATE if before == 0:
            return Reply(503, "not now")
        case _:
            return Reply(200, robots_text(host), media_type="text/plain")


def robots_text(host: Host) -> str:
    rules = f"Disallow: {host.closed_to}\n" if host.closed_to else "Disallow:\n"
    rules += f"Crawl-delay: {host.crawl_delay:g}\n" if host.crawl_delay else ""
    if host.robots is Robots.NAMED:
        return f"User-agent: *\nDisallow: /\n\nUser-agent: {OURS}\n{rules}"
    return f"User-agent: *\n{rules}"


def _html(world: World, host: int, page: Page) -> str:
    """Links to the same host are written without it."""
    hrefs = [world.page(link).path if link[0] == host else world.url(link) for link in page.links]
    anchors = "".join(f'<p><a href="{href}">{href}</a></p>\n' for href in hrefs)
    return f"<!doctype html><html><head><title>{page.path}</title></head><body>\n{anchors}</body></html>"
