"""What staff see of the tables. Accounts, groups and allowances are changed here, and crawls deleted, by the engine's
verb; all else is for reading: crawls are moved by the engine, pages by `crawler.storage.writer`."""

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
from crawler.core.crawl.options import RECEIVERS
from crawler.core.errors import BadInput, ServiceDown
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

COUNTED = 10_000  # rows, at most, that are counted to say how many there are
SERVICE_DOWN = "Redis or the storage of kept content does not answer, so this may be half done. Try again in a moment."
CRAWLS = reverse_lazy("admin:crawler_crawl_changelist")
GO_WITH_A_PERSON = {model._meta.verbose_name for model in (Schedule, Channel, ApiToken, Usage)}
"""What is deleted with its account, though nobody can delete it here by itself."""

MIGHT = ("is_staff", "is_superuser", "groups", "user_permissions")
"""What of an account superusers alone change."""

Going = tuple[list[Any], dict[str, int], set[str], list[Any]]
"""What a deletion takes with it, as Django tells it: lines, numbers, permissions that are missing, what forbids it."""

if TYPE_CHECKING:
    Reading = admin.ModelAdmin[Any]
    Inline = admin.TabularInline[Any, Any]
    Stacked = admin.StackedInline[Any, Any]
    Pages = Paginator[Any]
    People = UserAdmin[User]
    Groups = GroupAdmin
else:
    Reading, Inline, Stacked = admin.ModelAdmin, admin.TabularInline, admin.StackedInline
    Pages, People, Groups = Paginator, UserAdmin, GroupAdmin


class ReadOnly:
    """No adding, changing or deleting; all staff may look."""

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


class Shown(ReadOnly, Reading):
    """A table to look at. What it does not show is not to be guessed either, by the filters in a list's address."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        field = lookup.split(LOOKUP_SEP, 1)[0]
        return field not in (self.exclude or ()) and super().lookup_allowed(lookup, value, request)


class CappedPaginator(Pages):
    """Counts no further than COUNTED: of a million rows nobody turns to the last page."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list  # a queryset, in the admin
        return int(rows[: COUNTED + 1].count())


class Uncounted(Shown):
    """The same for tables that may be long."""

    paginator = CappedPaginator
    show_full_result_count = False


class AllowanceInline(Stacked):
    model = Allowance
    can_delete = True
    verbose_name_plural = "What this person may crawl, where that is not what the settings say"


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(Group)
class GroupsAdmin(Groups):
    """Django's own; what a group may do in the admin, superusers alone say."""

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, "permissions")


