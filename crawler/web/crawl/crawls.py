"""The views of the list of crawls, the form that starts one, the page of a crawl, and its state as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, cast
from uuid import UUID

from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from redis import RedisError

from crawler import clock
from crawler.accounts.permissions import may, sees_addresses, visible_crawls
from crawler.core.access.permissions import Right
from crawler.core.errors import BadInput, LoadStopped, OverQuota, ServiceDown
from crawler.core.options.receivers import MAY_BE_SECRET
from crawler.core.protocol.completion import State
from crawler.core.protocol.page_readers import page_readers
from crawler.core.url_lists.reader import ColumnChoice
from crawler.crawls import kept_extraction
from crawler.crawls.import_urls import load_list
from crawler.crawls.reconcile import reconcile
from crawler.crawls.start import start_crawl
from crawler.models import NOT_OVER, Crawl
from crawler.reports import text
from crawler.reports.crawl_parts import crawl_parts
from crawler.reports.crawl_search import CrawlSearch
from crawler.reports.progress import breakdown
from crawler.storage.database import read_snapshot
from crawler.web.crawl.crawl_summary import figures_of, quick_figures
from crawler.web.crawl.schedules import runs_of
from crawler.web.crawl.status import STATES, status_of, summary_of
from crawler.web.decorators import is_part, page_to_post, page_to_read
from crawler.web.forms.crawl_form import CrawlForm
from crawler.web.forms.fields import SECRETS
from crawler.web.forms.queue import AddForm, ChangeForm
from crawler.web.forms.sharing import permitted, share_as_chosen, sharing_of
from crawler.web.tables.paging import page_of

CRAWLS_PER_PAGE = 25
MAX_OWNERS = 200  # to choose from
SOON, LATER = "3s", "30s"  # until the page reloads the list: while a crawl runs, and otherwise


@dataclass(frozen=True)
class Filters:
    """The filters of the list; "" = any."""

    state: str = ""  # a State, or "going" for all crawls that are not over
    text: str = ""  # in a start URL or in the name of a list
    owner: str = ""  # a user name

    @classmethod
    def of(cls, typed: QueryDict) -> Filters:
        """From the query string; an unknown state filters nothing."""
        state = typed.get("state", "")
        known = state == "going" or state in set(State)
        return cls(state if known else "", typed.get("q", "").strip(), typed.get("owner", ""))

    def __bool__(self) -> bool:
        return self != Filters()

    def among(self, crawls: QuerySet[Crawl]) -> QuerySet[Crawl]:
        """The crawls that pass."""
        states = NOT_OVER if self.state == "going" else [State(self.state)] if self.state else ()
        return CrawlSearch(states, self.text, self.owner).among(crawls)


def list_of(request: HttpRequest, visible: QuerySet[Crawl]) -> dict[str, Any]:
    """The context of the list: filters, summaries, a page of crawls, and when to reload it."""
    filters = Filters.of(request.GET)
    rows = filters.among(visible).select_related("owner").order_by("-created_at")
    crawls = page_of(request, rows, CRAWLS_PER_PAGE)
    now = clock.epoch_seconds()
    return {
        "filters": filters,
        "states": [("going", "Active"), *((state.value, name) for state, name in STATES.items())],
        "owners": _owners(request.user, visible),
        "crawls": crawls,
        "summaries": [summary_of(crawl, now) for crawl in crawls],
        "again_in": LATER if all(crawl.is_over for crawl in crawls) else SOON,
        "asked": _asked(request.GET),
        "asked_page": crawls.number,
    }


def _owners(user: User | AnonymousUser, visible: QuerySet[Crawl]) -> list[str]:
    """The owners to filter by; only staff see crawls of others."""
    if not user.is_staff:
        return []
    names = visible.filter(owner__isnull=False).order_by("owner__username").values_list("owner__username", flat=True)
    return list(names.distinct()[:MAX_OWNERS])


def _asked(typed: QueryDict) -> str:
    """The filters as the beginning of a query string: "state=paused&"."""
    kept = typed.copy()
    for name in list(kept):
        if name not in {"state", "q", "owner"} or not kept[name]:
            del kept[name]
    return f"{kept.urlencode()}&" if kept else ""


def started(form: CrawlForm, owner: User | None) -> Crawl | None:
    """The crawl over the uploaded list; None without one. Raises the errors of `load_list`."""
    typed = form.cleaned_data
    upload: UploadedFile[Any] | None = typed["upload"]
    if upload is None:
        return None
    if typed["start_urls"]:
        raise BadInput("list", "Give URLs or a list, not both.")
    if typed.get("schedule"):
        raise BadInput("list", "A schedule cannot repeat a list: you would have to upload it each time.")
    return load_list(
        cast(BinaryIO, upload),  # it has the same methods
        upload.name or "list",
        form.options(),
        columns=ColumnChoice(typed["list_column"], typed["priority_column"]),
        owner=owner,
        allow_private=form.private_allowed,
        sealed=form.sealed(),
    )


def report_of(crawl: Crawl) -> dict[str, Any] | None:
    """The import of the crawl's list: a summary, the first invalid lines, and the number of others; None without a
    list."""
    if not crawl.source_report:
        return None
    examples = crawl.source_report["examples"]
    more = crawl.source_report["invalid"] - len(examples)
    return {
        "summary": f"{text.list_read(crawl.source_report)}.",
        "unusable": text.counted(crawl.source_report["invalid"], "line"),
        "examples": examples,
        "more": f"And {text.counted(more, 'more line')}." if more else "",
    }


DENIED_MESSAGES = {
    Right.SEE: "",  # a user who may not look gets a 404
    Right.CONTROL: "You can view this crawl but not control it. Ask its owner to let your group control it.",
    Right.OWN: "Only the owner can do this.",
}
"""The message for a user who lacks a right."""


@page_to_read
def crawl_list(request: HttpRequest) -> HttpResponse:
    """The form and the crawls, newest first. `again` fills the form with the options of that crawl. An open page
    reloads only the list, when a filter changes and at intervals."""
    if is_part(request):
        return render(request, "crawler/crawl_rows.html", list_of(request, visible_crawls(request.user)))
    form = CrawlForm(user=request.user, like=crawl_named(request, request.GET.get("again", "")))
    return _list_page(request, form, status=200)


@sensitive_post_parameters(*SECRETS, *MAY_BE_SECRET)
@page_to_post
def crawl_create(request: HttpRequest) -> HttpResponse:
    """Start a crawl and redirect to its page; or show the form again with its errors."""
    like = crawl_named(request, request.POST.get("again", ""))
    form = CrawlForm(request.POST, request.FILES, user=request.user, like=like)
    if not form.is_valid():
        return _list_page(request, form, status=400)
    owner = request.user if isinstance(request.user, User) else None
    try:
        crawl = started(form, owner) or _started(form, owner)
        share_as_chosen(form, crawl, owner)
    except OverQuota as error:
        form.add_error(None, error.message)
        response = _list_page(request, form, status=429)
        response["Retry-After"] = str(error.retry_after)
        return response
    except BadInput as error:
        form.refuse(error)
        return _list_page(request, form, status=400)
    except LoadStopped as error:
        form.add_error(None, str(error))
        return _list_page(request, form, status=409)
    except ServiceDown as error:
        form.add_error(None, str(error))
        return _list_page(request, form, status=503)
    return redirect("crawl-detail", crawl_id=crawl.id)


@page_to_read
def crawl_detail(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The state of the crawl; without JavaScript the user reloads the page."""
    return detail_page(request, visible_crawl(request, crawl_id))


