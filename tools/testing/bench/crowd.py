# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""crowd: what scripts/bench-crowd measures, and what is to be reached."""

from queues import MEBI, PATH_MTU

# Bytes of a tbf's burst and of its queue, by Mbit/s. What waits there takes 24, 8
# and 4 ms.
LINES = {10: (5000, 30000), 100: (15000, 100000), 1000: (125000, 500000)}
# ms that pass first, and that are measured.
TIMES = {10: (4000, 8000), 100: (1000, 3000), 1000: (250, 500)}
# What holds the packets of a line: tbf's own queue, or one that marks packets early
# (RED with ECN, from a quarter of the bytes on, and all from a half on).
QUEUES = ("fifo", "ecn")
KINDS = ("write", "send", "read")
SIZES = (65536, 1 << 20)
SENDERS = (1, 4, 16)

# Of the line, Jain's index, ms without progress of one of them; and packets sent of
# those needed, by queue.
GOODPUT, JAIN, STARVED_MS = 0.9, 0.9, 100
SENT = {"fifo": 1.1, "ecn": 1.05}
# What a packet of the path MTU has around it: Ethernet, IPv4, UDP, BTH and ICRC;
# of TCP, with time stamps, what a packet of 1448 has.
AROUND = 58
TCP_SEGMENT, TCP_AROUND = 1448, 66


def held_by(queue, mbit):
    """The qdisc below tbf as tc names it, with - for blanks."""
    if queue == "fifo":
        return "-"
    limit = LINES[mbit][1]
    return (f"red-limit-{limit}-min-{limit // 4}-max-{limit // 2}-avpkt-1000-"
            f"burst-{limit // 3000 + 1}-bandwidth-{mbit}mbit-probability-0.1-ecn")


class Row:
    """What N senders do with a line."""

    def __init__(self, where, mbit, queue, n, kind, size):
        self.where, self.mbit, self.queue = where, mbit, queue
        self.n, self.kind, self.size = n, kind, size
        words = (where, mbit, *LINES[mbit], held_by(queue, mbit), n, kind, size,
                 *TIMES[mbit])
        self.job = ":".join(map(str, words))
        self.label = f"{kind} {size} {n} {mbit} {where} {queue}"

    def line(self):
        """MB/s of payload that it can carry."""
        payload, around = ((TCP_SEGMENT, TCP_AROUND) if self.kind == "tcp" else
                           (PATH_MTU, AROUND))
        return self.mbit * 1e6 / 8 / MEBI * payload / (payload + around)

    def tcp(self):
        """The row that stands beside it. TCP has no messages."""
        return Row(self.where, self.mbit, self.queue, self.n, "tcp", SIZES[0])


def rows(quick):
    """TCP aside, which stands beside each of them."""
    places = [("bridge", mbit, n) for mbit in LINES for n in SENDERS]
    places += [("local", mbit, 1) for mbit in LINES]
    if quick:
        places = [("bridge", 10, 4), ("bridge", 100, 4), ("local", 10, 1)]
    return [Row(where, mbit, queue, n, kind, size)
            for where, mbit, n in places for queue in QUEUES
            for kind in KINDS for size in SIZES if size == SIZES[0] or not quick]


HEAD = ["test", "size", "senders", "Mbit/s", "queue", "where", "MB/s",
        "of the line", "Jain", "starved ms", "sent/needed",
        "tcp: of the line", "Jain", "starved ms", "missed"]


def table(measured, figures):
    """@figures: by job, the numbers of crowd.c, or nothing if it failed."""
    result = []
    for row in measured:
        begin = [row.kind, row.size, row.n, row.mbit, row.queue, row.where]
        mine = figures.get(row.job)
        if not mine:
            result.append([*begin, "failed", *[""] * 7, "all"])
            continue
        result.append([*begin, f"{mine[0]:.2f}", *shares(row, mine),
                       f"{mine[3] / max(mine[4], 1):.2f}",
                       *shares(row.tcp(), figures.get(row.tcp().job)),
                       missed(row, mine)])
    return result


def shares(row, found):
    if not found:
        return ["", "", ""]
    return [f"{found[0] / row.line():.2f}", f"{found[1]:.2f}", f"{found[2]:.0f}"]


def missed(row, found):
    goodput, jain, starved, sent, needed = found
    return " ".join(name for name, bad in (
        ("goodput", goodput / row.line() < GOODPUT), ("jain", jain < JAIN),
        ("starved", starved > STARVED_MS),
        ("sent", sent > SENT[row.queue] * needed)) if bad)


def read_figures(path):
    """What guest-crowd wrote: by job, its numbers."""
    found = {}
    with open(path) as f:
        for line in f:
            words = line.split()
            job, numbers = words[:10], words[10:]
            found[":".join(job)] = ([float(x) for x in numbers]
                                    if len(numbers) == 5 else None)
    return found
