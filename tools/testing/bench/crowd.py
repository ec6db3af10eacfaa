# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""crowd: what scripts/bench-crowd measures, and what is to be reached."""

from queues import part_of_line

# Bytes of a tbf's burst and of its queue, by Mbit/s. What waits there takes 24, 8
# and 4 ms.
LINES = {10: (5000, 30000), 100: (15000, 100000), 1000: (125000, 500000)}
# ms that pass first, and that are measured.
TIMES = {10: (4000, 8000), 100: (1000, 3000), 1000: (250, 500)}
# What holds the packets of a line: tbf's own queue, or one that marks packets early
# (RED with ECN, from a quarter of the bytes on, and all from a half on).
QUEUES = ("fifo", "ecn")
KINDS = ("write", "send", "read")
# Of unreliable connections, which know of congestion by marks only.
UNRELIABLE = "uc"
SIZES = (65536, 1 << 20)
SENDERS = (1, 4, 16)
# With as many TCPs on the same line.
BESIDE_TCP = (1, 4, 8)

# Of the line, Jain's index, ms without progress of one of them; and packets sent of
# those needed, by queue.
GOODPUT, JAIN, STARVED_MS = 0.9, 0.9, 100
SENT = {"fifo": 1.1, "ecn": 1.05}


def held_by(queue, mbit):
    """The qdisc below tbf as tc names it, with - for blanks."""
    if queue == "fifo":
        return "-"
    limit = LINES[mbit][1]
    return (f"red-limit-{limit}-min-{limit // 4}-max-{limit // 2}-avpkt-1000-"
            f"burst-{limit // 3000 + 1}-bandwidth-{mbit}mbit-probability-0.1-ecn")


class Row:
    """What N senders do with a line; of "+tcp", as many TCPs at the same time."""

    def __init__(self, where, mbit, queue, n, kind, size):
        self.where, self.mbit, self.queue = where, mbit, queue
        self.n, self.kind, self.size = n, kind, size
        words = (where, mbit, *LINES[mbit], held_by(queue, mbit), n, kind, size,
                 *TIMES[mbit])
        self.job = ":".join(map(str, words))
        self.label = f"{kind} {size} {n} {mbit} {where} {queue}"
        self.mixed = kind.endswith("+tcp")
        # Interfaces that it needs.
        self.senders = 2 * n if self.mixed else n

    def tcp(self):
        """The row that stands beside it. TCP has no messages."""
        return Row(self.where, self.mbit, self.queue, self.n, "tcp", SIZES[0])

    def share(self, figure, tcp):
        """MB/s of payload, as a part of what the line can carry."""
        return part_of_line(figure, self.mbit, tcp)


def rows(quick):
    """TCP alone aside, which stands beside each of them."""
    places = [("bridge", mbit, n) for mbit in LINES for n in SENDERS]
    places += [("local", mbit, 1) for mbit in LINES]
    shared = [("bridge", mbit, n) for mbit in LINES for n in BESIDE_TCP]
    if quick:
        places = [("bridge", 10, 4), ("bridge", 100, 4), ("local", 10, 1)]
        shared = [("bridge", 100, 4)]
    sizes = SIZES[:1] if quick else SIZES
    alone = [Row(where, mbit, queue, n, kind, size) for where, mbit, n in places
             for queue in QUEUES for kind in KINDS for size in sizes]
    unreliable = [Row(where, mbit, "ecn", n, UNRELIABLE, SIZES[0])
                  for where, mbit, n in places if where == "bridge"]
    beside = [Row(where, mbit, queue, n, f"{kind}+tcp", SIZES[0])
              for where, mbit, n in shared for queue in QUEUES for kind in KINDS]
    return alone + unreliable + beside


class Result:
    """What crowd.c found: of one group of senders, or of TCP on the same line too."""

    def __init__(self, row, numbers):
        mbs, self.jain, self.starved, self.sent, self.needed = numbers[:5]
        self.share = row.share(mbs, row.kind == "tcp")
        self.all, self.jain_of_all, self.tcp = self.share, self.jain, None
        if len(numbers) > 5:
            self.tcp = (row.share(numbers[5], True), *numbers[6:8])
            self.all = self.share + self.tcp[0]
            squares = sum(share ** 2 / max(jain, 1e-9) for share, jain in (
                (self.share, self.jain), self.tcp[:2]))
            self.jain_of_all = self.all ** 2 / max(2 * squares, 1e-9)

    def missed(self, queue):
        return " ".join(name for name, bad in (
            ("goodput", self.all < GOODPUT), ("jain", self.jain_of_all < JAIN),
            ("starved", self.starved > STARVED_MS),
            ("sent", self.sent > SENT[queue] * self.needed)) if bad)


HEAD = ["test", "size", "senders", "Mbit/s", "queue", "where",
        "of the line", "Jain", "starved ms", "sent/needed",
        "tcp: of the line", "Jain", "starved ms", "Jain of all", "missed"]


def table(measured, figures):
    """@figures: by job, the numbers of crowd.c, or nothing if it failed."""
    result = []
    for row in measured:
        begin = [row.kind, row.size, row.n, row.mbit, row.queue, row.where]
        if not figures.get(row.job):
            result.append([*begin, "failed", *[""] * 7, "all"])
            continue
        mine = Result(row, figures[row.job])
        tcp = mine.tcp
        if not row.mixed and figures.get(row.tcp().job):
            alone = Result(row.tcp(), figures[row.tcp().job])
            tcp = alone.share, alone.jain, alone.starved
        result.append([
            *begin, *shares(mine.share, mine.jain, mine.starved),
            f"{mine.sent / max(mine.needed, 1):.2f}",
            *(shares(*tcp) if tcp else [""] * 3),
            f"{mine.jain_of_all:.2f}" if row.mixed else "", mine.missed(row.queue)])
    return result


def shares(of_line, jain, starved):
    return [f"{of_line:.2f}", f"{jain:.2f}", f"{starved:.0f}"]


def read_figures(path):
    """What guest-crowd wrote: by job, its numbers."""
    found = {}
    with open(path) as f:
        for line in f:
            words = line.split()
            job, numbers = words[:10], words[10:]
            wanted = 10 if job[6].endswith("+tcp") else 5
            found[":".join(job)] = ([float(x) for x in numbers]
                                    if len(numbers) == wanted else None)
    return found
