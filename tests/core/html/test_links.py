"""What a page links to, against recorded cases, by table and by property."""

from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html.charsets import decode
from crawler.core.html.document import MAX_ATTRIBUTES, MAX_NULS, MAX_TAGS, MOST_TAGS, document_of
from crawler.core.html.links import (
    MAX_CHARACTERS,
    MAX_LINKS,
    MAX_METAS,
    MAX_TEXT,
    MAX_TITLE,
    MAX_WORDS,
    LinksCut,
    extract,
)
from crawler.core.urls.normalise import normalise
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled
from tests.suites import cases

PAGE = "https://example.com/a/page?q"

# Recorded expectations that contradict our normal form: test name -> what we say instead, and why.
DECIDED_OTHERWISE = {
    # Its "canonicalize" option sorts the query; the order of a query means something to the server.
    "test_canonicalize_once_per_link": ("https://example.com/p?b=2&a=1",),
    # It drops what looks like a picture by its name; whether a link is followed is for the scope to say.
    "test_ignored_extensions": ("http://example.org/page.html", "http://example.org/photo.jpg"),
}


def links_of(html: str, url: str = PAGE) -> list[str]:
    return list(extract(html, url).links)


@pytest.mark.parametrize(
    "case",
    [case for case in cases("links_scrapy") if case["plain"]],
    ids=lambda case: case["test"].rpartition("::")[2],
)
def test_it_finds_the_recorded_links(case: dict[str, Any]) -> None:
    """Expected are the recorded URLs in our normal form: without fragment, each once, http and https only."""
    recorded = [normalise(link["url"]) for link in case["expect"]]
    expected = tuple(dict.fromkeys(url for url in recorded if url))
    html = decode(b64decode(case["body_b64"]), f"text/html; charset={case['encoding']}")
    name = case["test"].rpartition("::")[2]
    assert extract(html, normalise(case["url"]) or "").links == DECIDED_OTHERWISE.get(name, expected)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        # What is a link
        ("<a href=x>", ["/a/x"]),
        ("<A HREF='/x'>", ["/x"]),
        ("<map><area href=x></map>", ["/a/x"]),
        ("<iframe src=x>", ["/a/x"]),
        ("<frameset><frame src=x><frame src=y></frameset>", ["/a/x", "/a/y"]),
        ("<link rel=next href=x><link rel=prev href=y>", ["/a/x", "/a/y"]),
        ("<link rel='foo CANONICAL' href=x>", ["/a/x"]),
        ("<link rel='alternate' hreflang=de href=/de>", ["/de"]),
        ("<meta http-equiv=Refresh content='0; url=x'>", ["/a/x"]),
        ("<meta http-equiv=refresh content='5;URL=\"/x y\"'>", ["/x%20y"]),
        ("<meta http-equiv=refresh content=\"1.5 , url = '/x'ignored\">", ["/x"]),
        ("<meta http-equiv=refresh content='0;/x'>", ["/x"]),
        ("<svg><a href=x></a></svg>", ["/a/x"]),
        ("<svg><a xlink:href=x></a><a xlink:href=y href=z></a></svg>", ["/a/x", "/a/z"]),  # SVG 2, 16.1.6
        ("<a href=x rel=nofollow>", ["/a/x"]),
        # What is not
        ("<a name=x><img src=x><form action=x><a data-href=x>", []),
        ("<link rel=stylesheet href=x><link rel='alternate stylesheet' href=x><link href=x>", []),
        ("<meta http-equiv=refresh content=5><meta http-equiv=refresh content='url=x'>", []),
        ("<meta name=refresh content='0;url=x'>", []),
        ("<iframe src=''></iframe><iframe src></iframe><link rel=next href=''>", []),
        ("<a href='javascript:void(0)'><a href=mailto:a@b.c><a href=data:,x><a href=tel:1><a href=ftp://x/>", []),
        ("<a href='http://[::1'><a href='https://exa mple.com'>", []),
        ("<!-- <a href=x> --><script>'<a href=x>'</script><style><a href=x></style>", []),
        ("<template><a href=x></a></template><textarea><a href=x></textarea>", []),
        ("<body><noscript><a href=x></a><iframe src=y></iframe></noscript>", ["/a/x", "/a/y"]),  # we run no scripts
        # How it is written
        ("<a href><a href=''>", ["/a/page?q"]),
        ("<a href='#top'>", ["/a/page?q"]),
        ("<a href=' x\n'>", ["/a/x"]),
        ("<a href='x #f'><a href='x'>", ["/a/x%20", "/a/x"]),  # a blank before the fragment belongs to the URL
        ("<a href='?a=1&amp;b=2&copy=3'>", ["/a/page?a=1&b=2&copy=3"]),
        ("<a href='&#x2f;x'>", ["/x"]),
        ("<a href=b><a href=a><a href=b#2><a href='./b'>", ["/a/b", "/a/a"]),
        ("<a href=x", []),  # never closed: not a tag
        ("<a href=x><b><a href=y></b>", ["/a/x", "/a/y"]),
        ("<a href='x\x00y'>", ["/a/x%EF%BF%BDy"]),
        # Against what it is resolved
        ("<base href=/b/><a href=x>", ["/b/x"]),
        ("<a href=x><base href='/b/page'>", ["/b/x"]),  # it counts for the whole page
        ("<base target=_top><base href=/b/><base href=/c/><a href=x>", ["/b/x"]),
        ("<base href=/b/><a href=''>", ["/b/"]),
        ("<base href=ftp://example.com/><a href=x>", ["/a/x"]),
        ("<base href='http://['><a href=x>", ["/a/x"]),
        ("<base href><a href=x>", ["/a/x"]),
    ],
)
def test_it_finds_what_a_browser_would_follow(html: str, expected: list[str]) -> None:
    assert links_of(html) == [f"https://example.com{path}" for path in expected]


