"""Starts crawls as the web pages do, on the host it runs on: `python -m tools.hosts.begin JSON`.

The argument is a list of [start URL, options]; the ids are printed as a list.
"""

from __future__ import annotations

import json
import sys

import django


def main() -> None:
    django.setup()
    # Models can be imported when Django is set up.
    from crawler.core.options.catalogue import CrawlOptions
    from crawler.crawls.start import start_crawl

    ids = [
        str(start_crawl([url], CrawlOptions.from_plain(options), allow_private=True).id)
        for url, options in json.loads(sys.argv[1])
    ]
    print(json.dumps(ids))


if __name__ == "__main__":
    main()
