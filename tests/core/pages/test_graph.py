"""The graph of a crawl: nodes and lines, redirects to their end or until they come back, clusters by folder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages.graph import (
    MAX_FOLDER_PARTS,
    Chain,
    Cluster,
    GraphEdge,
    NodeColor,
    Picture,
    Spot,
    answer_of,
    beginnings,
    chain_from,
    clustered,
    picture,
    thinned,
)
from crawler.core.pages.outcomes import Category, Outcome


def spot(page: int, url: str, parent: int | None = None, depth: int = 0, answer: NodeColor = NodeColor.OK) -> Spot:
    """Its key is a hundred times its id."""
    return Spot(page, url, page * 100, parent, depth, answer, "200")


def of_pages() -> Picture:
    """Three pages, each a node of its own; the second and third were found on the first."""
    spots = [spot(1, "http://h/"), spot(2, "http://h/a", 1, 1), spot(3, "http://h/b", 1, 1)]
    return picture(spots, [Cluster(spot.url, place, place + 1) for place, spot in enumerate(spots)])


def of_folders() -> Picture:
    """A start page, and a folder of two pages found from there."""
    spots = [spot(1, "http://h/"), spot(3, "http://h/a/1", 2, 2), spot(2, "http://h/a/2", 1, 1, NodeColor.FAILED)]
    return picture(spots, [Cluster("http://h/", 0, 1), Cluster("http://h/a/", 1, 3)])


def test_a_page_hangs_from_where_it_was_found() -> None:
    assert [node.parent for node in of_pages().nodes] == [None, 0, 0]


def test_a_folder_hangs_from_where_its_nearest_page_was_found() -> None:
    _, folder = of_folders().nodes
    assert (folder.parent, folder.depth, folder.pages, folder.page_id) == (0, 1, 2, None)
    assert folder.answers == {NodeColor.OK: 1, NodeColor.FAILED: 1}


def test_links_are_lines_and_are_counted_at_both_ends() -> None:
    drawn = of_pages()
    drawn.add_links(1, [200, 300, 999])
    drawn.add_links(2, [300, 200])
    assert drawn.lines() == [GraphEdge(0, 1, 1), GraphEdge(0, 2, 1), GraphEdge(1, 2, 1)]
    assert [(node.linked_from, node.links) for node in drawn.nodes] == [(0, 3), (1, 2), (2, 0)]


def test_a_page_outside_the_picture_is_counted_and_not_drawn() -> None:
    drawn = of_pages()
    drawn.add_links(77, [200])
    assert drawn.lines() == []
    assert drawn.nodes[1].linked_from == 1


def test_links_within_a_folder_are_counted_and_no_line() -> None:
    drawn = of_folders()
    drawn.add_links(2, [300, 100])
    assert drawn.lines() == [GraphEdge(1, 0, 1)]
    assert drawn.nodes[1].linked_from == 1


def test_in_place_of_all_links_those_of_first_finds_can_be_drawn() -> None:
    spots = [spot(1, "http://h/"), spot(2, "http://h/a", 1, 1), spot(3, "http://h/b", 1, 1)]
    drawn = of_pages()
    drawn.add_parents(spots)
    assert drawn.lines() == [GraphEdge(0, 1, 1), GraphEdge(0, 2, 1)]


@pytest.mark.parametrize("outcome", ["", *Outcome])
def test_every_outcome_has_a_colour(outcome: str) -> None:
    assert answer_of(outcome) in NodeColor


@pytest.mark.parametrize(
    ("outcome", "answer"),
    [
        ("", NodeColor.OPEN),
        (Outcome.UNCHANGED, NodeColor.OK),
        (Outcome.CLIENT_ERROR, NodeColor.CLIENT_ERROR),
        (Outcome.SERVER_ERROR, NodeColor.FAILED),
        *((outcome, NodeColor.FAILED) for outcome in Outcome if outcome.category is Category.FAILED),
        (Outcome.ROBOTS, NodeColor.NOT_ASKED),
        (Outcome.CANCELLED, NodeColor.NOT_ASKED),
    ],
)
def test_a_colour_says_what_became_of_a_page(outcome: str, answer: NodeColor) -> None:
    assert answer_of(outcome) is answer


def test_lines_to_what_most_link_to_go_first() -> None:
    lines = [GraphEdge(0, 9, 1), GraphEdge(1, 9, 1), GraphEdge(2, 9, 1), GraphEdge(0, 1, 1)]
    assert thinned(lines, 2) == ([GraphEdge(0, 1, 1)], 1)
    assert thinned(lines, 4) == (lines, 0)


@pytest.mark.parametrize(
    ("leads_to", "chain"),
    [
        ({}, Chain(("a",), loops=False)),
        ({"a": "b"}, Chain(("a", "b"), loops=False)),
        ({"a": "b", "b": "c", "x": "b"}, Chain(("a", "b", "c"), loops=False)),
        ({"a": "a"}, Chain(("a", "a"), loops=True)),
        ({"a": "b", "b": "c", "c": "b"}, Chain(("a", "b", "c", "b"), loops=True)),  # the loop has a way in
    ],
)
def test_a_redirect_is_followed(leads_to: dict[str, str], chain: Chain) -> None:
    assert chain_from("a", leads_to) == chain
    assert chain.hops == len(chain.urls) - 1


@pytest.mark.parametrize(
    ("leads_to", "heads"),
    [
        ({"b": "c", "a": "b", "x": "b"}, ["a", "x"]),
        ({"a": "b", "b": "a"}, ["a"]),  # nobody leads into the loop
        ({"a": "b", "b": "a", "x": "a"}, ["x"]),
        ({"s": "s", "a": "b"}, ["a", "s"]),
    ],
)
def test_chains_begin_where_no_redirect_leads_to(leads_to: dict[str, str], heads: list[str]) -> None:
    assert beginnings(leads_to) == heads


SITES = st.lists(
    st.lists(st.sampled_from(["a", "b", "ab", "c?d", "é"]), max_size=4).map(lambda path: f"http://h/{'/'.join(path)}"),
    unique=True,
    max_size=60,
).map(sorted)


def told(urls: list[str], most: int) -> list[tuple[str, int]]:
    return [(cluster.prefix, cluster.size) for cluster in clustered(sorted(urls), most)]


def test_pages_fall_apart_by_host_then_by_folder() -> None:
    urls = [f"http://one/{folder}/{page}" for folder in "ab" for page in range(3)] + ["http://two/"]
    assert told(urls, 3) == [("http://one/a/", 3), ("http://one/b/", 3), ("http://two/", 1)]


def test_the_largest_falls_apart_first() -> None:
    urls = [f"http://h/small/{page}" for page in range(2)] + [f"http://h/large/{page}" for page in range(5)]
    assert told(urls, 6) == [*((f"http://h/large/{page}", 1) for page in range(5)), ("http://h/small/", 2)]


def test_a_folder_of_very_many_pages_falls_apart_by_their_letters() -> None:
    urls = [f"http://h/p/{letter}{number}" for letter in "xyz" for number in range(MAX_FOLDER_PARTS)]
    assert {prefix for prefix, _ in told(urls, 3)} == {"http://h/p/x", "http://h/p/y", "http://h/p/z"}


def test_folders_stay_whole_where_letters_would_say_little() -> None:
    urls = [f"http://h/{folder}/{page}" for folder in range(10, 50) for page in range(MAX_FOLDER_PARTS + 1)]
    assert told(urls, 1000) == [(f"http://h/{folder}/", MAX_FOLDER_PARTS + 1) for folder in range(10, 50)]


def test_a_page_with_the_name_of_a_folder_is_none_of_its_pages() -> None:
    assert told(["http://h/a", "http://h/a/", "http://h/a/b", "http://h/a-b"], 4) == [
        ("http://h/a", 1),
        ("http://h/a-b", 1),
        ("http://h/a/", 1),
        ("http://h/a/b", 1),
    ]


def test_nothing_is_no_cluster() -> None:
    assert clustered([], 10) == []


@given(SITES, st.integers(1, 30))
def test_each_page_is_in_one_cluster_and_there_are_not_too_many(urls: list[str], most: int) -> None:
    clusters = clustered(urls, most)
    assert [place for cluster in clusters for place in range(cluster.first, cluster.end)] == list(range(len(urls)))
    assert len(clusters) <= most


@given(SITES, st.integers(1, 30))
def test_a_cluster_is_named_by_what_its_pages_begin_with(urls: list[str], most: int) -> None:
    for cluster in clustered(urls, most):
        assert all(url.startswith(cluster.prefix) for url in urls[cluster.first : cluster.end])
