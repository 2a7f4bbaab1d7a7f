"""THE TABLE: every trap, what it does, and what must come of it. CANARY and SITE in what they send become addresses."""

import gzip
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.saying import (
    CHUNKED,
    HTML,
    MB,
    OK,
    ZEROS_MB,
    explodes,
    for_ever,
    head,
    made,
    page,
    redirect,
    says,
    whole,
)
from tests.hostile.secure import Certificates, Shown
from tests.hostile.secure import contexts as shown
from tests.hostile.server import Asked, Play, Step, Then
from tests.http.certificates import DAY, Authority, self_signed

BODY_MB = 11  # the limit the crawl of all this is given
HEAD, BODY = 1 * MB, (BODY_MB + 8) * MB  # the limit on heads is 64 KB; the rest lay in the sockets' buffers


@dataclass(frozen=True)
class Trap:
    """One trap."""

    path: str
    does: str
    outcome: str  # of its row
    plays: Play
    names: str = ""  # stands in the row's error; "" = there is no error
    most: int = HEAD  # bytes that may have been taken of one answer before the crawler hung up
    host: str = "127.0.0.1"  # those that take their time have one of their own: nobody waits for them

    @property
    def name(self) -> str:
        """As the server counts it."""
        return f"{self.host}{self.path}"


def _calendar(asked: Asked) -> Iterator[Step]:
    """Each month leads to the next, for ever."""
    number = int(asked.path.rsplit("/", 1)[1] or 0) if asked.path[-1].isdigit() else 0
    yield from page(f"<a href=/endless/calendar/{number + 1}>next month</a>")(asked)


def _fresh(asked: Asked) -> Iterator[Step]:
    """No two answers are alike, and each leads to pages nobody has seen."""
    yield from page(f"<title>{asked.number}</title><a href={asked.path}x{asked.number}/>next</a>")(asked)


def _chain(asked: Asked) -> Iterator[Step]:
    number = int(asked.path.rsplit("/", 1)[1])
    yield from redirect(f"/to/chain/{number + 1}")(asked)


def _deeper(asked: Asked) -> Iterator[Step]:
    yield from page(f"<sitemapindex><sitemap><loc>{asked.path}0</loc></sitemap></sitemapindex>")(asked)


def _ten_thousand_codings(asked: Asked) -> Iterator[Step]:
    yield whole(b"x", HTML, "Content-Encoding: " + ", ".join(["gzip"] * 10_000))


def _bomb_in_gzip() -> bytes:
    return gzip.compress(gzip.compress(bytes(32 * MB), 1), 1)


def _blanks() -> bytes:
    return gzip.compress(b"<urlset>") + gzip.compress(b" " * MB) * ZEROS_MB


def _names_and_rules() -> str:
    return "".join(f"User-agent: a{number}\n" for number in range(12_000)) + "Disallow: /x\n" * 12_000


