"""Pages run through Scrapy, for crawls with the option `--engine scrapy`: see docs/scrapy.md.

options     its options
conf        its settings
lanes       the lane of such crawls
messages    what a worker and its process of Scrapy tell each other
page_rows   what spiders said about pages, as rows
receipt_parts  the engine, in the receipt
page_steps  runs pages through it, and sends what it requests for them
settings    the options of a crawl as settings of Scrapy
driver      the processes of Scrapy that a worker has, one for each crawl
inside      what runs in such a process: the only code that imports Scrapy

The process opens no connection: its download handler asks the worker, whose client sends each request, with the guard,
the turn of the host, robots.txt, proxies, credentials and limits of every other page.
"""

SEAMS = ("options", "lanes", "page_steps", "page_rows", "receipt_parts")
