"""Scripts run in pipelines, whatever scripts Redis has."""

from redis import Redis

from crawler.frontier import scripts


def ask_three_times(redis: Redis) -> list[object]:
    """Whether the lock was taken by the first, by another, and by the first again."""
    with redis.pipeline(transaction=False) as pipe:
        for token in ("first", "other", "first"):
            scripts.run(pipe, "lock_acquire", ["lock"], [token, 9000])
        return pipe.execute()


def test_a_pipeline_brings_the_scripts_that_redis_lacks(real_redis: Redis) -> None:
    real_redis.script_flush()
    assert ask_three_times(real_redis) == [1, 0, 1]


def test_a_pipeline_that_is_used_again_brings_them_again(real_redis: Redis) -> None:
    with real_redis.pipeline(transaction=False) as pipe:
        for _ in range(2):
            real_redis.script_flush()
            scripts.run(pipe, "lock_acquire", ["lock"], ["first", 9000])
            assert pipe.execute() == [1]


def test_that_takes_no_round_trip_of_its_own(real_redis: Redis) -> None:
    real_redis.config_resetstat()
    ask_three_times(real_redis)
    assert not [name for name in real_redis.info("commandstats") if name.startswith("cmdstat_script")]
