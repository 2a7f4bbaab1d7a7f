"""A Redis has the stamp of one database, and processes with another refuse it."""

from collections.abc import Iterator
from uuid import UUID

import pytest
import redis
from rq import Queue, Retry, SimpleWorker

from crawler import conf, jobs
from crawler.core.errors import ServiceDown
from crawler.frontier.keys import INSTALLATION
from crawler.models import Installation
from crawler.queueing import installation, queues
from crawler.queueing.installation import OtherInstallation, of_this_installation, own_id, take_over, verify
from tests.stack import DATABASE_ID

OTHER = UUID("00000000-0000-4000-8000-000000000002")


@pytest.fixture(autouse=True)
def nothing_is_checked_yet(real_redis: redis.Redis) -> None:
    installation.forget_checks()


@pytest.fixture
def foreign(real_redis: redis.Redis) -> redis.Redis:
    """A Redis with another installation's stamp."""
    real_redis.set(INSTALLATION, str(OTHER))
    return real_redis


def test_the_first_process_stamps_an_empty_redis(real_redis: redis.Redis) -> None:
    queues.connection()
    assert real_redis.get(INSTALLATION) == str(DATABASE_ID).encode()
    assert real_redis.ttl(INSTALLATION) == -1


def test_one_that_was_emptied_is_stamped_again(real_redis: redis.Redis) -> None:
    verify(real_redis, "redis://x")
    real_redis.flushall()
    verify(real_redis, "redis://x", at_once=True)
    assert real_redis.get(INSTALLATION) == str(DATABASE_ID).encode()


def test_another_stamp_is_refused_with_what_to_type(foreign: redis.Redis) -> None:
    with pytest.raises(OtherInstallation, match=r"belongs to another installation .* REDIS_URL=redis://.*/1") as caught:
        queues.connection()
    assert str(caught.value).endswith("redis-cli -n 0 flushdb")
    assert foreign.get(INSTALLATION) == str(OTHER).encode()


def test_it_counts_as_an_outage_of_redis(foreign: redis.Redis) -> None:
    assert issubclass(OtherInstallation, ServiceDown)
    assert issubclass(OtherInstallation, redis.RedisError)


def test_it_is_looked_at_again_at_once_when_it_was_refused(foreign: redis.Redis) -> None:
    with pytest.raises(OtherInstallation):
        queues.connection()
    foreign.delete(INSTALLATION)
    assert queues.connection().ping()


def test_frequent_calls_ask_seldom(real_redis: redis.Redis) -> None:
    queues.connection()
    before = real_redis.info("commandstats")["cmdstat_setnx"]["calls"]
    for _ in range(100):
        queues.connection()
    assert real_redis.info("commandstats")["cmdstat_setnx"]["calls"] == before


def test_data_of_another_database_in_an_embedded_server_without_other_users_is_dropped(foreign: redis.Redis) -> None:
    foreign.set("crawler:crawls", "of the other")
    take_over(foreign, "unix:///x")
    assert foreign.keys() == [INSTALLATION.encode()]
    assert foreign.get(INSTALLATION) == str(DATABASE_ID).encode()


def test_and_that_of_this_one_is_kept(real_redis: redis.Redis) -> None:
    verify(real_redis, "unix:///x")
    real_redis.set("kept", 1)
    take_over(real_redis, "unix:///x")
    assert real_redis.get("kept") == b"1"


@pytest.fixture
def unknown_id() -> Iterator[None]:
    known = installation.known[:]
    installation.known.clear()
    yield
    installation.known[:] = known


@pytest.mark.django_db
@pytest.mark.usefixtures("unknown_id")
def test_the_id_is_read_from_the_database_once() -> None:
    Installation.objects.update_or_create(number=1, defaults={"database_id": OTHER})
    assert own_id() == OTHER
    Installation.objects.all().delete()
    assert own_id() == OTHER


@pytest.mark.django_db
@pytest.mark.usefixtures("unknown_id")
def test_without_an_id_no_redis_is_stamped(real_redis: redis.Redis) -> None:
    Installation.objects.all().delete()
    verify(real_redis, "redis://x")
    assert real_redis.get(INSTALLATION) is None


def test_a_job_of_another_installation_is_handed_back_and_ends_its_worker(
    foreign: redis.Redis, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A stock worker, which asks nobody before it takes a job."""
    monkeypatch.setattr(installation, "HAND_BACK_PAUSE_S", 0)
    told = list[str]()
    monkeypatch.setattr(installation, "send_shutdown_command", lambda connection, worker: told.append(worker))
    queue = Queue("crawl", connection=foreign)
    job = queue.enqueue("crawler.jobs.watch")
    worker = SimpleWorker([queue], connection=foreign)
    worker.work(burst=True, max_jobs=2)
    assert queue.job_ids == [job.id]
    assert told == [worker.name] * 2
    assert "belongs to another installation" in caplog.text


def test_every_job_is_guarded() -> None:
    guarded = [name for name, value in vars(jobs).items() if hasattr(value, "__wrapped__")]
    assert guarded == ["manage", "fetch", "watch", "extract_kept", "notify"]


def test_outside_of_a_worker_a_job_just_runs() -> None:
    assert of_this_installation(conf.redis_url)() == conf.redis_url()
    assert not isinstance(of_this_installation(lambda: 1)(), Retry)
