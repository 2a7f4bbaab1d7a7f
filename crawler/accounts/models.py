"""The tables of accounts: quotas, API tokens, idempotent requests and the audit log."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from crawler import clock


class Allowance(models.Model):
    """The quota of one user, where it differs from the settings."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="allowance")
    active_crawls = models.PositiveIntegerField(
        null=True, blank=True, help_text="Crawls at a time. Empty = as CRAWLER_ACTIVE_CRAWLS says, 0 = no limit."
    )
    pages_a_day = models.PositiveIntegerField(
        null=True, blank=True, help_text="Empty = as CRAWLER_PAGES_A_DAY says, 0 = no limit."
    )
    stored_pages = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Empty = as CRAWLER_STORED_PAGES says, 0 = no limit."
    )
    stored_mb = models.PositiveIntegerField(
        null=True, blank=True, help_text="Megabytes of kept content. Empty = as CRAWLER_STORED_MB says, 0 = no limit."
    )

    def __str__(self) -> str:
        return f"allowance of {self.user}"


class Usage(models.Model):
    """How many pages a user's crawls requested on one day. Changed in the transaction that closes the pages, see
    `crawler.storage.sql`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()  # in UTC
    pages = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "usage"
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "day"], name="usage_once_a_day")]

    def __str__(self) -> str:
        return f"{self.pages} pages on {self.day}"


class ApiToken(models.Model):
    """An API token of one user. The secret is shown once and not stored; this row has only its digest."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)  # SHA-256 of the secret, in hex
    shown = models.CharField(max_length=16)  # the first characters of the secret, so that the user recognises it
    scopes = models.JSONField(default=list)  # see `core.access.permissions`
    created_at = models.DateTimeField(default=clock.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True)  # to the minute
    expires_at = models.DateTimeField(null=True, blank=True)  # None = never
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.shown}…)"


class RepeatedCall(models.Model):
    """An API request with an Idempotency-Key, and its response once there is one."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    digest = models.CharField(max_length=64)  # keyed digest of method, path and body: bodies may hold passwords
    made_id = models.UUIDField(default=uuid.uuid4)  # of the object it creates, the same in every attempt
    claimed_at = models.DateTimeField(default=clock.now, db_index=True)  # when the last attempt began
    status = models.SmallIntegerField(null=True)  # None = an attempt is running, or its process died
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["user", "key"], name="call_once_per_key")]

    def __str__(self) -> str:
        return self.key


class AuditRows(models.QuerySet["AuditEntry"]):
    """A query set that neither changes nor deletes entries."""

    def update(self, **values: object) -> int:
        raise TypeError(AuditEntry.STAYS)

    def delete(self) -> tuple[int, dict[str, int]]:
        raise TypeError(AuditEntry.STAYS)


class AuditEntry(models.Model):
    """Who did what, when and from where. Only `crawler.accounts.audit` writes these rows; nothing changes them. They
    store the key and the name of users and objects, so that the entry outlives both."""

    STAYS = "The audit log is added to; nothing in it is changed or deleted."

    at = models.DateTimeField(default=clock.now, db_index=True)
    act = models.CharField(max_length=40)  # "crawl.started", "account.changed"
    actor_id = models.BigIntegerField(null=True)  # of the account; None = no account, or unknown
    actor = models.CharField(max_length=150, default="")  # name at that time, or the operating system's user
    token_id = models.BigIntegerField(null=True)  # of the API token used
    via = models.CharField(max_length=8)  # web, api, command, system
    address = models.CharField(max_length=45, default="")
    kind = models.CharField(max_length=40, default="")  # of the object
    key = models.CharField(max_length=64, default="")
    name = models.CharField(max_length=200, default="")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    objects = AuditRows.as_manager()

    class Meta:
        verbose_name = "entry of the audit log"
        verbose_name_plural = "audit log"
        indexes: ClassVar = [models.Index(fields=["kind", "key"], name="audit_of_thing")]

    def __str__(self) -> str:
        return f"{self.act} {self.name}".strip()

    def save(self, *args: Any, **more: Any) -> None:
        if not self._state.adding:
            raise TypeError(self.STAYS)
        super().save(*args, **more)

    def delete(self, *args: Any, **more: Any) -> tuple[int, dict[str, int]]:
        raise TypeError(self.STAYS)
