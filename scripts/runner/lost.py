# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Why a guest was lost: what its console, QEMU and QEMU's exit status said."""

import os
import re
import signal

from runner import machine
from runner.common import read_file

CONSOLE_LINES, QEMU_LINES = 25, 10

# What the end of a console is known to mean, and what to do.
KNOWN = [
    (r"Kernel panic - not syncing: (?:System is deadlocked on memory|Out of)",
     "the guest had too little memory: --memory"),
    (r"Kernel panic - not syncing: (.*)", "the kernel panicked: {0}"),
    (r"Oops: int3", "QEMU's known race in self-modifying code"),
    (r"vm-init: (.*)", "the guest's init gave up: {0}"),
]
# Where 6.1 stays, with what QEMU 10 emulates.
HUNG_CPU = re.compile(r"LSM: Security Framework initializing\s*\Z|"
                      r"Mount-cache hash table entries[^\n]*\s*\Z")


def how_qemu_ended(code, given_up):
    if given_up:
        return f"was ended: {given_up}"
    if code is None:
        return "was never started"
    if code < 0:
        # One that the kernel kills where memory is short says nothing.
        short = ": is memory short?" if -code == signal.SIGKILL else ""
        return f"was killed by {signal.Signals(-code).name}{short}"
    if code:
        return f"ended with status {code}"
    return "ended with status 0: the guest powered off, reset or panicked"


def meaning(console, began):
    for pattern, text in KNOWN:
        m = re.search(pattern, console)
        if m:
            return text.format(*m.groups())
    if HUNG_CPU.search(console):
        return ("the kernel does not get along with the emulated CPU "
                f"({machine.emulated_cpu()}; {machine.version()}); "
                "SOFTRDMA_CPU=qemu64 is another")
    if not console.strip():
        return "the kernel said nothing: it was not started, or hung at once"
    if not began:
        return "the kernel hung, or ended, before its init began"
    return None


def tail(title, text, lines):
    found = text.rstrip().splitlines()[-lines:] if text.strip() else []
    if not found:
        return [f"{title}: nothing"]
    return [f"{title}:", *(f"    {line}" for line in found)]


def explain(node, folder, code, given_up):
    """Lines to show."""
    def path(name):
        return os.path.join(folder, f"{name}.{node}")

    console = read_file(path("console"))
    began = os.path.exists(path("began"))
    lines = [f"node {node} was lost; the emulator {how_qemu_ended(code, given_up)}"]
    why = meaning(console, began)
    if why:
        lines.append(f"most likely: {why}")
    if os.path.exists(path("ready")):
        lines.append("it was ready; the command had begun")
    elif began:
        lines.append("its init had begun, and was not ready")
    lines += tail("the end of its console", console, CONSOLE_LINES)
    lines += tail("the emulator said", read_file(path("qemu")), QEMU_LINES)
    return lines
