"""A page that was scanned says what its tree says. The tree is the judge: any difference is a fault of the scan."""

import os
import re
import tracemalloc
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.html import charsets, document, page_metadata, scanned_page
from crawler.core.html.document import MAX_ATTRIBUTES, MAX_OPTIONS, MAX_TAGS, MOST_TAGS, NAMES_UNCHECKED_BELOW
from crawler.core.html.links import MAX_LINKS, MAX_TEXT, MAX_TEXT_RATIO, MAX_TITLE, extract, read_page
from crawler.core.html.nesting import MAX_NESTING
from crawler.core.html.scanned_page import ScannedPage
from tests.compiled import ROOT, compiled, needs_it, read_both
from tests.core.html.test_document import ENDS, TAGS
from tests.core.html.test_document import PIECES as MARKUP_PIECES
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled, mutated
from tests.fuzz.scanned import CLEAN, PIECES
from tests.fuzz.seeds import PAGES
from tests.suites import cases
from tools.bench.sites import MANUALS, root_in

URL = "http://example.com/a/page?q"
SECURE = "https://example.com/a/page"
REAL_SITES = os.environ.get("REAL_SITES")


@pytest.fixture(autouse=True)
def scanner() -> None:
    needs_it()


def judge(html: bytes) -> bool:
    """Whether the page was read by the scan, which then says the same as the tree."""
    for url in (URL, SECURE):
        both = read_both(html, url)
        if both is None:
            return False
        scanned, judged = both
        assert scanned == judged, html
        assert list(scanned.rels) == list(judged.rels), html
    return True


def test_its_limits_are_those_of_the_tree() -> None:
    assert scanned_page.MAX_TEXT == MAX_TEXT
    assert scanned_page.MAX_HEADING == page_metadata.MAX_HEADING == MAX_TITLE
    assert MAX_TEXT_RATIO >= 2  # the texts of links that are not nested fit: of an <iframe> within an <a>, twice


