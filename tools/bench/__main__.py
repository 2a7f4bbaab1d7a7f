"""The door of `bin/bench`."""

from __future__ import annotations

import signal
import sys

from crawler.core.errors import CrawlerError
from tools.bench import (
    acknowledge,
    against,
    collect,
    compare,
    delete,
    flat,
    idle,
    latency,
    load,
    million,
    page_bytes,
    profile,
    render,
    reports,
    scale,
    throttle,
)
from tools.bench.arguments import parse
from tools.bench.ours import Failed
from tools.bench.services import Unavailable

COMMANDS = {
    "compare": compare.main,
    "against": against.main,
    "million": million.main,
    "flat": flat.main,
    "reports": reports.main,
    "load": load.main,
    "idle": idle.main,
    "latency": latency.main,
    "acknowledge": acknowledge.main,
    "collect": collect.main,
    "bytes": page_bytes.main,
    "delete": delete.main,
    "render": render.main,
    "scale": scale.main,
    "throttle": throttle.main,
    "profile": profile.main,
}


def main() -> int:
    chosen = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: everything is ended and tidied up
    try:
        return COMMANDS[chosen.what](chosen)
    except (Failed, Unavailable, CrawlerError) as trouble:
        print(f"bin/bench: {trouble}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
