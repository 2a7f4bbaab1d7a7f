"""One crawl of a peer each, as a program of its own that prints one JSON object: pages, links, seconds.

environment    where the peers are installed
scrapy_crawl   Scrapy
crawlee_crawl  Crawlee with Parsel
scrapy_browser, crawlee_browser   both with Playwright, for `bin/bench render`
lines          what both of them store of a page

Both get settings that are cheap for them and still comparable: the same parser's selectors they come with, links of
every page stored as a line of JSON, nothing kept on disk that was not asked for.
"""
