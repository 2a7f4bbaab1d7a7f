"""The tables of notices: the outbox, the channels of users, and the deliveries."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models

from crawler import clock
from crawler.core.channels.catalogue import CHANNELS
from crawler.core.options.events import DEFAULT_EVENTS, ENDS

_ENDS = [event.value for event in ENDS]


class Notice(models.Model):
    """The outbox: one event of a crawl to be delivered. The row is written in the transaction that makes it true."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    crawl = models.ForeignKey("crawler.Crawl", on_delete=models.CASCADE, related_name="notices")
    event = models.CharField(max_length=32)  # see `core.options.events`
    round = models.SmallIntegerField(default=1)  # of the crawl, at the time of the event
    number = models.IntegerField(default=0)  # among those of this event in this round: 0, 1, 2, ...
    receipt = models.JSONField(default=dict)  # at that time; empty for events about pages
    pages = models.JSONField(default=list)  # ids of the pages it reports
    gathering = models.BooleanField(default=False)  # further pages may be added: no delivery was sent yet
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["crawl", "round", "event", "number"], name="notice_once"),
            models.UniqueConstraint(
                fields=["crawl", "round"], condition=models.Q(event__in=_ENDS), name="notice_one_end_per_round"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.crawl_id}"


def usual_events() -> list[str]:
    return list(DEFAULT_EVENTS)


class Channel(models.Model):
    """An address at which one user receives the notices of all their crawls."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels")
    name = models.CharField(max_length=80, default="", blank=True)  # chosen by the user
    transport = models.CharField(max_length=16)
    address = models.TextField()  # encrypted where it is a secret, see `core.channels`
    events = models.JSONField(default=usual_events)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)
    tested_at = models.DateTimeField(null=True, blank=True)  # when its owner last sent a test

    class Meta:
        indexes: ClassVar = [models.Index(fields=["owner", "created_at"], name="channel_of_owner")]

    def __str__(self) -> str:
        return f"{self.transport} of {self.owner_id}"


class WebhookSecret(models.Model):
    """What the webhooks at one address are signed with, in all crawls of one owner. During a rotation there are two."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.CASCADE, related_name="+")
    address_digest = models.CharField(max_length=64)  # hex SHA-256 of the address in plain text
    secret = models.TextField()  # encrypted, like the one below
    previous = models.TextField(default="", blank=True)  # valid until `previous_until`
    previous_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=clock.now, editable=False)  # of `secret`

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["owner", "address_digest"], name="webhook_secret_once"),
            models.UniqueConstraint(
                fields=["address_digest"], condition=models.Q(owner=None), name="webhook_secret_without_owner"
            ),
        ]

    def __str__(self) -> str:
        return f"webhook secret of {self.owner_id}"


class Delivery(models.Model):
    """One notice to one address. Delivered at least once; `id` lets the receiver drop a duplicate."""

    PENDING, DELIVERED, GIVEN_UP = "pending", "delivered", "given_up"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey(Channel, null=True, on_delete=models.SET_NULL, related_name="deliveries")
    transport = models.CharField(max_length=16)
    address = models.TextField()  # encrypted where it is a secret
    state = models.CharField(max_length=16, default=PENDING, choices=[(s, s) for s in (PENDING, DELIVERED, GIVEN_UP)])
    attempts = models.SmallIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    due_at = models.DateTimeField(default=clock.now)
    tried_at = models.DateTimeField(null=True)  # when the last attempt began
    delivered_at = models.DateTimeField(null=True)
    answer = models.TextField(default="")  # the receiver's response on success
    error = models.TextField(default="")  # of the last attempt
    again = models.BooleanField(default=False)  # a user had the notice sent again
    place = models.IntegerField(default=0, db_default=0)  # of a subscriber: the call that is made or comes next
    tries = models.SmallIntegerField(default=0, db_default=0)  # the same: how often that call was begun

    class Meta:
        verbose_name_plural = "deliveries"
        indexes: ClassVar = [
            models.Index(fields=["due_at"], condition=models.Q(state="pending"), name="delivery_pending"),
        ]

    @classmethod
    def to_receivers(cls) -> models.QuerySet[Delivery]:
        """Notices by a channel; the other deliveries are what capabilities do then."""
        return cls.objects.filter(transport__in=CHANNELS)

    def __str__(self) -> str:
        return f"{self.transport} of notice {self.notice_id}"
