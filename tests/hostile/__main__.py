"""`python -m tests.hostile [--port N]`: serve the traps until Ctrl-C."""

from __future__ import annotations

import argparse
import contextlib
import threading

from tests.hostile.server import Server
from tests.hostile.traps import hosts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of all its addresses, 127.0.0.1 and others (default: any)")
    with Server(hosts(), parser.parse_args().port) as server, contextlib.suppress(KeyboardInterrupt):
        print(f"{server.url} is the index. Nobody may knock at {server.canary.address}. All addresses, to be allowed:")
        print(",".join(server.addresses), flush=True)
        threading.Event().wait()
    print(f"knocks at the canary: {len(server.canary.knocks)}")


if __name__ == "__main__":
    main()
