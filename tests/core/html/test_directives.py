"""meta robots, X-Robots-Tag and rel, by table and by property."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html.page_metadata import MAX_RECORDED, NO_DIRECTIVES, Directives, directives_of, recorded, rel_of

TOKEN = "ExampleBot"


def by_meta(*metas: tuple[str, str]) -> str:
    return directives_of(metas, (), TOKEN).text


def by_header(*headers: str) -> str:
    return directives_of((), headers, TOKEN).text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("noindex", "noindex"),
        ("NoIndex, NOFOLLOW", "noindex nofollow"),
        ("nofollow noindex", "noindex nofollow"),  # blanks will do
        ("nofollow,,noindex;", "nofollow noindex;"),
        (" \n nofollow\t,noindex ", "noindex nofollow"),
        ("none", "noindex nofollow"),
        ("index, follow", ""),
        ("all", ""),
        ("index, noindex", "noindex"),  # the stricter word wins
        ("noarchive, none, nosnippet", "noindex nofollow noarchive nosnippet"),
        ("max-snippet: -1, noindex", "noindex max-snippet:-1"),
        ("max-image-preview:large nofollow", "nofollow max-image-preview:large"),
        ("unavailable_after: 25-Aug-2007 15:00:00 EST", "unavailable_after:25-aug-2007_15:00:00_est"),
        (
            "unavailable_after: Sat, 25 Aug 2007 15:00:00 EST, noindex",
            "noindex unavailable_after:sat,_25_aug_2007_15:00:00_est",
        ),
        ("noindexed", "noindexed"),  # a word of its own
        ("", ""),
        (",:, :", ""),
    ],
)
def test_a_meta_element_is_read(content: str, text: str) -> None:
    assert by_meta(("robots", content)) == text


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("robots", True),
        ("ROBOTS", True),
        (" robots ", True),
        ("examplebot", True),
        ("ExampleBot", True),
        ("other", False),
    ],
)
def test_what_is_said_to_all_or_to_us_counts(name: str, counts: bool) -> None:
    assert by_meta((name, "noindex")) == ("noindex" if counts else "")


def test_everything_said_is_taken_together() -> None:
    found = directives_of(
        [("robots", "noindex"), ("examplebot", "noarchive"), ("robots", "noindex, index")],
        ["nosnippet", "nofollow"],
        TOKEN,
    )
    assert found == Directives(noindex=True, nofollow=True, text="noindex nofollow noarchive nosnippet")


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ("noindex", "noindex"),
        ("none", "noindex nofollow"),
        ("noindex, nofollow", "noindex nofollow"),
        ("examplebot: noindex", "noindex"),
        ("ExampleBot/2.1: noindex, nofollow", "noindex nofollow"),
        ("robots: noindex", "noindex"),
        ("otherbot: noindex", ""),
        ("otherbot: noindex, nofollow", ""),  # a name is for all that follows it
        ("nofollow, otherbot: noindex, noarchive, ExampleBot: nosnippet", "nofollow nosnippet"),
        ("otherbot:", ""),
        ("max-snippet:5, noindex", "noindex max-snippet:5"),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", "unavailable_after:25_jun_2010_15:00:00_pst"),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST", ""),
        (
            "Unavailable_After: Sunday, 06-Nov-94 08:49:37 GMT, nofollow",
            "nofollow unavailable_after:sunday,_06-nov-94_08:49:37_gmt",
        ),
        ("", ""),
    ],
)
def test_a_header_is_read(header: str, text: str) -> None:
    assert by_header(header) == text


def test_a_name_in_one_header_says_nothing_about_the_next() -> None:
    assert by_header("otherbot: noarchive", "noindex") == "noindex"


def test_a_page_that_says_nothing_asks_for_nothing() -> None:
    assert directives_of([], [], TOKEN) is NO_DIRECTIVES
    assert directives_of([("robots", "index")], ["all"], TOKEN) == NO_DIRECTIVES


def test_what_matters_is_recorded_however_much_is_said() -> None:
    found = directives_of([("robots", " ".join(f"word{number}" for number in range(9999)) + " none")], [], TOKEN)
    assert (found.noindex, found.nofollow) == (True, True)
    assert MAX_RECORDED - len("word9999") <= len(found.text) <= MAX_RECORDED
    assert recorded(found.text, "noindex")
    assert recorded(found.text, "nofollow")


def test_no_word_is_cut_into_another_where_the_record_ends() -> None:
    for before in range(MAX_RECORDED - 20, MAX_RECORDED):
        found = directives_of([("robots", f"{'x' * before} noindex-never")], [], TOKEN)
        assert not recorded(found.text, "noindex")


@pytest.mark.parametrize(
    ("value", "rel"),
    [
        ("nofollow", "nofollow"),
        ("noopener NoFollow", "nofollow"),
        ("sponsored ugc\nnofollow ugc", "nofollow ugc sponsored"),
        ("sponsored", "sponsored"),
        ("noopener noreferrer", ""),
        ("nofollow-me", ""),
        ("", ""),
    ],
)
def test_of_a_rel_attribute_the_words_against_following_count(value: str, rel: str) -> None:
    assert rel_of(value) == rel


WORDS = st.sampled_from(
    ["noindex", "nofollow", "none", "all", "examplebot", "otherbot", "max-snippet", "unavailable_after"]
)


@given(st.lists(WORDS))
def test_a_stricter_word_is_never_lost_among_others(words: list[str]) -> None:
    assert recorded(by_meta(("robots", ",".join(words))), "noindex") is bool({"noindex", "none"} & set(words))


def test_more_than_anybody_means_is_not_read() -> None:
    endless = " ".join(f"word{number}" for number in range(200_000))
    assert not directives_of([("robots", endless + " noindex")], [], TOKEN).noindex
    assert directives_of([("robots", "noindex " + endless)], [], TOKEN).noindex
