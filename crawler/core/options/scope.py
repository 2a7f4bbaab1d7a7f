"""Options: which hosts, paths and URLs belong to a crawl."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import OptionGroup, Switch, Texts, each, option
from crawler.core.text.patterns import check_patterns
from crawler.core.urls.normalise import check_host, check_prefix

SITE = OptionGroup("Scope", "hosts, paths, patterns", "scope", 10)


class ScopeOptions(Part):
    """What belongs to the site."""

    subdomains: bool = option(Switch(), SITE, "Include subdomains", "Include subdomains of the start URLs' hosts.")
    hosts: tuple[str, ...] = option(
        Texts("*.example.org", each(check_host), "HOST"),
        SITE,
        "Further hosts",
        "Also crawl these hosts. Ports are allowed; *.example.org means all subdomains of example.org.",
        flag="--host",
    )
    path_prefixes: tuple[str, ...] = option(
        Texts("/docs/", each(check_prefix), "PATH"),
        SITE,
        "Only below these paths",
        "Crawl only paths with one of these prefixes.",
        flag="--path-prefix",
    )
    include: tuple[str, ...] = option(
        Texts(r"/20\d\d/", check_patterns, "RE"),
        SITE,
        "Only URLs that match",
        "Crawl only URLs matching a regular expression.",
    )
    exclude: tuple[str, ...] = option(
        Texts(r"\?print=1$", check_patterns, "RE"),
        SITE,
        "No URLs that match",
        "Skip URLs matching a regular expression.",
    )
