"""A self-hosted recursive site crawler on Django and RQ.

jobs, worker        what RQ calls, and the worker that runs it
models, migrations  the tables
core                pure rules: no Django, Redis, network or clock
manager, fetcher    the two kinds of jobs: the crawl manager, and fetch jobs
frontier            the crawl's state in Redis
storage             page rows and their one writer
queueing            RQ: queues, workers, wake-ups
http                the guarded client
registry            the capabilities, a line each
capabilities        what a crawl may do besides: browser, Scrapy, hooks, extraction, kept content
hooks, browser      what hooks are given and return; a name of the browser worker in earlier versions
scripting, signals, embedding, urls   for Python code: start a crawl, hear of it; the app in another Django project
crawls, accounts, notices             what users do with crawls; users, tokens, quotas; notices and their channels
reports, exports    reports on a crawl, and its files
web, api, management, admin, templatetags  the surfaces
launch              starting the project on one machine
settings, conf, checks, apps          settings from the environment; as values; and their checks
clock, closing, crashpoints, logs, json_log, redis_client, running  shared by all
version             the version, with the commit it was built from
home, command_names where data are kept, and how commands are typed: in a clone, or installed by pip
extras              packages that pip leaves out, and what to type where one is wanted
cipher, encryption  encryption of credentials
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = ["results", "start"]


def __getattr__(name: str) -> Any:
    """`start` and `results` need Django's apps, which `import crawler` does not load."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("crawler.scripting"), name)
