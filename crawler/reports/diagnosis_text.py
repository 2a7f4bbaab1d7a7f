"""The diagnosis of a crawl (`reports.diagnosis`) as rows of text, for page and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from crawler.core.politeness.host_rules import ENDED_BY_A_USER, WaitReason
from crawler.core.protocol.diagnosis import Hold, Manager
from crawler.core.urls.normalise import href_of
from crawler.reports import text as words
from crawler.reports.cause_text import stop_of

Row = dict[str, str]
"""A line: `answer` in a word or two, its subject in `url` (with `href` for a link), a `note`, two figures (`time`,
`size`) and a `tone` (good, warn, bad, calm). A host whose wait a user may end has its name in `ends`."""
_EMPTY = dict.fromkeys(("meaning", "href", "note", "time", "size"), "")

HOLDS: dict[Hold, tuple[str, str]] = {
    Hold.FETCHING: ("being fetched", "good"),
    Hold.SILENT: ("worker silent", "bad"),
    Hold.REPORTED: ("to be processed", "calm"),
    Hold.QUEUED: ("in the queue", "calm"),
    Hold.BEGINNING: ("being started", "calm"),
    Hold.LOST: ("lost", "bad"),
}
"""The state of a batch, with its tone."""

REASONS: dict[WaitReason, str] = {
    WaitReason.STOP: "the server asked to wait",
    WaitReason.PROBE: "one page is tried after the server asked to wait",
    WaitReason.ROBOTS_ASKED: "its robots.txt is being fetched",
    WaitReason.ROBOTS_AGAIN: "its robots.txt is fetched again",
    WaitReason.ROBOTS: "its robots.txt asks for a Crawl-delay",
    WaitReason.DELAY: "the delay chosen for this crawl",
    WaitReason.OTHERS: "another crawl keeps a longer delay",
    WaitReason.THROTTLE: "slowed down",
    WaitReason.RETRY: "a page that failed is tried again",
    WaitReason.LATER: "its next page has a later time of its own",
    WaitReason.BUSY: "its connections are all in use",
    WaitReason.AGAIN: "it was postponed for a reason that no longer applies",
    WaitReason.NOTHING: "it can be requested now",
}

MANAGERS: dict[Manager, str] = {
    Manager.WORKING: "running",
    Manager.SILENT: "running, without a heartbeat",
    Manager.COMING: "queued",
    Manager.RESTING: "waits until work is due",
}


@dataclass(frozen=True)
class Section:
    """A table with its title and the heads of its four columns."""

    name: str
    title: str
    head: tuple[str, str, str, str]
    rows: list[Row]


def sections(report: Mapping[str, Any]) -> list[Section]:
    """The tables that are not empty."""
    batches, hosts, given_up = report["batches"] or [], report["hosts"], report["given_up"]
    shown = [_host_row(host) for host in hosts["shown"]] if hosts else []
    letters = [_letter_row(letter, report) for letter in given_up["newest"]] if given_up else []
    made = [
        Section(
            "batches",
            f"{words.counted(len(batches), 'batch')} handed out",
            ("State", "Of", "Lease", "Open"),
            [_batch_row(batch, report) for batch in batches],
        ),
        Section(
            "hosts",
            f"{words.counted(hosts['waiting'] if hosts else 0, 'host')} with waiting pages",
            ("May be requested", "Host", "Connections", "Pages"),
            shown,
        ),
        Section(
            "open",
            _first_of(len(report["open"]["shown"]), report["open"]["count"], "open page"),
            ("State", "Page", "Attempts", "Depth"),
            [_page_row(page) for page in report["open"]["shown"]],
        ),
        Section("given-up", "Recently given up", ("Response", "Page", "", "When"), letters),
        Section(
            "disagreements",
            "Disagreeing checks for the end",
            ("When", "What", "", ""),
            [_said_row(said, report) for said in report["disagreements"]["newest"]],
        ),
    ]
    return [section for section in made if section.rows]


def known(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Further facts: name and text. Empty when Redis does not respond."""
    manager, workers, queued = report["manager"], report["workers"], report["queues"]
    if manager is None:
        return []
    facts = [("Manager", _doing(report)), ("Last run", _last_run(report))]
    facts += [("Reports to process", words.count(manager["reports"]))]
    facts += [("Pages handed out", words.count(manager["handed_out"]))]
    facts += [(f'Workers for "{name}"', words.count(number)) for name, number in workers.items()]
    facts += [(f'Jobs waiting in "{name}"', words.count(number)) for name, number in queued.items()]
    facts += [(name, _in(report["ends"][key])) for name, key in _ENDS if report["ends"][key] is not None]
    return facts


_ENDS = (
    ("Deadline", "deadline_in"),
    ("Next page expires", "next_expiry_in"),
    ("Postponed pages close", "put_off_pages_close_in"),
)


def text(report: Mapping[str, Any]) -> str:
    """The whole diagnosis for a terminal."""
    parts = ["".join(f"{sentence}\n" for sentence in report["sentences"])]
    for section in sections(report):
        lines = [[row["answer"], row["url"], row["time"], row["size"], row["note"]] for row in section.rows]
        parts.append(f"{section.title}\n{words.aligned([[*_upper(section.head), ''], *lines])}")
    if facts := known(report):
        parts.append(words.aligned(facts))
    return "\n".join(parts)


def _upper(head: tuple[str, ...]) -> list[str]:
    return [name.upper() for name in head]


