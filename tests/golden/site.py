"""A site with one of nearly everything a crawl can meet, the same whenever it is crawled."""

from tests.site import Answer, Reply, moved

PARAGRAPH = "<p>" + "The quick brown fox jumps over the lazy dog, again and again. " * 12 + "</p>"
PLAIN = {"Content-Type": "text/plain"}

RULES = [
    {"name": "price", "selector": ".price", "type": "number"},
    {"name": "sold", "selector": ".sold", "type": "boolean"},
    {"name": "heading", "selector": "h1"},
]


def pages(elsewhere: str) -> dict[str, Answer]:
    """`elsewhere`: a URL of another host."""
    product = '<h1>Product {0}</h1><p class="price">{0},50</p><p class="sold">yes</p><a href="/">home</a>'
    return {
        "/robots.txt": Reply("User-agent: *\nDisallow: /private/\nSitemap: /sitemap.xml\n", headers=PLAIN),
        "/sitemap.xml": Reply(
            '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
            "<url><loc>/about</loc></url><url><loc>/orphan</loc></url></urlset>",
            headers={"Content-Type": "application/xml"},
        ),
        "/": _page(
            "Start",
            f"""<h1>Start</h1>{PARAGRAPH}
            <a href="/about">About us</a> <a href="/about" rel="nofollow">About</a>
            <a href="/about#team"><b>Team</b></a> <a href="/old">moved</a>
            <a href="/loop-a">in a circle</a> <a href="/gone">gone</a>
            <a href="/broken">error</a> <a href="/private/desk">private</a> <a href="/file.bin">a file</a>
            <a href="{elsewhere}">elsewhere</a>
            <a href="htp:/nonsense">nonsense</a> <a href="mailto:a@example.com">mail</a>
            <a href="/shop/1">One</a> <a href="/shop/2">Two</a> <a href="/empty">empty</a> <a href="/twin">twin</a>""",
            head='<meta name="description" content="Where it begins"><link rel="canonical" href="/">'
            '<link rel="alternate" hreflang="de" href="/de/">',
        ),
        "/about": _page("About", f"<h1>About</h1><h2>Team</h2>{PARAGRAPH}<a href='/'>home</a>"),
        "/twin": _page("Twin", f"<h1>About</h1><h2>Team</h2>{PARAGRAPH}<a href='/'>home</a>"),
        "/de/": _page("Anfang", '<h1>Anfang</h1><a href="/">Start</a>', language="de"),
        "/old": moved("/new", 301),
        "/new": _page("New", '<meta name="robots" content="noindex"><a href="/old">old</a>'),
        "/loop-a": moved("/loop-b"),
        "/loop-b": moved("/loop-a"),
        "/gone": Reply("gone", status=410, headers=PLAIN),
        "/broken": Reply("sorry", status=500, headers=PLAIN),
        "/file.bin": Reply(b"\x00\x01\x02", headers={"Content-Type": "application/octet-stream"}),
        "/empty": Reply("", headers={"Content-Type": "text/html"}),
        "/orphan": _page("Orphan", "<h1>Orphan</h1>"),
        "/shop/1": _page("Product 1", product.format(1)),
        "/shop/2": _page("Product 2", product.format(2)),
    }


def _page(title: str, body: str, head: str = "", language: str = "en") -> str:
    return f"<!doctype html><html lang={language}><head><title>{title}</title>{head}</head><body>{body}</body></html>"
