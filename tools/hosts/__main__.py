"""The command: run scenarios over several hosts and tell which promises were kept."""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType

from crawler.launch.process_group import Children
from tools.hosts.deployed import environment_of
from tools.hosts.network import Unavailable, check_usable
from tools.hosts.report import Ran, Report
from tools.hosts.run import run
from tools.hosts.scenarios import SCENARIOS, Scenario, mixture
from tools.hosts.services import made_database, programs
from tools.hosts.verdict import judged

LOG_LINES = 12  # of each process, shown when a promise was broken
UNUSABLE = 2  # exit code

EPILOG = "Scenarios:\n" + "".join(f"  {name:<18}{scenario.about}\n" for name, scenario in SCENARIOS.items())


def main() -> int:
    given = _arguments()
    try:
        check_usable()
        programs()
    except Unavailable as error:
        _say(f"bin/hosts: {error}")
        return UNUSABLE
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _as_interrupt)
    folder = Path(tempfile.mkdtemp(prefix="hosts-"))
    folder.chmod(0o755)  # PostgreSQL runs as another user
    try:
        return _session(given, folder)
    except KeyboardInterrupt:
        _say("interrupted; everything has ended")
        _forget(folder)
        return 130
    finally:
        for name in ("template", "template-data"):
            _forget(folder / name)
        if folder.exists() and not list(folder.iterdir()):
            folder.rmdir()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bin/hosts", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenario", nargs="*", help="which scenarios (default: all of them)")
    parser.add_argument("--mixture", action="store_true", help="seeded sequences of faults in place of scenarios")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of the first run, the next have N+1, N+2, ...")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="runs of each scenario (default: 1)")
    parser.add_argument("--stock", action="store_true", help="bare `rq worker`s in place of the project's")
    parser.add_argument(
        "--as",
        dest="deployment",
        choices=("units", "containers"),
        default="units",
        help="run the units of deploy/systemd, or what deploy/compose.yaml runs in the image (default: units)",
    )
    parser.add_argument("--autoscale", action="store_true", help="`manage.py autoscale` in place of fixed workers")
    parser.add_argument("--short", action="store_true", help="a shorter crawl")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything that was measured to this file")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table to this file")
    given = parser.parse_args()
    if unknown := [name for name in given.scenario if name not in SCENARIOS]:
        parser.error(f"there is no scenario {unknown[0]!r}; there are: {', '.join(SCENARIOS)}")
    if given.mixture and given.scenario:
        parser.error("--mixture draws its own faults: name no scenario beside it")
    if given.stock and (given.autoscale or given.deployment == "containers"):
        parser.error("--stock: autoscalers and containers run the project's own workers")
    if given.seed is None:
        given.seed = random.randrange(1_000_000)
    return given


def _session(given: argparse.Namespace, folder: Path) -> int:
    _say("making a database")
    with Children(grace=5.0) as children:
        data = folder / "template-data"
        data.mkdir()
        template = made_database(children, folder / "template", environment_of("", "redis://:-@127.0.0.1:1/0", data))
    ran: list[Ran] = []
    planned = _planned(given)
    try:
        for place, (scenario, seed) in enumerate(planned, start=1):
            _say(f"run {place}/{len(planned)}: {scenario.name}, seed {seed}: {scenario.about}")
            ran.append(_one(given, scenario, seed, folder / f"{scenario.name}-{seed}", template))
    finally:
        if ran:
            report = Report(ran)
            if given.json:
                given.json.write_text(json.dumps(report.plain(), indent=1))
            if given.markdown:
                given.markdown.write_text(report.markdown())
            print(report.text(), flush=True)
    return 0 if report.is_kept else 1


def _planned(given: argparse.Namespace) -> list[tuple[Scenario, int]]:
    seeds = range(given.seed, given.seed + given.runs)
    if given.mixture:
        chosen = [(mixture(seed, autoscaled=given.autoscale), seed) for seed in seeds]
    else:
        named = given.scenario or [name for name, each in SCENARIOS.items() if not (given.stock and each.is_autoscaled)]
        chosen = [(SCENARIOS[name], seed) for seed in seeds for name in named]
    if given.autoscale:
        chosen = [(scenario.autoscaled(), seed) for scenario, seed in chosen]
    if given.deployment == "containers":
        chosen = [(scenario.contained(), seed) for scenario, seed in chosen]
    if given.short:
        chosen = [(scenario.shortened(), seed) for scenario, seed in chosen]
    return [(scenario.stocked() if given.stock else scenario, seed) for scenario, seed in chosen]


def _one(given: argparse.Namespace, scenario: Scenario, seed: int, folder: Path, template: Path) -> Ran:
    try:
        found = run(scenario, folder, template, seed, lambda text: _say(f"  {text}"))
    except KeyboardInterrupt:
        _forget(folder)
        raise
    verdict = judged(found, scenario.promises)
    ran = Ran(scenario.name, seed, found, verdict, scenario.promises.delay is not None, scenario.is_autoscaled)
    _say(f"  {ran.run.seconds:.0f} s: {'kept' if ran.is_kept else 'BROKEN'}")
    if ran.is_kept:
        _forget(folder)
    else:
        _explain(given, ran, folder)
    return ran


def _explain(given: argparse.Namespace, ran: Ran, folder: Path) -> None:
    for fault in ran.verdict.faults[:20]:
        _say(f"  FAULT {fault}")
    shutil.rmtree(folder / "postgresql", ignore_errors=True)
    for log in sorted(folder.rglob("*.log")):
        if lines := log.read_text(errors="replace").splitlines()[-LOG_LINES:]:
            _say(f"  --- {log.relative_to(folder)}")
            for line in lines:
                _say(f"  {line[:300]}")
    how = "--mixture" if ran.scenario == "mixture" else ran.scenario
    options = "".join(f" --{name}" for name in ("stock", "autoscale", "short") if getattr(given, name))
    options += f" --as {given.deployment}"
    _say(f"  kept: {folder}; once more: bin/hosts {how} --seed {ran.seed}{options}")


def _forget(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
