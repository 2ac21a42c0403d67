"""Installs each package of OUT into an empty folder and calls a tool through it, as a client would.

    check.py OUT [--short]

--short leaves out what only a release needs: each further platform's packages.
"""

import argparse
import grp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from client import Client
from npm_registry import NpmRegistry

MACHINE = {"x86_64": "x64", "aarch64": "arm64", "arm64": "arm64"}[os.uname().machine]
PLATFORM = f"{os.uname().sysname.lower()}-{MACHINE}"
PROGRAMS = ("deskline", "deskline-grab")
APP = "org.gnome.Calculator"
CHECKS = []


class Skip(Exception):
    """Why a check cannot be made here."""


def check(work):
    CHECKS.append(work)
    return work


def run(*command, fails=False, **options):
    done = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, **options
    )
    text = done.stdout.decode(errors="replace")
    if (done.returncode != 0) != fails:
        raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{text}")
    return text


def need(program):
    if shutil.which(program) is None:
        raise Skip(f"{program} is not installed")


def use(*command, folder, env=None, desktop=("--desktop", "private")):
    """Opens an app on a private desktop through an installed server, and reads the files of the call."""
    env = (env or dict(os.environ)) | {"DESKLINE_DIR": str(folder / "journal")}
    with Client([*command, *desktop], env) as client:
        text, failed = client.call("open_application_and_traverse", identifier=APP)
    assert not failed and "status: success" in text, text
    tree = re.search(r"^file: (\S+)", text, re.M).group(1)
    assert re.search(r"\[AXButton[^]]*\] \"7\"", Path(tree).read_text()), f"{tree} has no button 7"


def helper(program):
    """The guard's helper, which Linux has, runs, and serves only the server."""
    if PLATFORM.startswith("linux"):
        said = run(program, fails=True, stdin=subprocess.DEVNULL)
        assert "started by Deskline's server" in said, said


def empty_environment(folder, path="/usr/bin:/bin"):
    """The environment of a new user."""
    return {"HOME": str(folder / "home"), "PATH": path, "LANG": "C.UTF-8"}


@check
def rpm(out, folder):
    """rpmbuild of the archive, and its files in a folder."""
    need("rpmbuild")
    need("rpm2archive")
    run("rpmbuild", "-bb", "--define", f"_sourcedir {out}", "--define", f"_topdir {folder}", out / "deskline.spec")
    [package] = folder.glob("RPMS/*/deskline-*.rpm")
    said = run("rpm", "-qp", "--qf", "[%{FILEMODES:perms} %{FILEUSERNAME}:%{FILEGROUPNAME} %{FILENAMES}\n]", package)
    assert "-rwxr-sr-x root:input /usr/libexec/deskline-grab" in said, said
    run("rpm2archive", package)
    run("tar", "-xf", f"{package}.tgz", "-C", folder)
    helper(folder / "usr/libexec/deskline-grab")
    use(folder / "usr/bin/deskline", folder=folder)


@check
def homebrew(out, folder):
    """The formula's syntax."""
    need("ruby")
    run("ruby", "-c", out / "deskline.rb")


@check
def archive(out, folder):
    """install.sh with the archive beside it; a changed archive installs nothing."""
    [packed] = out.glob(f"deskline-*-{PLATFORM}.tar.gz")
    for name in (packed.name, "install.sh"):
        shutil.copy(out / name, folder)
    prefix = folder / "prefix"
    env = empty_environment(folder)
    run("sh", folder / "install.sh", "--prefix", prefix, env=env)
    assert (prefix / "share/man/man1/deskline.1").is_file()
    bill = json.loads((prefix / "share/doc/deskline/deskline.cdx.json").read_text())
    crates = {crate["name"] for crate in bill["components"]}
    assert bill["metadata"]["component"]["name"] == "deskline" and {"rmcp", "zbus"} <= crates, crates
    helper(prefix / "libexec/deskline-grab")
    run("bash", "-n", prefix / "share/bash-completion/completions/deskline")
    use(prefix / "bin/deskline", folder=folder, env=env)
    with open(folder / packed.name, "ab") as file:
        file.write(b"x")
    said = run("sh", folder / "install.sh", "--prefix", folder / "other", fails=True, env=env)
    assert "checksum" in said and not (folder / "other").exists(), said
    # The archive is downloaded, as from a release.
    (folder / packed.name).unlink()
    if shutil.which("curl"):
        env["DESKLINE_DOWNLOAD"] = out.as_uri()
        run("sh", folder / "install.sh", "--prefix", folder / "other", env=env)
        run(folder / "other/bin/deskline", "--version")


