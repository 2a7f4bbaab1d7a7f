"""The table of all pages of a crawl, without JavaScript: a form, links that sort and leaf, the same rows as a file."""

import csv
import io
import json
import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.options.catalogue import CrawlOptions
from crawler.models import Crawl, Page
from crawler.reports import page_table
from tests.factories import a_finished_crawl, a_page

SITE = "https://example.com/"


@pytest.fixture
def crawl(ann: User) -> Crawl:
    made = a_finished_crawl(ann)
    a_page(made, SITE, title="Start", depth=0, bytes=10)
    a_page(made, f"{SITE}big", title="<b>Big</b>", depth=1, bytes=30)
    a_page(made, f"{SITE}gone", 404, depth=1, bytes=20)
    return made


def html_of(browser: Client, crawl: Crawl, query_string: str = "", status: int = 200) -> str:
    response = browser.get(f"/crawls/{crawl.id}/pages/{query_string}")
    assert response.status_code == status
    return response.content.decode()


def urls_in(html: str) -> list[str]:
    return re.findall(r'<td class="page-cell"><a href="[^"]+">([^<]*)</a>', html)


def test_each_page_is_a_row_that_leads_to_its_own_view(as_ann: Client, crawl: Crawl) -> None:
    html = html_of(as_ann, crawl)
    assert urls_in(html) == [SITE, f"{SITE}big", f"{SITE}gone"]
    page = Page.objects.get(url=f"{SITE}gone")
    assert f'href="/crawls/{crawl.id}/pages/{page.pk}/"' in html
    assert "3 pages" in html
    assert "&lt;b&gt;Big&lt;/b&gt;" in html
    assert f'href="/crawls/{crawl.id}/pages/"' in as_ann.get(f"/crawls/{crawl.id}/").content.decode()


def test_what_was_chosen_stands_in_the_form_again(as_ann: Client, crawl: Crawl) -> None:
    html = html_of(as_ann, crawl, "?q=%22big%22&status=404&sort=-size&depth=1")
    assert 'value="&quot;big&quot;"' in html
    assert '<option value="404" selected>' in html
    assert '<option value="-size" selected>' in html
    assert "No page matches." in html


def test_heads_sort_and_say_how_it_is_sorted(as_ann: Client, crawl: Crawl) -> None:
    html = html_of(as_ann, crawl, "?sort=size&depth=1")
    assert urls_in(html) == [f"{SITE}gone", f"{SITE}big"]
    assert (
        '<th scope="col" aria-sort="ascending" class="number"><a href="?depth=1&amp;sort=-size" id="sort-6">Size</a>'
        in html
    )
    assert html.count("aria-sort") == 1


def test_chosen_columns_are_shown_and_stay_chosen(as_ann: Client, crawl: Crawl) -> None:
    html = html_of(as_ann, crawl, "?column=type&column=sitemap")
    heads = [re.sub(r"<[^>]+>", "", head) for head in re.findall(r"<th scope.*?</th>", html)]
    assert heads == ["Response", "Page", "Content type", "In a sitemap"]
    assert "?sort=-status&" not in html
    assert "column=type&amp;column=sitemap" in html
    assert re.search(r'value="type" checked', html)


def test_it_is_leafed_through_by_links(as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 2)
    first = html_of(as_ann, crawl, "?sort=url")
    assert ('rel="prev"' in first, len(urls_in(first))) == (False, 2)
    later = re.search(r'<a href="([^"]+)" id="later-rows"', first)
    assert later
    second = html_of(as_ann, crawl, later[1].replace("&amp;", "&"))
    assert urls_in(second) == [f"{SITE}gone"]
    assert ('rel="next"' in second, "First</a>" in second) == (False, True)
    earlier = re.search(r'<a href="([^"]+)" id="earlier-rows"', second)
    assert earlier
    assert urls_in(html_of(as_ann, crawl, earlier[1].replace("&amp;", "&"))) == urls_in(first)


