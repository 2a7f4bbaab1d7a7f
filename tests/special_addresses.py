"""The table of IANA's blocks in core/urls/special_addresses.py, from the copies of the registries in tests/data/iana.

Save the registries' CSV files over these copies, set REGISTRY_DATE, and run `python -m tests.special_addresses`.
"""

import csv
import re
from pathlib import Path

from crawler.core.urls import special_addresses

REGISTRIES = Path(__file__).resolve().parent / "data" / "iana"
MODULE = Path(special_addresses.__file__)


def lines(registry: str) -> list[str]:
    """A line for each block that IANA does not mark as globally reachable."""
    with (REGISTRIES / registry).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        f"{block.split()[0]} {row['Name'].strip(chr(34))}"
        for row in rows
        for block in row["Address Block"].split(",")
        if row["Globally Reachable"] != "True"
    ]


def section() -> str:
    tables = {"_IPV4": lines("ipv4-special.csv"), "_IPV6": lines("ipv6-special.csv")}
    return "".join(
        f'{name} = """\n' + "".join(f"{line}\n" for line in table) + '"""\n' for name, table in tables.items()
    )


def written(source: str) -> str:
    """The module's text with the generated section replaced."""
    return re.sub(r"(?<=# IANA, generated\n).*?(?=# end\n)", lambda _: section(), source, flags=re.DOTALL)


if __name__ == "__main__":
    MODULE.write_text(written(MODULE.read_text(encoding="utf-8")), encoding="utf-8")
