"""The certificates of hosts that speak TLS, good and bad."""

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from tests.http.certificates import DAY, NOW, Authority


@dataclass(frozen=True)
class Certificates:
    """What the servers show, made in a folder, and the one authority that is to be believed."""

    folder: Path
    believed: Authority = field(default_factory=lambda: Authority.made("Believed"))

    def of(self, address: str, *, ends: timedelta = DAY, by: Authority | None = None) -> ssl.SSLContext:
        """A certificate for this address in numbers."""
        return (by or self.believed).server(self.folder, address, begins=NOW - 2 * DAY, ends=NOW + ends)


Shown = Callable[[Certificates, str], ssl.SSLContext]
"""What a server at this address shows."""


def contexts(shown: Mapping[str, Shown], folder: Path) -> tuple[Mapping[str, ssl.SSLContext], Path]:
    """Address -> how its server speaks TLS; and the file of whom to believe, for SSL_CERT_FILE."""
    made = Certificates(folder)
    believed = folder / "believed.pem"
    believed.write_text(made.believed.pem)
    return {address: show(made, address) for address, show in shown.items()}, believed
