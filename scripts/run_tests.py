#!/usr/bin/env python3
"""Runs test programs that cargo has built, some beside each other, and prints how long each took.

    run_tests.py ARTIFACTS [--fast] [--lanes N] [--without-packages] [NAME...]

ARTIFACTS is a file with the output of `cargo build --all-targets --message-format=json`. NAME is a
program's, such as `guard` or `deskline-core/core`; without one, all run. --fast leaves out what
needs a desktop, but for one test on each toolkit.

Programs that need no desktop run their tests in threads. The tests of a desktop's program run one
at a time, and --lanes such programs beside each other: most of such a test is waiting for an app.
One lane more begins with those in WAITS, which need the least of a core. A program in ALONE measures
times, or keeps both cores busy, and runs when nothing else does. A test that failed beside another
is run once more, alone, and this is printed: on a busy machine a time limit means little.
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
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Programs outside of the testbed that start X servers or compositors.
DESKTOPS = re.compile(r"deskline-(x11|linux)/(?!lib$)")

# These need a third of a core, and run one after the other beside the lanes. Then this lane helps.
WAITS = {
    *("windows", "large", "sheets", "reading", "scale"),
    "toolkits calc::every_tool_works_or_is_refused_on_calc",
    *("debian_13 gnome", "debian_13 gnome_extension"),
    *("Wine designer", "Wine hands", "Wine windows", "Wine windows_folder"),
    "toolkits wine::every_tool_works_or_is_refused_on_qt_6",
    "toolkits wine::a_private_desktop_takes_quiet_actions_alone",
}

# Nothing may run beside these.
ALONE = {"reuse", "bounds", "soak"}

# One test of each toolkit.
FAST = ("toolkits ", "survey firefox", "survey pyqt_6")

# Programs whose tests are shared out among lanes, by the first pattern that matches in their names:
# the tests of one compositor, which share its session, stay together.
SHARED_OUT = {
    "debian_13": re.compile(
        "(?P<gnome_extension>.*extension)|gnome|(?P<kwin>kde|kwin)|labwc|sway|x11"
    ),
    "toolkits": re.compile(".+"),
    "survey": re.compile(".+"),
    "choose": re.compile(".+"),
    "guard": re.compile("[^:]+"),
}

# Long programs start early, in this order.
LONG = [
    *(f"debian_13 {part}" for part in ("gnome", "gnome_extension", "kwin", "labwc", "sway")),
    *("next_release", "guard", "http", "lockouts", "packages", "recipes", "told", "covers"),
]

# No program takes longer. One that does is killed and has failed.
LIMIT = 30 * 60

FAILURES = re.compile(r"^failures:\n((?:    .+\n)+)", re.M)
# What a failed test printed, up to the backtrace.
WORDS = re.compile(r"^---- (\S+) stdout ----\n(.*?)^(?:stack backtrace:|----|failures:)", re.M | re.S)
COUNTS = re.compile(r"^test result: .*?(\d+) passed; (\d+) failed; (\d+) ignored;", re.M)

# How many characters of it are printed again at the end, where a long log is looked at first.
WORDS_SHOWN = 3000

# libtest prints the time of a test only if unstable options are allowed.
TIMED = {"RUSTC_BOOTSTRAP": "1"}
REPORTED = ["-Zunstable-options", "--report-time"]
TIMES = re.compile(r"^test (\S+) \.\.\.(?:(?!^test ).)*?(?:ok|FAILED) <([\d.]+)s>", re.M | re.S)


class Unit:
    """A program, with those of its tests that are to run."""

    def __init__(self, name, command, folder=ROOT, desktop=True, alone=False):
        self.name, self.command, self.folder = name, command, folder
        self.desktop, self.alone = desktop, alone
        self.output, self.status, self.took, self.busy = "", None, 0.0, 0.0
        # The variables that cargo sets for a test.
        self.environment = {} if folder == ROOT else {"CARGO_MANIFEST_DIR": str(folder)} | TIMED
        # How many of its tests passed only alone.
        self.moved = 0

    @property
    def order(self):
        name = self.name + " "
        known = (at for at, long in enumerate(LONG) if name.startswith(long + " "))
        return (self.desktop, next(known, len(LONG)))

    def counts(self):
        """How many tests passed, failed and were skipped."""
        found = [(0, 0, 0)] + [tuple(map(int, each)) for each in COUNTS.findall(self.output)]
        passed, failed, skipped = (sum(column) for column in zip(*found))
        if self.moved:
            return passed + self.moved, 0, skipped
        return passed, failed or int(self.status != 0), skipped

    def words(self):
        """The ends of what its failed tests printed."""
        failed = WORDS.findall(self.output)
        found = [f"{self.name}: {test}:\n{said[-WORDS_SHOWN:]}" for test, said in failed]
        return found or [f"{self.name}:\n{self.output[-WORDS_SHOWN:]}"]

    def once_more(self):
        """Its failed tests, to be run alone; all of its tests, if it does not report which failed."""
        failed = FAILURES.findall(self.output)
        tests = failed[-1].split() if failed else []
        # A script, such as the one that runs Wine, takes no names of tests.
        named = tests and self.folder != ROOT
        command = [*self.command[:2], "--exact", *tests] if named else self.command
        return Unit(self.name, command, self.folder)

    def run(self):
        begun = time.monotonic()
        # Use a file, not a pipe: a process that a failed test leaves behind would keep a pipe open.
        with tempfile.TemporaryFile() as output:
            program = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=os.environ | self.environment,
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
            self.took = time.monotonic() - begun
            self.busy = usage.ru_utime + usage.ru_stime
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        if self.took >= LIMIT:
            self.output += f"\n{self.name} was killed: it took longer than {LIMIT} s\n"
        with PRINTING:
            how = "ok" if self.status == 0 else "FAILED"
            print(f"\n== {self.name}: {how} in {self.took:.1f} s")
            print(self.output.strip(), flush=True)


RUNNING, PRINTING, GROUPS = threading.Lock(), threading.Lock(), set()


def end(group):
    """Kills a program and all processes that it has started."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def stop(*_):
    """Ends all. The programs have groups of their own, which a signal to this one does not reach."""
    for group in list(GROUPS):
        end(group)
    os._exit(130)