def test_a_link_leads_to_the_last_rows_and_earlier_ones_back(
    as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 1)
    first = html_of(as_ann, crawl, "?sort=-url")
    assert 'href="?sort=-url&amp;end=1" id="last-rows"' in first
    last = html_of(as_ann, crawl, "?sort=-url&end=1")
    assert urls_in(last) == [SITE]
    assert ('id="later-rows"' in last, 'id="last-rows"' in last, 'id="first-rows"' in last) == (False, False, True)
    earlier = re.search(r'<a href="([^"]+)" id="earlier-rows"', last)
    assert earlier
    assert urls_in(html_of(as_ann, crawl, earlier[1].replace("&amp;", "&"))) == [f"{SITE}big"]


@pytest.mark.parametrize(
    ("query_string", "said"),
    [
        ("?depth=deep", "The depth must be a number such as 3"),
        ("?sort=colour", "The order can be"),
        ("?after=99999", "no such page to continue from"),
        ("?after=x", "must be the id of a page"),
    ],
)
def test_what_cannot_be_asked_is_said(as_ann: Client, crawl: Crawl, query_string: str, said: str) -> None:
    assert said in html_of(as_ann, crawl, query_string, status=400)


def test_a_script_that_replaces_the_table_is_told_in_it(as_ann: Client, crawl: Crawl) -> None:
    response = as_ann.get(f"/crawls/{crawl.id}/pages/?depth=deep", headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert "The depth must be" in response.content.decode().partition('id="found"')[2]


def test_a_script_is_told_the_shortest_address(as_ann: Client, crawl: Crawl) -> None:
    usual = "&".join(f"column={name}" for name in ("title", "depth", "time", "size"))
    address = f"/crawls/{crawl.id}/pages/"
    for typed, shortest in ((f"q=big&show=&sort=&{usual}", f"{address}?q=big"), (usual, address)):
        response = as_ann.get(f"{address}?{typed}", headers={"HX-Request": "true"})
        assert response["HX-Push-Url"] == shortest


def test_unknown_orphans_are_not_called_none(as_ann: Client, crawl: Crawl) -> None:
    assert "Not known: this crawl" in html_of(as_ann, crawl, "?show=orphans")


def test_the_rows_are_had_as_a_file_in_their_order(
    as_ann: Client, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_table, "ROWS_PER_PAGE", 1)
    html = html_of(as_ann, crawl, "?depth=1&sort=size&column=type")
    address = f"/crawls/{crawl.id}/pages/export.csv?depth=1&amp;sort=size&amp;column=type"
    assert f'href="{address}"' in html
    response = as_ann.get(address.replace("&amp;", "&"))
    rows = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert [row["url"] for row in rows] == [f"{SITE}gone", f"{SITE}big"]
    assert response["Content-Disposition"] == f'attachment; filename="pages-{crawl.id}.csv"'
    lines = as_ann.get(f"/crawls/{crawl.id}/pages/export.jsonl?status=404").getvalue().decode().splitlines()
    assert [json.loads(line)["url"] for line in lines] == [f"{SITE}gone"]


def test_what_asks_to_be_left_out_is_in_no_file_of_a_crawl_that_obeys(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, options=CrawlOptions(obey_noindex=True))
    a_page(crawl, f"{SITE}open")
    a_page(crawl, f"{SITE}secret", directives="noindex")
    lines = as_ann.get(f"/crawls/{crawl.id}/pages/export.jsonl").getvalue().decode().splitlines()
    assert [json.loads(line)["url"] for line in lines] == [f"{SITE}open"]
    assert "marked noindex are excluded" in html_of(as_ann, crawl)


@pytest.mark.parametrize(("file", "status"), [("export.csv?depth=x", 400), ("export.exe", 404)])
def test_what_is_no_file_is_refused(as_ann: Client, crawl: Crawl, file: str, status: int) -> None:
    assert as_ann.get(f"/crawls/{crawl.id}/pages/{file}").status_code == status
