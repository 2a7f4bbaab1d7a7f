"""Treats jobs in Redis as data: who can write to Redis can name any function as a job, and have any class made from a
pickle. Only the crawler's own jobs are run here, and only plain values are read.

RQ makes something of a job's text in six places, which `install` replaces for the whole process: every worker, command
and page of this project that imports Django's apps, and RQ's dashboard. What is written stays as RQ writes it, so stock
workers understand it. They are not guarded: `rq worker crawl fetch` loads the job before it loads anything of ours.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any, NoReturn

from rq.job import Job
from rq.serializers import DefaultSerializer
from rq.utils import import_attribute

PERMITTED = frozenset(f"crawler.jobs.{name}" for name in ("manage", "fetch", "watch", "extract_kept", "notify"))
"""The functions that a job may call."""


class JobRefused(Exception):
    """The job is not one of the crawler's. RQ records it as failed, with this message."""


class PlainUnpickler(pickle.Unpickler):
    """Reads None, booleans, numbers, texts, bytes, and lists, tuples, dicts and sets of these. A pickle makes anything
    else by the name of a class or function, which is not even looked up."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise JobRefused(f"It contains {module}.{name}. Only plain values are read from Redis.")

    def persistent_load(self, id: Any) -> NoReturn:
        raise JobRefused("It contains a reference. Only plain values are read from Redis.")


def loads(data: bytes) -> Any:
    """The plain value that RQ has pickled. JobRefused, or what pickle raises for a text that is none."""
    return PlainUnpickler(io.BytesIO(data)).load()


def function_of(job: Job) -> Callable[..., Any]:
    """The function of a job; JobRefused unless it is permitted, and without anything else that RQ would call."""
    if job.instance is not None or job.func_name not in PERMITTED:
        raise JobRefused(
            f"It calls {job.func_name}, which is not a job of the crawler. Find the program that writes to the "
            "crawler's queues, and see SECURITY.md."
        )
    if job._success_callback_name or job._failure_callback_name or job._stopped_callback_name or job.webhooks:
        raise JobRefused("It has callbacks or webhooks, which no job of the crawler has.")
    return import_attribute(job.func_name)


def install() -> None:
    """Guard this process. Repeating it changes nothing."""
    for owner, name, replacement in (
        (DefaultSerializer, "loads", staticmethod(loads)),
        (Job, "func", property(function_of)),
        (Job, "success_callback", property(_none)),
        (Job, "failure_callback", property(_none)),
        (Job, "stopped_callback", property(_none)),
        (Job, "send_webhooks", _none),
    ):
        if not hasattr(owner, name):  # of another version of RQ
            raise AttributeError(f"RQ's {owner.__name__} has no {name}: install the version of requirements.txt.")
        setattr(owner, name, replacement)


def _none(job: Job, *more: Any, **named: Any) -> None:
    """In place of callbacks and webhooks."""
