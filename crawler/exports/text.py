"""Text of strangers inside XML."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # https://www.w3.org/TR/xml/#charsets


def in_xml(text: str) -> str:
    """The text as the content of an element or a quoted attribute; characters XML has no place for are replaced."""
    return escape(_NOT_XML.sub("\ufffd", text), {'"': "&quot;"})
