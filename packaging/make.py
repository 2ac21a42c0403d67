"""Makes the packages of a release from what is in OUT/bin/PLATFORM: deskline and deskline-grab for Linux,
Deskline.app for macOS, deskline.exe for Windows.

    make.py OUT [--debug]

--debug says that the binaries run on this machine only: the wheel gets a tag that says so.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

from client import Client

HERE = Path(__file__).parent
ROOT = HERE.parent
MANYLINUX = "manylinux_2_17_{0}.manylinux2014_{0}"
# Node's names for the system and the processor, and Debian's and Python's for both.
PLATFORMS = {
    "linux-x64": ("linux", "x64", "amd64", MANYLINUX.format("x86_64")),
    "linux-arm64": ("linux", "arm64", "arm64", MANYLINUX.format("aarch64")),
    "darwin-x64": ("darwin", "x64", None, "macosx_12_0_x86_64"),
    "darwin-arm64": ("darwin", "arm64", None, "macosx_12_0_arm64"),
    "win32-x64": ("win32", "x64", None, "win_amd64"),
}
TARGETS = {
    "linux-x64": "x86_64-unknown-linux-gnu",
    "linux-arm64": "aarch64-unknown-linux-gnu",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
    "win32-x64": "x86_64-pc-windows-msvc",
}
# The program within the app.
APP = "Deskline.app/Contents/MacOS/deskline"
DOCUMENTS = ("README.md", "CHANGELOG.md", "LICENSE", "LICENSE-MIT", "LICENSE-APACHE")
# The name of the bill of materials, as CycloneDX prescribes it.
BILL = "deskline.cdx.json"


def run(*command, **options):
    options.setdefault("stdout", subprocess.PIPE)
    return subprocess.run(list(map(str, command)), check=True, timeout=300, **options).stdout


class Release:
    def __init__(self, out, debug):
        self.out, self.debug = out.resolve(), debug
        self.work = self.out / "work"
        self.platforms = [p for p in PLATFORMS if self.binary(p).is_file()]
        workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
        repository = os.environ.get("GITHUB_REPOSITORY", "deskline/deskline")
        self.version = workspace["version"]
        self.words = {
            "VERSION": self.version,
            "DESCRIPTION": workspace["description"],
            "REPOSITORY": f"https://github.com/{repository}",
            "SERVER_NAME": f"io.github.{repository}",
        }
        # The time of the last commit, so that the same source gives the same packages.
        self.time = int(run("git", "-C", ROOT, "log", "-1", "--format=%ct"))
        os.environ["SOURCE_DATE_EPOCH"] = str(self.time)
        self.made = []

    def binary(self, platform):
        names = {"darwin": APP, "win32": "deskline.exe"}
        return self.out / "bin" / platform / names.get(PLATFORMS[platform][0], "deskline")

    def own(self):
        """The binary that runs here."""
        machine = "x64" if os.uname().machine in ("x86_64", "amd64") else "arm64"
        return self.binary(f"{os.uname().sysname.lower()}-{machine}")

    def text(self, template, **words):
        text = (HERE / template).read_text()
        for name, word in (self.words | words).items():
            text = text.replace(f"@{name}@", word)
        return text

    def folder(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def add(self, path):
        self.made.append(path)
        print(f"  {path.name}  {path.stat().st_size / 1e6:.1f} MB")

    def checksum(self, name):
        return hashlib.sha256((self.out / name).read_bytes()).hexdigest()


def program(release, platform, folder, beside=None):
    """Copies the program into a folder, and its further files into the same folder or another: the
    guard's helper, where `doctor` finds it, or the app, whole, as its signature and Apple's ticket
    are about all of it. Returns the program's path."""
    binary, beside = release.binary(platform), beside or folder
    folder.mkdir(parents=True, exist_ok=True)
    beside.mkdir(parents=True, exist_ok=True)
    if platform.startswith("darwin"):
        shutil.copytree(binary.parents[2], beside / "Deskline.app")
        (beside / APP).chmod(0o755)
        if beside == folder:
            return APP
        sources = {HERE / "macos/deskline": folder}
    elif platform.startswith("win32"):
        shutil.copyfile(binary, folder / binary.name)
        return binary.name
    else:
        sources = {binary: folder, binary.with_name("deskline-grab"): beside}
    for source, target in sources.items():
        shutil.copyfile(source, target / source.name)
        (target / source.name).chmod(0o755)
    return "deskline"


