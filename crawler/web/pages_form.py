"""The form above the table of pages: what it offers, and the query it makes of what was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.http import QueryDict

from crawler.core.errors import BadInput
from crawler.core.pages_query import MAX_TEXT, PagesQuery, Show, read
from crawler.models import Crawl
from crawler.reports.pages_columns import columns_of
from crawler.reports.pages_facets import Facet, outcome_facets, status_facets

SHOWN: dict[Show, str] = {
    Show.ALL: "All pages",
    Show.DEAD_LETTERS: "Dead letters",
    Show.ORPHANS: "Orphans",
    Show.LISTED: "Pages in a sitemap",
    Show.SITEMAPS: "Sitemaps",
    Show.EXTERNALS: "Links to other sites",
}

ORDERS = {
    "": "Found first",
    "-found": "Found last",
    "url": "URL, A to Z",
    "-url": "URL, Z to A",
    "title": "Title, A to Z",
    "-title": "Title, Z to A",
    "-status": "Highest status",
    "status": "Lowest status",
    "-depth": "Deepest",
    "depth": "Shallowest",
    "-size": "Largest",
    "size": "Smallest",
    "-time": "Slowest",
    "time": "Fastest",
}

COMMON_TYPES = ("text/html", "application/pdf", "image/", "text/css", "application/javascript", "application/json")

Choice = tuple[str, Any]


class PagesForm(forms.Form):
    """What to show of a crawl's pages. The fields are texts to whoever reads them: `core.pages_query` judges them."""

    q = forms.CharField(required=False, label="Text in URL or title")
    show = forms.CharField(required=False, label="Show")
    outcome = forms.CharField(required=False, label="Outcome")
    status = forms.CharField(required=False, label="Status")
    depth = forms.CharField(required=False, label="Depth")
    type = forms.CharField(required=False, label="Type")
    sort = forms.CharField(required=False, label="Order")

    def __init__(self, given: QueryDict, crawl: Crawl) -> None:
        super().__init__(given, use_required_attribute=False)
        self._given = given
        self.query: PagesQuery | None = None  # what was asked for, once that is known to be valid
        typed = {"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off"}
        self.fields["q"].widget = forms.TextInput({**typed, "type": "search", "maxlength": MAX_TEXT})
        self.fields["depth"].widget = forms.TextInput({**typed, "placeholder": "3, or 3+"})
        self.fields["type"].widget = forms.TextInput({**typed, "placeholder": "text/html", "list": "types"})
        self._offer("show", [("" if show is Show.ALL else str(show), name) for show, name in SHOWN.items()])
        self._offer("outcome", [("", "Any"), *_choices(outcome_facets(crawl))])
        self._offer("status", [("", "Any"), *_choices(status_facets(crawl))])
        self._offer("sort", list(ORDERS.items()))
        self.fields["sort"].widget.attrs["form"] = "filters"  # it stands above the table, where its order is seen
        self._columns = columns_of(crawl)
        self.columns = [(column.name, column.title) for column in self._columns]

    def _offer(self, name: str, choices: list[Choice]) -> None:
        """A list to choose from; what the address asks for besides is one more choice, so that it is seen."""
        asked = self._given.get(name, "")
        known = {value for choice in choices for value in _values(choice)}
        more = [] if asked in known else [(asked, asked)]
        self.fields[name].widget = forms.Select(choices=[*choices, *more])

    def clean(self) -> dict[str, Any]:
        try:
            query = read(dict(self._given.lists()))
            usual = {column.name for column in self._columns if column.is_usual}
            self.query = replace(query, columns=()) if set(query.columns) == usual else query
        except BadInput as error:
            self.add_error(error.field if error.field in self.fields else None, error.message)
        return self.cleaned_data


def _choices(groups: Sequence[tuple[str, Sequence[Facet]]]) -> list[Choice]:
    return [(name.capitalize(), [(facet.value, facet.label) for facet in facets]) for name, facets in groups]


def _values(choice: Choice) -> list[str]:
    value, shown = choice
    return [inner for inner, _ in shown] if isinstance(shown, list) else [value]
