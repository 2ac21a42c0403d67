#!/usr/bin/env python3
"""Checks the manifests against the schemas of Kubernetes, without a cluster, and what they promise.

    target/agents/bin/python packaging/kubernetes/check.py [CRDS]

CRDS is the folder k8s/crds of kubernetes-sigs/agent-sandbox: with it, the objects of that project
are checked against its own schemas too. Without it, against the fields that FIELDS lists.
"""

import sys
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml

HERE = Path(__file__).resolve().parent
VERSION = "1.33"

# Of agent-sandbox's v1beta1: the fields that it has, and those that it requires.
FIELDS = {
    "SandboxTemplate": (
        {"podTemplate", "service", "networkPolicy", "networkPolicyManagement", "envVarsInjectionPolicy"},
        {"podTemplate"},
    ),
    "SandboxWarmPool": ({"replicas", "sandboxTemplateRef"}, {"sandboxTemplateRef"}),
    "SandboxClaim": ({"warmPoolRef", "lifecycle"}, {"warmPoolRef"}),
}


def schemas(folder):
    """The schemas of agent-sandbox's kinds. Unknown fields are errors, as for `kubectl`."""
    for path in Path(folder).glob("*.yaml"):
        kind = yaml.safe_load(path.read_text())["spec"]
        schema = next(v["schema"] for v in kind["versions"] if v["name"] == "v1beta1")
        yield kind["names"]["kind"], strict(schema["openAPIV3Schema"])


def strict(schema):
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(part) for key, part in schema.items()}
    if schema.get("type") == "object" and "properties" in schema:
        made.setdefault("additionalProperties", False)
    return made


def check(document, crds):
    kind, spec = document["kind"], document["spec"]
    if kind in FIELDS:
        known, required = FIELDS[kind]
        assert required <= spec.keys() <= known, f"{kind}: {spec.keys()}"
        if kind in crds:
            whole = dict(crds[kind])
            whole["properties"] = whole["properties"] | {"metadata": {"type": "object"}}
            jsonschema.validate(document, whole)
    else:
        kubernetes_validate.validate(document, VERSION, strict=True)
    if "podTemplate" in spec or kind == "Deployment":
        check_pod(spec.get("podTemplate") or spec["template"])


def check_pod(template):
    """A pod by itself is valid, and has no rights: the profile `restricted`."""
    metadata = {"name": "deskline", **template["metadata"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    kubernetes_validate.validate(pod, VERSION, strict=True)
    whole, (container,) = template["spec"]["securityContext"], template["spec"]["containers"]
    own = container["securityContext"]
    assert whole["runAsNonRoot"] and whole["seccompProfile"]["type"] == "RuntimeDefault"
    assert own["readOnlyRootFilesystem"] and not own["allowPrivilegeEscalation"]
    assert own["capabilities"]["drop"] == ["ALL"]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {volume["name"] for volume in template["spec"]["volumes"]}


def check_names(documents):
    """What refers to another object names one that is there."""
    named = {(d["kind"], d["metadata"]["name"]) for d in documents}
    templates = [d["spec"]["template"] for d in documents if d["kind"] == "Deployment"]
    labels = [template["metadata"]["labels"] for template in templates]
    for document in documents:
        spec = document["spec"]
        if document["kind"] == "Service":
            assert spec["selector"] in labels
        if document["kind"] in ("NetworkPolicy", "PodDisruptionBudget", "Deployment"):
            selector = spec.get("podSelector") or spec["selector"]
            assert selector["matchLabels"] in labels
        for reference, kind in (
            ("sandboxTemplateRef", "SandboxTemplate"),
            ("warmPoolRef", "SandboxWarmPool"),
            ("scaleTargetRef", "Deployment"),
        ):
            assert reference not in spec or (kind, spec[reference]["name"]) in named


def main():
    crds = dict(schemas(sys.argv[1])) if len(sys.argv) > 1 else {}
    passed = 0
    for path in sorted(HERE.glob("*.yaml")):
        documents = list(yaml.safe_load_all(path.read_text()))
        for document in documents:
            check(document, crds)
            print(f"test {path.name} {document['kind']} ... ok")
            passed += 1
        check_names(documents)
        # A field that no object has is found.
        for document in documents:
            document["spec"]["wrong"] = 1
            try:
                check(document, crds)
            except (AssertionError, kubernetes_validate.ValidationError):
                continue
            raise AssertionError(f"{document['kind']}: a wrong field was not found")
    print(f"\ntest result: ok. {passed} passed; 0 failed; 0 ignored;")


main()
