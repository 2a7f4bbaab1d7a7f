"""A crawl as a picture: its pages as nodes, or the folders of a large one, and the links between them as lines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from crawler.core.clusters import Cluster
from crawler.core.outcomes import Kind, Outcome


class Answer(StrEnum):
    """What became of a page, as coarse as colours can say."""

    OK = "ok"
    REDIRECT = "redirect"
    CLIENT_ERROR = "client_error"
    FAILED = "failed"  # 5xx, or no usable answer
    NOT_ASKED = "not_asked"
    OPEN = "open"


class Spot(NamedTuple):
    """One page, as far as the picture needs it."""

    id: int
    url: str
    key: int  # its short key as a number, see `core.linkage`
    parent_id: int | None  # the page it was first found on
    depth: int
    answer: Answer
    status: str  # HTTP status, else the outcome; "" = open


class Line(NamedTuple):
    """The links from one node to another; several of a page to one target are one."""

    source: int  # place of the node
    target: int
    links: int


@dataclass
class Node:
    """One page, or all pages below a folder."""

    url: str  # of a page its URL; of several what their URLs begin with
    depth: int  # of the nearest page
    page_id: int | None = None  # None = several pages
    status: str = ""  # of a single page
    pages: int = 0
    parent: int | None = None  # place of the node its nearest page was first found on
    linked_from: int = 0  # other pages of the crawl that link to it
    links: int = 0  # pages it links to
    answers: Counter[Answer] = field(default_factory=Counter)


@dataclass
class Picture:
    """Nodes, and what is needed to draw links between them."""

    nodes: list[Node]
    of_page: dict[int, int]  # page -> place of its node
    of_key: dict[int, int]  # short key -> place of its node
    _links: defaultdict[int | None, Counter[int | None]] = field(default_factory=lambda: defaultdict(Counter))

    def add_links(self, page: int, targets: Sequence[int]) -> None:
        """The links of one page of the crawl, as short keys; it need not be in the picture itself. Of a large crawl
        there are millions, so they are counted by what is written in C."""
        self._links[self.of_page.get(page)].update(map(self.of_key.get, targets))

    def add_parents(self, spots: Iterable[Spot]) -> None:
        """In place of all links those alone by which the pages were first found."""
        for spot in spots:
            if spot.parent_id is not None:
                self.add_links(spot.parent_id, [spot.key])

    def lines(self) -> list[Line]:
        """The links from one node to another. What is counted of each node is noted on it; a page's link to itself is
        none that leads to it."""
        lines = list[Line]()
        for source, targets in self._links.items():
            if source is not None:
                self.nodes[source].links += targets.total()
            for target, links in targets.items():
                if target is None or (target == source and self.nodes[target].page_id is not None):
                    continue
                self.nodes[target].linked_from += links
                if source is not None and target != source:
                    lines.append(Line(source, target, links))
        return lines


def answer_of(outcome: str) -> Answer:
    """The colour of an outcome as the table stores it; "" = open."""
    if not outcome:
        return Answer.OPEN
    known = Outcome(outcome)
    match known:
        case Outcome.SUCCESS | Outcome.UNCHANGED:
            return Answer.OK
        case Outcome.REDIRECT:
            return Answer.REDIRECT
        case Outcome.CLIENT_ERROR:
            return Answer.CLIENT_ERROR
    return Answer.FAILED if known is Outcome.SERVER_ERROR or known.kind is Kind.FAILED else Answer.NOT_ASKED


def picture(spots: Sequence[Spot], clusters: Iterable[Cluster]) -> Picture:
    """The nodes of these pages, sorted by URL, one for each cluster of them. A node hangs from that where the nearest
    of its pages was first found."""
    drawn = Picture([], {}, {})
    nearest = list[Spot]()
    for place, cluster in enumerate(clusters):
        part = spots[cluster.first : cluster.end]
        drawn.nodes.append(_node(cluster, part))
        drawn.of_page.update((spot.id, place) for spot in part)
        drawn.of_key.update((spot.key, place) for spot in part)
        nearest.append(min(part, key=lambda spot: (spot.depth, spot.id)))
    for place, spot in enumerate(nearest):
        parent = drawn.of_page.get(spot.parent_id) if spot.parent_id is not None else None
        drawn.nodes[place].parent = parent if parent != place else None
    return drawn


def _node(cluster: Cluster, part: Sequence[Spot]) -> Node:
    node = Node(cluster.prefix, min(spot.depth for spot in part), pages=len(part))
    node.answers.update(spot.answer for spot in part)
    if len(part) == 1:
        node.page_id, node.status = part[0].id, part[0].status
    return node


def thinned(lines: Sequence[Line], most: int) -> tuple[list[Line], int]:
    """At most so many of the lines, and to how many nodes none are drawn: those to which most lead go first, because
    what every page links to (a menu) makes a picture black and says the least."""
    leading_to = Counter(line.target for line in lines)
    left, hidden = len(lines), set[int]()
    for target, number in leading_to.most_common():
        if left <= most:
            break
        hidden.add(target)
        left -= number
    return [line for line in lines if line.target not in hidden], len(hidden)
