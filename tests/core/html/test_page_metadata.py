"""What a page says of itself: its description, heading, canonical address and content."""

from hashlib import blake2b

import pytest

from crawler.core.html.document import MAX_TAGS
from crawler.core.html.links import extract
from crawler.core.html.page_metadata import (
    DIGEST_BYTES,
    MAX_ADDRESS,
    MAX_DESCRIPTION,
    MAX_INSECURE,
    NOTHING,
    CanonicalProblem,
    PageMetadata,
    follows,
)

PAGE = "https://example.com/a/page"


def facts_of(html: str, url: str = PAGE) -> PageMetadata:
    return extract(html, url).facts


def test_of_an_empty_page_nothing_is_known() -> None:
    assert facts_of("") == PageMetadata(h1_count=0)
    assert PageMetadata(h1_count=None) == NOTHING


@pytest.mark.parametrize(
    ("html", "description"),
    [
        ("<meta name=description content='What it is'>", "What it is"),
        ("<meta name=' Description ' content='  What\n it  is '>", "What it is"),
        ("<meta name=description content=first><meta name=description content=second>", "first"),
        ("<meta property=og:description content=no>", ""),
        (f"<meta name=description content='{'x' * 2000}'>", "x" * MAX_DESCRIPTION),
    ],
)
def test_the_first_description_counts(html: str, description: str) -> None:
    assert facts_of(html).description == description


@pytest.mark.parametrize(
    ("html", "h1", "count"),
    [
        ("<h1> Hello <b>you</b>\n</h1>", "Hello you", 1),
        ("<h1></h1><h1>second</h1>", "second", 2),
        ("<h2>none</h2>", "", 0),
        ("<template><h1>unseen</h1></template>", "", 0),
    ],
)
def test_the_first_heading_with_words_counts(html: str, h1: str, count: int) -> None:
    facts = facts_of(html)
    assert (facts.h1, facts.h1_count) == (h1, count)


def test_of_an_extreme_page_it_is_not_known_how_many_headings_it_has() -> None:
    assert facts_of("<div>" * (MAX_TAGS + 1) + "<h1>deep</h1>").h1_count is None


@pytest.mark.parametrize(
    ("html", "canonical", "count"),
    [
        ("<link rel=canonical href=/b>", "https://example.com/b", 1),
        ("<base href=https://other.example/x/><link rel='nofollow CANONICAL' href=b>", "https://other.example/x/b", 1),
        ("<link rel=canonical href=/b><link rel=canonical href=/c>", "https://example.com/b", 2),
        ("<link rel=canonical href='http://[bad'>", "", 1),
        ("<link rel=next href=/b>", "", 0),
    ],
)
def test_the_first_canonical_address_counts(html: str, canonical: str, count: int) -> None:
    facts = facts_of(html)
    assert (facts.canonical, facts.canonicals) == (canonical, count)


def test_the_digest_is_of_what_a_reader_sees() -> None:
    page = facts_of("<title>A</title><body> <p>Some words </p><p>here</p>")
    same = facts_of(
        "<title>B</title><body>Some words <script>var nonce = 1</script><style>p {}</style><template>no</template>here"
    )
    assert page.digest == same.digest
    assert len(page.digest) == 16
    assert facts_of("<body>Some words there").digest != page.digest


@pytest.mark.parametrize("text", ["words ", "w\u00f6rter ", "\U0001f600 "])
def test_the_digest_of_a_long_text_is_that_of_its_words(text: str) -> None:
    long = text * 300_000
    assert facts_of(f"<body>{long}").digest == blake2b(long.strip().encode(), digest_size=DIGEST_BYTES).digest()


def test_what_stands_in_what_is_not_seen_is_not_seen_either() -> None:
    nested = "<svg><style><script>a</script></style><script>b</script></svg><script><style>c</style></script>"
    assert facts_of(f"<body>{nested * 500}words").digest == facts_of("<body>words").digest


def test_links_are_read_with_their_words_although_scripts_are_taken_out() -> None:
    page = extract("<body><script>x</script><a href=/x>words</a><noscript><a href=/y>more</a></noscript>", PAGE)
    assert dict(zip(page.links, page.occurrences.texts, strict=True)) == {
        "https://example.com/x": "words",
        "https://example.com/y": "more",
    }


def test_what_an_https_page_loads_over_http_is_insecure() -> None:
    html = (
        "<link rel=stylesheet href=HTTP://example.com/s.css><link rel=next href=http://example.com/2>"
        "<img src=http://example.com/i.png><img src=https://example.com/i.png><img src=/i.png>"
        "<script src='http://example.com/s.js'></script><object data=http://example.com/o></object>"
        "<a href=http://example.com/page>a link is no load</a>"
    )
    assert facts_of(html).insecure == (
        "HTTP://example.com/s.css",
        "http://example.com/i.png",
        "http://example.com/s.js",
        "http://example.com/o",
    )
    assert facts_of(html, "http://example.com/").insecure == ()


def test_of_many_insecure_loads_the_first_are_named() -> None:
    html = "".join(f"<img src=http://example.com/{number}>" for number in range(30))
    assert len(facts_of(html).insecure) == MAX_INSECURE


def test_a_page_of_links_alone_may_be_extreme_too() -> None:
    assert extract("<h1>x</h1>" + "<a href=x>y" * MAX_TAGS, "https://example.com/").facts.h1_count is None
    assert extract("<a href=x>y" * (MAX_TAGS + 1), "https://example.com/").facts.h1_count is None


def test_what_a_page_loads_is_named_no_longer_than_a_line() -> None:
    facts = extract(f"<img src='http://x.test/{'y' * 100_000}'>", "https://example.com/").facts
    assert [len(address) for address in facts.insecure] == [MAX_ADDRESS]


@pytest.mark.parametrize(
    ("elsewhere", "conflict"),
    [
        ({"a": "b"}, None),
        ({"a": "b", "b": "c"}, CanonicalProblem.CHAIN),
        ({"a": "b", "b": "a"}, CanonicalProblem.LOOP),
        ({"a": "b", "b": "c", "c": "a"}, CanonicalProblem.LOOP),
        ({"a": "b", "b": "c", "c": "b"}, CanonicalProblem.CHAIN),  # the loop is that of b and c
    ],
)
def test_what_comes_of_a_page_that_names_another(elsewhere: dict[str, str], conflict: CanonicalProblem | None) -> None:
    assert follows("a", elsewhere) is conflict
