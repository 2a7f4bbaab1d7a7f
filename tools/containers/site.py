"""The site that is crawled, in a container of its own: `python site.py`. Python's own library only.

Page n of a part links to pages 2n+1 and 2n+2 and back to page 0, so that all are found from the first. In the part
"app" a script writes these links. Every request of a page is a line on stdout.
"""

import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = 8080
APP = "app"
PARTS = {"fast": (60, 0.0), "slow": (480, 0.15), APP: (6, 0.0)}
"""Name of a part: its number of pages, and the seconds each takes."""


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        part, _, number = self.path.strip("/").partition("/")
        pages, seconds = PARTS.get(part, (0, 0.0))
        if not number.isdecimal() or int(number) >= pages:
            self._answer(404, "<title>Nothing here</title>")
            return
        os.write(1, f"{self.path}\n".encode())  # in one piece: there is a thread for each connection
        time.sleep(seconds)
        near = [number for number in (0, 2 * int(number) + 1, 2 * int(number) + 2) if number < pages]
        links = "".join(f'<a href="/{part}/{page}">Page {page}</a> ' for page in near)
        if part == APP:
            links = f"<div id=root></div><script>document.all.root.innerHTML = {json.dumps(links)}</script>"
        self._answer(200, f"<title>Page {number}</title><p>{links}")

    def _answer(self, status: int, text: str) -> None:
        body = f"<!doctype html>{text}".encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Requests of pages are printed above."""


if __name__ == "__main__":
    ThreadingHTTPServer(("0.0.0.0", PORT), Site).serve_forever()  # noqa: S104  # of its container
