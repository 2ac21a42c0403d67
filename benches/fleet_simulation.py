#!/usr/bin/env python3
"""Simulates a thousand and ten thousand desktops from the costs that scripts/fleet measured: how long
a new client waits for its desktop, by the size of the warm pool, and how many machines that takes.

    benches/fleet_simulation.py [--memory MB] [--idle MB] [--cpu SECONDS] [--start SECONDS] [--json FILE]
        [--check PAGE]

--json takes the costs from the last row that scripts/fleet has written. --check fails if the page has
another table. Assumptions:

- Clients come at random (a Poisson process), so many that the wanted number of desktops is in use on
  average. They stay for ten minutes on average; most leave earlier and a few stay long (lognormal,
  sigma 1).
- A machine has two cores and 23 GB, like the measured one. It holds as many desktops as nine
  tenths of its memory, and their processor time over the minute that the measured run took, allow.
- There are so many machines that each has room for two standard deviations more clients than it
  has on average.
- Clients are spread evenly. A machine starts one desktop at a time, which takes as long as a start
  alone took on the measured machine, and more by the part of its cores that its desktops keep busy.
- The pool is refilled as soon as a desktop is taken. An ended desktop gives its memory back at once.
- Nothing fails, networks and images cost nothing, and each machine has the same apps.
"""

import argparse
import heapq
import json
import math
import random

STAY = 600.0
SIGMA = 1.0
CORES = 2
MEMORY = 23_000 * 0.9


def simulate(rate, most, pool, start, hours=500.0, seed=1):
    """Simulates one machine. Returns the waits of its clients in seconds (None: turned away), in order."""
    dice = random.Random(seed)
    mean = math.log(STAY) - SIGMA**2 / 2
    now, end = 0.0, hours * 3600
    warm, used, starting, waiting, waits = pool, 0, 0, [], []
    # (time, kind): a client comes or leaves, or a desktop is ready.
    events = [(dice.expovariate(rate), "comes")]

    def begin():
        """Starts the next desktop, if one is needed and no other is being started."""
        nonlocal starting
        wanted = len(waiting) + max(0, pool - warm)
        if not starting and wanted and used + warm + starting < most:
            starting = 1
            heapq.heappush(events, (now + start, "there"))

    def take():
        nonlocal used
        used += 1
        heapq.heappush(events, (now + dice.lognormvariate(mean, SIGMA), "leaves"))

    while now < end:
        now, kind = heapq.heappop(events)
        if kind == "comes":
            heapq.heappush(events, (now + dice.expovariate(rate), "comes"))
            if warm:
                warm -= 1
                take()
                waits.append((now, 0.0))
            elif used + starting + len(waiting) < most:
                waiting.append(now)
            else:
                waits.append((now, None))
        elif kind == "leaves":
            used -= 1
        elif waiting:
            starting = 0
            came = waiting.pop(0)
            take()
            waits.append((came, now - came))
        else:
            starting = 0
            warm += 1
        begin()
    # The first half hour fills the machine.
    return [wait for came, wait in waits if came > 1800]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memory", type=float, default=146, help="of a desktop in use, with its apps")
    parser.add_argument("--idle", type=float, default=59, help="of a warm one")
    parser.add_argument("--cpu", type=float, default=0.1148, help="processor seconds of a desktop in use, a second")
    parser.add_argument("--start", type=float, default=0.5)
    parser.add_argument("--json")
    parser.add_argument("--check")
    options = parser.parse_args()
    if options.json:
        with open(options.json) as file:
            facts = json.load(file)
        row = facts["rows"][-1]
        options.memory, options.idle, options.start = row["mb"], row["mb_idle"], facts["first_cold_s"]
        options.cpu = row["cpu_s"] / row["run_s"]
    print(f"{options.memory:.0f} MB in use, {options.idle:.0f} MB warm, {options.cpu:.3f} of a core, {options.start:.1f} s to start\n")
    table = [
        "| desktops in use | warm a machine | machines | wait: none, p50 of the others, p99 of all | turned away |",
        "|---|---|---|---|---|",
    ]
    for total in (1_000, 10_000):
        for pool in (0, 1, 2, 4):
            by_memory = int((MEMORY - pool * options.idle) / options.memory)
            by_cpu = int(CORES * 0.8 / options.cpu)
            most = min(by_memory, by_cpu)
            # Room for more clients than the average: two standard deviations.
            each = most + 2 - 2 * math.sqrt(most + 1)
            machines = math.ceil(total / each)
            busy = total / machines * options.cpu / CORES
            waits = simulate(total / machines / STAY, most + pool, pool, options.start * (1 + busy))
            served = sorted(wait for wait in waits if wait is not None)
            late = [wait for wait in served if wait] or [0.0]
            none = 100 * (1 - sum(wait > 0 for wait in served) / len(served))
            away = 100 * (1 - len(served) / len(waits))
            tail = served[int(0.99 * (len(served) - 1))]
            wait = f"{none:.1f} %, {late[len(late) // 2]:.1f} s, {tail:.1f} s"
            table.append(f"| {total:,} | {pool} | {machines:,} | {wait} | {away:.2f} % |")
    print("\n".join(table))
    if options.check:
        with open(options.check) as page:
            assert "\n".join(table) in page.read(), f"{options.check} has another table"
        print("\ntest result: ok. 1 passed; 0 failed; 0 ignored;")


if __name__ == "__main__":
    main()