def share(release):
    """Manual pages and completions, by the binary that runs here."""
    own = release.own()
    folder = release.folder("share")
    manual = folder / "man" / "man1"
    manual.mkdir(parents=True)
    run(own, "manual", manual)
    for shell, path in {
        "bash": "bash-completion/completions/deskline",
        "zsh": "zsh/site-functions/_deskline",
        "fish": "fish/vendor_completions.d/deskline.fish",
    }.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_bytes(run(own, "completions", shell))
    return folder


def bill(release, platform):
    """The crates in the binaries: a file of its own, and one for the packages."""
    path = release.out / f"deskline-{release.version}-{platform}.cdx.json"
    run(os.environ["DESKLINE_PYTHON"], HERE / "sbom.py", TARGETS[platform], release.time, path)
    release.add(path)
    return path


def tools(release):
    """The tools' names and first sentences, from the server."""
    with tempfile.TemporaryDirectory() as journal, Client([release.own(), "--dir", journal]) as client:
        listed = client.ask("tools/list")["tools"]
    return [{"name": t["name"], "description": t["description"].split(". ")[0].rstrip(".")} for t in listed]


def write_zip(release, path, files):
    """Makes a zip of names, external attributes and contents, all with the time of the commit."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, attributes, content in files:
            entry = zipfile.ZipInfo(name, time.gmtime(release.time)[:6])
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, attributes
            packed.writestr(entry, content)


def zipped(release, platform, bill):
    """For Windows: the program alone, which winget and Scoop put in the path."""
    name = f"deskline-{release.version}-{platform}"
    path = release.out / f"{name}.zip"
    files = [release.binary(platform), *(ROOT / file for file in DOCUMENTS)]
    named = [*((file.name, file) for file in files), (BILL, bill)]
    write_zip(release, path, [(name, 0o644 << 16, file.read_bytes()) for name, file in named])
    release.add(path)
    words = {"URL": f"{release.words['REPOSITORY']}/releases/download/v{release.version}/{path.name}"}
    words["SHA256"] = release.checksum(path.name)
    for template in sorted((HERE / "windows").iterdir()):
        path = release.out / template.name
        path.write_text(release.text(f"windows/{template.name}", **words))
        release.add(path)


def archive(release, platform, shared, bill):
    if platform.startswith("win32"):
        return zipped(release, platform, bill)
    name = f"deskline-{release.version}-{platform}"
    top = release.folder("archive") / name
    program(release, platform, top / "bin", top / "libexec")
    shutil.copytree(shared, top / "share")
    (top / "share/doc/deskline").mkdir(parents=True)
    shutil.copy(bill, top / "share/doc/deskline" / BILL)
    for file in DOCUMENTS:
        shutil.copy(ROOT / file, top)

    def same(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = release.time, 0, 0, "", ""
        return entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(top, arcname=name, filter=same)
    path = release.out / f"{name}.tar.gz"
    path.write_bytes(gzip.compress(packed.getvalue(), mtime=release.time))
    release.add(path)


def recipes(release):
    """For rpm, the AUR and Homebrew: of the archives, with their checksums."""
    words = {}
    for platform in PLATFORMS:
        path = release.out / f"deskline-{release.version}-{platform}.tar.gz"
        # A platform that was not built has a checksum that nothing has.
        sum_of = release.checksum(path.name) if path.is_file() else "0" * 64
        words["SHA256_" + platform.upper().replace("-", "_")] = sum_of
    for kind in ("rpm", "aur", "homebrew"):
        for template in sorted((HERE / kind).iterdir()):
            path = release.out / template.name
            path.write_text(release.text(f"{kind}/{template.name}", **words))
            release.add(path)


def installer(release):
    names = [p.name for p in release.made if p.name.endswith(".tar.gz")]
    sums = "\n".join(f"{release.checksum(name)}  {name}" for name in names)
    path = release.out / "install.sh"
    path.write_text(release.text("install.sh", CHECKSUMS=sums))
    path.chmod(0o755)
    release.add(path)


def deb(release, platform, shared, bill):
    architecture = PLATFORMS[platform][2]
    if architecture is None or shutil.which("dpkg-deb") is None:
        return
    root = release.folder("deb")
    program(release, platform, root / "usr/bin", root / "usr/libexec")
    target = root / "usr/share"
    shutil.copytree(shared, target)
    # The folder in which Debian's zsh looks.
    (target / "zsh/vendor-completions").mkdir()
    (target / "zsh/site-functions/_deskline").rename(target / "zsh/vendor-completions/_deskline")
    (target / "zsh/site-functions").rmdir()
    document = target / "doc/deskline"
    document.mkdir(parents=True)
    shutil.copy(bill, document / BILL)
    mit = (ROOT / "LICENSE-MIT").read_text().split("\n", 2)[2].strip()
    mit = "\n".join(f" {line}".rstrip() or " ." for line in mit.splitlines())
    (document / "copyright").write_text(release.text("deb/copyright", MIT=mit))
    shutil.copy(ROOT / "CHANGELOG.md", document / "changelog")
    for file in [document / "changelog", *(target / "man/man1").iterdir()]:
        file.with_name(file.name + ".gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
        file.unlink()
    size = sum(f.stat().st_size for f in root.rglob("*") if f.is_file()) // 1024
    (root / "DEBIAN").mkdir()
    control = release.text("deb/control", ARCHITECTURE=architecture, SIZE=str(size))
    (root / "DEBIAN/control").write_text(control)
    shutil.copy(HERE / "deb/postinst", root / "DEBIAN")
    programs = {root / "usr/bin/deskline", root / "usr/libexec/deskline-grab", root / "DEBIAN/postinst"}
    for path in [root, *root.rglob("*")]:
        path.chmod(0o755 if path.is_dir() or path in programs else 0o644)
    path = release.out / f"deskline_{release.version}_{architecture}.deb"
    # xz: Debian's dpkg before 12 cannot read zstd, which Ubuntu's writes by default.
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path)
    release.add(path)


def npm(release, bills):
    def pack(folder):
        name = run("npm", "pack", "--silent", "--pack-destination", release.out, cwd=folder).decode().split()[-1]
        release.add(release.out / name)

    for platform in release.platforms:
        system, processor = PLATFORMS[platform][:2]
        folder = release.folder("npm")
        program(release, platform, folder)
        shutil.copy(bills[platform], folder / BILL)
        files = json.dumps(sorted(file.name for file in folder.iterdir()))
        text = release.text("npm/platform.json", PLATFORM=platform, OS=system, CPU=processor, FILES=files)
        (folder / "package.json").write_text(text)
        pack(folder)
    folder = release.folder("npm")
    optional = {f"@deskline/{platform}": release.version for platform in release.platforms}
    (folder / "package.json").write_text(release.text("npm/package.json", OPTIONAL=json.dumps(optional)))
    for file in ("README.md", "deskline.js"):
        (folder / file).write_text(release.text(f"npm/{file}"))
    (folder / "deskline.js").chmod(0o755)
    pack(folder)


def wheel(release, platform, bill):
    tag = PLATFORMS[platform][3]
    if release.debug and release.binary(platform) == release.own():
        tag = f"linux_{os.uname().machine}"
    folder = release.folder("wheel")
    data = folder / f"deskline-{release.version}.data"
    program(release, platform, data / "scripts", data / "data/libexec" if platform.startswith("darwin") else None)
    info = folder / f"deskline-{release.version}.dist-info"
    (info / "licenses").mkdir(parents=True)
    for file in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / file, info / "licenses")
    # The folder that PEP 770 prescribes.
    (info / "sboms").mkdir()
    shutil.copy(bill, info / "sboms" / BILL)
    (info / "METADATA").write_text(release.text("python/METADATA"))
    tags = "".join(f"Tag: py3-none-{one}\n" for one in tag.split("."))
    (info / "WHEEL").write_text(release.text("python/WHEEL") + tags)
    run(os.environ["DESKLINE_PYTHON"], "-m", "wheel", "pack", folder, "--dest-dir", release.out)
    # `wheel` sorts the tags in the name.
    [path] = set(release.out.glob("*.whl")) - set(release.made)
    release.add(path)


def bundle(release, platform, tools, bill):
    folder = release.folder("mcpb")
    start = program(release, platform, folder / "server")
    command = "${__dirname}/server/" + start
    first = []
    if not platform.startswith("win32"):
        # Claude Desktop unpacks all files without the right to run them (modelcontextprotocol/mcpb #294).
        allow = 'chmod +x "$0" "$(dirname "$0")/deskline-grab" 2>/dev/null; exec "$0" "$@"'
        first, command = ["-c", allow, command], "/bin/sh"
    text = release.text(
        "mcpb/manifest.json",
        OS=PLATFORMS[platform][0],
        PROGRAM=start,
        COMMAND=json.dumps(command),
        START="".join(json.dumps(word) + ", " for word in first),
        TOOLS=json.dumps(tools),
    )
    (folder / "manifest.json").write_text(text)
    shutil.copy(bill, folder / BILL)
    for file in ("LICENSE", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy(ROOT / file, folder)
    path = release.out / f"deskline-{release.version}-{platform}.mcpb"
    run(os.environ["DESKLINE_MCPB"], "validate", folder / "manifest.json")
    run(os.environ["DESKLINE_MCPB"], "pack", folder, path)
    # The tool stamps the files with the time of packing.
    with zipfile.ZipFile(path) as packed:
        files = [(entry.filename, entry.external_attr, packed.read(entry)) for entry in packed.infolist()]
    write_zip(release, path, files)
    release.add(path)


def registry(release):
    """server.json for the MCP registry."""
    packages = [
        {"registryType": kind, "identifier": "deskline", "version": release.version, "transport": {"type": "stdio"}}
        for kind in ("npm", "pypi")
    ]
    for path in release.made:
        if path.suffix == ".mcpb":
            url = f"{release.words['REPOSITORY']}/releases/download/v{release.version}/{path.name}"
            package = {"registryType": "mcpb", "identifier": url, "fileSha256": release.checksum(path.name)}
            packages.append(package | {"transport": {"type": "stdio"}})
    path = release.out / "server.json"
    text = release.text("server.json", PACKAGES=json.dumps(packages))
    path.write_text(json.dumps(json.loads(text), indent=2) + "\n")
    release.add(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--debug", action="store_true")
    args = parser.parse_args()
    release = Release(args.out, args.debug)
    if not release.platforms:
        raise SystemExit(f"no binary in {args.out}/bin")
    for old in release.out.iterdir():
        if old.is_file():
            old.unlink()
    print(f"Deskline {release.version} for {', '.join(release.platforms)}")
    shared, listed = share(release), tools(release)
    bills = {platform: bill(release, platform) for platform in release.platforms}
    for platform, materials in bills.items():
        archive(release, platform, shared, materials)
        deb(release, platform, shared, materials)
        wheel(release, platform, materials)
        bundle(release, platform, listed, materials)
    npm(release, bills)
    installer(release)
    recipes(release)
    registry(release)
    sums = "".join(f"{release.checksum(p.name)}  {p.name}\n" for p in sorted(release.made))
    (release.out / "SHA256SUMS").write_text(sums)
    shutil.rmtree(release.work)


main()
