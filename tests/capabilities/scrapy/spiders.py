"""Spiders, as users write them."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import scrapy
from scrapy.http import Response


class DropFree:
    """An item pipeline."""

    def process_item(self, item: Any, spider: Any = None) -> Any:
        if item.get("price") == 0:
            raise scrapy.exceptions.DropItem("free")
        return {**item, "currency": "EUR"} if "price" in item else item


class Prices(scrapy.Spider):
    """A shop: its start page has categories, a category has products, a product a price."""

    name = "prices"
    start_urls = ("https://never.example/",)
    allowed_domains = ("never.example",)
    custom_settings = {  # as Scrapy's documentation shows it
        "ITEM_PIPELINES": {DropFree: 300},
        "DOWNLOAD_DELAY": 60,
        "DOWNLOAD_HANDLERS": {"http": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"},
    }

    def parse(self, response: Response) -> Iterator[Any]:
        for link in response.css("a.category"):
            yield response.follow(link, self.parse_category, cb_kwargs={"category": link.attrib["title"]})

    async def parse_category(self, response: Response, category: str) -> AsyncIterator[Any]:
        yield {"category": category}
        for link in response.css("a.product"):
            yield response.follow(link, callback=self.parse_product, meta={"category": category})

    def parse_product(self, response: Response) -> Iterator[Any]:
        yield {"price": float(response.css("b::text").get()), "category": response.meta["category"]}


class Forms(scrapy.Spider):
    """Asks for more than its page."""

    name = "forms"

    def parse(self, response: Response) -> Iterator[Any]:
        yield scrapy.FormRequest(response.urljoin("/search"), formdata={"q": "shoes"}, callback=self.parse_search)
        yield scrapy.Request(response.urljoin("/lambda"), callback=lambda response: None)

    def parse_search(self, response: Response) -> Iterator[Any]:
        yield {"hits": response.css("i::text").getall()}
        yield from response.follow_all(css="a")


class Broken(scrapy.Spider):
    """Raises on some pages, and yields several items on others."""

    name = "broken"

    def parse(self, response: Response) -> Iterator[Any]:
        yield {"title": response.css("title::text").get()}
        yield {"title": "again", "second": True}
        yield from response.follow_all(css="a")
        raise ValueError("this page is not for it")


class Closing(scrapy.Spider):
    """Has had enough at every page."""

    name = "closing"

    def parse(self, response: Response) -> Iterator[Any]:
        yield from response.follow_all(css="a")
        raise scrapy.exceptions.CloseSpider("enough")