@check
def deb(out, folder):
    """dpkg installs it into an empty root and removes every file."""
    need("dpkg")
    architecture = run("dpkg", "--print-architecture").strip()
    [package] = out.glob(f"deskline_*_{architecture}.deb")
    # apt resolves its dependencies.
    run("apt-get", "install", "--simulate", "--no-install-recommends", package)
    root = folder / "root"
    admin = root / "var/lib/dpkg"
    for name in ("info", "updates", "triggers"):
        (admin / name).mkdir(parents=True)
    (admin / "status").touch()
    dpkg = ["dpkg", "--root", root, "--force-depends", "--force-not-root", "--log", folder / "dpkg.log"]
    # The root has no shell of its own.
    dpkg.append("--force-script-chrootless")
    run(*dpkg, "--install", package)
    grab = root / "usr/libexec/deskline-grab"
    helper(grab)
    if os.getuid() == 0 and "input" in {group.gr_name for group in grp.getgrall()}:
        assert oct(grab.stat().st_mode) == "0o102755" and grab.group() == "input", oct(grab.stat().st_mode)
    assert (root / "usr/share/doc/deskline/deskline.cdx.json").is_file()
    manual = root / "usr/share/man/man1"
    pages = {page.name for page in manual.iterdir()}
    assert {"deskline.1.gz", "deskline-doctor.1.gz", "deskline-install.1.gz"} <= pages, pages
    if shutil.which("man"):
        said = run("man", "--warnings", "--local-file", manual / "deskline.1.gz", env=os.environ | {"MANPAGER": "cat"})
        assert "--read-only" in said, said
    use(root / "usr/bin/deskline", folder=folder)
    run(*dpkg, "--remove", "deskline")
    left = [path for path in (root / "usr").rglob("*") if path.is_file()] if (root / "usr").exists() else []
    assert not left, left


@check
def npm(out, folder):
    """npx -y deskline, and npm i of the files, from a registry with nothing but our packages."""
    need("npx")
    home = folder / "home"
    home.mkdir()
    with NpmRegistry(out) as registry:
        env = dict(os.environ) | {
            "HOME": str(home),
            "npm_config_cache": str(folder / "cache"),
            "npm_config_registry": registry.address,
            "npm_config_update_notifier": "false",
        }
        use("npx", "-y", "deskline", folder=folder, env=env)
    project = folder / "project"
    project.mkdir()
    env["npm_config_offline"] = "true"
    [main] = out.glob("deskline-[0-9]*.tgz")
    [native] = out.glob(f"deskline-{PLATFORM}-[0-9]*.tgz")
    run("npm", "i", "--no-audit", "--no-fund", native, main, cwd=project, env=env)
    bin = project / "node_modules/.bin/deskline"
    helper(project / f"node_modules/@deskline/{PLATFORM}/deskline-grab")
    assert (project / f"node_modules/@deskline/{PLATFORM}/deskline.cdx.json").is_file()
    use(bin, folder=folder, env=env)
    shutil.rmtree(project / f"node_modules/@deskline/{PLATFORM}")
    said = run(bin, "--version", fails=True, env=env)
    assert "--omit=optional" in said, said


