"""Serves one of the sites on a free port of this machine, and prints its address:

    python -m tests.browser_sites NAME [PAGES]

PAGES: of a single-page application, 200 unless it is told.
"""

import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tests.browser_sites.behaviours import behaviours
from tests.browser_sites.endless import endless
from tests.browser_sites.expected import BrowserSite
from tests.browser_sites.mixed import mixed
from tests.browser_sites.spa import SHELLS, spa
from tests.site import Site

SITES: dict[str, Callable[[], BrowserSite]] = {
    **{framework: partial(spa, framework=framework) for framework in SHELLS},
    "mixed": mixed,
    "behaviours": behaviours,
    "endless": endless,
}


def main() -> int:
    words = sys.argv[1:]
    has_size = len(words) == 2 and words[0] in SHELLS and words[1].isdecimal()
    if not words or words[0] not in SITES or not (len(words) == 1 or has_size):
        names = "|".join(name for name in SITES if name not in SHELLS)
        print(f"usage: python -m tests.browser_sites {{{'|'.join(SHELLS)}}} [PAGES] | {names}", file=sys.stderr)
        return 2
    site = spa(int(words[1]), words[0]) if has_size else SITES[words[0]]()
    with Site(site.pages).serving() as served, suppress(KeyboardInterrupt):
        print(f"{served.url}/ has {len(site.expected)} pages with expected links. Ctrl-C ends it.", flush=True)
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
