# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""tables: how the scripts that measure run tools, and print and keep what they find."""

import csv
import os
import subprocess
import sys

BENCH = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(BENCH)))
OUT = os.path.join(TOP, "build", "bench")


def show(title, head, rows):
    widths = [max(len(str(r[i])) for r in [head, *rows])
              for i in range(len(head))]
    print(f"\n{title}\n")
    for row in [head, ["-" * w for w in widths], *rows]:
        print("  ".join(str(x).ljust(w) for x, w in zip(row, widths)).rstrip())


def save(name, head, rows):
    with open(os.path.join(OUT, name), "w", newline="") as f:
        writer = csv.writer(f)
        writer.writerow(head)
        writer.writerows(rows)


def report(title, name, head, rows):
    show(title, head, rows)
    save(name, head, rows)


def run_tool(*cmd):
    r = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    if r.returncode:
        sys.exit(f"{r.stdout}\n{os.path.basename(sys.argv[0])}: {cmd[0]}: "
                 f"status {r.returncode}")
    return r.stdout


def prepare():
    """Compile what is run; the path of the module."""
    os.makedirs(OUT, exist_ok=True)
    run_tool(os.path.join(TOP, "scripts", "deps"), "build", "vm")
    run_tool("make", "-s", "-C", BENCH, f"OUTPUT={OUT}")
    built = run_tool(os.path.join(TOP, "scripts", "module"), "6.1")
    return built.splitlines()[-1]