@check
def wheel(out, folder):
    """pip install of the file."""
    [package] = out.glob(f"deskline-*-py3-none-*{os.uname().machine}.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    pip = folder / "venv/bin/pip"
    run(pip, "install", "--no-index", "--no-deps", package)
    use(folder / "venv/bin/deskline", folder=folder)
    helper(folder / "venv/bin/deskline-grab")
    assert list((folder / "venv").glob("lib/*/site-packages/deskline-*/sboms/deskline.cdx.json"))
    run(pip, "uninstall", "--yes", "deskline")
    assert not (folder / "venv/bin/deskline").exists()


def unpacked_plainly(folder):
    """Claude Desktop unpacks all files without the right to run them."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.chmod(0o600)


@check
def mcp_bundle(out, folder):
    """The bundle's manifest is valid, and starts the server as Claude Desktop would."""
    [package] = out.glob(f"deskline-*-{PLATFORM}.mcpb")
    mcpb = os.environ["DESKLINE_MCPB"]
    run(mcpb, "unpack", package, folder / "bundle")
    run(mcpb, "validate", folder / "bundle/manifest.json")
    unpacked_plainly(folder / "bundle")
    assert (folder / "bundle/deskline.cdx.json").is_file()
    manifest = json.loads((folder / "bundle/manifest.json").read_text())
    start = manifest["server"]["mcp_config"]
    words = {"__dirname": str(folder / "bundle")}
    words |= {f"user_config.{name}": str(option["default"]) for name, option in manifest["user_config"].items()}
    words["user_config.desktop"] = "private"
    # As JSON writes it.
    words = {name: {"True": "true", "False": "false"}.get(word, word) for name, word in words.items()}

    def filled(text):
        return re.sub(r"\$\{([^}]+)\}", lambda found: words[found[1]], text)

    env = dict(os.environ) | {name: filled(value) for name, value in start["env"].items()}
    start = [filled(start["command"]), *map(filled, start["args"])]
    use(*start, folder=folder, env=env, desktop=())
    with Client(start, env | {"DESKLINE_READ_ONLY": "true", "DESKLINE_DIR": str(folder / "journal")}) as client:
        assert len(client.ask("tools/list")["tools"]) < 10
    helper(folder / "bundle/server/deskline-grab")
    assert len(manifest["tools"]) >= 15, manifest["tools"]


@check
def mac_app(out, folder):
    """Each package for macOS has the whole app, its program can be run, and the command starts it, also as Claude
    Desktop unpacks it."""
    app = "Deskline.app/Contents"
    archives = sorted(out.glob("deskline-*-darwin-*.tar.gz"))
    if not archives:
        raise Skip("there is no package for macOS")
    others = [path for name in ("*macosx*.whl", "*darwin*.tgz", "*darwin*.mcpb") for path in out.glob(name)]
    assert len(others) >= 3 * len(archives), others
    for number, path in enumerate([*archives, *others]):
        to = folder / str(number)
        to.mkdir()
        if path.suffix in (".whl", ".mcpb"):
            run("unzip", "-q", path, "-d", to)
        else:
            run("tar", "-xzf", path, "-C", to)
        [program] = to.rglob(f"{app}/MacOS/deskline")
        plist = program.parents[1] / "Info.plist"
        assert os.access(program, os.X_OK) and plist.is_file(), f"{path.name}: {program}, {plist}"
        # The command is a script, or the program that the launcher or the manifest names.
        if path.suffix == ".mcpb":
            server = json.loads((to / "manifest.json").read_text())["server"]
            assert to / server["entry_point"] == program, server
            start = server["mcp_config"]
            program.write_text("#!/bin/sh\necho started \"$1\"\n")
            unpacked_plainly(to)
            said = run(*(w.replace("${__dirname}", str(to)) for w in (start["command"], *start["args"])))
            assert said == "started --desktop\n", said
        elif path.name.endswith(".tgz"):
            assert program == to / "package" / app / "MacOS/deskline", program
        else:
            program.write_text("#!/bin/sh\necho started \"$@\"\n")
            [script] = [p for p in to.rglob("deskline") if p.parent.name in ("bin", "scripts")]
            installed = to / "prefix"
            (installed / "bin").mkdir(parents=True)
            shutil.copytree(program.parents[3], installed / "libexec")
            shutil.copy(script, installed / "bin/real")
            (installed / "bin/deskline").symlink_to("real")
            said = run(installed / "bin/deskline", "one", "two words")
            assert said == "started one two words\n", said


@check
def windows(out, folder):
    """Each package for Windows has the program, its manifest names the zip by its checksum, and the
    launchers name it."""
    zips = list(out.glob("deskline-*-win32-x64.zip"))
    if not zips:
        raise Skip("there is no package for Windows")
    [packed] = zips
    program = (out / "bin/win32-x64/deskline.exe").read_bytes()
    # Without it no list has the windows of Start and of Search.
    assert b"<disableWindowFiltering" in program, "deskline.exe has no manifest"
    program = hashlib.sha256(program).hexdigest()
    [wheel], [bundle] = out.glob("*-win_amd64.whl"), out.glob("*-win32-x64.mcpb")
    [native] = out.glob("deskline-win32-x64-[0-9]*.tgz")
    for path in (packed, wheel, bundle, native):
        to = folder / path.name
        to.mkdir()
        run(*(["tar", "-xzf", path, "-C", to] if path.suffix == ".tgz" else ["unzip", "-q", path, "-d", to]))
        [found] = to.rglob("deskline.exe")
        assert hashlib.sha256(found.read_bytes()).hexdigest() == program, path
    manifest = json.loads((folder / bundle.name / "manifest.json").read_text())
    assert manifest["server"]["entry_point"] == "server/deskline.exe", manifest["server"]
    assert manifest["compatibility"]["platforms"] == ["win32"], manifest["compatibility"]
    checksum = hashlib.sha256(packed.read_bytes()).hexdigest()
    scoop = json.loads((out / "deskline.json").read_text())
    assert scoop["architecture"]["64bit"]["hash"] == checksum, scoop
    winget = sorted(out.glob("*.yaml"))
    assert len(winget) == 3 and checksum in (out / "Deskline.Deskline.installer.yaml").read_text(), winget
    for path in winget:
        text = path.read_text()
        fields = dict(line.split(": ", 1) for line in text.splitlines() if re.match(r"[A-Z]\w+: ", line))
        assert fields["PackageIdentifier"] == "Deskline.Deskline" and not re.search(r"@[A-Z_0-9]+@", text), text
        assert path.stem.removeprefix("Deskline.Deskline").removeprefix(".locale.") in ("", ".installer", "en-US"), path


@check
def metadata(out, folder):
    """Versions, names and checksums agree."""
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=out)
    server = json.loads((out / "server.json").read_text())
    assert len(server["description"]) <= 100, "the registry takes at most 100 characters"
    for package in server["packages"]:
        assert package["registryType"] == "mcpb" or package["version"] == server["version"], package
        if package["registryType"] == "mcpb":
            assert package["fileSha256"] in (out / "SHA256SUMS").read_text(), package
    [main] = out.glob("deskline-[0-9]*.tgz")
    package = json.loads(run("tar", "-xzOf", main, "package/package.json"))
    assert package["mcpName"] == server["name"], package
    for file in ("install.sh", "server.json"):
        assert not re.search(r"@[A-Z_]+@", (out / file).read_text()), f"{file} has a word that was not filled in"


