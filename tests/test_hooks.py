"""What hooks are given can be read without anything of the project's."""

import subprocess
import sys

from crawler.hooks import Response
from tests.stack import ROOT


def test_a_header_is_found_in_any_case() -> None:
    response = Response(200, "Content-Type: text/html; charset=utf-8\nX-Shop: yes", b"<p>\xc3\xbc</p>")
    assert response.header("content-type") == "text/html; charset=utf-8"
    assert response.header("x-missing") is None
    assert response.text == "<p>ü</p>"


def test_the_types_need_no_settings() -> None:
    script = "import sys, crawler.hooks; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, env={}, check=False, timeout=60).returncode == 0
