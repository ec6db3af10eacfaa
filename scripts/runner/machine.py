# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What it is booted on: QEMU, its CPU, and whether KVM is of use here."""

import json
import os
import re
import subprocess
import tempfile

from runner.common import cache_dir, note

# What the emulated CPU had better not have. With erms and fsrm a guest copies by
# `rep movsb`, which is emulated bytewise; 6.1 even hangs before init in QEMU 10,
# with pku as well.
CPU_WITHOUT = ("la57", "erms", "fsrm", "pku")

SHARE = "security_model=none,multidevs=remap"


def program(kernel):
    return {"amd64": "qemu-system-x86_64",
            "arm64": "qemu-system-aarch64"}[kernel["arch"]]


def ask_qemu(*args, arch="amd64"):
    """What QEMU prints; nothing when it does not run."""
    try:
        return subprocess.run([program({"arch": arch}), *args], text=True,
                              stdin=subprocess.DEVNULL, timeout=30,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def version():
    return ask_qemu("--version").partition("\n")[0] or "no QEMU"


def emulated_cpu():
    """The CPU for -cpu: a feature that this QEMU has never heard of is not one
    that it can be told to leave out.
    """
    if os.environ.get("SOFTRDMA_CPU"):
        return os.environ["SOFTRDMA_CPU"]
    known = set(re.findall(r"^\s*([\w-]+)=",
                           ask_qemu("-device", "max-x86_64-cpu,help"), re.M))
    return ",".join(["max", *(f"{f}=off" for f in CPU_WITHOUT if f in known)])


def emulated_arm_cpu():
    """One that has pages of 16 KB, too; QEMU before 7.1 does not know it."""
    known = ask_qemu("-cpu", "help", arch="arm64")
    return "cortex-a76" if "cortex-a76" in known else "cortex-a72"


def host_khz():
    with open("/proc/cpuinfo") as f:
        m = re.search(r"cpu MHz\s*: ([\d.]+)", f.read())
    return int(float(m[1]) * 1000) if m else 2000000


def machine(kernel, accel):
    """What to emulate, and what its kernel is to be told."""
    qemu = program(kernel)
    if kernel["arch"] == "arm64":
        cpu = "host" if accel == "kvm" else emulated_arm_cpu()
        return [qemu, "-M", "virt", "-cpu", cpu], ["console=ttyAMA0"]
    command = [qemu, "-M", "q35,usb=off,smbus=off,sata=off"]
    append = ["console=ttyS0"]
    if accel == "kvm":
        return [*command, "-cpu", "host"], append
    # Without these a busy host makes the guest mis-calibrate its clock, or
    # panic in the timer check.
    append += ["tsc=reliable", "no_timer_check"]
    if accel == "tcg":
        append.append(f"tsc_early_khz={host_khz()}")
    return [*command, "-cpu", emulated_cpu()], append


def accelerator(accel, no_idle):
    return {"kvm": ["-accel", "kvm"],
            "tcg": ["-accel", "tcg,thread=multi"],
            "icount": ["-accel", "tcg,thread=single", "-icount",
                       "shift=0,sleep=" + ("off" if no_idle else "on")]}[accel]


def share(tag, path, writable):
    """A folder of this machine that the guest mounts by its tag."""
    path = path.replace(",", ",,")
    only = "" if writable else ",readonly=on"
    return ["-fsdev", f"local,id={tag},path={path},{SHARE}{only}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def wire(node, nodes, capture):
    """The network of several nodes: A has a socket for each of the others, and
    a hub where there is more than one.

    A relative path: those of unix sockets may be too long.
    """
    mac = "52:54:00:00:00:%02x" % (nodes.index(node) + 1)
    stream = "stream,id=wire{0},server={1},addr.type=unix,addr.path=wire.{0}"
    command, port = [], f"wire{node}"
    if node != nodes[0]:
        command += ["-netdev", stream.format(node, "off")]
    elif len(nodes) == 2:
        port = f"wire{nodes[1]}"
        command += ["-netdev", stream.format(nodes[1], "on")]
    else:
        port = "port"
        command += ["-netdev", "hubport,id=port,hubid=0"]
        for n in nodes[1:]:
            command += ["-netdev", stream.format(n, "on"),
                        "-netdev", f"hubport,id=port{n},hubid=0,"
                                   f"netdev=wire{n}"]
    command += ["-device", f"virtio-net-pci,netdev={port},mac={mac},romfile="]
    if capture and node == nodes[0]:
        # No guest sees the frames as the wire does: not cut up yet, or merged
        # again.
        command += ["-object", f"filter-dump,id=capture,netdev={port},"
                               f"file={os.path.abspath(capture)}"]
    return command


def known_kvm():
    """(file, what it says) of what was found out since this machine booted."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    path = os.path.join(cache_dir(), "kvm.json")
    try:
        with open(path) as f:
            known = json.load(f)
    except (OSError, ValueError):
        known = {}
    if known.get("boot") != boot:
        known = {"boot": boot, "works": {}}
    return path, known


def kvm_works(kernel, boots):
    """Whether a stock kernel really boots here with KVM.

    The device node proves nothing: under some hypervisors a kernel hangs. The
    answer is kept in the cache until this machine boots again. @boots tries.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    path, known = known_kvm()
    works = known["works"]
    # Where one kernel hangs, the others are not tried.
    if not all(works.values()) or kernel["release"] in works:
        return all(works.values())
    note(f"probing KVM with {kernel['release']}")
    ok = works[kernel["release"]] = boots()
    note("KVM " + ("works" if ok else "does not boot it; emulating"))
    with tempfile.NamedTemporaryFile("w", dir=cache_dir(),
                                     delete=False) as f:
        json.dump(known, f)
    os.rename(f.name, path)
    return ok


def choose_accel(icount, kernel, boots):
    if icount:
        return "icount"
    if "userland" in kernel:
        return "tcg"
    forced = os.environ.get("SOFTRDMA_ACCEL")
    if forced in ("kvm", "tcg"):
        return forced
    return "kvm" if kvm_works(kernel, boots) else "tcg"
