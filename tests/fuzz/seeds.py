"""What the attack begins with: the recorded suites of others, and pages and files written for it."""

import gzip
import zlib
from base64 import b64decode

from tests.suites import cases

PAGE = b"""<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A kettle</title><base href="/shop/">
<meta name=robots content="noindex, max-snippet:20"><meta http-equiv=refresh content="5; url='next'">
<meta name=description content="Boils"><link rel=canonical href=kettle><link rel="alternate" href="/de"></head>
<body class="a b"><header><nav><ul><li><a href=/>Home</a><li><a rel=nofollow href=?page=2>2</a></ul></nav></header>
<main><h1>A <b>blue</b> kettle</h1><p class=price data-x="1">EUR 1,234.50</p><p lang=de dir=auto>Zw\xc3\xb6lf<br>drei
<pre>if x:\n\ty()</pre><blockquote><ol start=3><li>a<li>b</ol></blockquote><table><tr><th>k<td>v</table>
<svg><title>x</title><a href=drawn><text>t</text></a></svg><script>if (a<b && "</p>") {}</script><style>p{}</style>
<img src=p.png alt="A picture"><iframe src="http://other.example/"></iframe><input type=number min=1 value=2>
<template><p>x</template><!-- <a href=no> --><a href="javascript:x()">j</a><area href=m><textarea><a href=t></textarea>
</main><footer>Legal &amp; more &notit; &#x41;</footer></body></html>"""

URLS = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *(str(case["input"])[:500] for case in cases("url_whatwg")[::6] if case.get("input")),
        "https://user:pw@example.com:8443/a/../b/%7e%2F?q=1&q=2#f",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f.1/",
        "//x",
        "?page=2",
        "https://bücher.example/straße;sid=1?utm_source=x",
    )
)

PAGES = (PAGE, *(b64decode(case["body_b64"])[:2000] for case in cases("links_scrapy")[::4]))

ROBOTS = (
    b"\xef\xbb\xbfUser-agent: *\nDisallow: /private*/x$ # c\nAllow: /\nCrawl-delay: 2\nSitemap: /s.xml\n\n"
    b"user agent: bot/1.0\nDissallow: /%7e\nRequest-rate: 1/10m 0800-1200\n",
    *(b64decode(case["robots_b64"])[:1000] for case in cases("robots_google")[::5] if case["robots_b64"]),
)

SITEMAPS = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="y"><url><loc>/a</loc>'
    b'<lastmod>2026-01-01</lastmod><priority>0.8</priority><x:link rel="alternate" href="/de"/></url></urlset>',
    b"<sitemapindex><sitemap><loc>https://e.example/1.xml.gz</loc></sitemap></sitemapindex>",
    b'<rss version="2.0"><channel><item><link>/a</link><guid>x</guid></item></channel></rss>',
    b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/a"/><updated>x</updated></entry></feed>',
    b"https://e.example/1\nhttps://e.example/2\r\n",
    '\ufeff<?xml version="1.0" encoding="utf-16"?><urlset/>'.encode("utf-16-le"),
    gzip.compress(b"<urlset><url><loc>/a</loc></url></urlset>", mtime=0),
    b"\xef\xbb\xbf\xef\xbb\xbfhttp:!",
    b'<!DOCTYPE urlset [<!ENTITY a "b"><!ELEMENT x ANY>]><urlset><url><loc>&a;</loc></url></urlset>',
)

PROXIED = (
    b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Basic dXNlcjpwdw==\r\n\r\n",
    b"GET http://[::1]:8000/a?b HTTP/1.1\r\nHost: x\r\nConnection: close, x-hop\r\nX-Hop: 1\r\nCookie: a=b\r\n",
    b"POST http://0x7f.1/ HTTP/1.0\nContent-Length: 3\nTransfer-Encoding: chunked\nTE: trailers\n",
    b"HTTP/1.1 200 OK\r\nConnection: keep-alive, content-length\r\nContent-Length: 5\r\n folded\r\nUpgrade: h2c\r\n",
)
HEADS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nX-Robots-Tag: noindex\r\n\r\nhello",
    b"HTTP/1.0 301 Moved\nLocation: http://[bad\n folded\n\n",
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
    b"http/1.1  404  \r\nSet-Cookie: a=b\r\nbad line\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n\0\1\2",
    b"\r\n\r\nHTTP/1.1 204\r\n\r\n",
)

