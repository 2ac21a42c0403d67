"""Writes the bill of materials of a platform's binaries: the crates that are linked in, as CycloneDX.

    sbom.py TARGET TIME OUT     TARGET is Rust's name of the platform; TIME, in seconds, is the commit's
"""

import json
import subprocess
import sys
import tomllib
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

ROOT = Path(__file__).parent.parent
PROGRAMS = ("deskline", "deskline-grab")


def linked(metadata):
    """The crates that the programs need at run time, by id, each with its own dependencies."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    needs = {}
    open_ends = [p["id"] for p in metadata["packages"] if p["name"] in PROGRAMS and p["source"] is None]
    while open_ends:
        package = open_ends.pop()
        if package in needs:
            continue
        deps = nodes[package]["deps"]
        needs[package] = [d["pkg"] for d in deps if any(kind["kind"] is None for kind in d["dep_kinds"])]
        open_ends += needs[package]
    return needs


def main(target, time, out):
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={target}"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock if "checksum" in p}
    packages = {package["id"]: package for package in metadata["packages"]}
    licenses = LicenseFactory()

    def component(id):
        package = packages[id]
        name, version = package["name"], package["version"]
        checksum = checksums.get((name, version))
        # Older crates separate alternatives with a slash.
        license = package["license"] and package["license"].replace("/", " OR ")
        return Component(
            name=name,
            version=version,
            type=ComponentType.APPLICATION if name in PROGRAMS else ComponentType.LIBRARY,
            bom_ref=f"{name}@{version}",
            purl=PackageURL("cargo", name=name, version=version),
            licenses=[licenses.make_from_string(license)] if license else [],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
        )

    needs = linked(metadata)
    components = {id: component(id) for id in needs}
    [program] = [id for id in needs if packages[id]["name"] == PROGRAMS[0]]
    others = [other for id, other in components.items() if id != program]
    # The same source gives the same bill.
    bom = Bom(components=others, serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"{target} {time}"))
    bom.metadata.timestamp = datetime.fromtimestamp(int(time), UTC)
    bom.metadata.component = components[program]
    for id, deps in needs.items():
        bom.register_dependency(components[id], [components[dep] for dep in deps])
    text = make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise SystemExit(f"{error}")
    Path(out).write_text(text + "\n")


main(*sys.argv[1:])
