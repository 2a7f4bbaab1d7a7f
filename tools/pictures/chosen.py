"""Which pictures the documentation shows, and how much of the page is on each."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chosen:
    """A picture of the documentation: what it shows, from where, and down to what height at most (pixels)."""

    place: str
    size: str = "wide"
    colours: str = "light"
    top: str = "body"
    height: int = 900


CHOSEN = {
    "list": Chosen("list"),
    "form": Chosen("form", height=520),
    "options": Chosen("options"),
    "extraction": Chosen("extraction", top=".group:has([name=rules])", height=800),
    "running": Chosen("running", height=1000),
    "finished": Chosen("finished", height=1100),
    "phone": Chosen("finished", size="narrow", height=1000),
    "dark": Chosen("finished", colours="dark"),
    "pages": Chosen("pages"),
    "page": Chosen("page"),
    "reports": Chosen("reports", height=1100),
    "broken-links": Chosen("report-broken-links"),
    "broken-link": Chosen("broken-link"),
    "redirects": Chosen("report-redirect-chains"),
    "near-duplicates": Chosen("report-near-duplicates"),
    "comparison": Chosen("comparison"),
    "graph": Chosen("graph-chosen", height=960),
    "gallery": Chosen("gallery", height=600),
    "exports": Chosen("exports"),
    "notices": Chosen("channels"),
    "tokens": Chosen("tokens"),
    "api": Chosen("api"),
    "schedules": Chosen("schedules"),
    "accounts": Chosen("account"),
}
"""By the name of the file."""
