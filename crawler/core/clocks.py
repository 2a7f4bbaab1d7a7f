"""What is said of a machine's clock that differs from the clocks of Redis and of the database."""

from __future__ import annotations

from dataclasses import asdict, dataclass

TOLERATED_S = 2.0
AGREE = "The clocks agree."
NOT_COMPARED = "The clocks were not compared."
TO_DO = "Keep the clocks of all machines right by NTP, with chrony or systemd-timesyncd: see docs/deployment.md."


@dataclass(frozen=True)
class Skew:
    """Seconds by which this machine's clock is ahead of each; None = that one did not answer, or has no clock of its
    own."""

    redis: float | None = None
    database: float | None = None

    @property
    def known(self) -> dict[str, float]:
        """Those that were compared."""
        return {name: seconds for name, seconds in asdict(self).items() if seconds is not None}

    @property
    def sentence(self) -> str:
        """Which clock is off, and by how much; "" while none is known to be. Where two agree, the third is off."""
        redis, database = self.redis, self.database
        if redis is not None and database is not None and _is_off(redis) and abs(redis - database) <= TOLERATED_S:
            return f"This machine's clock is {_by(redis)} those of Redis and the database."
        if database is not None and redis is not None and _is_off(redis) != _is_off(database):
            if _is_off(redis):
                return f"Redis's clock is {_by(-redis)} those of this machine and the database."
            return f"The database's clock is {_by(-database)} those of this machine and Redis."
        named = {"Redis's": redis, "the database's": database}
        off = [f"{_by(seconds)} {name}" for name, seconds in named.items() if seconds is not None and _is_off(seconds)]
        return f"This machine's clock is {' and '.join(off)}." if off else ""


def _is_off(seconds: float) -> bool:
    return abs(seconds) > TOLERATED_S


def _by(seconds: float) -> str:
    return f"{abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'}"
