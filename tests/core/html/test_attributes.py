"""A page with a flood of attributes' names loses those that matter to nobody; every other page stays as it is."""

from crawler.core.html.document import NAMES_UNCHECKED_BELOW, few
from crawler.core.html.links import extract
from tests.fuzz.growth import climb
from tests.fuzz.mutation import filled

PAGE = "https://example.com/"


def test_a_flood_of_names_takes_no_longer_than_its_length_says() -> None:
    flood = b"<a x%d>"
    grown = climb(lambda html: extract(html, PAGE), lambda size: filled(b"", flood, b"", size), 2_000_000, 4.0)
    assert not grown.fault


def test_links_and_titles_outlast_a_flood() -> None:
    flood = b"".join(b"<p x%d y%d='z' class=a%d>" % (number, number, number) for number in range(30_000))
    page = extract(b"<title>T</title><base href=/b/><a q HREF='c'>d</a>" + flood + b'<a x="1" href="e>">f', PAGE)
    assert (page.title, page.links[0]) == ("T", "https://example.com/b/c")


def test_a_long_page_with_usual_names_stays_as_it_is() -> None:
    part = b'<p class="a b%d" id=c%d data-x=\'d%d\'>some words > and, <a href="/e%d" title="more words %d">f</a></p>\n'
    page = b"".join(part.replace(b"%d", b"%d" % number) for number in range(12_000))
    assert len(page) > NAMES_UNCHECKED_BELOW
    assert few(page) is page


def test_a_short_page_is_not_looked_at() -> None:
    page = b"".join(b"<a x%d>" % number for number in range(1000))
    assert few(page) is page
