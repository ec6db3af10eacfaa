# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""program: start a program, know when it listens, see how it ends."""

import glob
import os
import re
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))


class Program:
    """Runs from here on; its output goes to a file."""

    def __init__(self, argv, env=None):
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=self.out,
            stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, **(env or {})})

    def text(self):
        self.out.seek(0)
        return self.out.read().decode(errors="replace")

    def status(self):
        return self.process.poll()

    def wait(self, seconds):
        """Its status, or None."""
        try:
            return self.process.wait(max(seconds, 0.01))
        except subprocess.TimeoutExpired:
            return None

    def sleeps(self):
        """Whether it waits for something, and is not in the midst of a call."""
        with open(f"/proc/{self.process.pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] == "S"

    def end(self):
        if self.status() is None:
            self.process.terminate()
            if self.wait(5) is None:
                self.process.kill()
                self.process.wait()


# Of what is counted, that which may say why something failed.
TELLING = re.compile("drop|nak|timer|overrun|no_receive|out_of_seq|missed")


def counters(device, netdev):
    """The counters of a device and its netdev, by name."""
    counted = {}
    for path in (
            glob.glob(f"/sys/class/infiniband/{device}/ports/1/hw_counters/*") +
            glob.glob(f"/sys/class/net/{netdev}/statistics/*")):
        name = os.path.basename(path)
        if not TELLING.search(name):
            continue
        # Either has a tx_dropped.
        if path.startswith("/sys/class/net/"):
            name = f"{netdev}.{name}"
        with open(path) as f:
            counted[name] = int(f.read())
    return counted


def listens_tcp(port):
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}") as f:
            if re.search(rf":{port:04X} [0-9A-F]+:0000 0A ", f.read()):
                return True
    return False


def listens_cm(port):
    """On the RDMA CM, for one address or for any."""
    ids = subprocess.run(["rdma", "resource", "show", "cm_id"], text=True,
                         stdout=subprocess.PIPE, check=False).stdout
    return re.search(rf"state LISTEN .*:{port} ", ids) is not None


def await_ready(program, ready, seconds):
    """What is wrong, or None once it listens ("tcp PORT", "cm PORT") or has
    said something ("says REGEX")."""
    how, what = ready.split(" ", 1)
    deadline = time.monotonic() + seconds
    seen = None
    while time.monotonic() < deadline:
        # Before the look: what it said or did last counts.
        status = program.status()
        if how == "tcp" and listens_tcp(int(what)):
            return None
        if how == "cm" and listens_cm(int(what)):
            # The kernel says so a moment before it is true; after that a
            # server waits, or looks for connections all the time.
            seen = seen or time.monotonic()
            if program.sleeps() or time.monotonic() - seen > 0.5:
                return None
        if how == "says" and re.search(what, program.text()):
            return None
        if status is not None:
            return f"server: status {status}"
        time.sleep(0.01)
    return "the server does not listen in time"
