"""Starts crawls as the web pages do, on the host it runs on: `python -m tools.chaos.hosts.begin JSON`.

The argument is a list of [start URL, options]; the ids are printed as a list.
"""

import json
import sys

import django

if __name__ == "__main__":
    django.setup()
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.crawls.start import start_crawl

    wanted = [(url, CrawlOptions.from_plain(options)) for url, options in json.loads(sys.argv[1])]
    print(json.dumps([str(start_crawl([url], options, allow_private=True).id) for url, options in wanted]))
