"""The manifests in deploy/kubernetes: Kubernetes takes them, they fit each other, and they fit the code."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from crawler.capabilities.browser.rules import MAX_BROWSER_MB
from crawler.core.access.permissions import Scope
from crawler.core.installation.deployment import STOP_SECONDS
from crawler.core.urls.addresses import is_public
from crawler.core.urls.special_addresses import BLOCKS
from crawler.settings import base
from tests.api.calling import a_token
from tests.deploy.manifests import (
    ALL,
    BASE,
    EXAMPLE,
    FOLDER,
    ROOT,
    Object,
    blocks_for,
    complaints,
    container,
    documents,
    environment,
    kustomization,
    labels_of,
    objects,
    of_kind,
    own_pods,
    pods,
    policies_for,
    reaches,
    selects,
    title,
)
from tests.factories import a_person

SETTINGS = (ROOT / "docs" / "settings.md").read_text()
GUIDE = (ROOT / "docs" / "kubernetes.md").read_text()
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
FILES = sorted(file for file in FOLDER.rglob("*") if file.is_file() and "secrets" not in file.parts)
COMPONENTS = ["web", "clock", "worker", "browser", "migrate"]
CRAWLING = ["web", "clock", "worker", "browser"]
STARTED = {"browser": ("site-crawler-browser", ["worker", "--render"])}  # others by their own name
SCALED = {"worker": "wanted", "browser": "browsers_wanted"}  # by KEDA, and the figure that it reads
COMPONENT = "app.kubernetes.io/component"
SECRETS = ["SECRET_KEY", "DATABASE_URL", "REDIS_URL", "CRAWLER_WEBHOOK_SECRET", "CRAWLER_METRICS_TOKEN"]

# What Kubernetes takes.


@pytest.mark.parametrize("found", objects(*ALL), ids=title)
def test_an_object_is_as_kubernetes_describes_its_kind(found: Object) -> None:
    assert complaints(found) == []


def test_a_misspelt_field_would_be_noticed() -> None:
    worker = of_kind("Deployment")["crawler-worker"]
    worker["spec"]["template"]["spec"]["terminationGraceSeconds"] = 15
    assert "terminationGraceSeconds" in str(complaints(worker))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_every_file_is_part_of_a_kustomization(file: Path) -> None:
    assert file.name in {"kustomization.yaml", ".gitignore", *kustomization(file.parent)["resources"]}


@pytest.mark.parametrize("folder", ALL, ids=lambda folder: folder.name)
def test_a_kustomization_names_files_that_exist(folder: Path) -> None:
    assert [name for name in kustomization(folder)["resources"] if not (folder / name).exists()] == []


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl on this machine")
@pytest.mark.parametrize("folder", ["base", "example"])
def test_what_kubectl_builds_is_as_kubernetes_describes_it(folder: str, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "kubernetes", ignore=shutil.ignore_patterns("secrets"))
    overlay = tmp_path / "kubernetes" / "example" / "kustomization.yaml"
    assert "\n# components: [../browser]\n" in overlay.read_text()
    overlay.write_text(overlay.read_text().replace("# components:", "components:"))
    secrets = tmp_path / "kubernetes" / "example" / "secrets"
    secrets.mkdir()
    for generated in kustomization(EXAMPLE)["secretGenerator"]:
        for name in generated["files"]:
            (secrets.parent / name).write_text("made up")
    command = ["kubectl", "kustomize", str(tmp_path / "kubernetes" / folder)]
    built = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    found = documents(built.stdout)
    assert len(found) > len(objects(BASE))
    assert {title(each): complaints(each) for each in found if complaints(each)} == {}
    names = {each["metadata"]["name"] for each in found}
    assert ("crawler-browser" in names) == (folder == "example")
    assert {each["metadata"].get("namespace", each["metadata"]["name"]) for each in found} == {"crawler"}
    for each in found:
        for reference in re.findall(r"'(?:configMapRef|secret)': \{[^}]*'(?:name|secretName)': '([^']+)'", str(each)):
            assert reference in names or (folder == "base" and reference == "crawler-secrets")


# What belongs together.


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_a_workload_selects_its_own_pods(kind: str) -> None:
    for found in of_kind(kind).values():
        assert selects(found["spec"]["selector"], labels_of(found["spec"]["template"]))


def test_no_two_workloads_have_the_same_labels() -> None:
    labels = [tuple(sorted(labels_of(pod).items())) for pod in pods().values()]
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("name", ["crawler-web", "postgresql", "valkey"])
def test_a_service_leads_to_a_port_of_a_pod(name: str) -> None:
    spec = of_kind("Service")[name]["spec"]
    (pod,) = [pod for pod in pods().values() if selects({"matchLabels": spec["selector"]}, labels_of(pod))]
    ports = {port[key] for port in container(pod)["ports"] for key in ("name", "containerPort")}
    assert all(port.get("targetPort", port["port"]) in ports for port in spec["ports"])


@pytest.mark.parametrize("name", ["crawler-web", "crawler-clock"])
def test_one_of_several_processes_stays_when_a_node_is_drained(name: str) -> None:
    budget, deployment = of_kind("PodDisruptionBudget")[name], of_kind("Deployment")[name]
    assert selects(budget["spec"]["selector"], labels_of(deployment["spec"]["template"]))
    assert budget["spec"]["minAvailable"] < deployment["spec"]["replicas"]


def test_the_ingress_leads_to_the_web_pages_under_their_name() -> None:
    spec, allowed = of_kind("Ingress")["crawler-web"]["spec"], environment(BASE, EXAMPLE)
    (rule,) = spec["rules"]
    (path,) = rule["http"]["paths"]
    service = path["backend"]["service"]
    assert service["port"]["name"] in {port["name"] for port in of_kind("Service")[service["name"]]["spec"]["ports"]}
    assert [rule["host"]] == spec["tls"][0]["hosts"]
    assert rule["host"] in allowed["ALLOWED_HOSTS"].split(",")
    assert allowed["CRAWLER_BASE_URL"] == f"https://{rule['host']}"


def test_everything_is_in_one_namespace() -> None:
    name = kustomization(BASE)["namespace"]
    assert kustomization(EXAMPLE)["namespace"] == name
    assert list(of_kind("Namespace")) == [name]


# The processes.


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_process_is_started_by_its_name_with_the_image_of_the_project(component: str) -> None:
    found = container(own_pods()[component])
    image, arguments = STARTED.get(component, ("site-crawler", [component]))
    assert (found["image"], found["args"], found.get("command")) == (image, arguments, None)
    assert image in {each["name"] for each in kustomization(EXAMPLE)["images"]}


@pytest.mark.parametrize("name", sorted(pods()))
def test_a_process_has_no_rights_that_it_does_not_need(name: str) -> None:
    pod = pods()[name]["spec"]
    found = container(pods()[name])
    assert pod["securityContext"]["runAsNonRoot"]
    of_chromium = {"type": "Localhost", "localhostProfile": "site-crawler/chromium-seccomp.json"}
    seccomp = of_chromium if name == "crawler-browser" else {"type": "RuntimeDefault"}
    assert pod["securityContext"]["seccompProfile"] == seccomp
    assert found["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert (pod["automountServiceAccountToken"], pod["enableServiceLinks"]) == (False, False)
    assert {"cpu", "memory"} == set(found["resources"]["requests"])
    assert "memory" in found["resources"]["limits"]


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_process_writes_where_the_image_lets_it(component: str) -> None:
    pod = own_pods()[component]["spec"]
    writable = {each["mountPath"] for each in container({"spec": pod})["volumeMounts"] if not each.get("readOnly")}
    assert writable == {"/tmp", environment(BASE)["CRAWLER_DATA_DIR"]}  # noqa: S108 (in the container)
    assert (pod["securityContext"]["runAsUser"], pod["securityContext"]["fsGroup"]) == (10001, 10001)
    assert pod["serviceAccountName"] in of_kind("ServiceAccount")


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_process_has_the_time_it_takes_to_end(component: str) -> None:
    assert STOP_SECONDS + 2 <= own_pods()[component]["spec"]["terminationGracePeriodSeconds"] <= STOP_SECONDS + 10


@pytest.mark.parametrize("component", CRAWLING)
def test_a_process_is_not_killed_while_it_waits_for_services(component: str) -> None:
    probe = container(own_pods()[component])["startupProbe"]
    assert probe["periodSeconds"] * (probe["failureThreshold"] - 1) >= base.CRAWLER_STARTUP_TIMEOUT + 20


def test_a_worker_has_the_memory_after_which_it_starts_anew() -> None:
    resources = container(own_pods()["worker"])["resources"]
    megabytes = {name: int(resources[name]["memory"].removesuffix("Mi")) for name in ("requests", "limits")}
    assert megabytes["requests"] == base.CRAWLER_WORKER_MB < megabytes["limits"] * 0.8


def test_a_browser_worker_has_memory_for_chromium_and_what_it_shares() -> None:
    pod = own_pods()["browser"]
    (tmp,) = [volume["emptyDir"] for volume in pod["spec"]["volumes"] if volume["name"] == "tmp"]
    assert tmp["medium"] == "Memory"
    sizes = [tmp["sizeLimit"], container(pod)["resources"]["limits"]["memory"]]
    shared, most = (int(size.removesuffix("Gi")) * 1024 for size in sizes)
    assert most >= MAX_BROWSER_MB + shared


def test_the_guide_takes_the_profile_of_chromium_to_where_the_pods_look_for_it() -> None:
    profile = own_pods()["browser"]["spec"]["securityContext"]["seccompProfile"]["localhostProfile"]
    assert f"/var/lib/kubelet/seccomp/{profile}" in GUIDE
    assert (ROOT / "deploy" / "container" / Path(profile).name).exists()


@pytest.mark.skipif(not CONTAINERFILE.exists(), reason="the image is not part of this checkout")
def test_the_command_of_the_probes_exists() -> None:
    for component in ("clock", "worker", "browser"):
        for probe in ("startupProbe", "livenessProbe"):
            python, flag, module = container(own_pods()[component])[probe]["exec"]["command"]
            assert (python, flag) == ("python", "-m")
            assert find_spec(module) is not None


# What they are told.


@pytest.mark.parametrize("name", sorted({*environment(BASE), *environment(EXAMPLE)}))
def test_every_variable_is_a_setting(name: str) -> None:
    assert re.search(rf"^\|[^|]*`{name.removesuffix('_FILE')}`", SETTINGS, re.MULTILINE)


def test_every_secret_is_a_file_of_the_secret_that_is_mounted() -> None:
    files = {name.removesuffix("_FILE"): Path(file) for name, file in environment(BASE).items() if "_FILE" in name}
    assert {name: file.name for name, file in files.items()} == {name: name for name in SECRETS}
    (generated,) = [each for each in kustomization(EXAMPLE)["secretGenerator"] if each["name"] == "crawler-secrets"]
    assert generated["files"] == [f"secrets/{name}" for name in SECRETS]
    for pod in own_pods().values():
        mounted = {each["name"]: each["mountPath"] for each in container(pod)["volumeMounts"]}
        volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
        assert {str(file.parent) for file in files.values()} == {mounted["secrets"]}
        assert volumes["secrets"]["secret"]["secretName"] == generated["name"]


def test_the_guide_creates_every_secret_file() -> None:
    for generated in kustomization(EXAMPLE)["secretGenerator"]:
        for name in generated["files"]:
            assert Path(name).name in GUIDE
    assert (EXAMPLE / ".gitignore").read_text() == "/secrets/\n"


def test_production_starts_with_these_settings(tmp_path: Path) -> None:
    told = {name: value for name, value in environment(BASE, EXAMPLE).items() if not name.endswith("_FILE")}
    secrets = dict.fromkeys(SECRETS, "made-up-but-long-enough")
    secrets |= {"DATABASE_URL": "postgres://crawler:x@postgresql/crawler", "REDIS_URL": "redis://:x@valkey:6379/0"}
    inherited = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
    script = "from django.conf import settings; print(settings.DATABASES['default']['HOST'], settings.REDIS_URL)"
    shown = subprocess.run(
        [sys.executable, "-c", script],
        env={**inherited, **told, **secrets, "CRAWLER_DATA_DIR": str(tmp_path)},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    database, redis = shown.stdout.split()
    assert {database, urlsplit(redis).hostname} <= of_kind("Service").keys()


# How they are upgraded, by the commands of the guide.


def upgrade_commands() -> list[str]:
    """All of them; the second block is for versions that cannot work side by side."""
    section = GUIDE.split("\n## Upgrade\n")[1].split("\n## ")[0]
    return re.findall(r"^    (kubectl .+)$", section, re.MULTILINE)


def test_the_commands_of_an_upgrade_name_objects_that_exist() -> None:
    commands = upgrade_commands()
    of_namespace = [command for command in commands if " -n " in command]
    assert {command.split()[2] for command in of_namespace} == {kustomization(BASE)["namespace"]}
    assert all(command.startswith("kubectl apply -k .") for command in commands if command not in of_namespace)
    jobs = {name for command in commands for name in re.findall(r"\bjob[/ ](\S+)", command)}
    assert jobs == of_kind("Job").keys()
    rolled_out = {command.rpartition("/")[2] for command in commands if "rollout status" in command}
    assert rolled_out <= of_kind("Deployment").keys()
    (scaled_down,) = [command for command in commands if "--replicas=0" in command]
    by_keda = {each["spec"]["scaleTargetRef"]["name"] for each in of_kind("ScaledObject").values()}
    assert by_keda | set(re.findall(r"crawler-\w+", scaled_down)) == of_kind("Deployment").keys()


def test_an_upgrade_changes_the_tables_before_it_replaces_a_process() -> None:
    """A Job cannot be changed, so the earlier one is deleted; what the new one needs is applied with it."""
    delete, apply_first, wait, apply_all, *_ = upgrade_commands()
    assert "delete job crawler-migrate" in delete
    selector = re.search(r"-l 'app\.kubernetes\.io/component notin \((.+)\)'$", apply_first)
    assert selector
    left_out = set(selector[1].split(", "))
    applied = [found for found in objects(*ALL) if found["metadata"].get("labels", {}).get(COMPONENT) not in left_out]
    names = {found["metadata"]["name"] for found in applied}
    assert {found["kind"] for found in applied}.isdisjoint({"Deployment", "ScaledObject"})
    needed = {own_pods()["migrate"]["spec"]["serviceAccountName"], "default-deny", "crawler-services"}
    assert {"crawler-migrate", *needed} <= names
    assert "--for=condition=complete" in wait
    assert wait.endswith("job/crawler-migrate")
    assert apply_all == "kubectl apply -k ."


def test_the_processes_that_must_end_are_those_that_work_on_crawls() -> None:
    (waits,) = [command for command in upgrade_commands() if "--for=delete" in command]
    assert set(waits.split(" in (")[1].rstrip(")'").split(", ")) == set(CRAWLING)


# What asks the web pages.


@pytest.fixture
def as_deployed(settings: Any) -> None:
    settings.ALLOWED_HOSTS = environment(BASE)["ALLOWED_HOSTS"].split(",")
    settings.SECURE_SSL_REDIRECT = environment(BASE)["SECURE_SSL_REDIRECT"] != "false"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


@pytest.mark.django_db
@pytest.mark.usefixtures("as_deployed", "real_redis")
@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_the_probes_of_the_web_pages_are_answered(probe: str) -> None:
    found = container(own_pods()["web"])[probe]["httpGet"]
    assert found["port"] in {port["name"] for port in container(own_pods()["web"])["ports"]}
    headers = {header["name"]: header["value"] for header in found["httpHeaders"]}
    assert Client(headers=headers).get(found["path"]).status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("as_deployed")
@pytest.mark.parametrize("component", SCALED)
def test_keda_reads_a_number_where_it_looks_for_one(real_redis: Redis, component: str) -> None:
    (trigger,) = of_kind("ScaledObject")[f"crawler-{component}"]["spec"]["triggers"]
    url = urlsplit(trigger["metadata"]["url"])
    user: User = a_person("keda")
    headers = {"Host": url.netloc, "Authorization": f"Bearer {a_token(user, Scope.SCALE_READ)}"}
    answer = Client(headers=headers).get(url.path)
    assert answer.status_code == 200
    assert type(answer.json()[trigger["metadata"]["valueLocation"]]) is int


@pytest.mark.parametrize("component", SCALED)
def test_keda_asks_the_service_and_scales_the_workers(component: str) -> None:
    scaled = of_kind("ScaledObject")[f"crawler-{component}"]["spec"]
    (trigger,) = scaled["triggers"]
    target = of_kind(scaled["scaleTargetRef"]["kind"])[scaled["scaleTargetRef"]["name"]]
    assert labels_of(target["spec"]["template"])["app.kubernetes.io/component"] == component
    assert trigger["metadata"]["valueLocation"] == SCALED[component]
    assert "replicas" not in target["spec"]  # else `kubectl apply` would reset what KEDA set
    service, namespace, _ = urlsplit(trigger["metadata"]["url"]).netloc.split(".")
    assert service in of_kind("Service")
    assert namespace == kustomization(BASE)["namespace"]
    assert trigger["authenticationRef"]["name"] in of_kind("TriggerAuthentication")


@pytest.mark.parametrize("component", SCALED)
def test_the_figure_of_keda_is_the_number_of_workers(component: str) -> None:
    """By AverageValue and 1 the HorizontalPodAutoscaler makes ceil(figure / 1) of it."""
    scaled = of_kind("ScaledObject")[f"crawler-{component}"]["spec"]
    (trigger,) = scaled["triggers"]
    assert (trigger["metricType"], trigger["metadata"]["targetValue"]) == ("AverageValue", "1")
    assert 0 <= scaled["minReplicaCount"] < scaled["maxReplicaCount"]


# What they may connect to.


@pytest.mark.parametrize("name", sorted(pods()))
def test_what_no_policy_allows_is_refused(name: str) -> None:
    assert of_kind("NetworkPolicy")["default-deny"]["spec"]["podSelector"] == {}
    for direction in ("Ingress", "Egress"):
        assert any(direction.lower() not in spec for spec in policies_for(pods()[name], direction))


@pytest.mark.parametrize("component", CRAWLING)
def test_a_process_reaches_the_addresses_that_the_guard_allows_and_no_others(component: str) -> None:
    blocks = list(blocks_for(own_pods()[component]))
    networks = {str(block.network) for block in BLOCKS}
    for block in blocks:
        networks |= {block["cidr"], *block["except"]}
    at_borders = {str(at) for network in networks for at in _around(network)}
    assert len(at_borders) > 100
    assert {at for at in at_borders if reaches(blocks, at) != is_public(at)} == set()


def _around(network: str) -> list[Any]:
    """Its first and last address, and their neighbours outside."""
    whole = ip_network(network)
    first, last = whole.network_address, whole.broadcast_address
    before = [first - 1] if int(first) else []
    after = [last + 1] if int(last) + 1 < 2**whole.max_prefixlen else []
    return [*before, first, last, *after]


def test_migrations_reach_no_address_outside_of_the_cluster() -> None:
    assert list(blocks_for(own_pods()["migrate"])) == []


@pytest.mark.parametrize("name", ["postgresql", "valkey"])
@pytest.mark.parametrize("component", COMPONENTS)
def test_every_process_reaches_the_services_and_they_let_it_in(component: str, name: str) -> None:
    pod, service = own_pods()[component], pods(EXAMPLE)[name]
    (port,) = [each["containerPort"] for each in container(service)["ports"]]
    out = [rule for spec in policies_for(pod, "Egress") for rule in spec.get("egress", [])]
    into = [rule for spec in policies_for(service, "Ingress") for rule in spec.get("ingress", [])]
    assert any(_leads(rule["to"], service) and _has(rule, port) for rule in out)
    assert any(_leads(rule["from"], pod) and _has(rule, port) for rule in into)


def _leads(peers: list[Object], pod: Object) -> bool:
    own = [peer["podSelector"] for peer in peers if "podSelector" in peer and "namespaceSelector" not in peer]
    return any(selects(selector, labels_of(pod)) for selector in own)


def _has(rule: Object, port: int) -> bool:
    return port in {each["port"] for each in rule["ports"]}
