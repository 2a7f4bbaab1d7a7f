import pytest

from crawler.core.errors import BadInput
from crawler.core.pages.content_formats import FORMS
from crawler.exports.formats import FORMATS, format_of
from tests.factories import make_crawl, make_linked_crawl


@pytest.mark.parametrize(
    ("file", "format_name"),
    [
        ("pages.jsonl", "jsonl"),
        ("some/where/pages.csv", "csv"),
        ("PAGES.CSV", "csv"),
        ("-", "jsonl"),
        ("pages.xlsx", "xlsx"),
        ("links.csv", "links.csv"),
        ("site-links.csv", "links.csv"),
        ("backlinks.csv", "csv"),
        ("sitemap.xml", "sitemap.xml"),
        ("map.xml", "sitemap.xml"),
        ("my-sitemap.zip", "sitemap.zip"),
        ("site.graphml", "graphml"),
        ("site.warc.gz", "warc.gz"),
        ("site.warc", "warc.gz"),
        ("site.markdown.zip", "markdown.zip"),
    ],
)
def test_the_ending_of_a_file_name_asks_for_a_format(file: str, format_name: str) -> None:
    assert format_of(file) == format_name
    assert format_name in FORMATS


@pytest.mark.parametrize("file", ["pages", "pages.doc", "", ".csv", "jsonl", "pages.zip"])
def test_another_ending_is_bad_input_that_names_the_known_ones(file: str) -> None:
    with pytest.raises(BadInput, match=r"must end in \.csv, .* or \.sitemap\.zip") as caught:
        format_of(file)
    assert caught.value.field == "export"


@pytest.mark.parametrize("format_name", [name for name, made in FORMATS.items() if not made.has_externals])
@pytest.mark.django_db
def test_what_holds_pages_of_the_site_alone_refuses_links_to_others_at_once(format_name: str) -> None:
    with pytest.raises(BadInput, match="leave out the links to other sites"):
        FORMATS[format_name](make_crawl(), externals=True)


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.django_db
def test_a_format_is_text_or_bytes_as_it_says(format_name: str) -> None:
    pieces = list(FORMATS[format_name](make_linked_crawl(options={"keep": FORMS})))
    expected = str if FORMATS[format_name].is_text else bytes
    assert {type(piece) for piece in pieces} == {expected}
