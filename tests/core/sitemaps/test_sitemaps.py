"""Sitemaps of every kind, against a recorded suite, by table, by attack and by property."""

import gzip
import time
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

import pytest

from crawler.core.protocol.messages import SitemapEntry
from crawler.core.robots.robots_txt import parse
from crawler.core.sitemaps.formats import (
    MAX_TEXT,
    MAX_TOKEN,
    Break,
    EntryTexts,
    Markup,
    SitemapFault,
    SitemapProblem,
    default_places,
    named_in_robots,
)
from crawler.core.sitemaps.reading import MAX_BYTES, MAX_ENTRIES, Sitemap, priority_of, read
from tests.fuzz.growth import climb
from tests.suites import cases

HERE = "https://site.local/maps/sitemap.xml"
PIECE = 64 * 1024


def in_pieces(body: bytes, size: int = PIECE) -> Iterator[bytes]:
    return (body[at : at + size] for at in range(0, len(body), size))


def sitemap(body: str | bytes, url: str = HERE) -> Sitemap:
    return read(in_pieces(body.encode() if isinstance(body, str) else body), url)


def not_a_sitemap(fault: SitemapFault, detail: str = "") -> Sitemap:
    return Sitemap((), is_sitemap=False, problem=SitemapProblem(fault, detail))


def urls(found: Sitemap) -> list[str]:
    return [entry.url for entry in found.entries]


def urlset(*entries: str) -> str:
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'


def url(loc: str, more: str = "") -> str:
    return f"<url><loc>{loc}</loc>{more}</url>"


# --- the recorded suite


def suite(function: str) -> list[Any]:
    return [
        pytest.param(case, id=case["test"].rpartition("::")[2])
        for case in cases("sitemap_scrapy")
        if case["func"] == function
    ]


def recorded(value: Any) -> bytes:
    return b64decode(value["b64"]) if isinstance(value, dict) else value.encode()


def as_recorded(listed: EntryTexts) -> dict[str, Any]:
    """The entry as Scrapy tells it: only what the file says."""
    told = {name: getattr(listed, name) for name in ("loc", "lastmod", "changefreq", "priority")}
    told = {name: text for name, text in told.items() if text is not None}
    return {**told, "alternate": list(listed.alternate)} if listed.alternate else told


@pytest.mark.parametrize("size", [1, 7, PIECE])
@pytest.mark.parametrize("case", suite("Sitemap"))
def test_files_are_read_as_scrapy_reads_them(case: dict[str, Any], size: int) -> None:
    reader, told = Markup(), []
    try:
        for piece in in_pieces(recorded(case["xml"]).lstrip(), size):  # `read` takes the blanks away
            told += [as_recorded(listed) for listed in reader.feed(piece)]
        told += [as_recorded(listed) for listed in reader.close()]
    except Break:
        assert case["test"].endswith("non_string_tag"), "only this file is broken"
    assert (reader.form, told) == (case["type"], case["expect"])
    assert urls(sitemap(recorded(case["xml"]))) == list(
        dict.fromkeys(url for entry in case["expect"] for url in (entry["loc"], *entry.get("alternate", ())))
    )


@pytest.mark.parametrize("case", suite("sitemap_urls_from_robots"))
def test_the_lines_of_robots_txt_are_read_as_scrapy_reads_them(case: dict[str, Any]) -> None:
    named = parse(recorded(case["args"][0])).sitemaps
    assert list(named_in_robots(named, case["kwargs"]["base_url"])) == case["expect"]


# --- what each kind of file says


def test_a_page_brings_its_date_and_its_priority() -> None:
    found = sitemap(urlset(url("https://site.local/a", "<lastmod>2026-11-20</lastmod><priority>0.8</priority>")))
    assert found == Sitemap((SitemapEntry("https://site.local/a", "2026-11-20", 8),))


