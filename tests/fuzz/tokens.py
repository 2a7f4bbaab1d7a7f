"""What means something to each parser: the attack puts it in where it likes."""

from tests.fuzz import seeds


def tokens_of(text: str) -> tuple[bytes, ...]:
    """Those between " | "."""
    return tuple(token.encode("latin-1") for token in text.split(" | "))


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
    *tokens_of(
        "<a | < | > | \" | ' | = |  a%d |  a=b | / | &amp; | & | &#x41; | --> | ]]> | x  |   | \n | \x00 | word%d  | "
        '<div  | </x | </ | <a b=" | \xff'
    ),
)

URLS = tokens_of(
    "http:// | https: | // | / | .. | /../ | ? | & | # | @ | : | [ | ] | % | %2e | %%2e | %25 | \\ | \t | a | a/ | "
    "xn-- | . | 1. | 0x | a=%d& | ;sid=1 | %C3%A4 | 2031/05/ | x%d/"
)

YAML = tokens_of(
    "-  | :  | \n | { | } | [ | ] | , | ' | \" | |\n  | >\n  | ?  | &a  | *a | !!int  | ! | # | % | <<:  | "
    "name: a\n | selector: p\n | k%d: v\n | \\U00110000 | \\x | 1: | 0x | ---\n |   "
)

XPATH = tokens_of(
    "// | :: | [ | ] | ( | ) | | | @ | .. | * |  div  |  and  | ' | \" | $x | x:y | [.//*] | following::* | count( | "
    "string( | text() | //.[ | 1e5 | -"
)

CSS = tokens_of(
    ":has( | :not( | :is( | ) | :nth-child(2n of  | :lang( | [a | ] | *= | \" | ' |   | > | ~ | + | , | p | .a | "
    "#a | | | * | \\ | \\0 | /* | */ | :: | :-soup-contains( | :root | :default"
)

REGEX = tokens_of("( | ) | * | + | ? | {1000} | {2,} | | | [ | ] | ^ | $ | \\ | \\pL | (? | (?i) | a | .")

MARKUP = tokens_of(
    "<urlset> | <url> | <loc>/%d | </loc> | </url> | </urlset> | <!-- | --> | <![CDATA[ | ]]> | <?x | ?> | "
    "<a b='%d'> | <a%d> |  a%d='' | &amp; | &x; | <!ENTITY a 'b'> | <!DOCTYPE a [ | ]> | xmlns:a='b' | "
    "<link href='/%d'/> | <x:link rel='alternate' href='/a'/> | <item> | <channel> | https://e.example/%d\n |  "
)

ROBOTS = tokens_of(
    "user-agent: *\n | user-agent:%d\n | disallow: /a*b$\n | allow:%d\n | allow:*a*a*a\n | crawl-delay: 1\n | "
    "request-rate: 1/5\n | sitemap: /%d\n | # | : | \r | \n | * | $ | %2F | / |  "
)

HTTP = tokens_of(
    "HTTP/1.1 200 OK\r\n | HTTP/1.1 100 C\r\n\r\n | \r\n | \n | \r | :  | Content-Length: 5\r\n |  x\n | "
    "Transfer-Encoding: chunked\r\n | 0\r\n\r\n | 1\r\na\r\n | FFFFFFFF\r\n | a%d: b\r\n | ;x= | \t | \x00"
)

DATES = tokens_of("Mon,  | 01  | Jan  | 2026  | 10: | GMT | +0000 | ( | ) | , |   | - | / | ; | charset= | =")

NUMBERS = tokens_of("1 | , | . |   | 1, | 111  | e | - | 1h | 2 days  | 10MB | January  | T | : | 1/ | '")

CRON = tokens_of("every  | *  | */5  | 1-5 | , | / | # | l | mon | 0  | 31 2  | 59  | h | ? | 1h  | -")

LINES = tokens_of('http://e.example/%d\n | e.example\n | " | , | \t | ; | \n | \r | # |   | "a"" | url, | \x00')

TYPED = tokens_of("\n | :  | = | ;  | \r\n | : | @ | http:// | slack: | [ | ] | %0d | e.example | / | a")

QUERY = tokens_of("& | = | q= | status= | depth= | column=%d& | after= | before=1& | %00 | %FF | + | sort=- | MTI")

JSON = tokens_of(
    '{ | } | [ | ] | " | , | : | "include": [" | "includePaths": [" | "a%d": 1, | \\u0000 | \\ud800 | '
    'null | true | "fields": [{ | 1e999 | (| | "http:// | "hosts": [" | "notify_webhooks": ["http://[ | \\'
)

BITS = (
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
    b"\x28\xb5\x2f\xfd",
    b"\0\0\0\xff\xff",
    b"\x01\0\0\xff\xff",
    b"\x50\x2a\x4d\x18",
    *seeds.PACKED,
)
