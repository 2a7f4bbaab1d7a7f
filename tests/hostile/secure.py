"""The certificates of hosts that speak TLS, good and bad."""

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

from tests.http.certificates import DAY, NOW, Authority, served


def authority(name: str) -> Authority:
    """With all that a strict visitor wants to see in its certificate: Python is one from 3.13 on."""
    key = ec.generate_private_key(ec.SECP256R1())
    signs = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _begun(name, _named(name), key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(signs, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return Authority(builder.sign(key, hashes.SHA256()), key)


@dataclass(frozen=True)
class Certificates:
    """What the servers show, made in a folder, and the one authority that is to be believed."""

    folder: Path
    believed: Authority = field(default_factory=lambda: authority("Believed"))

    def trusted(self) -> Path:
        """The authority's own certificate, for SSL_CERT_FILE."""
        file = self.folder / "believed.pem"
        file.write_bytes(self.believed.certificate.public_bytes(serialization.Encoding.PEM))
        return file

    def of(self, address: str, *, ends: timedelta = DAY, by: Authority | None = None) -> ssl.SSLContext:
        """A certificate for this address in numbers."""
        key, by = ec.generate_private_key(ec.SECP256R1()), by or self.believed
        own = x509.SubjectAlternativeName([x509.IPAddress(ip_address(address))])
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(by.key.public_key())
        builder = _begun(address, by.certificate.subject, key, ends)
        builder = builder.add_extension(own, critical=False).add_extension(signer, critical=False)
        return served(self.folder, builder.sign(by.key, hashes.SHA256()), key)


def _begun(
    name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, ends: timedelta = DAY
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        subject_name=_named(name),
        issuer_name=issuer,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=NOW - 2 * DAY,
        not_valid_after=NOW + ends,
    )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


Shown = Callable[[Certificates, str], ssl.SSLContext]
"""What a server at this address shows."""


def contexts(shown: Mapping[str, Shown], folder: Path) -> tuple[Mapping[str, ssl.SSLContext], Path]:
    """Address -> how its server speaks TLS; and the file of whom to believe."""
    made = Certificates(folder)
    return {address: show(made, address) for address, show in shown.items()}, made.trusted()
