"""The certificates of hosts that speak TLS, good and bad."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.fetching.certificates import DAY, NOW, Authority, served


@dataclass(frozen=True)
class Certificates:
    """What the servers show, made in a folder, and the one authority that is to be believed."""

    folder: Path
    believed: Authority = field(default_factory=lambda: Authority.made("Believed"))

    def trusted(self) -> Path:
        """The authority's own certificate, for SSL_CERT_FILE."""
        file = self.folder / "believed.pem"
        file.write_bytes(self.believed.certificate.public_bytes(serialization.Encoding.PEM))
        return file

    def of(self, address: str, *, ends: timedelta = DAY, by: Authority | None = None) -> ssl.SSLContext:
        """A certificate for this address in numbers."""
        key, by = ec.generate_private_key(ec.SECP256R1()), by or self.believed
        named = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        builder = x509.CertificateBuilder(
            issuer_name=by.certificate.subject,
            subject_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)]),
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=NOW - 2 * DAY,
            not_valid_after=NOW + ends,
        ).add_extension(named, critical=False)
        return served(self.folder, builder.sign(by.key, hashes.SHA256()), key)


Shown = Callable[[Certificates, str], ssl.SSLContext]
"""What a server at this address shows."""


def contexts(shown: Mapping[str, Shown], folder: Path) -> tuple[Mapping[str, ssl.SSLContext], Path]:
    """Address -> how its server speaks TLS; and the file of whom to believe."""
    made = Certificates(folder)
    return {address: show(made, address) for address, show in shown.items()}, made.trusted()