BODIES = [
    Trap("/body/says-too-much", "announces 20 MB", "too_large", says(head(HTML, "Content-Length: 20971520"), 30.0), "more than"),
    Trap("/body/endless", "a body without a length or an end", "too_large", for_ever(OK + b"\r\n", b"x" * 1000), "larger than", BODY),
    Trap("/body/chunks", "chunks for ever", "too_large", for_ever(CHUNKED, b"3e8\r\n" + b"x" * 1000 + b"\r\n"), "larger than", BODY),
    Trap("/body/small-chunks", "a hundred thousand chunks of a byte", "2xx", says(CHUNKED + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n", Then.KEEP)),
    Trap("/body/extension", "the extension of a chunk for ever", "too_large", for_ever(CHUNKED + b"5;", b"x" * 1000), "the chunk framing"),
    Trap("/body/trailers", "trailers for ever", "too_large", for_ever(CHUNKED + b"0\r\n", b"x: y\r\n"), "the chunk framing"),
    Trap("/body/zeros", "a chunk size of zeros for ever", "too_large", for_ever(CHUNKED, b"0" * 1000), "the chunk framing"),
    Trap("/body/huge-chunk", "a chunk of 2^80 bytes", "malformed", says(CHUNKED + b"f" * 20 + b"\r\nx"), "cannot be read"),
    Trap("/body/no-chunks", "says chunked and sends none", "malformed", says(CHUNKED + b"<p>hello"), "cannot be read"),
    Trap("/body/short", "announces 1,000 bytes and sends ten", "malformed", says(head(HTML, "Content-Length: 1000") + b"x" * 10), "ended before"),
    Trap("/body/long", "announces three bytes and sends 10,000, another answer among them", "2xx", says(whole(b"<p>") + whole(b"smuggled") * 200, Then.KEEP)),
    Trap("/body/negative", "a length of -5", "2xx", says(head(HTML, "Content-Length: -5") + b"<p>x")),
    Trap("/body/overflow", "a length of 10^30", "malformed", says(head(HTML, "Content-Length: 1" + "0" * 30) + b"<p>x"), "headers cannot be read"),
    Trap("/body/two-lengths", "two lengths that differ", "malformed", says(head(HTML, "Content-Length: 3", "Content-Length: 40") + b"<p>x"), "contradict"),
    Trap("/body/two-framings", "a length and chunks", "2xx", says(head(HTML, "Content-Length: 3", "Transfer-Encoding: chunked") + b"3\r\n<p>\r\n0\r\n\r\n")),
    Trap("/body/gzip-transfer", "a transfer coding nobody asked for", "malformed", says(head(HTML, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n"), "not requested"),
    *(Trap(f"/body/bomb-{coding}", f"{ZEROS_MB} MB of zeros in {coding}", "too_large", explodes(coding), "decoded body") for coding in ("gzip", "deflate", "br", "zstd")),
    Trap("/body/bomb-in-gzip", "a bomb within gzip: one layer is taken off, and no more", "2xx", page(_bomb_in_gzip, "Content-Encoding: gzip")),
    Trap("/body/members", "50,000 empty members of gzip", "2xx", page(gzip.compress(b"", mtime=0) * 50_000, "Content-Encoding: gzip"), most=2 * MB),
    Trap("/body/nested-codings", "gzip, gzip", "malformed", page(_bomb_in_gzip, "Content-Encoding: gzip, gzip"), "not requested"),
    Trap("/body/many-codings", "10,000 codings", "malformed", _ten_thousand_codings, "is encoded as"),
    Trap("/body/rot13", "a coding nobody asked for", "malformed", page("x", "Content-Encoding: rot13"), "not requested"),
    Trap("/body/broken-gzip", "gzip that is none", "malformed", page("hello, I am plain text", "Content-Encoding: gzip"), "damaged"),
    Trap("/body/cut-gzip", "gzip that ends early", "malformed", page(gzip.compress(b"<p>hello" * 99)[:-9], "Content-Encoding: gzip"), "is truncated"),
    Trap("/body/no-content", "204 with a body", "2xx", says(head(HTML, "Content-Length: 9", status="204 No Content") + b"<p>no way", Then.KEEP)),
    Trap("/body/not-modified", "304 to nobody's question, with a body", "3xx", says(head("Content-Length: 9", status="304 Not Modified") + b"<p>no way", Then.KEEP)),
]  # fmt: skip

HEADS = [
    Trap("/head/one", "one header of 10 MB", "too_large", says(OK + b"X: " + b"y" * 10 * MB + b"\r\n\r\n"), "headers are larger"),
    Trap("/head/endless", "headers for ever", "too_large", for_ever(OK, b"X: " + b"y" * 5000 + b"\r\n"), "headers are larger"),
    Trap("/head/many", "10,000 short headers", "too_large", says(OK + b"X: y\r\n" * 10_000 + b"\r\n"), "more than 100 headers"),
    Trap("/head/cookies", "5,000 cookies", "too_large", says(OK + b"Set-Cookie: a=b\r\n" * 5000 + b"\r\n"), "more than 100 headers"),
    Trap("/head/name", "a header's name without an end", "too_large", for_ever(OK, b"x" * 1000), "headers are larger"),
    Trap("/head/fold", "a folded header without an end", "too_large", for_ever(OK + b"X: y\r\n", b" z\r\n"), "headers are larger"),
    Trap("/head/reason", "a reason without an end", "too_large", for_ever(b"HTTP/1.1 200 ", b"O" * 1000), "headers are larger"),
    Trap("/head/blank", "blank lines for ever", "too_large", for_ever(b"", b"\r\n"), "headers are larger"),
    Trap("/head/continue", "100 Continue for ever", "too_large", for_ever(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), "headers are larger"),
    Trap("/head/etag", "an ETag of 1 MB", "too_large", says(OK + b'ETag: "' + b"e" * MB + b'"\r\n\r\n'), "headers are larger"),
    Trap("/head/large-etag", "an ETag of 50,000 characters", "2xx", page("x", f'ETag: "{"e" * 50_000}"')),
    Trap("/head/nothing-old", "HTTP/0.9: no head at all", "malformed", says(b"<html><p>I need no headers</html>\n"), "not HTTP/1"),
    Trap("/head/words", "a status in words", "malformed", says(b"HTTP/1.1 two hundred\r\n\r\n"), "status line"),
    Trap("/head/no-status", "a version and nothing else", "malformed", says(b"HTTP/1.1\r\n\r\n"), "status line"),
    *(Trap(f"/head/status-{status}", f"status {status}", "malformed", says(head("Content-Length: 0", status=status)), status.lstrip("0") or "0") for status in ("000", "099", "600", "999")),
    Trap("/head/status-2000", "status 2000", "malformed", says(head("Content-Length: 0", status="2000 OK")), "status line"),
    Trap("/head/switching", "101, and another protocol", "malformed", says(head("Upgrade: x", "Connection: upgrade", status="101 Switching Protocols"), b"\x00" * 5000), "101"),
    Trap("/head/http2", "HTTP/2 in words", "malformed", says(b"HTTP/2 200\r\n\r\n"), "not HTTP/1"),
    Trap("/head/tls", "an alert of TLS", "malformed", says(b"\x15\x03\x01\x00\x02\x02\x46\n"), "not HTTP/1"),
    Trap("/head/ssh", "the greeting of another protocol", "malformed", says(b"SSH-2.0-OpenSSH_9.9\r\n", Then.STALL), "not HTTP/1"),
    Trap("/head/controls", "NUL, escape and a bare CR in headers", "2xx", page("x", "X-\x00Y: z", "Server: a\x00b\x1b[31m\rc")),
    Trap("/head/split", "a second answer within a header", "2xx", page("x", "X: y\r\n folded: HTTP/1.1 302 Found\r\n\tLocation: http://CANARY/")),
    Trap("/head/type", "a media type of 50,000 characters", "2xx", page("x", kind=f"Content-Type: text/{'h' * 50_000}")),
    Trap("/head/closed", "hung up within the head", "malformed", says(OK), "within the headers"),
    Trap("/head/reset", "reset within the head", "connect", says(OK, 0.1, Then.RESET), "broke"),
    Trap("/body/reset", "reset within the body", "connect", says(head(HTML, "Content-Length: 500") + b"<p>", 0.1, Then.RESET), "broke"),
    Trap("/head/silent-close", "hung up without a byte", "connect", says(), "without a response"),
    Trap("/head/silent-reset", "reset without a byte", "connect", says(Then.RESET), "broke"),
    Trap("/head/busy", "429 for ever, to be asked again in 1900", "4xx", page("", "Retry-After: Mon, 01 Jan 1900 00:00:00 GMT", status="429 Too Many Requests")),
    Trap("/head/later", "503, to be asked again -5 seconds later", "5xx", page("", "Retry-After: -5", status="503 Busy")),
    Trap("/head/robots-tags", "fifty kilobytes of X-Robots-Tag", "2xx", page("x", "X-Robots-Tag: " + "bot: all, " * 5000)),
]  # fmt: skip

SLOW = [
    Trap("/slow/hints", "103 Early Hints for ever, slowly", "timeout", for_ever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", every=0.2), "not complete", host="127.0.0.20"),
    Trap("/slow/first-byte", "never says a word", "timeout", says(Then.STALL), "no response", host="127.0.0.21"),
    Trap("/slow/head", "a byte of the head at a time", "timeout", for_ever(b"HTTP/1.1 200 OK\r\nX: ", b"y", every=0.2), "not complete", host="127.0.0.22"),
    Trap("/slow/body", "a byte of the body at a time", "timeout", for_ever(OK + b"\r\n<p>", b"y", every=0.2), "not complete", host="127.0.0.23"),
    Trap("/slow/chunks", "a chunk of a byte at a time", "timeout", for_ever(CHUNKED, b"1\r\ny\r\n", every=0.2), "not complete", host="127.0.0.24"),
    Trap("/slow/stall", "half a page, and then nothing", "timeout", says(head(HTML, "Content-Length: 500") + b"<p>", Then.STALL), "nothing arrived", host="127.0.0.25"),
    Trap("/slow/unwanted", "a picture nobody wants, a byte at a time", "2xx", for_ever(head("Content-Type: image/png", "Content-Length: 100"), b"y", every=0.2), host="127.0.0.26"),
]  # fmt: skip

NOWHERE = {
    "bracket": "http://[bad", "scheme": "http://", "blank": "http://a b/", "port": "http://127.0.0.1:99999/",
    "percent": "http://%zz/", "null": "http://a\x01b/",
    "user": "http://user:SITE\\@CANARY/", "file": "file:///etc/passwd", "script": "javascript:alert(1)", "data": "data:text/html,<a href=http://CANARY/>",
    "ftp": "ftp://CANARY/", "gopher": "gopher://CANARY/_x", "mail": "mailto:a@b.test", "long": "http://SITE/" + "x" * 50_000,
}  # fmt: skip

TO_CANARY = {
    "plain": "http://CANARY/redirected", "user": "http://SITE@CANARY/",
    "relative": "//CANARY/relative", "backslash": "\\\\CANARY\\x", "tab": "ht\ttp://CANARY/tab",
}  # fmt: skip

REDIRECTS = [
    *(Trap(f"/to/nowhere/{name}", f"redirects to {where[:40]!r}", "3xx", redirect(where), "redirects to an invalid address") for name, where in NOWHERE.items()),
    *(Trap(f"/to/canary/{name}", f"redirects to {where!r}", "3xx", redirect(where)) for name, where in TO_CANARY.items()),
    Trap("/to/huge", "a Location of 200,000 characters", "too_large", redirect("/" + "x" * 200_000), "headers are larger"),
    Trap("/to/empty", "an empty Location", "3xx", redirect("")),
    Trap("/to/none", "no Location", "3xx", page("", status="301 Moved")),
    Trap("/to/several", "two Locations: the first counts", "3xx", says(whole(b"", "Location: /to/several-a", "Location: /to/several-b", status="302 Found"), Then.KEEP)),
    Trap("/to/several-a", "where the first leads", "4xx", page("", status="410 Gone")),
    Trap("/to/nonsense", "a Location of relative nonsense", "3xx", redirect("../../../..//to/..%2f..%2f?%%%#\\")),
    Trap("/to/self", "redirects to itself", "3xx", redirect("/to/self")),
    Trap("/to/ping", "redirects to and fro", "3xx", redirect("/to/pong")),
    Trap("/to/pong", "the other end", "3xx", redirect("/to/ping")),
    Trap("/to/chain/0", "redirects that never end", "3xx", _chain),
    Trap("/to/chunks", "a redirect with chunks for ever", "3xx", for_ever(head("Location: /", "Transfer-Encoding: chunked", status="302 Found"), b"3e8\r\n" + b"x" * 1000 + b"\r\n")),
    Trap("/to/body", "a redirect with an endless body", "3xx", for_ever(head("Location: /", status="302 Found"), b"x" * 1000)),
]  # fmt: skip

CHARSETS = [
    Trap("/text/utf-16", "UTF-16 without a mark", "2xx", page("<a href=/seen/utf-16>x</a>".encode("utf-16-le"), kind="Content-Type: text/html; charset=utf-16le")),
    Trap("/text/unsaid-16", "UTF-16 that nobody says is", "2xx", page("<a href=x>x</a>".encode("utf-16-be"))),
    Trap("/text/mark", "a byte order mark against the header", "2xx", page(b"\xff\xfe" + "<a href=/seen/mark>x</a>".encode("utf-16-le"), kind="Content-Type: text/html; charset=utf-8")),
    Trap("/text/japanese", "Shift_JIS, as it says", "2xx", page("<title>日本語</title><a href=/seen/japanese>次</a>".encode("cp932"), kind="Content-Type: text/html; charset=Shift_JIS")),
    *(Trap(f"/text/charset-{name}", f"charset={charset[:20]}", "2xx", page(f"<a href=/seen/{name}>x</a>", kind=f"Content-Type: text/html; charset={charset}")) for name, charset in {"zlib": "zlib", "bomb": "unicode_escape", "endless": "x" * 10_000, "seven": "utf-7", "quoted": "\"'", "idna": "idna"}.items()),
    Trap("/text/invalid", "half a megabyte of bytes that are no text", "2xx", page(b"<p>" + b"\xff\x81" * 250_000, kind="Content-Type: text/html; charset=windows-1253"), most=4 * MB),
    Trap("/text/picture", "a PNG that calls itself HTML", "2xx", page(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2000)),
    Trap("/text/page", "HTML that calls itself a PNG: nothing is read of it", "2xx", page("<a href=/unseen/picture>x</a>", kind="Content-Type: image/png")),
    Trap("/text/untyped", "HTML that does not say what it is", "2xx", page("<a href=/seen/untyped>x</a>", kind="")),
]  # fmt: skip

NAMES = [
    "http://CANARY/", "https://CANARY/", "http://SITE@CANARY/", "http://SITE:x@CANARY/", "//CANARY/x", "http:\\\\CANARY/",
    "http://2130706433:PORT/", "http://0x7f000001:PORT/", "http://0177.0.0.1:PORT/", "http://127.1:PORT/", "http://127.0.0.1.:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/", "http://[::1]:PORT/", "http://0:PORT/", "http://LOCALHOST:PORT/",
    "http://①②⑦.0.0.1:PORT/", "http://127。0。0。1:PORT/", "http://%31%32%37.0.0.1:PORT/", "http://127.0.0.1%09:PORT/",
    "ht\ttp://CANA\nRY/", " http://CANARY/ ",
]  # fmt: skip
NO_NAMES = [
    "http://[", "http://[bad/", "http://[::1", "http://a:99999/", "http://a:-1/", "http://a:b/", "http://a b/", "http://",
    "http://\x00/", "http://xn--a\x80/", "http://%00/", "//", "///", "http:///", "?", "#", "javascript:alert(1)",
    "data:text/html,x", "file:///etc/passwd", "view-source:http://CANARY/", "blob:http://CANARY/x", "about:blank", "\x00", "%",
    "http://" + "a" * 300 + "/", "http://a/" + "b" * 200_000, "/unseen/" + "é" * 100_000,
]  # fmt: skip


def _anchors(references: list[str]) -> str:
    return "".join(f'<a href="{reference}">x</a>' for reference in references)


def _spelt(asked: Asked) -> Iterator[Step]:
    port = asked.canary.rpartition(":")[2]
    yield from page(_anchors([name.replace("PORT", port) for name in NAMES]))(asked)


CANARIES = (
    '<link rel=canonical href=http://CANARY/canonical><link rel=next href="//CANARY/next"><meta http-equiv=refresh '
    'content="0;url=http://CANARY/refresh"><iframe src=http://CANARY/frame></iframe><area href=http://CANARY/area>'
    "<img src=http://CANARY/img><script src=http://CANARY/script></script><link rel=stylesheet href=http://CANARY/css>"
    '<object data=http://CANARY/object></object><form action=http://CANARY/form></form><svg><a xlink:href="http://CANARY/">'
)

MARKUP = [
    Trap("/html/nested", "100,000 nested tags", "2xx", made("<div>", 100_000, after="<a href=/seen/nested>"), most=2 * MB),
    Trap("/html/line", "a line of 10 MB", "2xx", made("x", 10 * MB, "<a href=/seen/line>y</a>"), most=BODY),
    Trap("/html/links", "200,000 links", "2xx", made("<a href=/flood/#>", 200_000), "more than 20,000 links", 6 * MB),
    Trap("/html/base", "a base of 4,000 characters, and short links", "2xx", made("<a href=#>", 9000, f"<base href=/flood/{'b' * 4000}/>"), "characters in total"),
    Trap("/html/links-in-links", "thousands of links in one another", "2xx", made("<a href=/flood/#><object>", 5000, after="x " * 300_000), most=2 * MB),
    Trap("/html/headings", "thousands of headings in one another", "2xx", made("<h1><div>", 5000, after=" " * 500_000), most=2 * MB),
    Trap("/html/attributes", "a tag of 200,000 attributes", "2xx", made(" a#=b", 200_000, "<a", " href=/unseen>"), most=4 * MB),
    Trap("/html/comment", "a comment without an end", "2xx", made("x", MB, "<a href=/seen/comment>y</a><!--"), most=2 * MB),
    Trap("/html/title", "a title of 1 MB", "2xx", made("t ", MB // 2, "<title>"), most=2 * MB),
    Trap("/html/robots", "a meta element of 100,000 words to robots", "2xx", made(" word#", 100_000, "<meta name=robots content='", "'>"), most=2 * MB),
    Trap("/html/zeros", "nulls, escapes and direction marks everywhere", "2xx", page("<title>a\0b\x1b[31m\u202ec&#0;&#xd800;</title>\0<a href='/seen/ze\0ros'>\0</a><meta name=description content='\0\x07'>")),
    Trap("/html/formats", "thousands of formats that never end", "2xx", made("<font a#>", 5000, after="<p>x" * 3000)),
    Trap("/html/tables", "thousands of tables in one another", "2xx", made("<table><tr><td>", 6000, after="<a href=/seen/tables>")),
    Trap("/html/names", "links to the canary, spelt in every way", "2xx", _spelt),
    Trap("/html/no-names", "links that nobody can follow", "2xx", page(_anchors(NO_NAMES)), most=2 * MB),
    Trap("/html/elsewhere", "whatever else can name the canary", "2xx", page(CANARIES)),
    Trap("/html/base-elsewhere", "a base on the canary", "2xx", page("<base href=http://CANARY/base/><a href=x>y</a>")),
    Trap("/html/base-nonsense", "a base that is none", "2xx", page("<base href='http://[bad'><a href=/seen/base>y</a>")),
]  # fmt: skip

ENDLESS = [
    Trap("/endless/calendar/0", "a next month for ever", "2xx", _calendar),
    Trap("/endless/fresh/", "pages that differ each time, and lead to new ones", "2xx", _fresh),
    Trap("/endless/circle/", "a link that leads one folder deeper each time", "2xx", page("<a href=circle/>deeper</a>")),
]  # fmt: skip

SITEMAPS = [
    Trap("/maps/bomb.xml", f"{ZEROS_MB} MB of blanks in gzip", "2xx", page(_blanks, kind="Content-Type: application/gzip"), "larger than 50 MB"),
    Trap("/maps/laughs.xml", "entities that mean a billion others", "malformed", page('<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>', kind="Content-Type: text/xml"), "declares the entity"),
    Trap("/maps/outside.xml", "an entity that lies on the canary, or in a file", "malformed", page('<!DOCTYPE x SYSTEM "http://CANARY/dtd" [<!ENTITY a SYSTEM "file:///etc/passwd"><!ENTITY b SYSTEM "http://CANARY/entity">]><html>&a;&b;', kind="Content-Type: text/xml"), "not a sitemap"),
    Trap("/maps/names.xml", "elements that each have another name", "2xx", made("<t#>x</t#>", 5000, "<urlset><url>"), "names of elements"),
    Trap("/maps/loop-a.xml", "an index that names another", "2xx", page("<sitemapindex><sitemap><loc>/maps/loop-b.xml</loc></sitemap></sitemapindex>")),
    Trap("/maps/loop-b.xml", "which names it", "2xx", page("<sitemapindex><sitemap><loc>/maps/loop-a.xml</loc></sitemap></sitemapindex>")),
    Trap("/maps/deep/0", "indexes that lead to indexes for ever", "2xx", _deeper),
    Trap("/maps/deep/0000000", "the seventh of them", "limit", page(""), "more than 5"),
    Trap("/maps/binary", "no text at all", "malformed", page(bytes(range(256)) * 400), "not a sitemap"),
    Trap("/maps/canary.xml", "names pages and sitemaps of the canary", "2xx", page("<sitemapindex><sitemap><loc>http://CANARY/map.xml</loc></sitemap></sitemapindex>")),
]  # fmt: skip

NAMED = [trap for trap in SITEMAPS if trap.path not in ("/maps/loop-b.xml", "/maps/deep/0000000")]
ROBOTS = "User-agent: *\nDisallow: /flood/\n" + "".join(
    f"Sitemap: http://SITE{trap.path}\n" for trap in NAMED
) + "Sitemap: http://CANARY/sitemap.xml\nSitemap: http://[bad\n"  # fmt: skip

TRAPS = [*BODIES, *HEADS, *SLOW, *REDIRECTS, *CHARSETS, *MARKUP, *ENDLESS]
LED_TO = {"/to/several-a"}  # by another trap, and not by the index

HELLO = page("hello")


@dataclass(frozen=True)
class Host:
    """A host whose robots.txt is the trap; its only page says "hello"."""

    address: str
    does: str
    outcome: str  # of the page
    plays: Play  # its robots.txt
    names: str = ""
    most: int = HEAD
    answers: Play = HELLO


HOSTS = [
    Host("127.0.0.2", "a robots.txt without an end", "2xx", for_ever(head("Content-Type: text/plain"), b"Disallow: /x\n"), most=9 * MB),
    Host("127.0.0.3", "a robots.txt of bytes that are no text", "2xx", page(bytes(range(256)) * 400)),
    Host("127.0.0.4", "a robots.txt that redirects to itself", "2xx", redirect("/robots.txt")),
    Host("127.0.0.5", "a robots.txt that redirects to the canary", "robots", redirect("http://CANARY/robots.txt"), "it redirects to"),
    Host("127.0.0.6", "a robots.txt of 12,000 names above 12,000 rules", "2xx", page(_names_and_rules)),
    Host("127.0.0.7", "a robots.txt that comes a byte at a time", "timeout", for_ever(OK + b"\r\n", b"#", every=0.2), "not complete"),
    Host("127.0.0.8", "a robots.txt that is a bomb", "2xx", explodes("gzip")),
    Host("127.0.0.9", "a robots.txt of one rule with 100,000 stars", "2xx", page("User-agent: *\nDisallow: /" + "*a" * 100_000 + "$\nCrawl-delay: nan\nCrawl-delay: -1\n")),
    Host("127.0.0.10", "a page that says to come again in 10^12 seconds", "4xx", page(""), answers=page("", f"Retry-After: 1{'0' * 12}", status="429 Too Many Requests")),
    Host("127.0.0.11", "hangs up on whoever asks for its robots.txt", "connect", says(), "without a response"),
]  # fmt: skip


@dataclass(frozen=True)
class Secure:
    """A host that is asked by https: it shows a certificate, or plays something to who begins to speak TLS."""

    address: str
    does: str
    outcome: str  # of its page
    names: str = ""
    shows: Shown | None = None
    plays: Play | None = None


SECURE = [
    Secure("127.0.0.40", "a certificate as it should be: the authority of the others is believed", "2xx", shows=Certificates.of),
    Secure("127.0.0.41", "a certificate that has expired", "tls", "has expired", lambda made, own: made.of(own, ends=-DAY)),
    Secure("127.0.0.42", "the certificate of another address", "tls", "not valid for '127.0.0.42'", lambda made, own: made.of("127.0.0.40")),
    Secure("127.0.0.43", "a certificate by an authority nobody knows", "tls", "authority that is not trusted", lambda made, own: made.of(own, by=Authority.made("Unknown"))),
    Secure("127.0.0.44", "a certificate that it signed itself", "tls", "self-signed", lambda made, own: self_signed(made.folder)),
    Secure("127.0.0.45", "plain HTTP where TLS is spoken", "tls", "does not speak TLS", plays=page("<a href=/unseen/plain>x</a>")),
    Secure("127.0.0.46", "no answer to the hello of TLS", "timeout", "no TLS connection in", plays=says(Then.STALL)),
    Secure("127.0.0.47", "a reset within the handshake", "connect", "broke", plays=says(Then.RESET)),
    Secure("127.0.0.48", "hangs up within the handshake", "connect", "during the TLS handshake", plays=says()),
]  # fmt: skip


def _index(asked: Asked) -> Iterator[Step]:
    port = asked.site.rpartition(":")[2]
    lines = [(f"http://{trap.host}:{port}{trap.path}", trap.does) for trap in TRAPS if trap.path not in LED_TO]
    lines += [(f"http://{host.address}:{port}/", host.does) for host in HOSTS]
    lines += [(f"https://{host.address}:{port}/", host.does) for host in SECURE]
    anchors = "".join(f"<li><a href='{url}'>{url}</a> {does.replace('<', '&lt;')}" for url, does in lines)
    yield from page(f"<!doctype html><title>Traps</title><ul>{anchors}</ul>", kind=f"{HTML}; charset=utf-8")(asked)


FOLDERS: dict[str, Play] = {
    "/endless/calendar/": _calendar,
    "/to/chain/": _chain,
    "/maps/deep/": _deeper,
    "/seen/": HELLO,
}


def hosts() -> Mapping[str, Mapping[str, Play]]:
    """Address -> path -> what is played there; the first has the index."""
    played: dict[str, dict[str, Play]] = {
        "127.0.0.1": {"/": _index, "/robots.txt": page(ROBOTS, kind="Content-Type: text/plain"), **FOLDERS}
    }
    for trap in (*TRAPS, *SITEMAPS):
        played.setdefault(trap.host, {})[trap.path] = trap.plays
    for host in HOSTS:
        played[host.address] = {"/robots.txt": host.plays, "/": host.answers}
    for secure in SECURE:
        played[secure.address] = {"/": HELLO, "": secure.plays or HELLO}
    return played


def contexts(folder: Path) -> tuple[Mapping[str, ssl.SSLContext], Path]:
    """How those of them that speak TLS do, and the file of the authority to be believed; made in this folder."""
    return shown({host.address: host.shows for host in SECURE if host.shows}, folder)