def programs(artifacts):
    """The test programs: for each its name, its path and its package's folder."""
    for line in Path(artifacts).read_text().splitlines():
        if not line.startswith("{"):
            continue
        artifact = json.loads(line)
        is_built = artifact["reason"] == "compiler-artifact" and artifact["executable"]
        if is_built and artifact["profile"]["test"]:
            folder = Path(artifact["manifest_path"]).parent
            target = artifact["target"]
            name = target["name"] if target["kind"] == ["test"] else target["kind"][0]
            yield f"{folder.name}/{name}", artifact["executable"], folder


def units(program):
    """A program, or its parts that run at the same time."""
    name, path, folder = program
    package, short = name.split("/")
    if package != "testbed" and not DESKTOPS.match(name):
        return [Unit(name, [path], folder, desktop=False)]
    short = short if package == "testbed" else name
    one_at_a_time = [path, "--test-threads=1", *(REPORTED if package == "testbed" else [])]
    alone = short in ALONE
    if short not in SHARED_OUT:
        return [Unit(short, one_at_a_time, folder, alone=alone)]
    parts = {}
    for line in subprocess.check_output([path, "--list", "--format=terse"], text=True).splitlines():
        test, kind = line.rsplit(": ", 1)
        if kind == "test":
            found = SHARED_OUT[short].search(test)
            part = (found.lastgroup or found.group()) if found else "other"
            parts.setdefault(part, []).append(test)
    return [
        Unit(f"{short} {part}", [*one_at_a_time, "--exact", *tests], folder, alone=alone)
        for part, tests in parts.items()
    ]