def _batch_row(batch: Mapping[str, Any], report: Mapping[str, Any]) -> Row:
    answer, tone = HOLDS[Hold(batch["hold"])]
    notes = []
    if batch["holder"]:
        notes.append(f"held by {batch['holder']} for {_since(batch['since'], report)}")
    if batch["back_in"] is not None:
        notes.append(f"returns to the queue {_in(batch['back_in'])}")
    return _EMPTY | {
        "answer": answer,
        "meaning": batch["id"],
        "url": _several(batch["hosts"]),
        "note": ", ".join(notes),
        "time": "" if batch["lease_left"] is None else f"{words.duration(max(0.0, batch['lease_left']))} left",
        "size": words.counted(batch["open"], "page"),
        "tone": tone,
    }


def _host_row(host: Mapping[str, Any]) -> Row:
    reason = reason_of(host)
    used = ", ".join(f"{words.count(used['connections'])} by {used['by']}" for used in host["used_by"])
    suspects = "small batch of pages whose worker died" if host["suspects"] else ""
    notes = [reason, host["trouble"], used if host["reason"] == WaitReason.BUSY else "", host["load"], suspects]
    return _EMPTY | {
        "answer": _in(host["next_in"]),
        "meaning": reason,
        "url": host["host"],
        "note": "; ".join(note for note in notes if note),
        "time": f"{words.count(host['connections'])} of {words.count(host['connections_allowed'])} in use",
        "size": words.counted(host["pages"], "page"),
        "tone": "calm" if host["next_in"] <= 0 else "warn",
        "ends": host["host"] if host["reason"] in ENDED_BY_A_USER else "",
    }


def reason_of(host: Mapping[str, Any]) -> str:
    """Why a host is not requested, with figures."""
    reason = WaitReason(host["reason"])
    match reason:
        case WaitReason.STOP:
            return f"it {stop_of(host['stop']['status'], datetime.fromisoformat(host['stop']['until']).timestamp())}"
        case WaitReason.ROBOTS:
            return f"{REASONS[reason]} of {words.duration(host['crawl_delay'])}"
        case WaitReason.DELAY | WaitReason.OTHERS:
            return f"{REASONS[reason]}: {words.duration(host['delay'])}"
        case WaitReason.THROTTLE:
            return f"{REASONS[reason]}: one request in {words.duration(host['delay'])}"
        case _:
            return REASONS[reason]


def _page_row(page: Mapping[str, Any]) -> Row:
    answer, tone = HOLDS[Hold(page["hold"])] if page["hold"] else ("waits", "calm")
    if not page["hold"] and page["due_in"] > 0:
        answer, tone = _in(page["due_in"]), "warn"
    died = "its worker died" if page["deaths"] == 1 else f"{page['deaths']} workers died with it"
    notes = [
        page["error"].rstrip("."),
        died if page["deaths"] else "",
        f"held by {page['holder']}" if page["holder"] else "",
        f"found on {page['found_on']}" if page["found_on"] else "",
    ]
    return _EMPTY | {
        "answer": answer,
        "url": page["url"],
        "href": href_of(page["url"]),
        "note": "; ".join(note for note in notes if note),
        "time": {0: "not yet", 1: "once"}.get(page["attempts"], f"{words.count(page['attempts'])} times"),
        "size": f"depth {words.count(page['depth'])}",
        "tone": tone,
    }


def _letter_row(letter: Mapping[str, Any], report: Mapping[str, Any]) -> Row:
    return _EMPTY | {
        "answer": words.outcome(letter["outcome"]),
        "meaning": letter["outcome"],
        "url": letter["url"],
        "href": href_of(letter["url"]),
        "note": letter["error"],
        "size": f"{_since(letter['at'], report)} ago",
        "tone": "bad",
    }


def _said_row(said: Mapping[str, Any], report: Mapping[str, Any]) -> Row:
    answer = f"{_since(said['at'], report)} ago"
    return _EMPTY | {"answer": answer, "meaning": said["at"], "url": said["what"], "tone": "warn"}


def _doing(report: Mapping[str, Any]) -> str:
    manager = report["manager"]
    doing = MANAGERS[Manager(manager["doing"])]
    if manager["doing"] == Manager.COMING:
        return f"{doing} {_since(manager['sent_for_at'], report)} ago"
    if manager["doing"] == Manager.SILENT:
        return f"{doing}; another may take over {_in(manager['lock_left'])}"
    return doing


def _last_run(report: Mapping[str, Any]) -> str:
    manager = report["manager"]
    if manager["last_run_at"] is None:
        return words.DASH
    return f"{_since(manager['last_run_at'], report)} ago: {manager['last_run_said']}"


def _since(moment: str, report: Mapping[str, Any]) -> str:
    passed = datetime.fromisoformat(report["at"]) - datetime.fromisoformat(moment)
    return words.duration(max(0.0, passed.total_seconds()))


def _in(seconds: float) -> str:
    return f"in {words.duration(seconds)}" if seconds > 0 else "now"


def _several(names: list[str]) -> str:
    """ "a.test, b.test and 3 more"."""
    shown = ", ".join(names[:2])
    return f"{shown} and {len(names) - 2} more" if len(names) > 2 else shown


def _first_of(shown: int, all_of_them: int, noun: str) -> str:
    if shown < all_of_them:
        return f"The first {shown} of {words.counted(all_of_them, noun)}"
    return words.counted(all_of_them, noun).capitalize()
