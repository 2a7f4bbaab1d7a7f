"""The steps of `deploy/try`, from nothing to a finished crawl and back."""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.containers import images, site
from tools.containers.checks import PLACES, TOOLS, USER, Check, confined, exact, receipt_in, sandboxed
from tools.containers.engine import COMPOSE_FILE, Engine
from tools.containers.machine import Machine, Network, processes_naming

IMAGE = "site-crawler"
OF_BROWSERS = f"{IMAGE}-browser"
OURS = ("web", "clock", "worker")
BROWSER = "browser"
WORKERS = 4
HEALTHY_WITHIN_S = 120.0
GRACE_S = 12  # `stop_grace_period` of deploy/compose.yaml
UP = ("up", "--build", "--no-deps", "-d")
CRAWL = ("run", "--rm", "--no-deps", "web", "crawl")
SCALE = ("up", "--no-deps", "-d", "--scale", f"worker={WORKERS}")
UP_WITH_BROWSER = ("--profile", BROWSER, *UP)
RENDER = ("--render", "always", "--keep", "screenshot", "--json")
DOWN = ("--profile", BROWSER, "down", "--remove-orphans", "--volumes")
"""What the guide tells a user to type behind `podman-compose -f deploy/compose.yaml`."""
OVERRIDE = """\
services:
  site:
    image: site-crawler
    entrypoint: [tini, --, python, /site.py]
    volumes: ["{site}:/site.py:ro"]
    tmpfs: [/data]
"""


