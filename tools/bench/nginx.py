"""Configures nginx to serve folders on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tools.bench.services import LOOPBACK

TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def configuration(folders: Mapping[int, Path], work: Path) -> str:
    """From port to folder. It keeps connections and writes no log, so that it costs the crawlers little."""
    user = "user root;\n" if os.geteuid() == 0 else ""  # else its worker cannot read what lies in root's home
    places = "".join(f"  {name}_temp_path {work / name};\n" for name in TEMPORARY)
    servers = "".join(f"  server {{ listen {LOOPBACK}:{port}; root {root}; }}\n" for port, root in folders.items())
    return f"""{user}daemon off;
worker_processes 1;
pid {work / "pid"};
error_log {work / "error.log"} crit;
events {{ worker_connections 1024; }}
http {{
{places}  types {{
    text/html html htm; text/css css; text/javascript js; text/plain txt; image/png png; image/svg+xml svg;
    image/gif gif; image/jpeg jpg; image/x-icon ico; application/json json; application/zip zip;
  }}
  default_type application/octet-stream;
  access_log off;
  sendfile on;
  keepalive_requests 1000000;
  open_file_cache max=20000;
  index index.html;
{servers}}}
"""