def release_binary(out, folder):
    """The binaries need no symbol younger than glibc 2.28, and nothing beside glibc."""
    need("readelf")
    binaries = [out / "bin" / platform / name for platform in ("linux-x64", "linux-arm64") for name in PROGRAMS]
    for binary in filter(Path.is_file, binaries):
        found = run("readelf", "--wide", "--version-info", "--dynamic", binary)
        versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", found)]
        assert versions and max(versions) <= (2, 28), max(versions)
        libraries = set(re.findall(r"\(NEEDED\).*\[(\S+)\]", found))
        assert libraries, found
        others = {lib for lib in libraries if not re.match(r"(libc|libm|libdl|libpthread|librt|ld-linux.*)\.so", lib)}
        assert not others, others
        print(f"    {binary.parent.name}, {binary.name}: glibc {'.'.join(map(str, max(versions)))}, {binary.stat().st_size / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--short", action="store_true")
    args = parser.parse_args()
    checks = CHECKS if args.short else [*CHECKS, release_binary]
    failed = skipped = 0
    for work in checks:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="deskline-package-") as folder:
            try:
                work(args.out.resolve(), Path(folder))
                outcome = "ok"
            except Skip as why:
                skipped += 1
                outcome = f"skipped: {why}"
            except Exception:
                failed += 1
                outcome = "FAILED\n" + traceback.format_exc()
        print(f"  {work.__name__}: {outcome} ({time.monotonic() - started:.1f} s)", flush=True)
    passed = len(checks) - failed - skipped
    print(f"test result: {'FAILED' if failed else 'ok'}. {passed} passed; {failed} failed; {skipped} ignored;")
    sys.exit(failed > 0)


main()
