"""The character encoding of a page, found in the order of browsers, and its text."""

from __future__ import annotations

import re

_BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16-be"), (b"\xff\xfe", "utf-16-le"))
_PRESCAN_BYTES = 1024
_FALLBACK = "cp1252"

# The labels of the Encoding Standard (https://encoding.spec.whatwg.org/#names-and-labels), after the name of the
# best Python codec. "iso-8859-1" and "ascii" mean windows-1252 there, "shift_jis" means code page 932
# and so on, because pages with that label contain it. Other labels (utf-7, zlib, base64 ...) are ignored.
_LABELS_OF_CODEC = {
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    "utf-16-le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le",
    "utf-16-be": "unicodefffe utf-16be",
    "cp866": "866 cp866 csibm866 ibm866",
    "iso8859-2": "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2",
    "iso8859-3": "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3",
    "iso8859-4": "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4",
    "iso8859-5": "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988",
    "iso8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e "
    "iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987",
    "iso8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
    "iso_8859-7:1987 sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso-ir-138 "
    "iso8859-8 iso88598 iso_8859-8 iso_8859-8:1988 logical visual",
    "iso8859-10": "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    "iso8859-13": "iso-8859-13 iso8859-13 iso885913",
    "iso8859-14": "iso-8859-14 iso8859-14 iso885914",
    "iso8859-15": "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "cskoi8r koi koi8 koi8-r koi8_r",
    "koi8-u": "koi8-ru koi8-u",
    "mac-roman": "csmacintosh mac macintosh x-mac-roman",
    "cp874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    "cp1250": "cp1250 windows-1250 x-cp1250",
    "cp1251": "cp1251 windows-1251 x-cp1251",
    "cp1252": "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 "
    "iso_8859-1 iso_8859-1:1987 l1 latin1 latin-1 us-ascii windows-1252 x-cp1252 x-user-defined",
    "cp1253": "cp1253 windows-1253 x-cp1253",
    "cp1254": "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 "
    "windows-1254 x-cp1254",
    "cp1255": "cp1255 windows-1255 x-cp1255",
    "cp1256": "cp1256 windows-1256 x-cp1256",
    "cp1257": "cp1257 windows-1257 x-cp1257",
    "cp1258": "cp1258 windows-1258 x-cp1258",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk gb18030",
    "big5hkscs": "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese euc-jp x-euc-jp",
    "iso2022-jp": "csiso2022jp iso-2022-jp",
    "cp932": "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    "cp949": "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
    "windows-949",
}
_CODEC_OF_LABEL = {label: codec for codec, labels in _LABELS_OF_CODEC.items() for label in labels.split()}

_CHARSET = re.compile(r"""charset[ \t\r\n\f]*=[ \t\r\n\f]*["']?([^\s;"',]+)""", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(r"""<meta[\s/]((?:[^>"']|"[^"]*"|'[^']*')*)""", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+)))?""")
_XML_DECLARATION = re.compile(r"""<\?xml[^>]*?\sencoding\s*=\s*["']([^"'>]+)""")


def decode(body: bytes, content_type: str = "") -> str:
    """The text of a page. Bytes that make no sense in its encoding become U+FFFD; it never raises.

    `content_type` is the whole header: "text/html; charset=utf-8".
    """
    codec = encoding_of(body, content_type)
    return body.removeprefix(_mark_of(body)).decode(codec, errors="replace")


def utf_8(body: bytes, content_type: str = "") -> bytes:
    """The text of a page as `decode` reads it, in UTF-8: the body itself, when it is that already."""
    declared = _declared(body, content_type)
    text = body.removeprefix(_mark_of(body))
    if declared in (None, "utf-8") and _is_utf_8(body):
        return text
    return text.decode(declared or _FALLBACK, "replace").encode("utf-8", "replace")


def encoding_of(body: bytes, content_type: str = "") -> str:
    """The Python codec to read a page with.

    1. A byte order mark.
    2. The charset of the Content-Type header.
    3. A <meta charset> or <meta http-equiv="content-type"> in the first 1024 bytes, then an XML declaration.
    4. UTF-8 when the body is valid UTF-8, windows-1252 when it is not.

    Unknown labels are ignored. Source: https://html.spec.whatwg.org/#determining-the-character-encoding; its
    step 4 depends on the user's language, which is not known here.
    """
    return _declared(body, content_type) or ("utf-8" if _is_utf_8(body) else _FALLBACK)


def _declared(body: bytes, content_type: str) -> str | None:
    """Steps 1 to 3 of `encoding_of`."""
    mark = _mark_of(body)
    if mark:
        return dict(_BYTE_ORDER_MARKS)[mark]
    return _in_header(content_type) or _in_markup(body[:_PRESCAN_BYTES].decode("latin-1"))


def _mark_of(body: bytes) -> bytes:
    return next((mark for mark, _ in _BYTE_ORDER_MARKS if body.startswith(mark)), b"")


def _in_header(value: str) -> str | None:
    """The codec named by "charset=" in a header or a meta's content."""
    match = _CHARSET.search(value)
    return _codec(match[1]) if match else None


def _in_markup(start: str) -> str | None:
    for meta in _META.finditer(_COMMENT.sub("", start)):
        if codec := _in_meta(_attributes(meta[1])):
            return _readable(codec)
    declaration = _XML_DECLARATION.match(start)
    codec = _codec(declaration[1]) if declaration else None
    return _readable(codec) if codec else None


def _in_meta(attributes: dict[str, str]) -> str | None:
    if "charset" in attributes:
        return _codec(attributes["charset"])
    if attributes.get("http-equiv", "").lower() == "content-type":
        return _in_header(attributes.get("content", ""))
    return None


def _attributes(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        found.setdefault(match[1].lower(), match[2] or match[3] or match[4] or "")
    return found


def _codec(label: str) -> str | None:
    return _CODEC_OF_LABEL.get(label.strip(" \t\r\n\f").lower())


def _readable(codec: str) -> str:
    """Markup in single bytes is not UTF-16, even if labelled so; browsers read it as UTF-8."""
    return "utf-8" if codec.startswith("utf-16") else codec


def _is_utf_8(body: bytes) -> bool:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