@pytest.mark.parametrize(
    ("html", "rels"),
    [
        ("<a href=x rel=nofollow>", {"/a/x": "nofollow"}),
        ("<map><area href=x rel='UGC noopener'></map>", {"/a/x": "ugc"}),
        ("<A HREF=x REL='sponsored\nnofollow'>", {"/a/x": "nofollow sponsored"}),
        ("<a rel=nofollow href=x><a rel=ugc href=y>", {"/a/x": "nofollow", "/a/y": "ugc"}),
        ("<a href=x rel='noopener noreferrer'><a href=y rel=next><a href=z rel>", {}),
        ("<a rel=nofollow><a href='mailto:a@b.c' rel=nofollow>", {}),
        # Linked to more than once: it takes one link without to be followed
        ("<a href=x rel=nofollow><a href=x>", {}),
        ("<a href=x><a href=x rel=nofollow>", {}),
        ("<a href=x#1 rel=nofollow><a href=x#2 rel=nofollow><a href='./x'>", {}),
        ("<a href=x rel=nofollow><a href=x rel=nofollow><a href=x>", {}),
        ("<a href=x rel=nofollow><a href=x><a href=x rel=nofollow>", {}),
        ("<a href=x rel=nofollow><link rel=canonical href=x>", {}),
        ("<a href=x rel=nofollow><a href='./x#a' rel=ugc>", {"/a/x": "nofollow"}),  # the first says it
        ("<link rel='next nofollow' href=x>", {}),  # not a link a person follows
    ],
)
def test_it_tells_which_links_keep_crawlers_away(html: str, rels: dict[str, str]) -> None:
    assert extract(html, PAGE).rels == {f"https://example.com{path}": rel for path, rel in rels.items()}


@pytest.mark.parametrize(
    ("html", "metas"),
    [
        ("<meta name=robots content=noindex>", [("robots", "noindex")]),
        ("<META NAME='Robots' CONTENT='a, b'><meta content=c name=Bot>", [("Robots", "a, b"), ("Bot", "c")]),
        ("<body><p><meta name=robots content=nofollow>", [("robots", "nofollow")]),
        ("<meta name=robots content='no&#105;ndex'>", [("robots", "noindex")]),
        ("<meta name=robots><meta content=x><meta charset=utf-8><meta http-equiv=robots content=noindex>", []),
        ("<!-- <meta name=robots content=noindex> --><template><meta name=robots content=noindex></template>", []),
        ("<meta name=robots content><base href=/b/>", [("robots", "")]),
    ],
)
def test_it_reads_what_meta_elements_say_by_name(html: str, metas: list[tuple[str, str]]) -> None:
    assert list(extract(html, PAGE).metas) == metas


def test_what_a_meta_element_says_survives_a_page_of_too_many_tags() -> None:
    page = extract(f"{'<div>' * (MAX_TAGS + 1)}<meta name=robots content=none><a href=x rel=ugc>", PAGE)
    assert page.metas == (("robots", "none"),)
    assert page.rels == {"https://example.com/a/x": "ugc"}


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n title &amp; more </title>", "A title & more"),
        ("<svg><title>drawing</title></svg><title>page</title>", "page"),
        ("<svg><title>drawing</title></svg>", ""),
        ("<title>first</title><title>second</title>", "first"),
        ("<div>the head is over</div><title>late</title>", "late"),
        ("<title><b>raw</b></title>", "<b>raw</b>"),
        ("<title></title>", ""),
        ("", ""),
        (f"<title>{'x' * (MAX_TITLE + 1)}</title>", "x" * MAX_TITLE),
    ],
)
def test_it_reads_the_title(html: str, title: str) -> None:
    assert extract(html, PAGE).title == title