@pytest.mark.parametrize(
    "html",
    [
        "",
        "words",
        "<!DOCTYPE html><title> A \n title &amp; more </title><p>words",
        "<head> <title>a</title> </head> <body> <title>b</title> words </body> </html> more <!-- x -->",
        "<html><head><noscript><link rel=next href=x></noscript><meta name=a content></head>",
        "<head><noscript><img src=x></noscript><title>late</title>",
        "</p><br></br></x><a href=x>y</a></body></html><p>after",
        # Links
        "<a href=x rel=nofollow>A \n text</a><a href='x#part'></a><a href=./x><img><b><img alt=' p '></b></a>",
        "<a href>a</a><a href=''>b</a><a href='' xlink:href=c>c</a><a>d</a><a HREF=e\nhref=f>e</a>",
        "<a href='mailto:a@b.c'>m</a><a href=x rel='UGC sponsored'>x</a><a href='javascript:x()'>j</a>",
        "<map><area href=x rel=ugc><area href='mailto:x'></map><iframe src=y>a <a href=x></iframe>",
        "<base target=_top><base href=/b/><a href=x></a><link rel='alternate stylesheet' href=y><link rel=prev href=z>",
        "<meta http-equiv=Refresh content='0; url=x'><a href=y></a>",
        f"<a href=x>{'long ' * 99}</a><a href=x>" + "\xa0\u3000 word" * 99,
        "<a href=x>{}<img alt=words></a>".format("<i></i>" * 98),
        "<a href=x>{}<img alt=words></a>".format("<i></i>" * 99),
        "<a href=x><!----><? ?></p><br></br><img alt></a>",
        # Character references
        "<p>&lt;p&gt; &notit; &notin; &ampx &amp &#65;&#x42;&#X43 &#0; &#128; &#xD800;",
        "<p>&#x110000; &#99999999999; &; &# &#x &x;",
        "<a href='?a=1&amp;b=2&copy=3&copyx&copy;=&#38;&ampamp'>x</a> &NotEqualTilde; &nGt;",
        # Line ends
        "<pre>\r\n\r\na\rb</pre><pre>\n\n</pre><textarea>\r\nx\r</textarea><pre>&#10;x</pre><listing>\n",
        "<pre></>\nx</pre><pre><!-- -->\nx</pre><a href=' x\r\ny'>z</a>",
        # Comments and other markup
        "<!-->a<!--->b<!---->c<!-- x --!>d<!-- y -- >e--><!x>f<?php echo '>'; ?>g</ x>h<![CDATA[i]]>j< k <",
        # Raw text
        "<script>'</p>' <a href=x></script><style><p></style>words<xmp><p>&lt;</xmp><noembed><b></noembed>",
        "<script><!-- x </script>words<title>in &amp; the <b>body</b></title>",
        # Headings
        "<h1> </h1><h1>two <b>words</b><script>x</script></h1><h2><h1>three</h2>four",
        f"<h1></h1>{'<h1> </h1>' * 20}<h1>not read</h1>",
        # Elements that end others
        "<p>a<p>b<div>c</p>d</div><ul><li>e<li>f<ul><li>g</ul></ul><dl><dt>h<dd>i</dl><h1>j<h2>k</h2>",
        "<select><option>a<option>b<optgroup><option>c</select><select><hr><input>d<button>e</button>",
        "<form><div></form></div><form>a</form><ruby>b<rp>(<rt>c<rp>)</ruby><p><span>d<p>e</span>",
        "<x-one><x-two>a</x-one>b</x-two><SPAN>c</span><dialog>d</dialog>",
        "<object data=x><param name=y>a<b>c</object><p>d<object></p>",
        # Tables
        "<table><caption>a<b>b</caption><colgroup><col> <col></colgroup><thead><tr><th>c<tbody><tr><td>d<td>e</table>f",
        "<!DOCTYPE html><p>a<table><td><a href=x>b</td></table>c <table> <tr> <td> <table><tr><td>d</table></table>",
        # Templates
        "<template><title>a</title><p>b<a href=x>c</template><title>d</title>",
        "<h1>e<template>f</template></h1><a href=y>g</a><template></body><p></template>h",
        "<head><template><div></template><link rel=next href=x></head></template><p>a<template></p><b></template>b</p>",
        # A heading has no attributes that are read, and takes none of an earlier tag, which would fill the memory
        f"<base href='/{'&amp;' * 1000}'><body>{'<h1>a</h1>' * 500}",
        f"<base href='/{'&amp;' * 1000}'><title>a</title><body>{'<h1>a</h1><title>b</title>' * 500}",
        # Drawings
        "<p>a<svg viewBox=x><title>b &amp; c</title><g><path d='x'/></g><text>d</text></svg>e<svg/>f",
        # What an https page loads
        "<img src=HTTP://a/b><img src=https://a/c><img href=d src=http:e><object data=http:f></object>",
        "<embed src=http:g><input src=http:h><iframe src=http:i></iframe><audio src=http:j></audio>",
        "<a href=x><img src=http:k alt=l></a>",
        "<link rel='stylesheet\u2028 x' href=http:a><link rel='stylesheet\x0b' href=http:b>",
        "<link rel='x StyleSheet' href=http:s><link rel=next href=http://a/><script src='&#104;ttp:x'></script>",
    ],
)
def test_it_reads_what_the_tree_reads(html: str) -> None:
    assert judge(html.encode())


