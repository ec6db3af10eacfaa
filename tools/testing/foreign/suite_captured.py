# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Looped traffic, seen by tcpdump on the interface of the link.

Each case is captured by itself. Frames and counters must agree at its end; what
the frames say is judged on the machine, by three readers (run).
"""

import dataclasses
import re
import shutil
import subprocess
import time

import suite_interop
import suite_pingpong
import suite_rdmacm
from program import Program, await_ready

OF_PINGPONG = r"(rc|uc|ud|srq)_plain$|ud_ipv6$|rc_mtu256$"
OF_RDMACM = r"rping_65535$|rping_ipv6$|ucmatose$|udaddy$|mckey_ipv4|rstream_v"
QUIET_S = 1.2
LIMIT_S = 60


def counter(device, name):
    with open(f"/sys/class/infiniband/{device}/ports/1/hw_counters/"
              f"{name}") as f:
        return int(f.read())


def settled(look, good=lambda _: True):
    """What look() returns once it is good and changes no more: the connection
    manager's last words come after the programs have ended, and tcpdump is a
    second behind."""
    deadline = time.monotonic() + LIMIT_S
    last, since = None, time.monotonic()
    while time.monotonic() < deadline:
        now = look()
        if now != last:
            last, since = now, time.monotonic()
        elif good(now) and time.monotonic() - since > QUIET_S:
            break
        time.sleep(0.1)
    return last


def looped_by(device):
    return settled(lambda: counter(device, "loop_packets"))


def frames_in(path):
    """Frames in a pcap file: how many looped ones, and how many of multicast,
    which goes by the interface."""
    count = [0, 0]
    with open(path, "rb") as f:
        f.seek(24)
        while True:
            head = f.read(16)
            frame = f.read(int.from_bytes(head[8:12], "little"))
            if len(head) < 16 or not frame:
                return tuple(count)
            count[frame[0] & 1] += 1


class Listener:
    """tcpdump, while a case runs."""

    running = None

    def __init__(self, name):
        self.name = name
        self.file = f"/tmp/{name}.pcap"
        self.before = self.lost = 0

    def start(self, ends):
        if Listener.running:
            Listener.running.end()
        # Or the UDP checksum of multicast would be left to the interface.
        subprocess.run(["ethtool", "-K", ends.values["netdev_a"], "tx", "off"],
                       stdout=subprocess.DEVNULL, check=True)
        self.before = looped_by(ends.values["dev_a"])
        self.lost = counter(ends.values["dev_a"], "loop_not_captured")
        Listener.running = Program([
            "tcpdump", "-n", "-i", ends.values["netdev_a"], "-Z", "root",
            "-B", "65536", "-U", "-w", self.file, "udp port 4791"])
        await_ready(Listener.running, "says listening on", LIMIT_S)

    def finish(self, ends):
        """What is wrong, or None."""
        device, tcpdump = ends.values["dev_a"], Listener.running
        looped = looped_by(device) - self.before
        lost = counter(device, "loop_not_captured") - self.lost
        settled(lambda: frames_in(self.file),
                lambda count: any(count) and count[0] >= looped - lost)
        tcpdump.end()
        Listener.running = None
        frames, multicast = frames_in(self.file)
        shutil.copy(self.file, f"/out/{self.name}.pcap")
        if not frames + multicast or lost or frames != looped:
            return (f"{frames} frames of {looped} looped packets, {lost} lost; "
                    f"{multicast} of multicast")
        if not re.search(r"^0 packets dropped by kernel", tcpdump.text(),
                         re.M):
            return tcpdump.text()
        return None


def listened(case, prefix):
    name = f"{prefix}_{case.name}"
    listener = Listener(name)
    return dataclasses.replace(case, name=name, before=listener.start,
                               after=listener.finish)


def of(suite, prefix, pattern, topology):
    for case in suite.cases(topology):
        if re.match(pattern, case.name):
            yield listened(case, prefix)


def cases(topology):
    for case in suite_interop.exchanges():
        if re.match(r"rc_(256|1024|4096)|uc_1024|ud_", case.name):
            yield listened(case, "exchange")
    for case in suite_interop.posting_calls():
        yield listened(case, "posting")
    yield from of(suite_pingpong, "pingpong", OF_PINGPONG, topology)
    yield from of(suite_rdmacm, "rdmacm", OF_RDMACM, topology)
