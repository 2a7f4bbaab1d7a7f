"""Test certificates: valid ones, and each kind that browsers reject."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """Signs certificates. Nobody trusts it who was not told to."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def made(cls, name: str) -> Authority:
        key = ec.generate_private_key(ec.SECP256R1())
        return cls(_signed(name, key, name, key, NOW - DAY, NOW + DAY), key)

    @property
    def pem(self) -> str:
        return _pem(self.certificate).decode()

    def trusted(self) -> ssl.SSLContext:
        """What believes this authority alone, as strict as the crawler is."""
        context = ssl.create_default_context(cadata=_pem(self.certificate).decode())
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def server(
        self, folder: Path, host: str = "site.test", *, begins: datetime = NOW - DAY, ends: datetime = NOW + DAY
    ) -> ssl.SSLContext:
        """What a server for this host needs."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self.certificate.subject.rfc4514_string().removeprefix("CN=")
        return served(folder, _signed(host, key, issuer, self.key, begins, ends), key)


def self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    return served(folder, _signed("site.test", key, "site.test", key, NOW - DAY, NOW + DAY), key)


def identity(authority: Authority, name: str, folder: Path) -> Path:
    """A file with a certificate and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate.subject.rfc4514_string().removeprefix("CN=")
    return _written(folder, _signed(name, key, issuer, authority.key, NOW - DAY, NOW + DAY), key)


def _written(folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Path:
    file = folder / f"{certificate.serial_number}.pem"
    plain = serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain) + _pem(certificate)
    )
    return file


def served(folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_written(folder, certificate, key))
    return context


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: str,
    by: ec.EllipticCurvePrivateKey,
    begins: datetime,
    ends: datetime,
) -> x509.Certificate:
    builder = x509.CertificateBuilder(
        subject_name=_name(name),
        issuer_name=_name(issuer),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=begins,
        not_valid_after=ends,
    )
    alternative = x509.SubjectAlternativeName([x509.DNSName(name)])
    is_authority = x509.BasicConstraints(ca=name == issuer, path_length=None)
    builder = builder.add_extension(alternative, critical=False).add_extension(is_authority, critical=True)
    return builder.sign(by, hashes.SHA256())


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
