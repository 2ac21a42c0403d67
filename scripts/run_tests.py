#!/usr/bin/env python3
"""Runs test programs that cargo has built, some beside each other, and prints how long each took.

    run_tests.py ARTIFACTS [--fast] [--lanes N] [--without-packages] [NAME...]

ARTIFACTS is a file with the output of `cargo build --all-targets --message-format=json`. NAME is a program's, such as
`guard` or `deskline-core/core`; without one, all run. --fast leaves out what needs a desktop, but for one program
on each toolkit.

Programs that need no desktop run their tests in threads. A desktop's tests run one at a time, and --lanes desktops
beside each other: most of such a test is waiting for an app. A program in ALONE measures times, or keeps both cores
busy, and runs when nothing else does.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Programs outside of the testbed that start X servers or compositors.
DESKTOPS = re.compile(r"deskline-(x11|linux)/(?!lib$)")

# Nothing may run beside these.
ALONE = {"again", "bounds", "soak"}

# One of each toolkit.
FAST = {"toolkits"}

# Programs whose tests are shared out among lanes: by the first part of their names that matches, so that the tests
# of one compositor, which share its session, stay together.
SHARED_OUT = {
    "debian_13": re.compile("gnome|(?P<kwin>kde|kwin)|labwc|sway|x11"),
    "toolkits": re.compile(".+"),
    "guard": re.compile("[^:]+"),
}

# What takes long starts early, in this order.
LONG = ["debian_13 gnome", "debian_13 kwin", "debian_13 labwc", "debian_13 sway", "guard", "survey", "told"]

# No program takes longer. One that does is killed and has failed.
LIMIT = 20 * 60

COUNTS = re.compile(r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored;", re.M)


class Unit:
    """A program with the tests of it to run."""

    def __init__(self, name, command, folder=ROOT, desktop=True, alone=False):
        self.name, self.command, self.folder = name, command, folder
        self.desktop, self.alone = desktop, alone
        self.output, self.status, self.took, self.busy = "", None, 0.0, 0.0

    @property
    def order(self):
        known = (at for at, long in enumerate(LONG) if self.name == long or self.name.startswith(long + " "))
        return (self.desktop, next(known, len(LONG)))

    def counts(self):
        """How many tests passed, failed and were skipped. A program that does not say so has failed."""
        found = [tuple(map(int, counts)) for counts in COUNTS.findall(self.output)]
        passed, failed, skipped = (sum(column) for column in zip(*found)) if found else (0, 0, 0)
        return passed, failed or int(self.status != 0), skipped

    def run(self):
        begun = time.monotonic()
        # Not a pipe: a process that a failed test leaves behind would keep it open.
        with tempfile.TemporaryFile() as output:
            program = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=os.environ | {"CARGO_MANIFEST_DIR": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            with RUNNING:
                GROUPS.add(program.pid)
            over = threading.Timer(LIMIT, end, [program.pid])
            over.start()
            _, status, usage = os.wait4(program.pid, 0)
            over.cancel()
            with RUNNING:
                GROUPS.discard(program.pid)
            program.returncode = self.status = os.waitstatus_to_exitcode(status)
            self.took, self.busy = time.monotonic() - begun, usage.ru_utime + usage.ru_stime
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        if self.took >= LIMIT:
            self.output += f"\n{self.name} was killed: it took longer than {LIMIT} s\n"
        with PRINTING:
            print(f"\n== {self.name}: {'ok' if self.status == 0 else 'FAILED'} in {self.took:.1f} s")
            print(self.output.strip(), flush=True)


RUNNING, PRINTING, GROUPS = threading.Lock(), threading.Lock(), set()


def end(group):
    """Kills a program with what it has started."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def programs(artifacts):
    """The test programs: for each its name, its path and its package's folder."""
    for line in Path(artifacts).read_text().splitlines():
        if not line.startswith("{"):
            continue
        artifact = json.loads(line)
        if artifact["reason"] == "compiler-artifact" and artifact["profile"]["test"] and artifact["executable"]:
            folder = Path(artifact["manifest_path"]).parent
            target = artifact["target"]
            name = target["name"] if target["kind"] == ["test"] else target["kind"][0]
            yield f"{folder.name}/{name}", artifact["executable"], folder


def units(program):
    """A program, or the parts of it that run beside each other."""
    name, path, folder = program
    package, short = name.split("/")
    if package != "testbed" and not DESKTOPS.match(name):
        return [Unit(name, [path], folder, desktop=False)]
    short = short if package == "testbed" else name
    one_at_a_time = [path, "--test-threads=1"]
    alone = short in ALONE
    if short not in SHARED_OUT:
        return [Unit(short, one_at_a_time, folder, alone=alone)]
    listed = subprocess.run([path, "--list", "--format=terse"], check=True, stdout=subprocess.PIPE, text=True)
    parts = {}
    for line in listed.stdout.splitlines():
        test, kind = line.rsplit(": ", 1)
        if kind == "test":
            found = SHARED_OUT[short].search(test)
            parts.setdefault(found.lastgroup or found.group() if found else "other", []).append(test)
    return [
        Unit(f"{short} {part}", [*one_at_a_time, "--exact", *tests], folder, alone=alone)
        for part, tests in parts.items()
    ]


def all_units(arguments):
    found = [unit for program in programs(arguments.artifacts) for unit in units(program)]
    if not arguments.without_packages:
        # Each package, made from the debug binaries, is installed into an empty folder and called.
        found.append(Unit("packages", ["scripts/package", "--debug", "--check"]))
        selection = ["--workspace", "--exclude", "deskline-bench"]
        found.append(Unit("doc tests", ["cargo", "test", "--locked", "--quiet", *selection, "--doc"], desktop=False))
    if arguments.names:
        found = [unit for unit in found if any(re.search(rf"\b{name}\b", unit.name) for name in arguments.names)]
    if arguments.fast:
        found = [unit for unit in found if not unit.desktop or unit.name.split()[0] in FAST]
    return sorted(found, key=lambda unit: unit.order)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifacts")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--without-packages", action="store_true")
    arguments = parser.parse_intermixed_args()
    os.chdir(ROOT)

    found = all_units(arguments)
    begun = time.monotonic()
    try:
        for alone, lanes in ((False, arguments.lanes), (True, 1)):
            with ThreadPoolExecutor(lanes) as pool:
                list(pool.map(Unit.run, [unit for unit in found if unit.alone == alone]))
    except KeyboardInterrupt:
        for group in list(GROUPS):
            end(group)
        raise

    slowest = sorted(found, key=lambda unit: -unit.took)[:15]
    print(f"\nThe slowest of {len(found)}, {time.monotonic() - begun:.0f} s in all (seconds, of which a core was busy):")
    for unit in slowest:
        print(f"{unit.took:7.1f} {unit.busy:7.1f}  {unit.name}")
    failed = [unit.name for unit in found if unit.status != 0]
    if failed:
        print(f"\nFAILED: {', '.join(failed)}")
    passed, wrong, skipped = (sum(column) for column in zip(*(unit.counts() for unit in found)))
    print(f"\n{passed} passed, {wrong} failed, {skipped} skipped")
    sys.exit(bool(wrong))


main()
