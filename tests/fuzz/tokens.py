"""What means something to each parser: the attack puts it in where it likes."""

from tests.fuzz import seeds

_TAGS = (
    "a href=x | a href=%d | /a | div | /div | p | /p | h1 | /h1 | b | i a=%d | nav | /nav | main | pre | "
    "svg | math | table | td | tr | ul | li | ol | blockquote | template | /template | object | script | "
    "/script | style | title | /title | textarea | select | option | form | button | iframe src=x | "
    "frameset | base href=/x/ | meta name=robots content=none | meta name=a content=b | link "
    "rel=canonical href=x | area href=y | !-- | !DOCTYPE html | ![CDATA[ | x< | div < | div x='<' | a x=1 "
    "x%d | img alt='words words' | plaintext | font size=1 | marquee | dd | dt | rt | ruby | input "
    "type=radio name=a | p class='a a%d' | p lang=a-a | hr "
)
TAGS = tuple(f"<{name.strip()}>".encode() for name in _TAGS.split(" | "))

HTML = (
    *TAGS,
    *(
        b"<a",
        b"<",
        b">",
        b'"',
        b"'",
        b"=",
        b" a%d",
        b" a=b",
        b"/",
        b"&amp;",
        b"&",
        b"&#x41;",
        b"-->",
        b"]]>",
        b"x ",
        b" ",
    ),
    *(b"\n", b"\0", b"word%d ", b"<div ", b"</x", b"</", b'<a b="', b"\xff"),
)

URLS = (
    *(
        b"http://",
        b"https:",
        b"//",
        b"/",
        b"..",
        b"/../",
        b"?",
        b"&",
        b"#",
        b"@",
        b":",
        b"[",
        b"]",
        b"%",
        b"%2e",
        b"%%2e",
    ),
    *(
        b"%25",
        b"\\",
        b"\t",
        b"a",
        b"a/",
        b"xn--",
        b".",
        b"1.",
        b"0x",
        b"a=%d&",
        b";sid=1",
        b"%C3%A4",
        b"2031/05/",
        b"x%d/",
    ),
)

YAML = (
    *(
        b"- ",
        b": ",
        b"\n",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"'",
        b'"',
        b"|\n ",
        b">\n ",
        b"? ",
        b"&a ",
        b"*a",
        b"!!int ",
        b"!",
    ),
    *(
        b"#",
        b"%",
        b"<<: ",
        b"name: a\n",
        b"selector: p\n",
        b"k%d: v\n",
        b"\\U00110000",
        b"\\x",
        b"1:",
        b"0x",
        b"---\n",
        b"  ",
    ),
)

XPATH = (
    *(b"//", b"::", b"[", b"]", b"(", b")", b"|", b"@", b"..", b"*", b" div ", b" and ", b"'", b'"', b"$x", b"x:y"),
    *(b"[.//*]", b"following::*", b"count(", b"string(", b"text()", b"//.[", b"1e5", b"-"),
)

CSS = (
    *(
        b":has(",
        b":not(",
        b":is(",
        b")",
        b":nth-child(2n of ",
        b":lang(",
        b"[a",
        b"]",
        b"*=",
        b'"',
        b"'",
        b" ",
        b">",
        b"~",
        b"+",
    ),
    *(
        b",",
        b"p",
        b".a",
        b"#a",
        b"|",
        b"*",
        b"\\",
        b"\\0",
        b"/*",
        b"*/",
        b"::",
        b":-soup-contains(",
        b":root",
        b":default",
    ),
)

REGEX = (
    b"(",
    b")",
    b"*",
    b"+",
    b"?",
    b"{1000}",
    b"{2,}",
    b"|",
    b"[",
    b"]",
    b"^",
    b"$",
    b"\\",
    b"\\pL",
    b"(?",
    b"(?i)",
    b"a",
    b".",
)

