"""`python -m tests.hostile [--port N]`: serve the traps until Ctrl-C."""

import argparse
import contextlib
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hostile.server import Server
from tests.hostile.traps import contexts, hosts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="of all its addresses, 127.0.0.1 and others (default: any)")
    port = parser.parse_args().port
    with TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        serve(port, Path(folder))


def serve(port: int, folder: Path) -> None:
    tls, trusted = contexts(folder)
    with Server(hosts(), port, tls) as server:
        print(f"{server.url} is the index. Nobody may knock at {server.canary.address}. All addresses, to be allowed:")
        print(",".join(server.addresses))
        print(f"Whom to believe (SSL_CERT_FILE): {trusted}", flush=True)
        try:
            threading.Event().wait()
        finally:
            print(f"knocks at the canary: {len(server.canary.knocks)}")


if __name__ == "__main__":
    main()