@pytest.mark.parametrize(
    "html",
    [
        "<a href=x>a<a href=y>b",  # links in links
        "<p><a href=x>a<p>b",
        "<a href=x>a<div>b</a>c</div>",
        "<a href=x><table></table></a>",
        "<a href=x><script>x</script></a>",
        "<b>a<p>b</b>c",  # misnested styles
        "<p><b>a<p>b",
        "<table>a<tr><td>b",  # a table moves its content
        "<table><div></table>",
        "<table><tr><input><td>",
        "<p><table>",  # in quirks mode
        "<template><template></template></template>",
        "<template><td>x</template>",
        "<template>x",
        "<a href=x><template></template></a>",
        "<frameset><frame src=x></frameset>",
        "<select><button><selectedcontent></button><option>X</select>",  # a copy of the option
        "<math><a href=x></math>",
        "<svg><a href=x></a></svg>",
        "<svg><style>x</style></svg>",
        "<svg><title><b></b></title></svg>",
        "<svg><path></svg>",
        "<svg><![CDATA[x]]></svg>",
        "<plaintext>x",
        "<script>x",
        "<xmp>&nGt;</xmp>",
        "<script><!--<script>x</script>--></script>",
        "&am",
        "a\0b",
        "\ufeffx",
        "<a href='http://[::1'>malformed</a>",
        "<base href='http://['>",
        "<div>" * 300,
        "<a>x" * MAX_TAGS,
        " " * (scanned_page.MAX_BYTES + 1),
    ],
)
def test_an_odd_page_is_left_to_the_tree(html: str) -> None:
    assert not judge(html.encode())
    assert read_page(html.encode(), URL) == extract(html, URL)


def recorded_pages() -> Iterator[bytes]:
    for case in cases("links_scrapy"):
        yield charsets.utf_8(b64decode(case["body_b64"]), f"text/html; charset={case['encoding']}")
    for file in sorted((ROOT / "tests" / "data" / "pages").glob("*.html")):
        yield charsets.utf_8(file.read_bytes())
    yield from (charsets.utf_8(page) for page in PAGES)


def test_it_reads_the_recorded_pages_as_the_tree_does() -> None:
    read = Counter(map(judge, recorded_pages()))
    assert read[True] > read[False]


@pytest.mark.long
@pytest.mark.skipif(not REAL_SITES, reason="REAL_SITES names no folder with the manuals")
@pytest.mark.parametrize(
    "manual", [manual for manual in MANUALS if not manual.is_large], ids=lambda manual: manual.name
)
def test_it_reads_nearly_all_pages_of_a_real_site(manual: object) -> None:
    root = root_in(Path(REAL_SITES or ""), manual)  # type: ignore[arg-type]  # pytest types no parameters
    assert root is not None
    read = Counter(judge(charsets.utf_8(file.read_bytes())) for file in root.rglob("*.html"))
    assert read[True] > 0.97 * read.total() > 500


