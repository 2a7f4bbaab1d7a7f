"""A page as a person reads it: its words, line by line."""

import re

from django.test import Client
from selectolax.lexbor import LexborHTMLParser

from tests.golden.masking import masked

SHOWN_MOMENT = re.compile(r"\d{1,2} [A-Z][a-z]{2} \d{4}, \d\d:\d\d(?::\d\d)? UTC")


def words_of(html: str) -> list[str]:
    """The lines below the head of a page, without what is hidden; ids and moments are masked."""
    main = LexborHTMLParser(html).css_first("main")
    for hidden in main.css("[hidden], script, svg"):
        hidden.decompose()
    lines = (" ".join(line.split()) for line in main.text(separator="\n").splitlines())
    return [masked(SHOWN_MOMENT.sub("MOMENT", line), {}) for line in lines if line]


def html_at(browser: Client, address: str) -> str:
    response = browser.get(address)
    assert response.status_code == 200
    return str(response.content.decode())
