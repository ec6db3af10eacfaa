#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""pyverbs_run: run rdma-core's own test suite, one line of JSON per event.

usage: pyverbs_run.py TESTS-FOLDER DEVICE NETDEV GID-INDEX [MODULE]...

TESTS-FOLDER is .../rdma-core/tests as Debian packs it, some files compressed.
Each module is run in a process of its own, forked after what all of them need
was imported: starting Python is what takes the time on an emulated machine.
The events, on stdout:

    {"plan": NAME}
    {"name": NAME, "result": "ok"|"skip"|"fail", "why": TEXT}

A process that does not end well after its last test, in what the tests left behind,
is a test MODULE.end that fails.

Where the suite assumes a device with a parent in sysfs (a PCI card), it is told
the netdev of this one; nothing else of it is changed.
"""

import fnmatch
import gzip
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import unittest

if sys.argv[1:2] == ["--help"]:
    sys.exit(print(__doc__.strip()))

# For one vendor's devices: through that vendor's own provider library.
VENDOR = ("test_mlx5_*", "test_efa*", "test_cuda_*", "test_mana*", "test_hns*")
MODULE_LIMIT_S = 120

# What pyverbs leaves behind of these tests can crash it when it is collected,
# in the midst of a later test: each gets a process of its own.
FRAIL = ("test_parent_domain", "test_flow")


def unpack(source):
    """A folder "tests" that Python can import, from the packed one."""
    where = os.path.join(tempfile.mkdtemp(prefix="pyverbs-"), "tests")
    os.mkdir(where)
    for name in os.listdir(source):
        if any(fnmatch.fnmatch(name, v) for v in VENDOR):
            continue
        path = os.path.join(source, name)
        if name.endswith(".py.gz"):
            with gzip.open(path) as src, \
                 open(os.path.join(where, name[:-3]), "wb") as dst:
                shutil.copyfileobj(src, dst)
        elif name.endswith(".py"):
            shutil.copy(path, where)
    return where


def name_netdev(base, netdev):
    """RDMATestCase looks for the netdev below the device's parent."""
    def get_ip_mac(self, dev, port, idx):
        try:
            ip, mac = self.get_ip_mac_address(netdev)
        except (KeyError, IndexError):
            ip = mac = None
        self.args.append([dev, port, idx, ip, mac])

    base.RDMATestCase.get_net_name = staticmethod(lambda dev: netdev)
    base.RDMATestCase._get_ip_mac = get_ip_mac


class Events(unittest.TestResult):
    """Tells each result as it comes: the process may not live to the end."""

    def __init__(self, pipe):
        super().__init__()
        self.pipe = pipe

    def tell(self, test, result, why=""):
        event = {"name": short(test), "result": result,
                 "why": " ".join(str(why).split()),
                 "seconds": round(time.monotonic() - self.started, 2)}
        self.pipe.write(json.dumps(event) + "\n")
        self.pipe.flush()

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def addSuccess(self, test):
        self.tell(test, "ok")

    def addSkip(self, test, reason):
        if not hasattr(self, "started"):
            self.started = time.monotonic()
        self.tell(test, "skip", reason)

    def addError(self, test, err):
        self.tell(test, "fail", "".join(traceback.format_exception(*err))
                  [-600:])

    addFailure = addError


def short(test):
    return test.id().removeprefix("tests.")


def flat(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flat(item)
        else:
            yield item


def load(name):
    return unittest.defaultTestLoader.loadTestsFromName("tests." + name)


def run_tests(name, out):
    """In the child: everything of one module, or one test."""
    suite = load(name)
    for test in flat(suite):
        out.write(json.dumps({"plan": short(test)}) + "\n")
    out.flush()
    suite.run(Events(out))


def fork_tests(name):
    """Run tests; pass on what is told of them, and what they died of."""
    read, write = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        os.close(read)
        os.setsid()
        signal.alarm(MODULE_LIMIT_S)
        # What the tests print is of no interest; what they tell is.
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        try:
            with os.fdopen(write, "w") as out:
                run_tests(name, out)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        # Not os._exit(): what a test left behind is destroyed as it would be
        # in the suite's own runner.
        sys.exit(0)
    os.close(write)
    planned, told = [], set()
    with os.fdopen(read) as events:
        for line in events:
            event = json.loads(line)
            if "plan" in event:
                planned.append(event["plan"])
            else:
                told.add(event["name"])
            print(line, end="", flush=True)
    _, status = os.waitpid(pid, 0)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    how = (f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
           if os.WIFSIGNALED(status) else
           f"status {os.WEXITSTATUS(status)}")
    for test in planned:
        if test not in told:
            print(json.dumps({"name": test, "result": "fail",
                              "why": f"did not report: {name}: {how}"}))
    if not planned:
        print(json.dumps({"plan": name}))
        print(json.dumps({"name": name, "result": "fail",
                          "why": f"not a test in it: {how}"}))
    elif status and told.issuperset(planned):
        end = f"{name}.end"
        print(json.dumps({"plan": end}))
        print(json.dumps({"name": end, "result": "fail",
                          "why": f"after its tests: {how}"}))


def main():
    source, device, netdev, gid = sys.argv[1:5]
    where = unpack(source)
    sys.path[:0] = [os.path.dirname(where), where]
    modules = sys.argv[5:] or sorted(f[:-3] for f in os.listdir(where)
                                     if f.startswith("test_"))
    parser = importlib.import_module("args_parser").parser
    parser.args = {"dev": device, "pci_dev": None, "port": 1,
                   "gid": int(gid), "gpu": 0, "gtt": False,
                   "verbosity": None, "list_tests": False}
    name_netdev(importlib.import_module("tests.base"), netdev)
    for name in modules:
        if name in FRAIL:
            for test in flat(load(name)):
                fork_tests(short(test))
        else:
            fork_tests(name)
    subprocess.run(["rm", "-rf", os.path.dirname(where)], check=False)


if __name__ == "__main__":
    sys.exit(main())
