"""The graph of a crawl: pages, or folders of pages, as nodes, the links between them, and redirect chains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import heappop, heappush
from typing import NamedTuple, assert_never

from crawler.core.pages.outcomes import Category, Outcome, Tone

# Clusters: pages of a large site that are one node, because their URLs have a common prefix.

MAX_FOLDER_PARTS = 100  # a folder with more parts is split by their letters
LARGE_SHARE = 20  # a cluster with less than one in so many pages is not split by letters, which mean little

Cut = Callable[[str, int], str]
"""The prefix of a URL that is one step longer than this number of characters."""


class Cluster(NamedTuple):
    """Neighbours in a sorted list of URLs with a common prefix."""

    prefix: str  # of a single page its URL
    first: int  # place of the first
    end: int  # place behind the last

    @property
    def size(self) -> int:
        return self.end - self.first


def clustered(urls: Sequence[str], most: int) -> list[Cluster]:
    """At most `most` clusters that contain each of these URLs once, in their order; `urls` are sorted and unique.

    1. All of them are one cluster.
    2. The largest is split at the next "/" or "?", or at the next letter if that gives too many parts and it is large.
    3. Step 2 is repeated with the largest cluster. One that would give too many parts stays as it is.
    """
    done = list[Cluster]()
    waiting = [(-len(urls), 0, len(urls))] if urls else []
    while waiting:
        _, first, end = heappop(waiting)
        whole = Cluster(_common(urls[first], urls[end - 1]), first, end)
        parts = _parts(urls, whole, most - len(done) - len(waiting))
        if len(parts) < 2:
            done.append(whole)
        for part_first, part_end in parts if len(parts) > 1 else []:
            heappush(waiting, (part_first - part_end, part_first, part_end))
    return sorted(done, key=lambda cluster: cluster.first)


def _parts(urls: Sequence[str], whole: Cluster, room: int) -> list[tuple[int, int]]:
    """The bounds of its parts; [] when there are more than `room`."""
    by_folder = _cut(urls, whole, _folder, min(room, MAX_FOLDER_PARTS))
    if by_folder or whole.size * LARGE_SHARE <= len(urls):
        return by_folder
    return _cut(urls, whole, _letter, room)


def _cut(urls: Sequence[str], whole: Cluster, longer: Cut, most: int) -> list[tuple[int, int]]:
    starts, beginning = list[int](), ""
    for place in range(whole.first, whole.end):
        next_beginning = longer(urls[place], len(whole.prefix))
        if next_beginning != beginning or not starts:
            if len(starts) == most:
                return []
            starts.append(place)
            beginning = next_beginning
    return list(zip(starts, [*starts[1:], whole.end], strict=True))


def _folder(url: str, known: int) -> str:
    """Up to the next "/" or "?"; the whole URL when there is none."""
    ends = [at for at in (url.find("/", known), url.find("?", known)) if at >= 0]
    return url[: min(ends) + 1] if ends else url


def _letter(url: str, known: int) -> str:
    return url[: known + 1]


def _common(first: str, last: str) -> str:
    """The common prefix of two URLs, and so of all between them."""
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((place for place, (one, other) in pairs if one != other), min(len(first), len(last)))]


class NodeColor(StrEnum):
    """The result of a page, by the color of its node."""

    OK = "ok"
    REDIRECT = "redirect"
    CLIENT_ERROR = "client_error"
    FAILED = "failed"  # 5xx, or no usable response
    NOT_ASKED = "not_asked"
    OPEN = "open"


class Spot(NamedTuple):
    """One page, with the fields that the graph needs."""

    id: int
    url: str
    key: int  # its short key as a number, see `core.html.link_codec`
    parent_id: int | None  # the page it was first found on
    depth: int
    answer: NodeColor
    status: str  # HTTP status, else the outcome; "" = open


class GraphEdge(NamedTuple):
    """The links from one node to another; several of a page to one target are one."""

    source: int  # place of the node
    target: int
    links: int


@dataclass
class GraphNode:
    """One page, or all pages below a folder."""

    url: str  # of a page its URL; of several their common prefix
    depth: int  # of the nearest page
    page_id: int | None = None  # None = several pages
    status: str = ""  # of a single page
    pages: int = 0
    parent: int | None = None  # place of the node its nearest page was first found on
    linked_from: int = 0  # other pages of the crawl that link to it
    links: int = 0  # pages it links to
    answers: Counter[NodeColor] = field(default_factory=Counter)


@dataclass
class Picture:
    """Nodes, and the indexes for the links between them."""

    nodes: list[GraphNode]
    of_page: dict[int, int]  # page -> place of its node
    of_key: dict[int, int]  # short key -> place of its node
    _links: defaultdict[int | None, Counter[int | None]] = field(default_factory=lambda: defaultdict(Counter))

    def add_links(self, page: int, targets: Sequence[int]) -> None:
        """The links of one page of the crawl, as short keys; the page need not be in the graph. A large crawl has
        millions, so they are counted by functions written in C."""
        self._links[self.of_page.get(page)].update(map(self.of_key.get, targets))

    def add_parents(self, spots: Iterable[Spot]) -> None:
        """Only the links by which the pages were first found, in place of all links."""
        for spot in spots:
            if spot.parent_id is not None:
                self.add_links(spot.parent_id, [spot.key])

    def lines(self) -> list[GraphEdge]:
        """The links from one node to another. The counts of each node are set; a page's link to itself does not
        count."""
        lines = list[GraphEdge]()
        for source, targets in self._links.items():
            if source is not None:
                self.nodes[source].links += targets.total()
            for target, links in targets.items():
                if target is None or (target == source and self.nodes[target].page_id is not None):
                    continue
                self.nodes[target].linked_from += links
                if source is not None and target != source:
                    lines.append(GraphEdge(source, target, links))
        return lines


def answer_of(outcome: str) -> NodeColor:
    """The color of an outcome as the table stores it; "" = open."""
    if not outcome:
        return NodeColor.OPEN
    known = Outcome(outcome)
    match known.tone:
        case Tone.GOOD:
            return NodeColor.OK
        case Tone.WARNING:
            return NodeColor.CLIENT_ERROR
        case Tone.ERROR:
            return NodeColor.FAILED
        case Tone.NEUTRAL:
            return NodeColor.REDIRECT if known.category is Category.FETCHED else NodeColor.NOT_ASKED
    assert_never(known.tone)


def picture(spots: Sequence[Spot], clusters: Iterable[Cluster]) -> Picture:
    """The nodes of these pages, sorted by URL, one for each cluster. Its parent is the node where its page of least
    depth was first found."""
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


def _node(cluster: Cluster, part: Sequence[Spot]) -> GraphNode:
    node = GraphNode(cluster.prefix, min(spot.depth for spot in part), pages=len(part))
    node.answers.update(spot.answer for spot in part)
    if len(part) == 1:
        node.page_id, node.status = part[0].id, part[0].status
    return node


def thinned(lines: Sequence[GraphEdge], most: int) -> tuple[list[GraphEdge], int]:
    """At most `most` of the lines, and the number of nodes without lines to them. The most linked nodes lose theirs
    first, because the links of a menu fill the picture and say the least."""
    leading_to = Counter(line.target for line in lines)
    left, hidden = len(lines), set[int]()
    for target, number in leading_to.most_common():
        if left <= most:
            break
        hidden.add(target)
        left -= number
    return [line for line in lines if line.target not in hidden], len(hidden)


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain of redirects."""

    urls: tuple[str, ...]  # the first, each hop, and the final target
    loops: bool  # the last redirect leads back to one of the others

    @property
    def hops(self) -> int:
        return len(self.urls) - 1


def chain_from(start: str, leads_to: Mapping[str, str]) -> Chain:
    """The chain that a browser follows from `start`; `leads_to` has the target of each redirect."""
    urls = dict.fromkeys([start])
    here = start
    while here in leads_to:
        here = leads_to[here]
        if here in urls:
            return Chain((*urls, here), loops=True)
        urls[here] = None
    return Chain(tuple(urls), loops=False)


def beginnings(leads_to: Mapping[str, str]) -> list[str]:
    """The redirects that no other redirect leads to, and the first of each isolated loop; in the order given."""
    led_to = set(leads_to.values())
    heads = [url for url in leads_to if url not in led_to]
    reached: set[str] = set()
    for head in heads:
        _mark(head, leads_to, reached)
    for url in leads_to:
        if url not in reached:
            heads.append(url)
            _mark(url, leads_to, reached)
    return heads


def _mark(url: str, leads_to: Mapping[str, str], reached: set[str]) -> None:
    """Add all that can be reached from here, up to the first that is in `reached`: each redirect is visited once."""
    while url in leads_to and url not in reached:
        reached.add(url)
        url = leads_to[url]