HEADS = (
    "<html>",
    "<head>",
    "</head>",
    "<body>",
    "<frameset>",
    "<noscript>",
    "</noscript>",
    "<template>",
    "</template>",
)
TITLES = ("<title>a</title>", "<title>b</title>", "<title>", "</title>", "<svg>", "</svg>", "<math>", "<desc>", "<p>")
OTHERS = ("<table>", "<select>", "<script>", "</script>", "<meta name=x content=y>", "words", " ")


@given(st.lists(st.sampled_from([*HEADS, *TITLES, *OTHERS]), max_size=12).map("".join))
def test_the_title_is_the_first_that_no_drawing_contains(html: str) -> None:
    title = document_of(html).tree.css_first("title:not(svg title)")
    assert extract(html, PAGE).title == (" ".join(title.text().split()) if title else "")


def test_it_keeps_a_bounded_number_of_links() -> None:
    anchors = [f"<a href={number}>" for number in range(MAX_LINKS + 5)]
    page = extract("".join(anchors), PAGE)
    assert list(page.links) == [f"https://example.com/a/{number}" for number in range(MAX_LINKS)]
    assert page.cut is LinksCut.LINKS
    assert extract("".join([*anchors[:MAX_LINKS], *anchors[:5]]), PAGE).cut is None


def test_a_long_base_does_not_make_a_short_page_a_flood_of_long_links() -> None:
    page = extract(f"<base href='/{'b' * 4000}/'>" + "".join(f"<a href={number}>" for number in range(9000)), PAGE)
    assert 1_900_000 < sum(map(len, page.links)) <= MAX_CHARACTERS
    assert page.cut is LinksCut.CHARACTERS


@pytest.mark.parametrize("opening", ["<div>", "<ul><li>", "<svg></a>", "<a><noscript>"])
def test_endless_nesting_costs_neither_links_nor_hours(opening: str) -> None:
    html = f"<title>deep</title><a href=first>{opening * 99_000}<a href=last>"
    page = extract(html, PAGE)
    assert page.title == "deep"
    assert page.links == ("https://example.com/a/first", "https://example.com/a/last")