def detail_page(
    request: HttpRequest,
    crawl: Crawl,
    *,
    add_form: AddForm | None = None,
    change_form: ChangeForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of a crawl. A form that was refused is shown open, with what was typed."""
    context: dict[str, Any] = {"crawl": crawl, "list_report": report_of(crawl)}
    with _seen_at_once(crawl):
        context |= {
            "status": _status_for(request, crawl),
            "runs": runs_of(request.user, crawl),
            "figures": quick_figures(crawl, clock.epoch_seconds()),
        }
    lists = context["status"]["lists"]
    context |= {
        "parts": [
            {"name": part.name, "title": part.title, "template": part.template, "rows": lists[part.name]}
            for part in crawl_parts()
        ],
        "can_extract": kept_extraction.is_possible(crawl.chosen),
        "readers": page_readers(),
        **sharing_of(request.user, crawl),
    }
    if not context["locked"] and crawl.state != State.LOADING:
        context |= {
            "add_form": add_form or AddForm(),
            "change_form": change_form or ChangeForm(crawl=crawl, user=request.user),
        }
    return render(request, "crawler/crawl.html", context, status=status)


@page_to_read
def crawl_status(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The same as JSON; the open page requests it every second."""
    crawl = visible_crawl(request, crawl_id)
    with _seen_at_once(crawl):
        return JsonResponse(_status_for(request, crawl))


@contextmanager
def _seen_at_once(crawl: Crawl) -> Iterator[None]:
    """All that is read in this block is of one time, and so is the crawl's row. 404 if the crawl is deleted by now."""
    with read_snapshot():
        try:
            crawl.refresh_from_db()
        except Crawl.DoesNotExist:
            raise Http404 from None
        yield


def _status_for(request: HttpRequest, crawl: Crawl) -> dict[str, Any]:
    """The state of the crawl, with the buttons for this user."""
    status = status_of(crawl, clock.epoch_seconds(), in_full=sees_addresses(request.user, crawl))
    return status | {"can": permitted(status["can"], request.user, crawl)}


def _started(form: CrawlForm, owner: User | None) -> Crawl:
    """A crawl, or the first one of a schedule."""
    urls, rule, options = form.cleaned_data["start_urls"], form.cleaned_data["schedule"], form.options()
    allow_private, sealed = form.private_allowed, form.sealed()
    return start_crawl(urls, options, rule, owner=owner, allow_private=allow_private, sealed=sealed)


def crawl_for(request: HttpRequest, crawl_id: UUID, right: Right) -> Crawl:
    """A crawl the user has this right to. 404 for a crawl the user may not see; 403 with an explanation for one the
    user may only look at."""
    crawl = get_object_or_404(visible_crawls(request.user), pk=crawl_id)
    if not may(request.user, right, crawl):
        raise PermissionDenied(DENIED_MESSAGES[right])
    return crawl


def visible_crawl(request: HttpRequest, crawl_id: UUID) -> Crawl:
    """A crawl to look at; looking also wakes crawls without activity."""
    crawls = visible_crawls(request.user)
    with suppress(ServiceDown, RedisError):  # the page needs the database only, and shows that Redis is down
        reconcile()
    return get_object_or_404(crawls, pk=crawl_id)


def crawl_named(request: HttpRequest, typed: str) -> Crawl | None:
    """The crawl whose options fill the form. Its credentials and receivers are for its owner alone."""
    try:
        crawl = visible_crawls(request.user).filter(pk=UUID(typed)).first()
    except ValueError:
        return None
    if crawl is not None and not sees_addresses(request.user, crawl):
        crawl.sealed = ""
        crawl.options = {name: value for name, value in crawl.options.items() if not name.startswith("notify_")}
    return crawl


def _list_page(request: HttpRequest, form: CrawlForm, *, status: int) -> HttpResponse:
    context = {"form": form, **list_of(request, visible_crawls(request.user))}
    return render(request, "crawler/crawls.html", context, status=status)


@page_to_read
def crawl_figures(request: HttpRequest, crawl_id: UUID) -> HttpResponse:
    """The charts as a part of the crawl's page, which reloads it while the crawl runs, or as a page without
    JavaScript."""
    crawl = visible_crawl(request, crawl_id)
    now = clock.epoch_seconds()
    context = {"crawl": crawl, "figures": figures_of(crawl, breakdown(crawl, now), now)}
    return render(request, "crawler/figures.html" if is_part(request) else "crawler/figures_page.html", context)
