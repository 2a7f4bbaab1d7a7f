"""Makes the app work in another Django project: `INSTALLED_APPS += ["crawler"]`, and `path("crawls/",
include("crawler.urls"))`.

The project's settings count. Those that it lacks are added before the models are loaded: the app's own with their
defaults, its queues on the Redis of the project's queue "default", the templates of the capabilities, and how SQLite
begins a transaction.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.db import connections

from crawler.core.protocol.lanes import lanes
from crawler.registry import CAPABILITIES

APP_SETTINGS = "crawler.settings.app"
"""By name, as Django finds all settings."""
DATA = "crawler-data"
"""The folder of kept content, in that of the project."""
LOCAL_REDIS = "redis://127.0.0.1:6379/0"
CONTEXT = "crawler.web.context.frame"


def complete(project: Any) -> None:
    """Add what the settings `project` lack. Repeating it changes nothing."""
    if hasattr(project, "CRAWLER_EMBEDDED"):  # an installation of its own has set it
        return
    project.CRAWLER_EMBEDDED = True
    folder = Path(getattr(project, "BASE_DIR", Path.cwd()))
    os.environ.setdefault("CRAWLER_HOME", str(folder))
    os.environ.setdefault("CRAWLER_DATA_DIR", str(folder / DATA))
    queues: dict[str, dict[str, Any]] = getattr(project, "RQ_QUEUES", None) or {}
    shared = queues.get("crawl") or queues.get("default") or {}
    if shared and not hasattr(project, "REDIS_URL"):  # that of the environment may be another program's
        project.REDIS_URL = redis_url_of(shared)
    os.environ.setdefault("REDIS_URL", LOCAL_REDIS)
    defaults = vars(import_module(APP_SETTINGS))
    for name, value in defaults.items():
        if name.isupper() and not hasattr(project, name):
            setattr(project, name, value)
    _add_queues(project, queues, shared)
    environment = defaults["environment"]
    project.STORAGES = {"content": environment.content_storage(project.DATA_DIR / "content"), **project.STORAGES}
    project.STATICFILES_DIRS = [*project.STATICFILES_DIRS, environment.api_documentation()]
    _add_templates(project)
    _begin_transactions_at_once(environment)


def redis_url_of(queue: Mapping[str, Any]) -> str:
    """The URL of a queue's Redis, from django-rq's settings: URL, UNIX_SOCKET_PATH, or HOST, PORT, DB and so on."""
    if url := queue.get("URL"):
        return str(url)
    password = queue.get("PASSWORD") or ""
    user = f"{quote(queue.get('USERNAME') or '', safe='')}:{quote(password, safe='')}@" if password else ""
    if socket := queue.get("UNIX_SOCKET_PATH"):
        return f"unix://{user}{socket}?db={queue.get('DB', 0)}"
    if "HOST" not in queue:
        return LOCAL_REDIS
    scheme = "rediss" if queue.get("SSL") else "redis"
    return f"{scheme}://{user}{queue['HOST']}:{queue.get('PORT', 6379)}/{queue.get('DB', 0)}"


def _add_queues(project: Any, queues: dict[str, dict[str, Any]], shared: Mapping[str, Any]) -> None:
    """In place: django-rq has read the setting already where it stands before this app. One worker can serve queues
    whose connections are written alike."""
    from crawler.redis_client import django_rq_connection  # with it all of redis-py, which starts need not wait for

    for name in ("crawl", *(lane.queue for lane in lanes())):
        queues.setdefault(name, {"DEFAULT_TIMEOUT": 180, **(shared or django_rq_connection(project.REDIS_URL))})
    project.RQ_QUEUES = queues


def _add_templates(project: Any) -> None:
    folders = [Path(__file__).parent / "capabilities" / name / "templates" for name in CAPABILITIES]
    for engine in project.TEMPLATES:
        if engine["BACKEND"] == "django.template.backends.django.DjangoTemplates":
            engine["DIRS"] = [*engine.get("DIRS", []), *folders]
            processors = engine.setdefault("OPTIONS", {}).setdefault("context_processors", [])
            if CONTEXT not in processors:
                processors.append(CONTEXT)


def _begin_transactions_at_once(environment: Any) -> None:
    """On SQLite a transaction that writes after it has read fails where another has written meanwhile, unless it took
    the lock at its start."""
    for database in connections.settings.values():
        if database["ENGINE"] == environment.SQLITE:
            database["OPTIONS"] = {**environment.SQLITE_OPTIONS, **database["OPTIONS"]}
