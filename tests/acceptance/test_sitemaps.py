"""Real workers take pages from every kind of sitemap, and know which of them nothing links to."""

import gzip
from typing import Any

from tests.site import Reply, Site, moved, page
from tests.stack import Stack

XML = {"Content-Type": "application/xml"}


def urlset(*entries: str) -> str:
    return (
        f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{"".join(entries)}</urlset>'
    )


def url(path: str, more: str = "") -> str:
    return f"<url><loc>{path}</loc>{more}</url>"


def index(*paths: str) -> str:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{path}</loc></sitemap>' for path in paths)}</sitemapindex>"


def xml(body: str | bytes) -> Reply:
    return Reply(body, headers=XML)


ROBOTS = "User-agent: *\nDisallow: /private\nSitemap: /second.xml\nSitemap: /news.rss\nSitemap: http://elsewhere.test/s.xml\n"
FEED = (
    '<rss version="2.0"><channel><link>/</link><item><link>/news</link>'
    "<pubDate>Fri, 20 Nov 2026 10:00:00 GMT</pubDate></item></channel></rss>"
)
SITE: dict[str, Any] = {
    "/robots.txt": Reply(ROBOTS, headers={"Content-Type": "text/plain"}),
    "/": page("/linked", "/both", "/second.xml"),
    "/linked": page("/", "/linked"),
    "/both": page(),
    "/lonely": page("/lonely", "/from-lonely"),  # with a link to itself in its navigation
    "/from-lonely": page(),
    "/moved": moved("/moved-here"),
    "/moved-here": page(),
    "/news": page(),
    "/other": page(),
    "/sitemap.xml": moved("/index.xml"),
    "/index.xml": xml(index("/packed.xml.gz", "/page.html", "/broken.xml", "/missing.xml")),
    "/packed.xml.gz": Reply(
        gzip.compress(
            urlset(
                url("/"),
                url("/both", "<lastmod>2026-11-19</lastmod><priority>0.9</priority>"),
                url("/lonely", "<lastmod>2026-11-20</lastmod>"),
                url("/private"),
                url("https://elsewhere.test/"),
            ).encode()
        ),
        headers={"Content-Type": "application/gzip"},
    ),
    "/second.xml": xml(urlset(url("/other"), url("/moved"))),
    "/news.rss": Reply(FEED, headers={"Content-Type": "application/rss+xml"}),
    "/page.html": page("/only-on-the-html-page"),
    "/broken.xml": xml("<urlset>\n" + url("/from-lonely") + "\n<url><loc>/lost?a=1&b=2</loc></url></urlset>"),
}
SITEMAPS = {
    "/sitemap.xml": ("3xx", ""),
    "/index.xml": ("2xx", ""),
    "/packed.xml.gz": ("2xx", ""),
    "/second.xml": ("2xx", ""),
    "/news.rss": ("2xx", ""),
    "/page.html": ("malformed", "this is an HTML page, not a sitemap"),
    "/broken.xml": ("2xx", "the XML breaks off at line 3: not well-formed (invalid token)"),
    "/missing.xml": ("4xx", ""),
}
PAGES = {
    *("/", "/linked", "/both", "/lonely", "/from-lonely", "/moved", "/moved-here", "/news", "/other", "/private"),
    "/second.xml",  # linked to, and so a page as well
}
ORPHANS = {"/lonely", "/moved", "/news", "/other", "/private"}


def test_pages_come_from_every_kind_of_sitemap_and_orphans_are_known(stack: Stack) -> None:
    for _ in range(2):
        stack.start_worker()
    with Site(SITE).serving() as site:
        crawl = stack.start(f"{site.url}/", sitemaps=True)
        receipt = stack.wait_until_finished(crawl)
    rows = stack.rows("SELECT * FROM crawler_page WHERE crawl_id = ?", crawl.hex)
    by_kind: dict[str, dict[str, Any]] = {"page": {}, "sitemap": {}, "external": {}}
    for row in rows:
        by_kind[row["kind"]][row["url"].removeprefix(site.url)] = row
    found, sitemaps = by_kind["page"], by_kind["sitemap"]

    assert {path: (row["outcome"], row["error"]) for path, row in sitemaps.items()} == SITEMAPS
    assert set(found) == PAGES
    assert {path for path, row in found.items() if row["in_sitemap"] and not row["linked"]} == ORPHANS
    assert {path: (found[path]["lastmod"], found[path]["in_sitemap"]) for path in ("/both", "/lonely", "/linked")} == {
        "/both": ("2026-11-19", 1),
        "/lonely": ("2026-11-20", 1),
        "/linked": ("", 0),
    }
    assert found["/news"]["lastmod"] == "Fri, 20 Nov 2026 10:00:00 GMT"

    assert receipt["discovered"] == len(found) + len(sitemaps)
    assert receipt["skipped"] == {"robots": 1}
    assert (receipt["failed"], receipt["cancelled"]) == (1, 0)
    assert receipt["fetched"] == receipt["discovered"] - 2
    assert set(site.hits.values()) <= {1, 2}, "nothing is asked for twice but /second.xml, a page and a sitemap"
    assert [path for path, hits in site.hits.items() if hits == 2] == ["/second.xml"]
    # For the page that is no sitemap. What else there is goes when the row says already that all is finished.
    stack.wait_for(lambda: [key.rpartition(":")[2] for key in stack.left_over()] == ["dead"], 10)
