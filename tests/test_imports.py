"""Which libraries a process does without until it needs them: each costs every worker and every tick its time."""

import subprocess
import sys

import pytest

from crawler.settings.environment import ROOT

WEB = ["crawler.admin", "crawler.web", "crawler.api", "ninja", "pydantic"]
FILES = ["yaml", "openpyxl", "pyarrow", "croniter"]
HTML = ["bs4", "html_to_markdown", "markdownify"]
HTTP = ["requests", "urllib3", "httptools", "warcio", "brotli"]
MIGRATIONS = ["django.db.migrations.executor", "django.db.migrations.autodetector"]
LATE = {
    "crawler.worker": [*WEB, *FILES, *HTML],
    "crawler.jobs, crawler.manager.tick": [*WEB, *FILES, *HTML, *HTTP],
    "crawler.jobs, crawler.launch.forked_worker, crawler.management.commands.crawl": [
        *(*WEB, *FILES, *HTML, *HTTP, *MIGRATIONS, "rq.cli"),
        *(
            "crawler.worker",
            "crawler.fetcher",
            "crawler.manager.tick",
        ),  # each worker loads them, or is forked with them
    ],
}


FEW = 0.2
"""Of the crawler's values that a process loads, at most so many are dataclasses: Python generates their methods, which
takes half a millisecond each. A msgspec struct takes a fortieth of that."""


@pytest.mark.parametrize("modules", LATE)
def test_it_loads_nothing_that_it_may_never_need_and_few_dataclasses(modules: str) -> None:
    script = (
        f"import sys, dataclasses, msgspec, {modules}\n"
        "print(*sys.modules)\n"
        "own = [module for name, module in sys.modules.items() if name.startswith('crawler.')]\n"
        "classes = {value for module in own for value in vars(module).values() if isinstance(value, type)}\n"
        "print(sum(issubclass(found, msgspec.Struct) for found in classes))\n"
        "print(*sorted(found.__name__ for found in classes if dataclasses.is_dataclass(found)))"
    )
    loaded, structs, slow = printed_by(script)

    assert not {*LATE[modules]} & {*loaded}
    assert len(slow) < FEW * int(*structs), f"make these structs: {slow}"


def printed_by(script: str) -> list[list[str]]:
    """The words of each line that a new process prints."""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


IN_TICKS = (
    *("options", "lanes", "result_fields", "page_rows", "page_tables", "page_fields", "page_readers"),
    *("subscribers", "receipt_parts", "hints", "crawl_checks", "page_filters"),
)
"""The seams that a tick or a command asks, which fetch nothing."""


def test_what_capabilities_give_to_ticks_loads_no_more() -> None:
    script = (
        "import sys, django; django.setup(); from crawler import registry\n"
        f"for seam in {IN_TICKS!r}: registry.entries(seam, object)\n"
        "print(*sys.modules)"
    )
    [loaded] = printed_by(script)
    assert not {*WEB, *FILES, *HTML, *HTTP} & {*loaded}
