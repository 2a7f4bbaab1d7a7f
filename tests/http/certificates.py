"""Test certificates: valid ones, with all that strict clients want to see, and each kind that browsers reject."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
SIGNS = x509.KeyUsage(*(True, False, False, False, False, True, True, False, False))  # certificates, too


@dataclass(frozen=True)
class Authority:
    """Signs certificates. Nobody trusts it who was not told to."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def made(cls, name: str) -> Authority:
        key = _new_key()
        return cls(_signed(name, key), key)

    @property
    def pem(self) -> str:
        return _pem(self.certificate).decode()

    def trusted(self) -> ssl.SSLContext:
        """What believes this authority alone, as strict as the crawler is."""
        context = ssl.create_default_context(cadata=self.pem)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        return context

    def server(
        self,
        folder: Path,
        host: str = "site.test",
        *,
        begins: datetime = NOW - DAY,
        ends: datetime = NOW + DAY,
        more: Sequence[x509.ExtensionType] = (),
    ) -> ssl.SSLContext:
        """What a server for this host, or address in numbers, needs."""
        key = _new_key()
        return _served(folder, _signed(host, key, self, begins, ends, more), key)


def self_signed(folder: Path) -> ssl.SSLContext:
    key = _new_key()
    return _served(folder, _signed("site.test", key), key)


def identity(authority: Authority, name: str, folder: Path) -> Path:
    """A file with a certificate and its key."""
    key = _new_key()
    return _written(folder, _signed(name, key, authority), key)


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _written(folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> Path:
    file = folder / f"{certificate.serial_number}.pem"
    plain = serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain) + _pem(certificate)
    )
    return file


def _served(folder: Path, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_written(folder, certificate, key))
    return context


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    by: Authority | None = None,
    begins: datetime = NOW - DAY,
    ends: datetime = NOW + DAY,
    more: Sequence[x509.ExtensionType] = (),
) -> x509.Certificate:
    """By itself if nobody else signs it."""
    signer = by.key if by else key
    builder = x509.CertificateBuilder(
        subject_name=_name(name),
        issuer_name=by.certificate.subject if by else _name(name),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=begins,
        not_valid_after=ends,
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    if by is None:
        builder = builder.add_extension(SIGNS, critical=True)
    for extension in (
        x509.SubjectAlternativeName([_alternative(name)]),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()),
        *more,
    ):
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(signer, hashes.SHA256())


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
