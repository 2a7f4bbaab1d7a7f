"""The admin. Accounts, groups and quotas can be changed and crawls deleted; all other tables are read-only."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin import actions
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse, reverse_lazy
from django.utils.html import format_html
from redis import RedisError

from crawler import conf
from crawler.accounts.login_links import link_for
from crawler.core.errors import BadInput, ServiceDown
from crawler.core.options.receivers import RECEIVERS
from crawler.core.text.quantities import counted
from crawler.crawls.delete import begin_delete
from crawler.models import (
    NOT_OVER,
    Allowance,
    ApiToken,
    AuditEntry,
    Channel,
    Crawl,
    Delivery,
    Disagreement,
    Notice,
    Page,
    Schedule,
    Trap,
    Usage,
)
from crawler.reports.receipt import address_shown, error_shown

MAX_COUNTED_ROWS = 10_000  # a longer table shows no total
SERVICE_DOWN = "Redis or the content storage does not answer, so this may be incomplete. Try again in a moment."
CRAWLS = reverse_lazy("admin:crawler_crawl_changelist")
DELETED_WITH_ACCOUNT = {model._meta.verbose_name for model in (Schedule, Channel, ApiToken, Usage)}
"""Objects that are deleted with their account, although the admin cannot delete them separately."""

PRIVILEGE_FIELDS = ("is_staff", "is_superuser", "groups", "user_permissions")
"""Fields of an account that only superusers may change."""

DeletedObjects = tuple[list[Any], dict[str, int], set[str], list[Any]]
"""Django's description of a deletion: lines, counts, missing permissions, protected objects."""

if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
    Stacked = admin.StackedInline[Any, Any]
    Pages = Paginator[Any]
    BaseUserAdmin = UserAdmin[User]
    BaseGroupAdmin = GroupAdmin
else:
    ModelAdmin, Inline, Stacked = admin.ModelAdmin, admin.TabularInline, admin.StackedInline
    Pages, BaseUserAdmin, BaseGroupAdmin = Paginator, UserAdmin, GroupAdmin


class ReadOnly:
    """No adding, changing or deleting; all staff may view."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)


class ReadOnlyAdmin(ReadOnly, ModelAdmin):
    """A read-only table. Filters in the URL of its list cannot be used to guess excluded fields."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        field = lookup.split(LOOKUP_SEP, 1)[0]
        return field not in (self.exclude or ()) and super().lookup_allowed(lookup, value, request)


class CappedPaginator(Pages):
    """Counts at most MAX_COUNTED_ROWS, since counting a million rows is slow."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list  # a queryset, in the admin
        return int(rows[: MAX_COUNTED_ROWS + 1].count())


class LargeTableAdmin(ReadOnlyAdmin):
    """A read-only table that may have millions of rows."""

    paginator = CappedPaginator
    show_full_result_count = False


class AllowanceInline(Stacked):
    model = Allowance
    can_delete = True
    verbose_name_plural = "Quota of this user, where it differs from the settings"


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(Group)
class CrawlerGroupAdmin(BaseGroupAdmin):
    """Django's own, but only superusers change the permissions of a group."""

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, "permissions")