@admin.register(User)
class PersonAdmin(People):
    """Django's own, with the allowance, and with links for those who are to choose a password themselves."""

    inlines = [AllowanceInline]
    actions = ["invite", "delete_selected"]
    delete_confirmation_template = "crawler/admin/delete_person.html"
    delete_selected_confirmation_template = "crawler/admin/delete_people.html"

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        """Staff who were let change accounts make nobody mightier, themselves least of all."""
        fixed = super().get_readonly_fields(request, obj)
        return fixed if request.user.is_superuser else (*fixed, *MIGHT)

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Nor do they change, or give another password to, somebody mightier."""
        return super().has_change_permission(request, obj) and _may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_touch(request, obj)

    def has_invite_permission(self, request: HttpRequest) -> bool:
        """A link logs one in as that account, so it is for those who may do everything anyway."""
        return request.user.is_active and request.user.is_superuser

    @admin.action(description="Make an invitation link", permissions=["invite"])
    def invite(self, request: HttpRequest, accounts: QuerySet[User]) -> None:
        for account in accounts:
            try:
                link = link_for(account, conf.base_url())
            except BadInput as error:
                self.message_user(request, error.message, messages.WARNING)
            else:
                line = format_html("For {}, once, within three days: {}", account.get_username(), link)
                self.message_user(request, line, messages.SUCCESS)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Going:
        going, numbers, missing, protected = super().get_deleted_objects(objs, request)
        spared = [f"{account}: superusers alone delete staff" for account in objs if not _may_touch(request, account)]
        return going, numbers, missing - GO_WITH_A_PERSON, [*protected, *spared]

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        account = self.get_object(request, object_id)
        left = left_by(User.objects.filter(pk=account.pk)) if account is not None else {}
        return super().delete_view(request, object_id, {**left, **(extra_context or {})})

    @admin.action(description="Delete the accounts", permissions=["delete"])
    def delete_selected(self, request: HttpRequest, accounts: QuerySet[User]) -> HttpResponse | None:
        response = actions.delete_selected(self, request, accounts)
        if isinstance(response, TemplateResponse) and response.context_data is not None:
            response.context_data |= left_by(accounts)
        return response


def _may_touch(request: HttpRequest, account: Model | None) -> bool:
    return request.user.is_superuser or not (isinstance(account, User) and (account.is_superuser or account.is_staff))


def left_by(accounts: QuerySet[User]) -> dict[str, Any]:
    """What a page says of the crawls these people would leave, and where those are listed; no sentence when there are
    none."""
    crawls = Crawl.objects.filter(owner__in=accounts.values("pk"))
    number, going_on = crawls.count(), crawls.filter(state__in=NOT_OVER).count()
    sentences = [
        f"Not deleted: {counted(number, 'crawl')}. Afterwards nobody owns them: staff and the groups they are shared "
        "with can look at them, superusers control and delete them.",
        f"Not over: {counted(going_on, 'crawl')}. What runs goes on, and no quota holds it any more; cancel it "
        "first if it is not to.",
    ]
    owners = ",".join(str(key) for key in accounts.values_list("pk", flat=True))
    return {"left": sentences[: bool(number) + bool(going_on)], "their_crawls": f"{CRAWLS}?owner__in={owners}"}


def without_receivers(item: Crawl | Schedule) -> str:
    """Options for those who may look at a crawl and not know whom its owner tells."""
    return json.dumps({name: item.options[name] for name in sorted(item.options) if name not in RECEIVERS.values()})


@admin.register(Usage)
class UsageAdmin(Uncounted):
    list_display = ["day", "user", "pages"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    ordering = ["-day", "-pages"]


@admin.register(Crawl)
class CrawlAdmin(Shown):
    list_display = ["site", "state", "owner", "group", "discovered", "closed", "created_at", "finished_at"]
    list_filter = ["state", "keep"]
    list_select_related = ["owner", "group"]
    search_fields = ["id", "start_urls", "owner__username"]
    date_hierarchy = "created_at"
    ordering = ["-created_at"]
    exclude = ["sealed", "options"]
    readonly_fields = ["options_shown"]
    actions = ["delete_selected"]

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """As everywhere: of the staff, superusers alone."""
        return request.user.is_active and request.user.is_superuser

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Going:
        """Counted, and not collected: there may be a million pages."""
        pages = sum(crawl.discovered for crawl in objs)
        lines = [f"{crawl}: {counted(crawl.discovered, 'page')}, its notices, the content it kept" for crawl in objs]
        return lines, {"crawls": len(lines), "pages": pages}, set(), []

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """As Django's, which asks first, but not in one transaction: others can write while the rows go."""
        crawl = self.get_object(request, object_id)
        if request.method != "POST" or crawl is None or not self.has_delete_permission(request, crawl):
            return super().delete_view(request, object_id, extra_context)
        return self.delete_selected(request, Crawl.objects.filter(pk=crawl.pk)) or redirect(CRAWLS)

    @admin.action(description="Delete the crawls, and all that belongs to them", permissions=["delete"])
    def delete_selected(self, request: HttpRequest, crawls: QuerySet[Crawl]) -> HttpResponse | None:
        try:
            return actions.delete_selected(self, request, crawls)
        except (ServiceDown, RedisError):
            self.message_user(request, SERVICE_DOWN, messages.WARNING)
            return None

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Crawl]) -> None:
        """The engine's verb: what is in Redis and in the storage goes, too. Of large ones the last rows go later."""
        begin_delete(*queryset.values_list("pk", flat=True))

    @admin.display(description="options")
    def options_shown(self, crawl: Crawl) -> str:
        return without_receivers(crawl)

    @admin.display(description="closed")
    def closed(self, crawl: Crawl) -> int:
        return crawl.tallies.closed

    def view_on_site(self, crawl: Crawl) -> str:
        return reverse("crawl-detail", args=[crawl.pk])