def all_units(arguments):
    found = [unit for program in programs(arguments.artifacts) for unit in units(program)]
    if not arguments.without_packages:
        # Makes each package from the debug binaries, installs it into an empty folder, and calls a
        # tool through it.
        found.append(Unit("packages", ["scripts/package", "--debug", "--check"]))
        # Runs the examples with their frameworks.
        program = os.environ.get("DESKLINE_BIN", "target/debug/deskline")
        check = ["target/agents/bin/python", "examples/check.py", program]
        found.append(Unit("agents", check))
        simulation = ["benches/fleet_simulation.py", "--check", "docs/dev/fleets.md"]
        found.append(Unit("simulation", simulation, desktop=False))
        check = ["target/agents/bin/python", "packaging/kubernetes/check.py"]
        found.append(Unit("manifests", check))
        check = ["target/agents/bin/python", "packaging/container/check.py", "target/container"]
        found.append(Unit("container", [*check, program]))
        if "DESKLINE_WINDOWS" in os.environ:
            wine = ["scripts/windows", "--test"]
            names = ("designer", "hands", "long", "windows", "windows_folder")
            found.extend(Unit(f"Wine {name}", [*wine, name]) for name in names)
        docs = ["cargo", "test", "--locked", "--quiet", "--workspace", "--exclude=deskline-bench"]
        found.append(Unit("doc tests", [*docs, "--doc"], desktop=False))
    if arguments.names:
        named = re.compile("|".join(rf"\b{name}\b" for name in arguments.names))
        found = [unit for unit in found if named.search(unit.name)]
    if arguments.fast:
        found = [unit for unit in found if not unit.desktop or unit.name.startswith(FAST)]
    return sorted(found, key=lambda unit: unit.order)


def main():
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("artifacts")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--without-packages", action="store_true")
    arguments = parser.parse_intermixed_args()
    os.chdir(ROOT)

    found = all_units(arguments)
    if not found:
        parser.error("no program has such a name")
    begun = time.monotonic()
    for ends in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ends, stop)
    waiting = [unit for unit in found if unit.name in WAITS]
    alone = [unit for unit in found if unit.alone]
    queue = deque(unit for unit in found if unit not in waiting + alone)

    def lane(own):
        while own or queue:
            try:
                unit = (own or queue).popleft()
            except IndexError:
                return
            unit.run()

    owns = [deque() for _ in range(arguments.lanes)] + [deque(waiting)]
    with ThreadPoolExecutor(len(owns)) as pool:
        list(pool.map(lane, owns))
    for unit in alone:
        unit.run()
    again, wrong_runs = [], [unit for unit in found if unit.status != 0]
    for unit in list(wrong_runs):
        if unit.alone or not unit.desktop:
            continue
        again.append(unit.once_more())
        again[-1].run()
        if again[-1].status != 0:
            wrong_runs.append(again[-1])
        passed, _, _ = again[-1].counts()
        if again[-1].status == 0 and passed:
            unit.status, unit.moved = 0, passed

    slowest = sorted(found, key=lambda unit: -unit.took)[:15]
    whole = time.monotonic() - begun
    print(f"\nThe slowest of {len(found)}, {whole:.0f} s in all (seconds; of a core):")
    for unit in slowest:
        print(f"{unit.took:7.1f} {unit.busy:7.1f}  {unit.name}")
    tests = [(float(s), f"{u.name}: {test}") for u in found for test, s in TIMES.findall(u.output)]
    print("\nThe slowest tests (seconds):")
    for seconds, test in sorted(tests, reverse=True)[:15]:
        print(f"{seconds:7.1f}  {test}")
    for unit in again:
        how = "passed" if unit.status == 0 else "failed"
        print(f"\nFailed beside another, and {how} alone: {unit.name}")
    for words in (words for unit in wrong_runs for words in unit.words()):
        print(f"\n{words.strip()}")
    failed = [unit.name for unit in found if unit.status != 0]
    if failed:
        print(f"\nFAILED: {', '.join(failed)}")
    passed, wrong, skipped = (sum(column) for column in zip(*(unit.counts() for unit in found)))
    print(f"\n{passed} passed, {wrong} failed, {skipped} skipped")
    sys.exit(bool(wrong))


main()
