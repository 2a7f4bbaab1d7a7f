"""What must hold of containers and of crawls, each as a promise with what was seen."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

USER = "10001"
PLACES = {"/": False, "/etc": False, "/app": False, "/venv": False, "/tmp": True, "/data": True}  # noqa: S108
"""Where a container tries to write, and whether it may."""
TOOLS = ("gcc", "cc", "make", "pip", "git")
"""Not for an image that only runs."""


@dataclass(frozen=True)
class Check:
    promise: str
    is_kept: bool
    seen: str

    def __str__(self) -> str:
        return f"  {'ok ' if self.is_kept else 'NOT'} {self.promise}: {self.seen}"


def fields(status: str) -> dict[str, str]:
    """Of a process's `status` file in /proc."""
    return {name: value.strip() for name, _, value in (line.partition(":") for line in status.splitlines())}


def confined(container: str, status: str, written: Iterable[str]) -> list[Check]:
    """By the `status` of the container's process 1, and the places of PLACES that could be written."""
    process = fields(status)
    capabilities = {name: process[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}
    users = set(process["Uid"].split()) | set(process["Gid"].split())
    found = sorted(written)
    return [
        Check(f"{container} runs as user and group {USER}", users == {USER}, " ".join(sorted(users))),
        Check(
            f"{container} has no capabilities and gains none",
            all(int(mask, 16) == 0 for mask in capabilities.values()) and process["NoNewPrivs"] == "1",
            f"CapBnd {process['CapBnd']}, NoNewPrivs {process['NoNewPrivs']}",
        ),
        Check(
            f"{container} writes to /tmp and /data only",
            found == sorted(place for place, may in PLACES.items() if may),
            " ".join(found) or "nothing",
        ),
    ]


def sandboxed(commands: Iterable[str]) -> Check:
    """By the command lines of a browser's container: a process from which Chromium makes those of pages runs, and none
    has the switch by which it gives up its sandbox. One more makes those that are no pages, outside of the sandbox."""
    lines = [line.split() for line in commands]
    makers = [words for words in lines if "--type=zygote" in words and "--no-zygote-sandbox" not in words]
    without = [words for words in lines if "--no-sandbox" in words]
    seen = f"{len(makers)} zygotes in it, {len(without)} processes that gave it up"
    return Check("Chromium runs in its sandbox", bool(makers) and not without, seen)


def exact(receipt: dict[str, Any], requested: Sequence[str], pages: int) -> list[Check]:
    """Of a crawl's receipt, and the pages that its site was asked for."""
    wanted = {"state": "finished", "discovered": pages, "fetched": pages, "failed": 0, "cancelled": 0}
    seen = {name: receipt.get(name) for name in wanted}
    times = Counter(requested)
    again = sum(times.values()) - len(times)
    return [
        Check(f"the receipt has {pages} pages, all fetched", seen == wanted, json.dumps(seen)),
        Check(
            "the site was asked for each page once",
            len(times) == pages and again == 0,
            f"{len(times)} pages, {again} of them again",
        ),
    ]


def receipt_in(output: str) -> dict[str, Any]:
    """The JSON object among the lines that a command printed; empty if there is none."""
    start, end = output.find("{"), output.rfind("}")
    try:
        found: dict[str, Any] = json.loads(output[start : end + 1])
    except ValueError:
        return {}
    return found
