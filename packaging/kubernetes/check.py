#!/usr/bin/env python3
"""Checks the manifests against the schemas of Kubernetes, without a cluster, and what they promise.

    target/agents/bin/python packaging/kubernetes/check.py [CRDS]

CRDS is the folder k8s/crds of kubernetes-sigs/agent-sandbox. With it, crds.json is written anew: the
schemas of that project's objects, without their texts and without that of a pod, which is
Kubernetes' own.
"""

import json
import sys
from pathlib import Path

import jsonschema
import kubernetes_validate
import yaml

HERE = Path(__file__).resolve().parent
VERSION = "1.33"

SCHEMAS = HERE / "crds.json"


def write(folder):
    """The schemas of agent-sandbox's kinds, from its own definitions."""
    made = {}
    for path in sorted(Path(folder).glob("extensions.*.yaml")):
        kind = yaml.safe_load(path.read_text())["spec"]
        schema = next(v["schema"] for v in kind["versions"] if v["name"] == "v1beta1")
        schema = bare(schema["openAPIV3Schema"])
        schema["properties"]["metadata"] = {"type": "object"}
        schema["properties"].pop("status", None)
        pod = schema["properties"]["spec"]["properties"].get("podTemplate")
        if pod:
            pod["properties"]["spec"] = {"type": "object"}
        made[kind["names"]["kind"]] = schema
    SCHEMAS.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n")


def bare(schema):
    """A schema without descriptions and the rules that only a cluster applies."""
    if isinstance(schema, list):
        return [bare(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    is_rule = lambda key: key.startswith("x-")
    is_text = lambda key, part: key == "description" and isinstance(part, str)
    return {k: bare(v) for k, v in schema.items() if not is_rule(k) and not is_text(k, v)}


def strict(schema):
    """Unknown fields are errors, as for `kubectl`."""
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
    if kind in crds:
        jsonschema.validate(document, crds[kind])
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
    """Each reference to another object names one that exists."""
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
    if len(sys.argv) > 1:
        write(sys.argv[1])
    crds = strict(json.loads(SCHEMAS.read_text()))
    passed = 0
    for path in sorted(HERE.glob("*.yaml")):
        documents = list(yaml.safe_load_all(path.read_text()))
        for document in documents:
            check(document, crds)
            print(f"test {path.name} {document['kind']} ... ok")
            passed += 1
        check_names(documents)
        # Check that an unknown field is detected.
        for document in documents:
            document["spec"]["wrong"] = 1
            try:
                check(document, crds)
            except (jsonschema.ValidationError, kubernetes_validate.ValidationError):
                continue
            raise AssertionError(f"{document['kind']}: a wrong field was not found")
    print(f"\ntest result: ok. {passed} passed; 0 failed; 0 ignored;")


main()
