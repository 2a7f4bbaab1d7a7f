"""The door that judges one field of the form as it is left, by the form's own code and that of a start."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crawler.core.crawl.options import CrawlOptions, check_options
from crawler.core.crawl.presets import Preset, applied
from crawler.core.errors import BadInput
from crawler.core.urls.normalise import from_person
from crawler.crawls.schedules import timetable_of
from crawler.web.decorators import page
from crawler.web.forms.crawl_form import CrawlForm


@never_cache
@require_POST
@page
def crawl_check(request: HttpRequest) -> HttpResponse:
    """What is wrong with the field named by `field`, as the form would say it; nothing when it can be used. No host is
    looked up: that is done at the start, and nowhere by the mere leaving of a field."""
    name = request.POST.get("field", "")
    form = CrawlForm(request.POST, user=request.user)
    if name not in form.checked:
        raise Http404
    return render(request, "crawler/complaints.html", {"complaints": complaints(form, name)})


def complaints(form: CrawlForm, name: str) -> list[str]:
    """An empty field is no trouble before the form is sent."""
    if name in form.errors:
        return [str(error) for error in form.errors[name]] if form[name].data else []
    value = form.cleaned_data.get(name)
    if not value and value != 0:
        return []
    try:
        _judge(form, name, value)
    except BadInput as error:
        return [error.message]
    return []


def _judge(form: CrawlForm, name: str, value: Any) -> None:
    """BadInput when a crawl could not be started with this value."""
    if name == "start_urls":
        applied(Preset(form.chosen_preset), CrawlOptions(), [from_person(typed) for typed in value])
    elif name == "schedule":
        timetable_of(value)
    else:
        chosen: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value}
        check_options(CrawlOptions(**chosen))
