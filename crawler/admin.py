"""What staff see of the tables. All of it is for reading: crawls are moved by the engine, pages by `crawler.pages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse

from crawler.models import Crawl, Delivery, Disagreement, Notice, Page, Schedule

if TYPE_CHECKING:
    Reading = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
else:
    Reading, Inline = admin.ModelAdmin, admin.TabularInline


class ReadOnly:
    """No adding, changing or deleting; looking is allowed to those who may."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Crawl)
class CrawlAdmin(ReadOnly, Reading):
    list_display = ["site", "state", "owner", "discovered", "closed", "created_at", "finished_at"]
    list_filter = ["state"]
    list_select_related = ["owner"]
    search_fields = ["id", "start_urls"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
    exclude = ["sealed"]

    @admin.display(description="closed")
    def closed(self, crawl: Crawl) -> int:
        return crawl.tallies.closed

    def view_on_site(self, crawl: Crawl) -> str:
        return reverse("crawl-detail", args=[crawl.pk])


@admin.register(Schedule)
class ScheduleAdmin(ReadOnly, Reading):
    list_display = ["__str__", "enabled", "next_at", "owner", "last_error"]
    list_filter = ["enabled"]
    list_select_related = ["owner"]
    search_fields = ["id", "start_urls"]
    ordering = ["next_at"]
    exclude = ["sealed"]


@admin.register(Page)
class PageAdmin(ReadOnly, Reading):
    list_display = ["url", "crawl", "status", "outcome", "http_status", "depth", "attempts", "fetched_at"]
    list_filter = ["status", "outcome"]
    list_select_related = ["crawl"]
    search_fields = ["url"]
    ordering = ["-id"]
    exclude = ["key"]
    show_full_result_count = False  # counting a million rows only to show how many there are


class DeliveryInline(ReadOnly, Inline):
    model = Delivery
    extra = 0
    fields = ["transport", "address", "state", "attempts", "due_at", "delivered_at", "error"]
    can_delete = False


@admin.register(Notice)
class NoticeAdmin(ReadOnly, Reading):
    list_display = ["event", "crawl", "created_at"]
    list_select_related = ["crawl"]
    ordering = ["-created_at"]
    inlines = [DeliveryInline]


@admin.register(Delivery)
class DeliveryAdmin(ReadOnly, Reading):
    list_display = ["transport", "address", "state", "attempts", "due_at", "delivered_at", "error"]
    list_filter = ["state", "transport"]
    ordering = ["-due_at"]


@admin.register(Disagreement)
class DisagreementAdmin(ReadOnly, Reading):
    list_display = ["seen_at", "crawl", "what"]
    list_select_related = ["crawl"]
    ordering = ["-seen_at"]
