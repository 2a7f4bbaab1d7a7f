"""What runs in a process of Scrapy, which its worker starts as `python -m crawler.capabilities.scrapy.inside`.

__main__    the process: the pipe, the spider, the end
pages       one page after the other through Scrapy: downloader, middlewares, spider, pipelines
handler     how its requests reach the worker, which sends them
spiders     the spider
yielded     what a spider yields
"""
