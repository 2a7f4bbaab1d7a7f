"""What a page says does not depend on its URL, its numbers, or its boilerplate."""

import pytest

from crawler.capabilities.traps.novelty import MAX_BLOCKS, Said, said_of, said_of_unread

URL = "https://example.com/calendar/day?session=8f3ab1c2&page=4"
MENU = "Our products and services\nContact the team in our office\nTerms and conditions of this site"
LONG = [
    f"This is the {word} sentence of a page with text of its own." for word in ["first", "second", "third", "fourth"]
]


def said(text: str, url: str = URL, *objects: str) -> Said:
    return said_of(url, text, objects)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You are visitor number 1,234 of this site today", "You are visitor number 98 of this site today"),
        ("The time on this server is 10:05 o'clock now", "The time on this server is 23:59 o'clock now"),
        (f"The page {URL} was not found here", "The page  was not found here"),
        ("Your session is 8f3ab1c2 until you leave", "Your session is  until you leave"),
    ],
)
def test_numbers_and_the_pages_own_url_are_no_part_of_it(one: str, other: str) -> None:
    assert said(one).blocks == said(other).blocks != ()


def test_a_part_of_the_url_changes_no_longer_word() -> None:
    text = "These articles are about art and its history"
    assert (
        said(text, "https://example.com/art/x").blocks
        == said(text.replace(" art ", "  "), "https://example.com/").blocks
    )


def test_sentences_of_one_line_are_blocks_of_their_own() -> None:
    assert set(said(" ".join(LONG)).blocks) == set(said("\n".join(LONG)).blocks)


def test_another_sentence_among_others_is_another_block() -> None:
    news = [f"Only here one reads the story of a {word} that nobody tells." for word in ["cat", "dog", "cow", "hen"]]
    assert set(said("\n".join([*LONG, *news])).blocks) > set(said("\n".join(LONG)).blocks)


def test_short_pieces_count_on_a_page_without_longer_ones() -> None:
    assert said("Glossary\nowl\nA bird").blocks != said("Glossary\nelk\nA deer").blocks
    assert said(f"{MENU}\nowl").blocks == said(f"{MENU}\nelk").blocks


def test_a_picture_is_something_said_whatever_its_query() -> None:
    assert said(MENU, URL, "/a.jpg?t=1").blocks == said(MENU, URL, "/a.jpg?t=2").blocks
    assert said(MENU, URL, "/1.jpg").blocks != said(MENU, URL, "/2.jpg").blocks


def test_a_page_without_text_says_nothing() -> None:
    assert said("").blocks == ()


def test_a_long_page_is_sampled() -> None:
    text = "\n".join(
        f"A sentence about {chr(97 + first)}{chr(97 + second)} and more" for first in range(26) for second in range(26)
    )
    assert len(said(text).blocks) == MAX_BLOCKS


def test_the_words_of_some_pages_are_read() -> None:
    worded = [bool(said(MENU, f"https://example.com/{number}").words) for number in range(400)]
    assert 60 < sum(worded) < 140


def test_each_file_says_something_of_its_own() -> None:
    assert said_of_unread("https://example.com/a.pdf") != said_of_unread("https://example.com/b.pdf")