@admin.register(User)
class CrawlerUserAdmin(BaseUserAdmin):
    """Django's own, with the quota, and with invitation links for new users."""

    inlines = [AllowanceInline]
    actions = ["invite", "delete_selected"]
    delete_confirmation_template = "crawler/admin/delete_person.html"
    delete_selected_confirmation_template = "crawler/admin/delete_people.html"

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Staff who may change accounts cannot raise privileges, neither of others nor their own."""
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, *PRIVILEGE_FIELDS)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nor can they change, or set the password of, staff and superusers."""
        return super().has_change_permission(request, obj) and _may_change(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_change(request, obj)

    def has_invite_permission(self, request: HttpRequest) -> bool:
        """A link logs in as that account, so only superusers may create it."""
        return request.user.is_active and request.user.is_superuser

    @admin.action(description="Make an invitation link", permissions=["invite"])
    def invite(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        for account in accounts:
            try:
                link = link_for(account, conf.base_url())
            except BadInput as error:
                self.message_user(request, error.message, messages.WARNING)
            else:
                line = format_html("For {}, valid once, for three days: {}", account.get_username(), link)
                self.message_user(request, line, messages.SUCCESS)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> DeletedObjects:
        going, numbers, missing, protected = super().get_deleted_objects(objs, request)
        spared = [f"{account}: only superusers delete staff" for account in objs if not _may_change(request, account)]
        return going, numbers, missing - DELETED_WITH_ACCOUNT, [*protected, *spared]

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        account = self.get_object(request, object_id)
        left = remaining_crawls(User.objects.filter(pk=account.pk)) if account is not None else {}
        return super().delete_view(request, object_id, {**left, **(extra_context or {})})

    @admin.action(description="Delete the accounts", permissions=["delete"])
    def delete_selected(self, request: HttpRequest, accounts: QuerySet[User]) -> HttpResponse | None:
        response = actions.delete_selected(self, request, accounts)
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            response.context_data |= remaining_crawls(accounts)
        return response


def _may_change(request: HttpRequest, account: Model | None) -> bool:
    return request.user.is_superuser or not (isinstance(account, User) and (account.is_superuser or account.is_staff))


def remaining_crawls(accounts: QuerySet[User]) -> dict[str, Any]:
    """Context of a confirmation page: sentences about the crawls these accounts would leave, and the URL of their
    list."""
    crawls = Crawl.objects.filter(owner__in=accounts.values("pk"))
    number, going_on = crawls.count(), crawls.filter(state__in=NOT_OVER).count()
    sentences = [
        f"Not deleted: {counted(number, 'crawl')}. They will have no owner: staff and the groups they are shared with "
        "can view them, superusers can control and delete them.",
        f"Still active: {counted(going_on, 'crawl')}. They continue without a quota; cancel them first to stop them.",
    ]
    owners = ",".join(str(key) for key in accounts.values_list("pk", flat=True))
    return {"left": sentences[: bool(number) + bool(going_on)], "their_crawls": f"{CRAWLS}?owner__in={owners}"}


def without_receivers(item: Crawl | Schedule) -> str:
    """The options as JSON, without the receivers of notices, which only the owner may see."""
    return json.dumps({name: item.options[name] for name in sorted(item.options) if name not in RECEIVERS.values()})


class HiddenOptionsAdmin(ReadOnlyAdmin):
    """Its options are shown without what only the owner may see."""

    exclude = ["sealed", "options"]
    readonly_fields = ["options_shown"]

    @admin.display(description="options")
    def options_shown(self, item: Crawl | Schedule) -> str:
        return without_receivers(item)


@admin.register(Usage)
class UsageAdmin(LargeTableAdmin):
    list_display = ["day", "user", "pages"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    ordering = ["-day", "-pages"]


@admin.register(Crawl)
class CrawlAdmin(HiddenOptionsAdmin):
    list_display = ["site", "state", "owner", "group", "discovered", "closed", "created_at", "finished_at"]
    list_filter = ["state", "keep"]
    list_select_related = ["owner", "group"]
    search_fields = ["id", "start_urls", "owner__username"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
    actions = ["delete_selected"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Only superusers."""
        return request.user.is_active and request.user.is_superuser

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> DeletedObjects:
        """Only counted: there may be a million pages."""
        pages = sum(crawl.discovered for crawl in objs)
        lines = [f"{crawl}: {counted(crawl.discovered, 'page')}, its notices, its stored content" for crawl in objs]
        return lines, {"crawls": len(lines), "pages": pages}, set(), []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """As Django's, with confirmation, but not in one transaction, so that other processes can write meanwhile."""
        crawl = self.get_object(request, object_id)
        if request.method != "POST" or crawl is None or not self.has_delete_permission(request, crawl):
            return super().delete_view(request, object_id, extra_context)
        return self.delete_selected(request, Crawl.objects.filter(pk=crawl.pk)) or redirect(CRAWLS)

    @admin.action(description="Delete the crawls and all their data", permissions=["delete"])
    def delete_selected(self, request: HttpRequest, crawls: QuerySet[Crawl]) -> HttpResponse | None:
        try:
            return actions.delete_selected(self, request, crawls)
        except (ServiceDown, RedisError):
            self.message_user(request, SERVICE_DOWN, messages.WARNING)
            return None

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Crawl]) -> None:
        """Also deletes the data in Redis and the storage. The rows of large crawls are deleted in the background."""
        begin_delete(*queryset.values_list("pk", flat=True))

    @admin.display(description="closed")
    def closed(self, crawl: Crawl) -> int:
        return crawl.tallies.closed

    def view_on_site(self, crawl: Crawl) -> str:
        return reverse("crawl-detail", args=[crawl.pk])


@admin.register(Schedule)
class ScheduleAdmin(HiddenOptionsAdmin):
    list_display = ["__str__", "enabled", "next_at", "owner", "group", "last_error"]
    list_filter = ["enabled"]
    list_select_related = ["owner", "group"]
    search_fields = ["id", "start_urls"]
    ordering = ["next_at"]


@admin.register(Page)
class PageAdmin(LargeTableAdmin):
    list_display = ["url", "crawl", "status", "outcome", "http_status", "depth", "attempts", "fetched_at"]
    list_filter = ["status", "outcome"]
    list_select_related = ["crawl"]
    search_fields = ["url"]
    ordering = ["-id"]
    exclude = ["key"]


@admin.register(Trap)
class TrapAdmin(LargeTableAdmin):
    list_display = ["reason", "pattern", "crawl", "pages", "quarantined", "left_out", "released"]
    list_filter = ["released"]
    list_select_related = ["crawl"]
    search_fields = ["pattern"]
    ordering = ["-id"]
    exclude = ["key", "seen_values", "evidence"]


class MaskedAddress:
    """The masked address of a delivery: it may be secret or personal, and only the crawl's owner may see it."""

    @admin.display(description="address")
    def where(self, delivery: Delivery) -> str:
        return address_shown(delivery, in_full=False)

    @admin.display(description="error")
    def why_not(self, delivery: Delivery) -> str:
        return error_shown(delivery, in_full=False)


class DeliveryInline(MaskedAddress, ReadOnly, Inline):
    model = Delivery
    extra = 0
    fields = ["transport", "where", "state", "attempts", "due_at", "delivered_at", "why_not"]
    readonly_fields = ["where", "why_not"]
    can_delete = False


@admin.register(Notice)
class NoticeAdmin(LargeTableAdmin):
    list_display = ["event", "crawl", "created_at"]
    list_select_related = ["crawl"]
    ordering = ["-created_at"]
    exclude = ["receipt"]
    inlines = [DeliveryInline]


@admin.register(Delivery)
class DeliveryAdmin(MaskedAddress, LargeTableAdmin):
    list_display = ["transport", "where", "state", "attempts", "due_at", "delivered_at", "why_not"]
    readonly_fields = ["where", "why_not"]
    exclude = ["address", "error", "answer"]
    list_filter = ["state", "transport"]
    ordering = ["-due_at"]


@admin.register(Channel)
class ChannelAdmin(ReadOnlyAdmin):
    list_display = ["transport", "name", "owner", "events", "enabled", "created_at"]
    list_filter = ["transport", "enabled"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    ordering = ["-created_at"]
    exclude = ["address"]


@admin.register(AuditEntry)
class AuditAdmin(LargeTableAdmin):
    """Only for superusers: it holds the network addresses of users."""

    list_display = ["at", "act", "actor", "via", "address", "kind", "name", "before", "after"]
    list_filter = ["via", "kind"]
    search_fields = ["act", "actor", "address", "key", "name"]
    date_hierarchy = "at"
    ordering = ["-pk"]

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_active and request.user.is_superuser


@admin.register(Disagreement)
class DisagreementAdmin(ReadOnlyAdmin):
    list_display = ["seen_at", "crawl", "what"]
    list_select_related = ["crawl"]
    ordering = ["-seen_at"]


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    list_display = ["name", "user", "shown", "created_at", "last_used_at", "expires_at", "revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    ordering = ["-created_at"]
    exclude = ["digest"]