def test_an_index_names_sitemaps() -> None:
    found = sitemap("<sitemapindex><sitemap><loc>/one.xml</loc><lastmod>2026</lastmod></sitemap></sitemapindex>")
    assert found.entries == (SitemapEntry("https://site.local/one.xml", "2026", None, True),)


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>https://site.local/</link><atom:link href="https://site.local/feed" rel="self"/>
<item><atom:link href="https://site.local/not-this"/><link>https://site.local/1</link>
<pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate></item>
<item><guid>https://site.local/2</guid></item>
<item><guid isPermaLink="false">tag:3</guid><title>nothing to ask for</title></item>
</channel></rss>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><link>https://site.local/</link></channel>
<item rdf:about="https://site.local/1"><link>https://site.local/1</link><dc:date>2026-11-20</dc:date></item>
<item rdf:about="https://site.local/2"/></rdf:RDF>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://site.local/"/>
<entry><link rel="edit" href="/edit/1"/><link rel="alternate" href="/1"/><updated>2026-11-20T10:00:00Z</updated></entry>
<entry><link href="/2"/><published>2026-11-19</published></entry></feed>"""


@pytest.mark.parametrize(
    ("feed", "dates"),
    [
        (RSS, ["Fri, 20 Nov 2026 10:00:00 GMT", ""]),
        (RDF, ["2026-11-20", ""]),
        (ATOM, ["2026-11-20T10:00:00Z", "2026-11-19"]),
    ],
    ids=["RSS 2.0", "RSS 1.0", "Atom"],
)
def test_a_feed_leads_to_its_items(feed: str, dates: list[str]) -> None:
    found = sitemap(feed)
    assert urls(found) == ["https://site.local/1", "https://site.local/2"]
    assert [entry.lastmod for entry in found.entries] == dates


@pytest.mark.parametrize(
    "text",
    [
        b"https://site.local/1\nhttps://site.local/2\n",
        "\ufeffhttps://site.local/1\r\n\r\n  https://site.local/2".encode(),
        "https://site.local/1\rhttps://site.local/2\r".encode("utf-16"),
    ],
    ids=["plain", "with a mark and blanks", "UTF-16"],
)
@pytest.mark.parametrize("size", [1, 3, PIECE])
def test_plain_text_holds_one_address_a_line(text: bytes, size: int) -> None:
    assert urls(read(in_pieces(text, size), HERE)) == ["https://site.local/1", "https://site.local/2"]


def test_lines_that_are_no_address_are_counted_and_named() -> None:
    found = sitemap("https://site.local/1\nsee also\n\nabout.html\n")
    assert urls(found) == ["https://site.local/1"]
    assert (found.left_out, found.examples) == (2, ("see also", "about.html"))


def test_of_many_entries_that_are_no_address_the_first_are_named() -> None:
    found = sitemap(urlset(*(url(f"htp:/{number}{'x' * 200}") for number in range(5))))
    assert (found.left_out, found.examples) == (5, tuple(f"htp:/{number}".ljust(100, "x") for number in range(3)))


def test_the_same_page_in_another_language_does_not_vanish_when_its_address_is_malformed() -> None:
    found = sitemap(urlset(url("/en", '<xhtml:link rel="alternate" hreflang="de" href="http://[::1"/>')))
    assert urls(found) == ["https://site.local/en"]
    assert (found.left_out, found.examples) == (1, ("http://[::1",))


def test_a_page_in_several_languages_is_taken_once_with_what_is_said_of_itself() -> None:
    link = '<xhtml:link rel="alternate" hreflang="de" href="/de"/><xhtml:link rel="stylesheet" href="/x.css"/>'
    found = sitemap(urlset(url("/en", link), url("/de", link + "<priority>0.9</priority>")))
    assert found.entries == (SitemapEntry("https://site.local/en"), SitemapEntry("https://site.local/de", "", 9))


def test_pictures_and_prefixes_are_not_taken_for_pages() -> None:
    found = sitemap(
        '<s:urlset xmlns:s="x"><s:url><s:loc>/a</s:loc>'
        "<image:image><image:loc>/a.png</image:loc></image:image><image:loc>/b.png</image:loc></s:url></s:urlset>"
    )
    assert urls(found) == ["https://site.local/a"]


def test_addresses_are_made_whole_and_those_nobody_could_ask_for_are_counted() -> None:
    found = sitemap(urlset(url("<![CDATA[/a?b=1&c=2]]>"), url("/d?e=1&amp;f=2"), url("mailto:a@b"), "<url/>"))
    assert urls(found) == ["https://site.local/a?b=1&c=2", "https://site.local/d?e=1&f=2"]
    assert (found.left_out, found.examples) == (2, ("mailto:a@b",))


@pytest.mark.parametrize(
    "encoded",
    [
        '<?xml version="1.0" encoding="ISO-8859-1"?>' + urlset(url("/é")),
        '<?xml version="1.0" encoding="windows-1252"?>' + urlset(url("/é")),
    ],
)
def test_one_byte_encodings_are_read(encoded: str) -> None:
    assert urls(sitemap(encoded.encode("cp1252"))) == ["https://site.local/%C3%A9"]


@pytest.mark.parametrize("lead", [b"", b"\n\n ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_what_stands_before_the_xml_declaration_is_forgiven(lead: bytes) -> None:
    assert sitemap(lead + b'<?xml version="1.0"?>' + urlset(url("/a")).encode()) == sitemap(urlset(url("/a")))


def test_utf_16_is_read() -> None:
    assert urls(sitemap(urlset(url("/ä")).encode("utf-16"))) == ["https://site.local/%C3%A4"]


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        ("0.0", 0),
        ("0.25", 2),
        ("0.8", 8),
        ("0,8", 8),
        ("1", 10),
        ("7", 10),
        ("-1", 0),
        ("nan", None),
        ("inf", None),
        ("high", None),
        ("", None),
        (None, None),
    ],
)
def test_a_priority_becomes_a_whole_number_from_0_to_10(text: str | None, priority: int | None) -> None:
    assert priority_of(text) == priority


def test_usual_places_are_one_an_origin() -> None:
    starts = ["https://site.local/a/b", "https://site.local/", "http://other.local:8080/x"]
    assert default_places(starts) == ("https://site.local/sitemap.xml", "http://other.local:8080/sitemap.xml")


# --- gzip


@pytest.mark.parametrize("size", [1, 5, PIECE])
def test_gzip_is_undone_whatever_the_file_is_called(size: int) -> None:
    packed = gzip.compress(urlset(url("/a")).encode()) + b"\0\0padding"
    assert urls(read(in_pieces(packed, size), HERE)) == ["https://site.local/a"]


def test_gzip_in_two_members_is_one_file() -> None:
    half, other = urlset(url("/a"), url("/b")).split(url("/b"))
    packed = gzip.compress(half.encode()) + gzip.compress((url("/b") + other).encode())
    assert urls(sitemap(packed)) == ["https://site.local/a", "https://site.local/b"]


def test_of_gzip_that_breaks_off_the_beginning_counts() -> None:
    packed = gzip.compress(b"https://site.local/1\nhttps://site.local/2\n" + bytes(range(33, 127)) * 9)
    found = sitemap(packed[:-30])
    assert urls(found) == ["https://site.local/1", "https://site.local/2"]
    assert found.problem == SitemapProblem(SitemapFault.DAMAGED, "the gzip data is truncated")


def test_damaged_gzip_is_named() -> None:
    found = sitemap(b"\x1f\x8b\x08" + b"\0" * 7 + b"\xff" * 40)
    assert found.problem is not None
    assert found.problem.detail.startswith("the compressed data is damaged")


# --- what is wrong


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><html lang=en><p>No such page",
        "\ufeff\n<!-- a --><!-- b --><HTML><body>",
        "<html><head/></html>",
        '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x.dtd"><html/>',
        "<?xml-stylesheet href='x'?><html/>",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_page_is_told_from_a_sitemap(body: str, encoding: str) -> None:
    assert sitemap(body.removeprefix("\ufeff").encode(encoding)) == not_a_sitemap(SitemapFault.HTML)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", (SitemapFault.EMPTY,)),
        (b" \r\n", (SitemapFault.EMPTY,)),
        (b"<opml/>", (SitemapFault.ROOT, "opml")),
        (b"<", (SitemapFault.NOT_WELL_FORMED, "1: unclosed token")),
        (b"Not found", (SitemapFault.NO_LIST,)),
        (b"%PDF-1.7\n\0\xff", (SitemapFault.NO_LIST,)),
        (b'<?xml version="1.0" encoding="shift_jis"?><urlset/>', (SitemapFault.ENCODING,)),
        (b'<?xml version="1.0" encoding="klingon"?><urlset/>', (SitemapFault.ENCODING,)),
        (b'<?xml version="1.0" encoding="zlib"?><urlset/>', (SitemapFault.ENCODING,)),
    ],
)
def test_what_is_no_sitemap_is_named(body: bytes, problem: tuple[Any, ...]) -> None:
    assert sitemap(body) == not_a_sitemap(*problem)


def test_what_stands_before_a_break_counts() -> None:
    found = sitemap(urlset(url("/a"), "\n\n", url("/b?c=1&d"), url("/e")))
    assert urls(found) == ["https://site.local/a"]
    assert found.is_sitemap
    assert found.problem == (SitemapFault.NOT_WELL_FORMED, "3: not well-formed (invalid token)")


def test_a_file_that_was_cut_off_counts_as_far_as_it_goes() -> None:
    found = sitemap(urlset(url("/a"), url("/b"))[:-20])
    assert urls(found) == ["https://site.local/a"]
    assert found.problem == (SitemapFault.NOT_WELL_FORMED, "1: unclosed token")


def test_an_empty_sitemap_is_a_sitemap() -> None:
    assert sitemap(urlset()) == Sitemap(())


# --- limits


def test_50_000_entries_are_read_and_not_one_more() -> None:
    listed = [url(f"/{number}") for number in range(MAX_ENTRIES)]
    whole, more = sitemap(urlset(*listed)), sitemap(urlset(*listed, url("/more")))
    assert (len(whole.entries), whole.problem) == (MAX_ENTRIES, None)
    assert (more.entries, more.problem) == (whole.entries, SitemapProblem(SitemapFault.ENTRIES))


def test_other_languages_count_as_entries() -> None:
    links = "".join(f'<xhtml:link href="/{number}"/>' for number in range(MAX_ENTRIES))
    found = sitemap(urlset(url("/a", links)))
    assert (len(found.entries), found.problem) == (MAX_ENTRIES, SitemapProblem(SitemapFault.ENTRIES))


def test_of_a_file_beyond_50_mb_the_beginning_counts() -> None:
    body = (b"<urlset>" + url("/a").encode()).ljust(MAX_BYTES) + url("/b").encode()
    for file in (body, gzip.compress(body, 1)):
        found = read(in_pieces(file), HERE)
        assert (urls(found), found.problem) == (["https://site.local/a"], SitemapProblem(SitemapFault.TOO_LARGE))


# --- attacks


def test_an_entity_of_the_file_is_not_read() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + urlset(url("/&b;"))
    assert sitemap(bomb) == not_a_sitemap(SitemapFault.ENTITY, "a")


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY x SYSTEM "http://127.0.0.1:8/x">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:8/x.dtd"> %p;',
    ],
)
def test_nothing_outside_the_file_is_put_in(declared: str) -> None:
    assert urls(sitemap(f"<!DOCTYPE a [{declared}]>" + urlset(url("/a&x;")))) == ["https://site.local/a"]


def test_attributes_a_file_declares_cost_nothing() -> None:
    found = sitemap(f'<!DOCTYPE a [<!ATTLIST url x CDATA "{"x" * 9999}">]>' + urlset(*["<url/>"] * 10_000))
    assert found == not_a_sitemap(SitemapFault.ATTRIBUTES)


def test_depth_is_bounded() -> None:
    assert sitemap("<urlset>" + "<a>" * 1_000_000).problem == SitemapProblem(SitemapFault.LEVELS)


@pytest.mark.parametrize("opened", ["<!--", "<a b='", "<![CDATA[", "<?x ", "<!DOCTYPE a [<!ENTITY b '"])
@pytest.mark.parametrize("lead", ["<urlset><url><loc>", ""])
def test_markup_that_never_ends_takes_bounded_time(lead: str, opened: str) -> None:
    began = time.process_time()
    sitemap(lead + opened + "x" * (20 * MAX_TOKEN))
    assert time.process_time() - began < 10  # with a limit a fraction of a second; without one it grows by the square


def test_a_prologue_that_never_ends_is_left() -> None:
    found = sitemap("<?xml version='1.0'?>" + "<!-- -->" * MAX_TOKEN)
    assert found == not_a_sitemap(SitemapFault.PROLOGUE)


def test_of_an_endless_text_only_the_beginning_is_kept() -> None:
    reader = Markup()
    listed = [*reader.feed(b"<urlset><url><loc>"), *reader.feed(b"x" * MAX_TOKEN * 4), *reader.feed(b"</loc></url>")]
    assert listed == [EntryTexts(loc="x" * MAX_TEXT)]


def test_relative_addresses_cannot_make_a_flood_of_a_short_file() -> None:
    entries = "".join(f"<url><loc>{number}</loc></url>" for number in range(6000))
    found = read([f"<urlset>{entries}</urlset>".encode()], f"https://example.com/{'x' * 4000}/sitemap.xml")
    assert 4000 < len(found.entries) < 6000
    assert found.problem == SitemapProblem(SitemapFault.CHARACTERS)


def test_names_without_end_are_not_remembered() -> None:
    strangers = "".join(f"<t{number}>x</t{number}>" for number in range(1001))
    found = read([f"<urlset><url><loc>/a</loc></url><url>{strangers}".encode()], "https://example.com/sitemap.xml")
    assert [entry.url for entry in found.entries] == ["https://example.com/a"]
    assert found.problem == SitemapProblem(SitemapFault.NAMES)


@pytest.mark.parametrize("start", [b"<urlset><!--" + b"a" * 100_000, b"https://e.example/" + b"a" * 60_000], ids=str)
def test_a_file_that_is_unpacked_byte_by_byte_takes_no_longer_than_its_length_says(start: bytes) -> None:
    member = gzip.compress(b"a", mtime=0)

    def grown(size: int) -> bytes:
        return gzip.compress(start, mtime=0) + member * (size // len(member))

    assert not climb(lambda packed: read([packed], HERE), grown, 256 * 1024, 2.0).fault
