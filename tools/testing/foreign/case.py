# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""case: one run of a program that nobody here wrote, as server and client.

The server runs at end B of the topology (in the other namespace, in the other
kernel, or beside the client), the client at A. Both must end well, within a
limit; what else must be true a case says itself.
"""

import dataclasses
import os
import re
import shlex
import time

from peer import Peer
from program import Program, counters

RUNS = 5


@dataclasses.dataclass
class Case:
    """server, client:  argv; {ip_b} and so on are filled in by Ends.fill()
    quick:           also part of the quick run
    ready:           what tells that the server listens: "tcp PORT", "cm PORT"
                     (RDMA CM), "says REGEX" (on its output)
    expect:          a regex that the client's output must match
    unsupported:     one that makes it a skip, with what matched as the reason
    again:           one of a failure that is a known race of the program itself:
                     it is run anew, up to RUNS times
    server_ends:     whether the server ends by itself, and its status counts
    server_expect:   a regex that the server's output must match
    before:          a function of the ends, called before anything else
    after:           a function of the ends; returns what is wrong, or nothing
    """
    name: str
    client: list
    server: list = None
    quick: bool = False
    ready: str = "tcp 18515"
    expect: str = ""
    unsupported: str = ""
    again: str = ""
    server_ends: bool = True
    server_expect: str = ""
    limit: int = 120
    env: dict = dataclasses.field(default_factory=dict)
    before: object = None
    after: object = None


class Ends:
    """The two ends of the topology, as scripts/vm made it."""

    def __init__(self, env=os.environ):
        self.topology = env.get("FOREIGN_TOPOLOGY") or env["SRD_TOPOLOGY"]
        self.values = {
            f"{what}_{end}": env[f"SRD_{what.upper()}_{end.upper()}"]
            for what in ("dev", "ip", "ip6", "gid", "gid6", "netdev")
            for end in ("a", "b")}
        self.peer = Peer(shlex.split(env.get("SRD_ON_B", "")),
                         self.values["ip_b"])

    def fill(self, argv):
        return [a.format(**self.values) for a in argv]

    def count(self):
        """The counters of both ends, by end and name."""
        v = self.values
        b = self.peer.ask(60, count=[v["dev_b"], v["netdev_b"]])["counters"]
        a = counters(v["dev_a"], v["netdev_a"])
        return {f"{end}.{name}": value for end, of in (("A", a), ("B", b))
                for name, value in of.items()}

    def counted_since(self, before):
        """What was counted since then, in words."""
        return " ".join(f"{name}+{value - before[name]}"
                        for name, value in self.count().items()
                        if value != before.get(name, value))


def shorten(text):
    """What of an output may say why, and its end."""
    lines = [line.strip() for line in text.splitlines() if line.strip("- ")]
    why = [line for line in lines if re.search(
        "fail|error|unable|couldn't|cannot|invalid|status", line, re.I)]
    return " / ".join([*why[:4], "...", *lines[-4:]])


def attempt(ends, case):
    """(result, why) of one case; what was run more than once says so."""
    races = []
    before = ends.count()
    # A program that dies of its race is not to be a report of this kernel.
    report_crashes(not case.again)
    for _ in range(RUNS):
        result, why, race = run(ends, case)
        if not race:
            break
        races.append(race)
    report_crashes(True)
    if result == "fail":
        why = f"{why} | counted: {ends.counted_since(before)}"
    return result, " | ".join([*races, *([why] if why else [])])


def report_crashes(wanted):
    with open("/proc/sys/debug/exception-trace", "w") as f:
        f.write(f"{wanted:d}")


def run(ends, case):
    """(result, why, race): race is what the program said of one, or None."""
    deadline = time.monotonic() + case.limit
    wrong, said = None, {"client": "", "server": ""}
    if case.before:
        case.before(ends)
    if case.server:
        argv = ends.fill(case.server)
        # Or it would keep to itself what it is asked about.
        if case.ready.startswith("says"):
            argv = ["stdbuf", "-oL", *argv]
        wrong = ends.peer.ask(case.limit, start=argv, env=case.env,
                              ready=case.ready, seconds=case.limit)["wrong"]
    if not wrong:
        wrong, said["client"] = run_client(ends, case, deadline)
    if case.server:
        left = max(deadline - time.monotonic(), 0.1)
        late = case.server_ends and not wrong
        end = ends.peer.ask(left, finish=left if late else 0)
        said["server"] = end["text"]
        if late and end["status"] != 0:
            wrong = f"server: status {end['status']}"
    if not wrong:
        wrong = (missing("client", case.expect, said) or
                 missing("server", case.server_expect, said) or
                 case.after and case.after(ends))
    if not wrong:
        return "ok", "", None
    skip = found(case.unsupported, said)
    if skip:
        return "skip", skip, None
    why = [wrong, *(f"{who}: {shorten(text)}" for who, text in said.items())]
    return "fail", " | ".join(why), found(case.again, said)


def found(pattern, said):
    """What of the outputs matches, or None."""
    hits = [re.search(pattern, text) for text in said.values() if pattern]
    return next((hit[0] for hit in hits if hit), None)


def run_client(ends, case, deadline):
    """What is wrong, or None; and what it said."""
    client = Program(ends.fill(case.client), case.env)
    status = client.wait(deadline - time.monotonic())
    client.end()
    if status is None:
        return "the client does not end", client.text()
    return f"client: status {status}" if status else None, client.text()


def missing(who, pattern, said):
    if not re.search(pattern, said[who], re.S):
        return f"the {who} does not say {pattern}"
    return None
