"""Prices: reads the price of each product page, and stores it in a SQLite file of its own.

    CRAWLER_HOOKS=examples.hooks.prices.Prices
    PRICES_FILE=/var/lib/crawler/prices.sqlite3

A page says its price as schema.org has it: `<span itemprop="price" content="12.50">` with `itemprop="priceCurrency"`.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

from selectolax.lexbor import LexborHTMLParser

from crawler.hooks import Found, PageClosed, PageSeen, Response

FILE = "prices.sqlite3"

TABLE = """
    CREATE TABLE IF NOT EXISTS prices (
        page INTEGER PRIMARY KEY, crawl TEXT, url TEXT, price REAL, currency TEXT, fetched_at REAL
    )
"""
STORE = "INSERT OR REPLACE INTO prices VALUES (?, ?, ?, ?, ?, ?)"  # a second call for a page changes nothing


class Prices:
    def on_page(self, page: PageSeen, response: Response) -> Found | None:
        """The price becomes a field of the page: a column of the table and of exports."""
        document = LexborHTMLParser(response.text)
        price = _property(document, "price")
        if price is None:
            return None
        return Found({"price": float(price), "currency": _property(document, "priceCurrency")})

    def on_closed(self, page: PageClosed) -> None:
        """The page is committed: only now is its price stored elsewhere, too. A connection belongs to one thread."""
        if page.fields.get("price") is None:
            return
        with closing(sqlite3.connect(os.environ.get("PRICES_FILE", FILE), timeout=5)) as database, database:
            database.execute(TABLE)
            fields = page.fields["price"], page.fields.get("currency")
            database.execute(STORE, [page.id, page.crawl, page.url, *fields, page.fetched_at])


def _property(document: LexborHTMLParser, name: str) -> str | None:
    node = document.css_first(f'[itemprop="{name}"]')
    if node is None:
        return None
    return node.attributes.get("content") or node.text().strip() or None