def test_a_very_long_page_has_the_links_it_would_have_in_parts() -> None:
    part = (
        "<div class='a'><p>text <b>bold</b><br><a class=x href='{0}'><i>link</i></a><script>'<a href=x>'</script></div>"
    )
    numbers = range(MAX_TAGS // 5)
    assert links_of("".join(part.format(number) for number in numbers)) == [
        link for number in numbers for link in links_of(part.format(number))
    ]


@pytest.mark.parametrize("attribute", [" a{0}", "/a{0}", " a{0}=1", "a{0}='>'", ' a{0} = ">"'])
def test_a_tag_of_endless_attributes_is_dropped(attribute: str) -> None:
    crowded = "".join(attribute.format(number) for number in range(300_000))
    assert links_of(f"<a href=x><a {crowded} href=y><a href=z>") == [
        "https://example.com/a/x",
        "https://example.com/a/z",
    ]


@pytest.mark.parametrize("hidden", ['x=">"', "x='>'", 'x = "<b>"', '"=1 x=">"', "'=1 x='<b'", "x=<b y='>'"])
def test_what_stands_in_its_values_does_not_hide_a_crowded_tag(hidden: str) -> None:
    crowded = " ".join(f"a{number}" for number in range(30_000))
    assert links_of(f"<a href=x><a {hidden} {crowded} href=y><a href=z>") == [
        "https://example.com/a/x",
        "https://example.com/a/z",
    ]


def test_a_tag_of_many_attributes_on_a_long_page_is_kept() -> None:
    many = "".join(f" data-{number}='x'" for number in range(MAX_ATTRIBUTES - 2))
    assert links_of(f"<a {many} href=x>" + "text " * 30_000) == ["https://example.com/a/x"]


@pytest.mark.parametrize(
    ("html", "texts"),
    [
        ("<a href=x> The \n words </a>", ["The words"]),
        ("<a href=x></a><a href=x>one</a><a href=x#part>another</a>", ["", "one", "another"]),
        ("<a href=x><img src=y alt=' A picture '></a>", ["A picture"]),
        ("<a href=x>words<img src=y alt=picture></a>", ["words"]),
        ("<link rel=next href=x><a href=y>y</a>", ["", "y"]),
        (f"<a href=x>{'long ' * 99}</a>", ["long " * 20]),
    ],
)
def test_a_link_has_the_words_it_is_written_with(html: str, texts: list[str]) -> None:
    assert list(extract(html, PAGE).occurrences.texts) == texts


def test_of_tags_without_end_the_beginning_is_parsed_and_the_page_says_so() -> None:
    page = extract("<a href=first>" + "<a>" * MOST_TAGS + "<a href=last>", PAGE)
    assert page.links == ("https://example.com/a/first",)
    assert page.cut is LinksCut.TAGS
    assert extract("<a>" * (MOST_TAGS - 1) + "<a href=last>", PAGE).cut is None


def test_null_bytes_without_end_are_left_out() -> None:
    page = extract(b"<p>" + b"\0" * (MAX_NULS + 1) + b"<a href=fi\0rst>", PAGE)
    assert page.links == ("https://example.com/a/first",)
    assert page.facts.digest == b""


def test_of_meta_elements_without_end_the_first_count() -> None:
    assert len(extract("<meta name=a content=b>" * (MAX_METAS + 1), PAGE).metas) == MAX_METAS


@pytest.mark.parametrize(
    ("before", "part"),
    [
        (b"", b"<a<a"),  # a tag's name may hold what looks like another tag
        (b"", b"<div <>"),  # so may its attributes
        (b"", b"<div x='<'>"),
        (b"", b"<i a=%d><p>x"),  # a browser copies each into all paragraphs behind it
        (b"", b'<i a=">%d"></b><p>x'),
        (b"", b'<I ="x b=">%d"><p>x'),
        (b"<svg>" + b"".join(b"<a href=%d>" % number for number in range(2000)), b"words "),  # links in one another
        (b"<h1><div>" * 2000, b" "),  # headings in one another, with nothing but blanks in them
        (b"", b"<a href=%d><object>"),
        (b"<a href=x><object><img>" * 3000, b" "),
        (b"<select><button><selectedcontent></button>", b"<Option selected>x</option>"),  # a parser walks through all
    ],
)
def test_no_page_takes_longer_than_its_length_says(before: bytes, part: bytes) -> None:
    grown = climb(lambda html: extract(html, PAGE), lambda size: filled(before, part, b"", size), 256 * 1024, 4.0)
    assert not grown.fault


def test_links_in_one_another_are_links_without_words() -> None:
    drawing = "<svg>" + "".join(f"<a href={number}>" for number in range(500)) + "<text>words"
    page = extract(drawing, PAGE)
    assert (len(page.links), set(page.occurrences.texts)) == (500, {""})
    few = "<svg>" + "".join(f"<a href={number}>" for number in range(8)) + "<text>words"
    assert set(extract(few, PAGE).occurrences.texts) == {"words"}


def test_a_long_page_keeps_its_styles_unless_they_multiply() -> None:
    part = b"<p>text <code class='x y%d'><span class=pre>x</span></code> <b class=z>bold</b></p>"
    honest = filled(b"", part, b"", 150_000)
    assert document_of(honest).is_whole
    assert not document_of(filled(b"", b"<i class=x%d><p>x", b"", 150_000)).is_whole


def test_a_long_page_with_a_long_attribute_is_whole() -> None:
    assert document_of(b"<img src='data:" + b"x" * 200_000 + b"'><p>words").is_whole


def test_every_link_is_kept_with_its_words_and_its_rel() -> None:
    html = (
        "<a href=x>Menu</a><a href=y rel=nofollow>Y</a><a href='x#part' rel=nofollow>Text</a><a href=./x>"
        "<img alt=Picture></a><map><area href=y rel=ugc></map><a href=#top>Top</a><a href=x>Menu</a>"
    )
    page = extract(html, PAGE)
    assert page.links == tuple(f"https://example.com/a/{name}" for name in ("x", "y", "page?q"))
    assert page.occurrences == (
        [0, 1, 0, 0, 1, 2, 0],
        ["Menu", "Y", "Text", "Picture", "", "Top", "Menu"],
        {1: "nofollow", 2: "nofollow", 4: "ugc"},
    )
    assert page.rels == {"https://example.com/a/y": "nofollow"}  # x is also linked to without


def test_words_of_very_many_links_are_bounded_and_the_page_says_so() -> None:
    page = extract("".join(f"<a href=x>{'words' * 30}</a>" for _ in range(MAX_WORDS // MAX_TEXT + 500)), PAGE)
    assert (len(page.links), len(page.occurrences.places)) == (1, MAX_WORDS // MAX_TEXT + 500)
    assert sum(map(len, page.occurrences.texts)) == MAX_WORDS
    assert page.cut is LinksCut.ANCHOR_TEXTS
