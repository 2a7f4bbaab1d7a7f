"""What the result of a sitemap says of its file."""

import pytest

from crawler.core.protocol.messages import SitemapEntry
from crawler.core.sitemaps.formats import SitemapFault, SitemapProblem
from crawler.core.sitemaps.reading import Sitemap, read
from crawler.fetcher.sitemap import error_of

ENTRY = SitemapEntry("https://site.local/1")


def of(body: str) -> str:
    return error_of(read([body.encode()], "https://site.local/sitemap.xml"))


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("", "the file is empty"),
        ("<html>", "this is an HTML page, not a sitemap"),
        ("Not found", "this is not a sitemap: neither XML nor a list of web addresses"),
        ("<opml/>", "its root element is <opml>, which is neither a sitemap nor a feed"),
        ("<", "this is not a sitemap: as XML it ends unexpectedly at line 1: unclosed token"),
        ("<urlset>\n\n&", "the XML ends unexpectedly at line 3: unclosed token"),
        (
            '<?xml version="1.0" encoding="klingon"?><urlset/>',
            "this is not a sitemap: as XML it is in an encoding that cannot be read",
        ),
        (
            '<!DOCTYPE a [<!ETITY a "b">]><urlset/>',
            "this is not a sitemap: as XML it ends unexpectedly at line 1: syntax error",
        ),
        ('<!DOCTYPE a [<!ENTITY a "b">]><urlset/>', "it declares the entity a, which the crawler does not expand"),
        ('<!DOCTYPE a [<!ATTLIST b c CDATA "d">]>', "it declares attributes, which sitemaps do not need"),
        ("<urlset>" + "<a>" * 64, "its elements are nested more than 64 levels deep"),
        (
            "<urlset>" + "".join(f"<t{n}/>" for n in range(1001)),
            "it has more than 1,000 names of elements and attributes",
        ),
        ("https://site.local/1", ""),
    ],
)
def test_it_says_why_a_file_is_no_sitemap_or_where_it_breaks_off(body: str, error: str) -> None:
    assert of(body) == error


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (SitemapFault.TOO_LARGE, "larger than 50 MB; the rest was not read"),
        (SitemapFault.ENTRIES, "more than 50,000 entries; the rest was not read"),
        (SitemapFault.CHARACTERS, "its addresses exceed 20,000,000 characters in total; the rest was not read"),
        (SitemapFault.MARKUP, "a tag, comment or declaration of the XML is larger than 1 MB"),
        (SitemapFault.PROLOGUE, "its first megabyte contains no element"),
    ],
)
def test_it_says_which_limit_was_exceeded(fault: SitemapFault, error: str) -> None:
    assert error_of(Sitemap((ENTRY,), problem=SitemapProblem(fault))) == error


@pytest.mark.parametrize("fault", SitemapFault)
def test_each_fault_has_a_text(fault: SitemapFault) -> None:
    assert error_of(Sitemap((), problem=SitemapProblem(fault, "detail")))


@pytest.mark.parametrize(
    ("found", "error"),
    [
        (Sitemap((), left_out=1), "1 entry is not a web address and was left out"),
        (Sitemap((), left_out=1, examples=("a",)), "1 entry is not a web address and was left out: 'a'"),
        (Sitemap((), left_out=1234), "1,234 entries are not web addresses and were left out"),
        (Sitemap((), left_out=2, examples=("a", "b")), "2 entries are not web addresses and were left out: 'a', 'b'"),
        (
            Sitemap((), left_out=999, examples=("a",)),
            "999 entries are not web addresses and were left out: 'a', ...",
        ),
        (
            Sitemap((), True, SitemapProblem(SitemapFault.DAMAGED, "it ends"), 1, ("a",)),
            "it ends; 1 entry is not a web address and was left out: 'a'",
        ),
    ],
)
def test_it_counts_what_was_left_out(found: Sitemap, error: str) -> None:
    assert error_of(found) == error
