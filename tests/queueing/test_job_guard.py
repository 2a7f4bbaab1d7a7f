"""Jobs that the crawler did not write: nothing of them is run or made, by workers or by the pages that show them."""

import inspect
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import DefaultSerializer

from crawler import jobs
from crawler.queueing import job_guard
from crawler.queueing.job_guard import PERMITTED, JobRefused, loads
from tests.planted_jobs import plant
from tests.stack import OWN_WORKER, ROOT, Stack

DJANGO_RQ = (sys.executable, "manage.py", "rqworker", "--burst", "crawl")
QUEUES = "/admin/django_rq/dashboard/queues/0/"


def refusals(redis: Redis, planted: dict[str, Job]) -> dict[str, str]:
    """The state of each job, or the last line of why it has failed."""
    found = {}
    for name, job in planted.items():
        again = Job.fetch(job.id, connection=redis)
        text = (again.latest_result().exc_string or "") if again.is_failed else again.get_status().value
        lines = [line.partition("JobRefused: ")[2] for line in text.splitlines() if "JobRefused: " in line]
        found[name] = lines[0] if lines else text
    return found


@pytest.fixture
def stack(tmp_path: Path, redis_url: str) -> Iterator[Stack]:
    stack = Stack(tmp_path, redis_url)
    stack.redis.flushall()
    yield stack
    stack.end()


@pytest.mark.parametrize("command", [(*OWN_WORKER, "--burst"), DJANGO_RQ], ids=["our worker", "manage.py rqworker"])
def test_a_worker_refuses_them_and_goes_on(stack: Stack, tmp_path: Path, command: tuple[str, ...]) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    planted = plant(stack.redis, folder)
    assert stack.spawn(*command).wait(60) == 0, stack.log()
    found = refusals(stack.redis, planted)
    assert found.pop("own") == "finished", stack.log()
    assert list(folder.iterdir()) == []
    assert "os.mkdir, which is not a job of the crawler" in found["function"]
    assert "It contains posix.mkdir. Only plain values are read" in found["argument"]
    assert "os.getcwd, which is not a job" in found["meta"]
    assert "callbacks or webhooks" in found["callback"]
    assert "callbacks or webhooks" in found["webhook"]
    assert "upper, which is not a job" in found["method"]
    failed = Queue("crawl", connection=stack.redis).failed_job_registry
    assert set(failed.get_job_ids()) == {job.id for name, job in planted.items() if name != "own"}


def test_the_admin_shows_them_and_makes_nothing(admin_client: Client, real_redis: Redis, tmp_path: Path) -> None:
    planted = plant(real_redis, tmp_path)
    for path in ("", "details/", "failed/", "finished/", *(f"{job.id}/" for job in planted.values())):
        assert admin_client.get(QUEUES + path).status_code == 200, path
    assert admin_client.post(f"{QUEUES}requeue-all/").status_code in {200, 302}
    assert list(tmp_path.iterdir()) == []


def test_the_process_of_the_dashboard_is_guarded() -> None:
    code = (
        "import crawler.launch.rq_dashboard, rq.serializers; print(rq.serializers.DefaultSerializer.loads.__module__)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True).strip() == job_guard.__name__


def test_what_may_be_called_are_the_entry_points() -> None:
    own = {name for name, found in inspect.getmembers(jobs, inspect.isfunction) if found.__module__ == jobs.__name__}
    assert {f"crawler.jobs.{name}" for name in own} == PERMITTED


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_are_read_as_they_were_written(protocol: int) -> None:
    value = {"a": [1, 2.5, None, True, -(2**70)], "b": ("x", {"é": "\ud800"}), "": []}
    assert loads(pickle.dumps(value, protocol=protocol)) == value


def test_what_rq_writes_is_what_it_writes_without_us() -> None:
    value = ("crawler.jobs.fetch", None, ({"pages": [{"id": 1}]},), {})
    assert DefaultSerializer.dumps(value) == pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    assert DefaultSerializer.loads(DefaultSerializer.dumps(value)) == value


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(Path("a")),
        pickle.dumps(print),
        b"cos\nmkdir\n(S'x'\ntR.",
        b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93\x8c\x01x\x85R.",
        b"(S'x'\nios\nmkdir\n.",
        b"Pa reference\n.",
    ],
)
def test_nothing_but_plain_values_is_read(data: bytes) -> None:
    with pytest.raises(JobRefused):
        loads(data)


def test_another_version_of_rq_does_not_go_unguarded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Job, "send_webhooks")
    with pytest.raises(AttributeError, match="RQ's Job has no send_webhooks"):
        job_guard.install()