class Trial:
    """One run: its steps in order, with the checks made so far."""

    def __init__(self, machine: Machine, engine: Engine, network: Network, folder: Path) -> None:
        self._machine, self._engine, self._network = machine, engine, network
        self._folder = folder
        self.checks: list[Check] = []

    def build(self, mirror: str, arguments: Sequence[str], *, may_pull: bool) -> None:
        say("Images")
        made = images.provide(self._machine, self._engine, self._folder, mirror, may_pull=may_pull)
        for name in made:
            say(f"  {name}: made from Debian {images.DEBIAN}, as it was not pulled")
        self._build("migrate", IMAGE, images.base_of_the_image(), arguments)
        self._build(BROWSER, OF_BROWSERS, IMAGE, arguments)

    def _build(self, service: str, image: str, base: str, arguments: Sequence[str]) -> None:
        started = time.monotonic()
        self._engine.build(service, ["--network=host", *arguments], limit=1500)
        sizes = [self._size(name) for name in (image, base)]
        say(f"  {image}: built in {time.monotonic() - started:.0f} s,", end=" ")
        say(f"{sizes[0]:.0f} MB, {sizes[0] - sizes[1]:.0f} of it on top of its base")
        user = self._engine.outside("image", "inspect", "--format={{.User}}", image).strip()
        ask = f"for tool in {' '.join(TOOLS)}; do command -v $tool; done; true"
        found = self._engine.outside("run", "--rm", "--network=none", "--entrypoint=sh", image, "-c", ask).split()
        kept = user == f"{USER}:{USER}" and not found
        self.note(Check(f"{image} has a user and no tools to build with", kept, " ".join([user, *found])))

    def _size(self, image: str) -> float:
        return int(self._engine.outside("image", "inspect", "--format={{.Size}}", image)) / 1e6

    def start(self) -> None:
        say("Services")
        self._machine.run("deploy/container/secrets")
        self._add_site()
        say_typed(*UP)
        self._engine.compose(*UP, limit=420)
        migrated = self._engine.podman("wait", *self._engine.containers("migrate", is_running=False)).split()
        self.note(Check("the migrations were applied", migrated == ["0"], f"exit code {' '.join(migrated)}"))
        self._await_health(("postgresql", "redis", *OURS))
        self.note(self._ready())

    def _add_site(self) -> None:
        """To the services: by a further compose file."""
        script = self._folder / "site.py"
        script.write_text(Path(site.__file__).read_text())
        script.chmod(0o644)
        file = self._folder / "override.yaml"
        file.write_text(OVERRIDE.format(site=script))
        self._engine.overrides = (str(file),)

    def _await_health(self, services: Sequence[str]) -> None:
        waiting = [name for service in services for name in self._engine.containers(service)]
        number, end = len(waiting), time.monotonic() + HEALTHY_WITHIN_S
        while waiting and time.monotonic() < end:
            waiting = [name for name in waiting if not self._engine.is_healthy(name)]
            time.sleep(1 if waiting else 0)
        seen = f"not so: {' '.join(waiting)}" if waiting else f"all {number}"
        self.note(Check(f"{', '.join(services)} are healthy", number >= len(services) and not waiting, seen))

    def _ready(self) -> Check:
        """By the published port, as a browser on this machine would ask."""
        url = "http://127.0.0.1:8000/readyz"
        ask = f"from urllib.request import urlopen; print(urlopen('{url}', timeout=10).read().decode())"
        code, told = self._machine.ended(*self._network.within, "python3", "-c", ask)
        return Check(f"{url} responds", code == 0 and json.loads(told)["ready"] is True, told.strip() or "no response")

    def confine(self) -> None:
        for service in OURS:
            self._confine(service)

    def _confine(self, service: str) -> None:
        name = self._engine.container(service)
        status = self._engine.inside(name, "cat", "/proc/1/status")
        attempts = "; ".join(f"touch {place}/new 2>/dev/null && rm {place}/new && echo {place}" for place in PLACES)
        written = self._engine.inside(name, "sh", "-c", attempts, check=False)
        for check in confined(service, status, written.split()):
            self.note(check)

    def crawl(self) -> None:
        say("A crawl with one worker")
        say_typed(*CRAWL, self._url("fast"), "--json")
        _, output = self._engine.compose_ended(CRAWL[0], "-T", *CRAWL[1:], self._url("fast"), "--json", limit=150)
        receipt = receipt_in(output)
        self._judge("fast", receipt)
        self._export(str(receipt.get("id")))

    def _url(self, part: str) -> str:
        return f"http://site:{site.PORT}/{part}/0"

    def _judge(self, part: str, receipt: dict[str, object]) -> None:
        name = self._engine.container("site")
        asked = [path for path in self._engine.podman("logs", name).split() if path.startswith(f"/{part}/")]
        for check in exact(receipt, asked, site.PARTS[part][0]):
            self.note(check)

    def _export(self, crawl: str) -> None:
        """As Parquet, whose package the image has in part only."""
        count = "from pyarrow import parquet; print(parquet.ParquetFile(file).metadata.num_rows)"
        rows = self._exported(crawl, "parquet", count)
        self.note(Check("its pages are exported as Parquet", rows == str(site.PARTS["fast"][0]), f"{rows} rows"))

    def _exported(self, crawl: str, form: str, count: str) -> str:
        """What the Python `count` prints of an exported `file`."""
        web = self._engine.container("web")
        file = f"/tmp/export.{form}"  # noqa: S108 (of the container)
        self._engine.inside(web, "python", "manage.py", "export", crawl, f"--format={form}", f"--output={file}")
        return self._engine.inside(web, "python", "-c", f"file = '{file}'; {count}").strip()

    def scale(self) -> None:
        say(f"A crawl with {WORKERS} workers, all but one of which are stopped meanwhile")
        say_typed(*SCALE)
        self._engine.compose(*SCALE)
        self._await_health(("worker",))
        workers = self._engine.containers("worker")
        web = self._engine.container("web")
        listening = json.loads(self._engine.inside(web, "python", "manage.py", "scale", "--json"))["running"]
        self.note(Check(f"{WORKERS} workers run", len(workers) == listening == WORKERS, f"{listening} in RQ"))
        with ThreadPoolExecutor() as pool:
            crawl = ("python", "manage.py", "crawl", self._url("slow"), "--concurrency=8", "--json")
            receipt = pool.submit(self._engine.inside, web, *crawl, limit=150, check=False)
            time.sleep(3)
            for name in workers[1:]:
                self._stop(name)
            seen = "it had ended before" if receipt.done() else "yes"
            self.note(Check("they ended while the crawl ran", not receipt.done(), seen))
            self._judge("slow", receipt_in(receipt.result()))

    def render(self) -> None:
        say("A crawl of pages that their scripts write, with a browser worker")
        say_typed(*UP_WITH_BROWSER)
        self._engine.compose(*UP_WITH_BROWSER, limit=420)
        self._await_health((BROWSER,))
        self._confine(BROWSER)
        name = self._engine.container(BROWSER)
        lines = self._engine.inside(
            name, "sh", "-c", "for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$file; echo; done"
        )
        self.note(sandboxed(lines.splitlines()))
        crawl = ("python", "manage.py", "crawl", self._url(site.APP), *RENDER)
        receipt = receipt_in(self._engine.inside(self._engine.container("web"), *crawl, limit=150, check=False))
        self._judge(site.APP, receipt)
        pages, seen = site.PARTS[site.APP][0], receipt.get("rendered")
        self.note(Check("all of them were rendered", seen == {"always": pages}, json.dumps(seen)))
        count = "print(sum(name.endswith('.webp') for name in zipfile.ZipFile(file).namelist()))"
        shots = self._exported(str(receipt.get("id")), "screenshot.zip", f"import zipfile; {count}")
        self.note(Check("a screenshot of each was kept", shots == str(pages), shots))

    def _stop(self, name: str) -> None:
        """SIGTERM, and SIGKILL after the time that deploy/compose.yaml gives."""
        started = time.monotonic()
        self._engine.podman("stop", f"--time={GRACE_S}", name)
        seconds = time.monotonic() - started
        code = self._engine.state(name)["State"]["ExitCode"]
        seen = f"{seconds:.1f} s, exit code {code}"
        self.note(Check(f"{name} ends by SIGTERM", code == 0 and seconds < GRACE_S, seen))

    def stop(self) -> None:
        say("The end")
        for service in (*OURS, BROWSER):
            for name in self._engine.containers(service):
                self._stop(name)
        say_typed(*DOWN)
        self._engine.compose(*DOWN)
        self._look_for_leftovers()

    def _look_for_leftovers(self) -> None:
        containers = self._engine.containers(is_running=False)
        volumes = self._engine.podman("volume", "ls", "--quiet").split()
        networks = [name for name in self._engine.podman("network", "ls", "--quiet").split() if name != "podman"]
        pods = self._engine.podman("pod", "ls", "--quiet").split()
        rest = [*containers, *volumes, *networks, *pods]
        self.note(Check("no container, volume, network or pod is left", not rest, " ".join(rest) or "none"))
        end = time.monotonic() + 5
        while (running := processes_naming(self._engine.storage)) and time.monotonic() < end:
            time.sleep(0.2)
        self.note(Check("no process is left", not running, "; ".join(running) or "none"))

    def note(self, check: Check) -> None:
        self.checks.append(check)
        say(str(check))

    def show_logs(self) -> None:
        """The last lines of each container, for a run that failed."""
        for name in self._engine.containers(is_running=False):
            _, lines = self._machine.ended("sh", "-c", 'podman logs --tail=15 "$1" 2>&1', "sh", name)
            say(f"--- {name}\n{lines}")


def say_typed(*words: str) -> None:
    say(f"  podman-compose -f {COMPOSE_FILE} {' '.join(words)}")


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)
