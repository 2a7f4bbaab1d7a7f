"""The state of a batch and of the manager follows from leases and jobs."""

from typing import Any

import pytest

from crawler.core.protocol.diagnosis import (
    MANAGER_SILENT_AFTER_S,
    MAX_CLAIM_S,
    WORKER_SILENT_AFTER_S,
    Hold,
    Manager,
    hold_of,
    manager_of,
)

HOLDS = [
    ("its job waits in the queue", {"queued": True}, Hold.QUEUED),
    ("a worker has the job", {"started": True}, Hold.BEGINNING),
    ("a worker has just taken the job from the queue", {}, Hold.BEGINNING),
    ("the manager missed the job some seconds ago", {"missed_for": 0.1}, Hold.LOST),
    ("a worker is slow to begin", {"started": True, "missed_for": MAX_CLAIM_S - 0.1}, Hold.BEGINNING),
    ("a worker died as it began", {"started": True, "missed_for": MAX_CLAIM_S}, Hold.LOST),
    ("the job was found after all", {"queued": True, "missed_for": 0.1}, Hold.QUEUED),
    ("a claim was renewed just now", {"held": True, "started": True}, Hold.FETCHING),
    ("a claim is not renewed", {"held": True, "started": True, "silent_for": WORKER_SILENT_AFTER_S + 0.1}, Hold.SILENT),
    ("the job has ended and left reports", {"held": True, "silent_for": 60.0, "reports": 2}, Hold.REPORTED),
    ("other reports wait while it works", {"held": True, "started": True, "reports": 2}, Hold.FETCHING),
    ("the job has ended and left nothing", {"held": True, "silent_for": WORKER_SILENT_AFTER_S + 0.1}, Hold.SILENT),
]


@pytest.mark.parametrize(("seen", "hold"), [case[1:] for case in HOLDS], ids=[case[0] for case in HOLDS])
def test_who_has_a_batch_follows_from_its_claim_and_its_job(seen: dict[str, Any], hold: Hold) -> None:
    nothing = {
        "held": False,
        "silent_for": 0.0,
        "queued": False,
        "started": False,
        "missed_for": None,
        "reports": 0,
    }
    assert hold_of(**(nothing | seen)) is hold


MANAGER = [
    ("nothing is to be done", {}, Manager.RESTING),
    ("it was sent for", {"is_coming": True}, Manager.COMING),
    ("it is at work", {"silent_for": 0.1, "is_coming": True}, Manager.WORKING),
    ("its worker was killed", {"silent_for": MANAGER_SILENT_AFTER_S + 0.1, "is_coming": True}, Manager.SILENT),
]


@pytest.mark.parametrize(("seen", "doing"), [case[1:] for case in MANAGER], ids=[case[0] for case in MANAGER])
def test_what_the_manager_is_doing(seen: dict[str, Any], doing: Manager) -> None:
    nothing = {"silent_for": None, "is_coming": False}
    assert manager_of(**(nothing | seen)) is doing
