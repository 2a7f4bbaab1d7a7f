"""Jobs that somebody else has put into the crawler's queues."""

import os
import pickle
from pathlib import Path
from typing import Any

from redis import Redis
from rq import Queue
from rq.job import Job
from rq.webhook import Webhook

OUR_OWN = "crawler.jobs.notify"


class Planted:
    """Its pickle makes a folder where it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (self._folder,)


def plant(redis: Redis, folder: Path) -> dict[str, Job]:
    """One job for each way in which Redis can name something to run, and a job of the crawler behind them."""
    queue = Queue("crawl", connection=redis)
    planted = {
        "function": queue.enqueue("os.mkdir", str(folder / "function")),
        "argument": queue.enqueue(OUR_OWN, Planted(folder / "argument")),
        "meta": queue.enqueue("os.getcwd", meta={"x": Planted(folder / "meta")}),
        "callback": queue.enqueue(OUR_OWN),
        "webhook": queue.enqueue(OUR_OWN, webhooks=[Webhook("http://127.0.0.1:9/", "failed")]),
        "method": queue.enqueue("os.getcwd"),
    }
    for when in ("success", "failure", "stopped"):
        redis.hset(planted["callback"].key, f"{when}_callback_name", "os.mkdir")
    redis.hset(planted["method"].key, "data", pickle.dumps(("upper", "a text", (), {})))
    planted["own"] = queue.enqueue(OUR_OWN)
    return planted
