"""What a crawl must know of a page after a browser has rendered it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from tests.site import Answer


class Ending(Enum):
    """When a page has what it will have."""

    QUIET = "its scripts have ended and half a second has passed without a request"
    TIME_LIMIT = "never: its links are there at once, but requests or changes go on"
    BLOCKED = "never: its script does not return, so that nothing can be read from it"
    CRASH = "never: it takes memory until the process of the page ends, and nothing is read from it"


@dataclass(frozen=True)
class Rendered:
    """All paths are absolute."""

    title: str
    links: frozenset[str] = frozenset()  # in the DOM when the page has ended, without any action of a visitor
    by_scrolling: frozenset[str] = frozenset()  # further ones, if it is scrolled to its end until nothing new comes
    pushed: frozenset[str] = frozenset()  # given to history.pushState or replaceState, and in no link
    redirect_to: str = ""
    never: frozenset[str] = frozenset()  # what a visitor can reach, but no crawl
    is_shell: bool = True  # whether a crawl that renders nothing but shells renders it
    ending: Ending = Ending.QUIET

    def leads_to(self, *, scrolls: bool = True) -> frozenset[str]:
        """What a crawl finds that renders it: the links of a page that goes elsewhere are not among it."""
        if self.redirect_to:
            return frozenset({self.redirect_to})
        return self.links | self.pushed | (self.by_scrolling if scrolls else frozenset())


@dataclass(frozen=True)
class BrowserSite:
    pages: Mapping[str, Answer]  # path -> what the server answers; everything else is a 404
    expected: Mapping[str, Rendered]  # path -> of each page that is worth a look; a crawl of "/" finds them all

    def reachable(self, *, scrolls: bool = True) -> frozenset[str]:
        """The pages of a crawl of "/" that renders the expected ones; a page that is not there may be among them."""
        found, pending = {"/"}, ["/"]
        while pending:
            page = self.expected.get(pending.pop())
            new = page.leads_to(scrolls=scrolls) - found if page else frozenset()
            found |= new
            pending += new
        return frozenset(found)

    @property
    def shells(self) -> frozenset[str]:
        return frozenset(path for path, page in self.expected.items() if page.is_shell)