PACKED = (
    gzip.compress(b"hello " * 50, mtime=0),
    gzip.compress(b"a", mtime=0) * 3 + b"\0\0",
    zlib.compress(b"hello " * 50),
    zlib.compress(b"hello " * 50)[2:-4],
    b"\x28\xb5\x2f\xfd\x04\x00\x09\x00\x00\x61\x8a\x1d\x3c\x2b",
    b"\x50\x2a\x4d\x18\x01\x00\x00\x00x",
    b"\x0b\x02\x80hello\x03",
)

HEADERS = (
    b"120",
    b"Fri, 31 Dec 1999 23:59:59 GMT",
    b"Sun Nov  6 08:49:37 1994",
    b"text/html; charset=shift_jis",
    b"Fri, 31 Dec 1999 23:59:59 -0000 (comment (nested))",
    b"noindex, otherbot: nofollow, unavailable_after: Fri, 31 Dec 1999",
)

RULES = (
    b"- name: price\n  selector: .product .price\n  type: number\n- {name: b, selector: 'p:has(> a)', many: true}\n",
    b'{"a": "h1", "b": {"selector": "p", "pattern": "(\\\\d+)"}}',
    b"a: |\n  h1\nb: >-\n  p\nc: 2001-12-14t21:59:43.10-05:00\nd: 0o7\n? x\n: y\n",
)

SELECTORS = tuple(
    text.encode()
    for text in (
        "div > p.price[data-x]:nth-child(2n+1 of .a)",
        ":is(p, :not(:where(b))) ~ a:has(+ b)",
        "p:lang(de):dir(ltr):-soup-contains('x')",
        "input:in-range:not(:checked, :disabled)::text",
        "[class~=\"a\" i], [href^='http'], a|b, *|*",
        ":root :empty:nth-last-of-type(odd)",
    )
)

XPATHS = (
    b"//div[contains(concat(' ', @class, ' '), ' price ')]/following-sibling::*[position() < last()]/text()",
    b"substring-before(normalize-space(//h1 | //p[2]), ':')",
    b"count(//a[@href and not(starts-with(@href, '#'))]) div 2.5 >= -1",
    b"(//tr)[last()]//td/ancestor::table[1]/@id",
)

PATTERNS = (b"^/docs/(a|b)+$", b"\\d{1,3}[^?#]*", b"(?i)x.*?y", b"[[:alpha:]]\\pL\\x{10FFFF}", b"(?P<n>a){2,}")
VALUES = (b"EUR 1,234.50 each", b"1'234.5e3", b"12 March 2026", b"2026-03-12T09:30:00+00:00", b"\xe2\x88\x9212,5")
TIMETABLES = (b"every 6h", b"0 3 * * mon-fri", b"*/15 0-6,20 1 jan,feb *", b"0 0 29 2 *", b"every 2 days", b"@daily")
HOSTS = (
    b"10.0.0.0/8",
    b"intranet.example:8080",
    b"[::1]:8000",
    b"*",
    b"*.example.com",
    b"/docs/",
    b"utm_*",
    b"sid={id}",
)
LISTS = (
    b"# urls\nhttps://e.example/1\nexample.com\n\n",
    b'url,priority\nhttps://e.example/1,0.5\n"https://e.example/2\n",10\n',
    "http://e.example/é\tx\r\n".encode("utf-16"),
    gzip.compress(b"https://e.example/1\n", mtime=0),
)
TYPED = (
    b"X-Api-Key: abc\na=1; b=2\nuser:password\ntoken\nhttp://u:p@proxy.example:3128",
    b"me@example.com\nhttps://hooks.slack.com/services/T/B/X\nslack:https://x/y\nhttps://discord.com/api/webhooks/1/x",
)
QUERIES = (
    b"q=a&show=orphans&status=4xx&depth=3%2B&sort=-size&column=url&after=17",
    b"MTIuMzQ",
    b"end=1&outcome=success",
)
JSON = (
    b'{"start_urls": ["https://e.example/"], "max_pages": 10, "include": ["/docs/"], "delay": 0.5, '
    b'"hosts": ["*.x.org"], "fields": [{"name": "a", "selector": "p"}], "deadline": 3600,'
    b'"notify_webhooks": ["https://e.example/hook"]}',
    b'{"url": "https://e.example/a/", "limit": 5, "includePaths": ["^/a|b$"], "excludePaths": ["x"], "delay": 1,'
    b' "scrapeOptions": {"formats": ["links"]}}',
)
