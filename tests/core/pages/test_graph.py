import pytest

from crawler.core.pages.graph import Cluster, GraphEdge, NodeColor, Picture, Spot, answer_of, picture, thinned
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
