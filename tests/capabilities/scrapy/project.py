"""The settings of a project of Scrapy, and its components: what a user of the engine writes."""

import os
import signal
import time
from typing import Any
from urllib.parse import unquote, urlsplit

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse, Response

DOWNLOADER_MIDDLEWARES = {"tests.capabilities.scrapy.project.Middleware": 540}
RETRY_ENABLED = True  # the crawl's settings are above those of a project
DOWNLOAD_DELAY = 60
JOBDIR = "/nonexistent"

MADE = "<title>Made</title>"


class Middleware:
    """Does what the path says."""

    def process_request(self, request: Request, spider: Spider | None = None) -> Response | None:
        path = urlsplit(request.url).path[1:]
        match path:
            case "made":
                return HtmlResponse(request.url, body=MADE, encoding="utf-8", headers={"Content-Type": "text/html"})
            case "ignored":
                raise IgnoreRequest("not for this project")
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "slow":
                time.sleep(60)
            case _:
                request.headers["X-Project"] = "shop"
        return None

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Any:
        path = urlsplit(request.url).path[1:]
        if path == "changed":
            return response.replace(body=b"<title>Changed</title><a href='/from-scrapy'>more</a>")
        if path == "again" and not request.meta.get("again"):
            return request.replace(meta={**request.meta, "again": True}, dont_filter=True)
        if path == "elsewhere" and not request.meta.get("again"):
            target = unquote(urlsplit(request.url).query)
            return request.replace(url=target, meta={**request.meta, "again": True}, dont_filter=True)
        return response