@admin.register(Schedule)
class ScheduleAdmin(Shown):
    list_display = ["__str__", "enabled", "next_at", "owner", "group", "last_error"]
    list_filter = ["enabled"]
    list_select_related = ["owner", "group"]
    search_fields = ["id", "start_urls"]
    ordering = ["next_at"]
    exclude = ["sealed", "options"]
    readonly_fields = ["options_shown"]

    @admin.display(description="options")
    def options_shown(self, schedule: Schedule) -> str:
        return without_receivers(schedule)


@admin.register(Page)
class PageAdmin(Uncounted):
    list_display = ["url", "crawl", "status", "outcome", "http_status", "depth", "attempts", "fetched_at"]
    list_filter = ["status", "outcome"]
    list_select_related = ["crawl"]
    search_fields = ["url"]
    ordering = ["-id"]
    exclude = ["key"]


@admin.register(Trap)
class TrapAdmin(Uncounted):
    list_display = ["reason", "pattern", "crawl", "pages", "quarantined", "left_out", "released"]
    list_filter = ["released"]
    list_select_related = ["crawl"]
    search_fields = ["pattern"]
    ordering = ["-id"]
    exclude = ["key", "seen_values"]


class Told:
    """Whom a delivery goes to, as all but the crawl's owner see it: an address may be secret, or a person's own."""

    @admin.display(description="address")
    def where(self, delivery: Delivery) -> str:
        return address_shown(delivery, in_full=False)

    @admin.display(description="error")
    def why_not(self, delivery: Delivery) -> str:
        return error_shown(delivery, in_full=False)


class DeliveryInline(Told, ReadOnly, Inline):
    model = Delivery
    extra = 0
    fields = ["transport", "where", "state", "attempts", "due_at", "delivered_at", "why_not"]
    readonly_fields = ["where", "why_not"]
    can_delete = False


@admin.register(Notice)
class NoticeAdmin(Uncounted):
    list_display = ["event", "crawl", "created_at"]
    list_select_related = ["crawl"]
    ordering = ["-created_at"]
    exclude = ["receipt"]
    inlines = [DeliveryInline]


@admin.register(Delivery)
class DeliveryAdmin(Told, Uncounted):
    list_display = ["transport", "where", "state", "attempts", "due_at", "delivered_at", "why_not"]
    readonly_fields = ["where", "why_not"]
    exclude = ["address", "error", "answer"]
    list_filter = ["state", "transport"]
    ordering = ["-due_at"]


@admin.register(Channel)
class ChannelAdmin(Shown):
    list_display = ["transport", "name", "owner", "events", "enabled", "created_at"]
    list_filter = ["transport", "enabled"]
    list_select_related = ["owner"]
    search_fields = ["name", "owner__username"]
    ordering = ["-created_at"]
    exclude = ["address"]


@admin.register(AuditEntry)
class AuditAdmin(Uncounted):
    """For superusers: it says who came from where."""

    list_display = ["at", "act", "actor", "via", "address", "kind", "name", "before", "after"]
    list_filter = ["via", "kind"]
    search_fields = ["act", "actor", "address", "key", "name"]
    date_hierarchy = "at"
    ordering = ["-pk"]

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_active and request.user.is_superuser


@admin.register(Disagreement)
class DisagreementAdmin(Shown):
    list_display = ["seen_at", "crawl", "what"]
    list_select_related = ["crawl"]
    ordering = ["-seen_at"]


@admin.register(ApiToken)
class ApiTokenAdmin(Shown):
    list_display = ["name", "user", "shown", "created_at", "last_used_at", "expires_at", "revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    ordering = ["-created_at"]
    exclude = ["digest"]
