"""Reads the manifests in deploy/kubernetes, and what Kubernetes and KEDA say of their shape."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "deploy" / "kubernetes"
BASE, BROWSER, EXAMPLE = FOLDER / "base", FOLDER / "browser", FOLDER / "example"
ALL = (BASE, BROWSER, EXAMPLE)
SCHEMAS = ROOT / "tests" / "data" / "kubernetes" / "schemas.json"

Object = dict[str, Any]


def documents(text: str) -> list[Object]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where PyYAML was built with it
    return [document for document in yaml.load_all(text, loader) if document]


def kustomization(folder: Path) -> Object:
    (found,) = documents((folder / "kustomization.yaml").read_text())
    return found


def objects(*folders: Path) -> list[Object]:
    """The objects in the files that the kustomizations of these folders name."""
    names = [(folder, name) for folder in folders for name in kustomization(folder)["resources"]]
    return [found for folder, name in names if name != "../base" for found in documents((folder / name).read_text())]


def of_kind(kind: str, *folders: Path) -> dict[str, Object]:
    """Name -> object; of all folders unless some are named."""
    found = [each for each in objects(*(folders or ALL)) if each["kind"] == kind]
    return {each["metadata"]["name"]: each for each in found}


def title(found: Object) -> str:
    return f"{found['kind']} {found.get('metadata', {}).get('name', '')}"


def complaints(found: Object) -> list[str]:
    """What the schema of its kind says against an object."""
    schemas = _schemas()
    kind = f"{found['apiVersion']}/{found['kind']}"
    schema = {"$ref": f"#/$defs/{schemas['kinds'][kind]}", "$defs": schemas["$defs"]}
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(found)]


@cache
def _schemas() -> Object:
    schemas: Object = json.loads(SCHEMAS.read_text())
    return schemas


def pods(*folders: Path) -> dict[str, Object]:
    """Name -> the template of the pods of a Deployment, StatefulSet or Job."""
    return {
        found["metadata"]["name"]: found["spec"]["template"]
        for found in objects(*(folders or ALL))
        if "template" in found.get("spec", {})
    }


def own_pods() -> dict[str, Object]:
    """Those that run the project's image, by component."""
    return {pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod for pod in pods(BASE, BROWSER).values()}


def container(pod: Object) -> Object:
    (found,) = pod["spec"]["containers"]
    return dict(found)


def environment(*folders: Path) -> dict[str, str]:
    """The variables of the ConfigMap of the processes; those of later folders win."""
    literals = [
        literal
        for folder in folders
        for generated in kustomization(folder)["configMapGenerator"]
        if generated["name"] == "crawler-settings"
        for literal in generated["literals"]
    ]
    return dict(literal.split("=", 1) for literal in literals)


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector matches; of expressions it knows `In`."""
    expressions = selector.get("matchExpressions", [])
    assert {expression["operator"] for expression in expressions} <= {"In"}
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )


def labels_of(pod: Object) -> dict[str, str]:
    return dict(pod["metadata"]["labels"])


def policies_for(pod: Object, direction: str) -> list[Object]:
    """The specs of the network policies that apply to a pod; `direction` is Ingress or Egress."""
    specs = [policy["spec"] for policy in of_kind("NetworkPolicy").values()]
    return [spec for spec in specs if direction in spec["policyTypes"] and selects(spec["podSelector"], labels_of(pod))]


def blocks_for(pod: Object) -> Iterator[Object]:
    """The address blocks that a pod may connect to, on any port."""
    for spec in policies_for(pod, "Egress"):
        for rule in spec.get("egress", []):
            yield from (peer["ipBlock"] for peer in rule["to"] if "ipBlock" in peer and "ports" not in rule)


def reaches(blocks: list[Object], address: str) -> bool:
    """Whether these address blocks allow a connection to this address."""
    ip = ip_address(address)
    return any(
        ip in ip_network(block["cidr"]) and not any(ip in ip_network(hole) for hole in block["except"])
        for block in blocks
    )