MARKUP = (
    *(
        b"<urlset>",
        b"<url>",
        b"<loc>/%d",
        b"</loc>",
        b"</url>",
        b"</urlset>",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<?x",
    ),
    *(
        b"?>",
        b"<a b='%d'>",
        b"<a%d>",
        b" a%d=''",
        b"&amp;",
        b"&x;",
        b"<!ENTITY a 'b'>",
        b"<!DOCTYPE a [",
        b"]>",
        b"xmlns:a='b'",
    ),
    *(
        b"<link href='/%d'/>",
        b"<x:link rel='alternate' href='/a'/>",
        b"<item>",
        b"<channel>",
        b"https://e.example/%d\n",
        b" ",
    ),
)

ROBOTS = (
    *(
        b"user-agent: *\n",
        b"user-agent:%d\n",
        b"disallow: /a*b$\n",
        b"allow:%d\n",
        b"allow:*a*a*a\n",
        b"crawl-delay: 1\n",
    ),
    *(b"request-rate: 1/5\n", b"sitemap: /%d\n", b"#", b":", b"\r", b"\n", b"*", b"$", b"%2F", b"/", b" "),
)

HTTP = (
    *(
        b"HTTP/1.1 200 OK\r\n",
        b"HTTP/1.1 100 C\r\n\r\n",
        b"\r\n",
        b"\n",
        b"\r",
        b": ",
        b"Content-Length: 5\r\n",
        b" x\n",
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"0\r\n\r\n",
        b"1\r\na\r\n",
        b"FFFFFFFF\r\n",
        b"a%d: b\r\n",
        b";x=",
        b"\t",
        b"\0",
    ),
)

DATES = (
    b"Mon, ",
    b"01 ",
    b"Jan ",
    b"2026 ",
    b"10:",
    b"GMT",
    b"+0000",
    b"(",
    b")",
    b",",
    b" ",
    b"-",
    b"/",
    b";",
    b"charset=",
    b"=",
)

NUMBERS = (
    b"1",
    b",",
    b".",
    b" ",
    b"1,",
    b"111 ",
    b"e",
    b"-",
    b"1h",
    b"2 days ",
    b"10MB",
    b"January ",
    b"T",
    b":",
    b"1/",
    b"'",
)

CRON = (
    b"every ",
    b"* ",
    b"*/5 ",
    b"1-5",
    b",",
    b"/",
    b"#",
    b"l",
    b"mon",
    b"0 ",
    b"31 2 ",
    b"59 ",
    b"h",
    b"?",
    b"1h ",
    b"-",
)

LINES = (
    b"http://e.example/%d\n",
    b"e.example\n",
    b'"',
    b",",
    b"\t",
    b";",
    b"\n",
    b"\r",
    b"#",
    b" ",
    b'"a""',
    b"url,",
    b"\0",
)

TYPED = (
    b"\n",
    b": ",
    b"=",
    b"; ",
    b"\r\n",
    b":",
    b"@",
    b"http://",
    b"slack:",
    b"[",
    b"]",
    b"%0d",
    b"e.example",
    b"/",
    b"a",
)

QUERY = (
    b"&",
    b"=",
    b"q=",
    b"status=",
    b"depth=",
    b"column=%d&",
    b"after=",
    b"before=1&",
    b"%00",
    b"%FF",
    b"+",
    b"sort=-",
    b"MTI",
)

JSON = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b'"include": ["',
        b'"includePaths": ["',
        b'"a%d": 1,',
        b"\\u0000",
        b"\\ud800",
    ),
    *(
        b"null",
        b"true",
        b'"fields": [{',
        b"1e999",
        b"(|",
        b'"http://',
        b'"hosts": ["',
        b'"notify_webhooks": ["http://[',
        b"\\",
    ),
)

BITS = (
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
    b"\x28\xb5\x2f\xfd",
    b"\0\0\0\xff\xff",
    b"\x01\0\0\xff\xff",
    b"\x50\x2a\x4d\x18",
    *seeds.PACKED,
)