@pytest.mark.parametrize(
    ("html", "is_scanned"),
    [
        (b"<ul>%s</ul><h1>x</h1>" % (b"<li><a href=x rel=nofollow>y</a></li>" * (MAX_TAGS // 4 + 1)), True),
        (b"<p>%s</p>" % b"".join(b"<a href=%d>y</a>" % number for number in range(MAX_LINKS + 1)), False),
        (b"<p>%s</p>" % (b"<a href=x>%s</a>" % (b"y" * (MAX_TEXT + 1)) * (MAX_LINKS + 1)), False),
        (b"<title>x</title><p>%s &amp; words</p>" % (b"w" * (page_metadata.PIECE + 1)), True),
        (b"<h1>x</h1><select>%s</select>" % (b"<option><a href=x>y</a></option>" * (MAX_OPTIONS + 1)), False),
        (b"<p x='y'>%s</p>" % (b"<b>%s</b>\r\n" % (b"w" * 100) * (page_metadata.PIECE // 100)), True),
    ],
    ids=["many tags", "many links", "long texts", "long text", "many options", "long page"],
)
def test_it_reads_long_pages_as_the_tree_does(html: bytes, is_scanned: bool) -> None:
    assert judge(html) is is_scanned
    assert read_page(html, URL) == extract(html, URL)


@given(st.randoms(use_true_random=False), st.booleans())
def test_it_reads_mutated_pages_as_the_tree_does(random: object, is_clean: bool) -> None:
    seeds = CLEAN if is_clean else (*CLEAN, *PAGES)
    judge(charsets.utf_8(mutated(seeds, PIECES, random)))  # type: ignore[arg-type]  # Hypothesis's own Random


NAMES = b" ".join(b"a%d" % number for number in range(MAX_ATTRIBUTES + 1))
CROWDED = (
    *(b"<a %s>" % NAMES, b"<a x='>' %s>" % NAMES, b"<!-- <a %s> -->" % NAMES, b"</p %s>" % NAMES, b"<p>%s</p>" % NAMES),
    *(b"<a x='<b %s'>" % NAMES, b"</p x='<b %s'>" % NAMES, b"<script>'<a %s>'</script>" % NAMES),
)


LOW = (MAX_TAGS, MOST_TAGS, MAX_NESTING, 100, 3, 500, 20, 40, NAMES_UNCHECKED_BELOW)


@given(st.lists(st.sampled_from([*TAGS, *ENDS, *MARKUP_PIECES, *CROWDED]), max_size=16).map(b"".join))
def test_what_it_calls_plain_is_parsed_as_it_is(html: bytes) -> None:
    """With limits so low that they apply to short pages."""
    with pytest.MonkeyPatch.context() as low:
        low.setattr(document, "FEW_TAGS", 3)
        low.setattr(document, "MAX_COPIES", 20)
        low.setattr(document, "ATTRIBUTES_UNCHECKED_BELOW", 40)
        found = scanned_page.scanner_of(compiled(), LOW).scan(html)
        assert isinstance(found, str) or not ScannedPage(*found).is_plain or document.is_parsed_whole(html)


LONG = 1_000_000  # bytes


@pytest.mark.parametrize(
    "part",
    [
        b"<div>",
        b"<p>",
        b"<i a=%d><p>x",
        b"<a<a",
        b"<!--",
        b"<!",
        b"&",
        b"&am",
        b"&#x",
        b"<b></b>",
        b"<a href=%d rel=ugc></a><area href=%d>",
        b"<a href='%d",
        b"<table><tr><td>",
        b"<script>",
        b"<svg>",
        b"<select><option>",
        b"<ul><li>",
        b"<x%d>",
        b" x%d=1",
        b"<i x><a>",
        b"&nGt;",
        b"\r",
        b"</",
        b"<h1>",
    ],
)
def test_its_time_is_linear(part: bytes) -> None:
    grown = climb(scanned_page.scan, lambda size: filled(b"<a href=x>y</a><p ", part, b"", size), LONG, 1.0, 0.2)
    assert not grown.fault


def test_its_memory_is_bounded() -> None:
    html = filled(b"", b"<h1>", b"", 80_000) + b"x" * 500_000
    tracemalloc.start()
    try:
        scanned_page.scan(html)
        assert tracemalloc.get_traced_memory()[1] < 40 * len(html)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("html", [b"<a href=x>\xff</a>", b"<a href='\xc0'>x</a>", b"<title>\xed\xa0\x80</title>"])
def test_what_is_no_utf_8_is_left_to_the_tree(html: bytes) -> None:
    assert scanned_page.scan(html) is None


def test_without_the_extension_the_tree_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanned_page, "_scanner", None)
    assert scanned_page.scan(b"<a href=x>") is None
    assert read_page(b"<a href=x>", URL).links == ("http://example.com/a/x",)


@pytest.mark.parametrize("options", [{"compiled": False}, {"sketches": True}])
def test_it_is_not_used_where_it_does_not_help(options: dict[str, bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.core.html.links.scan", lambda html: pytest.fail("it was scanned"))
    assert read_page(b"<a href=x>", URL, **options).links == ("http://example.com/a/x",)


def test_an_extension_of_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other:
        INTERFACE = scanned_page.INTERFACE + 1

    monkeypatch.setattr(scanned_page, "_scanner", None)
    scanned_page.use(Other)
    assert not scanned_page.is_available()
    needs_it()
    assert scanned_page.is_available()


def test_it_expects_the_interface_that_the_sources_have() -> None:
    source = (ROOT / "speedups" / "page_scanner.c").read_text()
    assert re.search(r"#define INTERFACE (\d+)", source)[1] == str(scanned_page.INTERFACE)  # type: ignore[index]
