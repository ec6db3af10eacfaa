# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""qemu: what the emulator on this machine can do, and how it ended.

For vm.py. Versions differ: that of Debian 12 (7.2) and of Debian 13 (10.0) are known
to boot what is tested here.
"""

import re
import signal
import subprocess

PROGRAM = "qemu-system-x86_64"

# What the emulated CPU does without. With erms and fsrm a guest copies by `rep
# movsb`, which is emulated bytewise; with fsrm or pku of QEMU 10 a 6.1 guest hangs
# before its init.
CPU_WITHOUT = ("la57", "erms", "fsrm", "pku")


def emulated_cpu():
    """For -cpu: a feature this QEMU has never heard of cannot be left out."""
    try:
        text = subprocess.run(
            [PROGRAM, "-device", "max-x86_64-cpu,help"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    known = re.findall(r"^\s*([\w-]+)=", text, re.M)
    return ",".join(["max", *(f"{f}=off" for f in CPU_WITHOUT if f in known)])


def host_khz():
    with open("/proc/cpuinfo") as f:
        m = re.search(r"cpu MHz\s*: ([\d.]+)", f.read())
    return int(float(m[1]) * 1000) if m else 2000000


def how_it_ended(code, given_up):
    """From the exit status of an emulator, and why we ended it if we did."""
    if given_up:
        return f"was ended: {given_up}"
    if code is None:
        return "was never started"
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    if code:
        return f"ended with status {code}"
    return "ended with status 0: the guest powered off, reset or panicked"
