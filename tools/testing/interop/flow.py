# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""flow: what the requests of a connection must be, one after another.

PSNs are counted on past 2^24 in here, so that they compare.
"""

import dataclasses
import zlib

from frame import MTUS

PSNS = 1 << 24
# So many may be lost before the first that is seen.
LOST_AT_FIRST = 64
NOT_THE_SAME = "not what was sent with this PSN before"


def digest(frame):
    """Of all that a repeated frame may not have otherwise."""
    return zlib.crc32(frame.udp[20:-4],
                      frame.opcode << 8 | frame.solicited << 2 | frame.pad)


def spanned(length, mtu):
    """PSNs of a READ of so many bytes."""
    return max(1, -(-length // mtu))


@dataclasses.dataclass
class Sent:
    """What was sent at a PSN: it takes `span` PSNs, 0 while that is not known;
    `left` bytes of its message come behind it, None where no header says so.
    """
    kind: str
    place: str
    start: int
    digest: int
    span: int = 1
    left: int = None
    address: int = 0
    length: int = 0


class Requests:
    """What one QP requests of another.

    `lossy` says that frames of the sender are lost before they are seen here.
    """

    def __init__(self, lossy, wrong):
        self.lossy, self.wrong = lossy, wrong
        self.first = self.next = self.whole = None
        self.mtus = set(MTUS)
        # By PSN: what starts there, what ends just before, which READ (or
        # ATOMIC WRITE) has its response there.
        self.sent, self.behind, self.reads = {}, {}, {}
        # Lengths that a READ was requested with from a PSN, the last one last:
        # each may be answered still. An ATOMIC WRITE is answered as a READ of
        # nothing.
        self.starts, self.resumed = {}, set()
        # Everything before `whole` was seen: so many messages end before a PSN.
        self.messages = {}
        # READs and atomics without a response.
        self.unanswered = {}
        self.repeats, self.open = 0, None

    def absolute(self, psn):
        """The one nearest to what comes next."""
        return self.next + (psn - self.next + PSNS // 2) % PSNS - PSNS // 2

    def holds(self, psn):
        """Whether a response to this PSN can be one to these requests."""
        early = LOST_AT_FIRST if self.lossy else 0
        return (self.first is not None and
                self.first - early <= self.absolute(psn) <= self.next)

    def add(self, frame):
        if self.first is None:
            self.next = frame.psn + PSNS
            self.begin(self.next)
        psn = self.absolute(frame.psn)
        if psn < self.first and self.lossy:
            # The first of all was lost, and is seen when it is repeated.
            self.begin(psn)
        if self.open and psn > self.open.start:
            self.settle(psn)
        if psn > self.next and not self.lossy:
            self.wrong(f"{psn - self.next} PSNs are left out")
        if frame.kind == "READ" and psn in self.reads and (
                psn not in self.sent or
                frame.dma_length() < self.sent[psn].length):
            self.repeats += 1
            self.resume(frame, psn)
        elif psn in self.sent:
            self.repeats += 1
            self.ask(psn, self.sent[psn].length)
            if self.sent[psn].digest != digest(frame):
                self.wrong(NOT_THE_SAME)
        else:
            self.enter(frame, psn)

    def ask(self, psn, length):
        asked = self.starts.setdefault(psn, [])
        if length in asked:
            asked.remove(length)
        asked.append(length)

    def begin(self, psn):
        self.first = self.whole = psn
        self.messages = {psn: 0}

    def narrow(self, fits, what):
        """Keep the path MTUs with which this may be."""
        left = {m for m in self.mtus if fits(m)}
        if not left:
            self.wrong(f"{what}: by no path MTU of {sorted(self.mtus)}")
            return
        self.mtus = left
        if self.open:
            spans = {spanned(self.open.length, m) for m in left}
            if len(spans) == 1:
                self.close(spans.pop())

    def enter(self, frame, psn):
        """A request that was not seen before."""
        sent = Sent(frame.kind, frame.place, psn, digest(frame),
                    length=len(frame.payload))
        if frame.place in ("FIRST", "MIDDLE"):
            self.narrow(lambda m: m == sent.length, f"{sent.length} bytes")
        else:
            self.narrow(lambda m: m >= sent.length, f"{sent.length} bytes")
        if frame.kind == "WRITE" and frame.place == "FIRST":
            sent.left = frame.dma_length() - sent.length
        self.follow(sent, frame)
        self.sent[psn] = sent
        if frame.kind in ("READ", "ATOMIC", "ATOMIC_WRITE"):
            self.unanswered[psn] = sent
        if frame.kind == "ATOMIC_WRITE":
            sent.length = 0
            self.ask(psn, 0)
            self.reads[psn] = sent
        if frame.kind == "READ":
            sent.length, sent.address = frame.dma_length(), frame.address()
            self.ask(psn, sent.length)
            sent.span, self.open = 0, sent
            self.reads[psn] = sent
            self.next = max(self.next, psn + 1)
            # With one MTU left its span is known at once.
            self.narrow(lambda m: True, "")
        else:
            self.place(sent)

    def place(self, sent):
        end = sent.start + sent.span
        self.behind[end] = sent
        self.next = max(self.next, end)
        while self.whole in self.sent and self.sent[self.whole].span:
            sent = self.sent[self.whole]
            count = self.messages[self.whole]
            self.whole += sent.span
            self.messages[self.whole] = count + (sent.place in ("LAST",
                                                                "ONLY"))

    def settle(self, psn):
        """What comes behind a READ tells how long that was."""
        spans = {m: spanned(self.open.length, m) for m in self.mtus}
        start = self.open.start
        if psn - start in spans.values() or not self.lossy:
            self.narrow(lambda m: start + spans[m] == psn,
                        f"a READ of {self.open.length} bytes, and then "
                        f"{psn - start} on")
        if self.open:
            fit = [s for s in spans.values() if start + s <= psn]
            self.close(max(fit, default=1))

    def close(self, span):
        sent, self.open = self.open, None
        sent.span = span
        for psn in range(sent.start, sent.start + span):
            self.reads[psn] = sent
        self.place(sent)

    def follow(self, sent, frame):
        """Hold it against what was sent just before it."""
        before = self.behind.get(sent.start)
        if before is None and (self.lossy or sent.start != self.first):
            if not self.lossy and sent.start <= self.next:
                self.wrong("a PSN of another request")
            return
        inside = before and before.place in ("FIRST", "MIDDLE")
        if bool(inside) != (sent.place in ("MIDDLE", "LAST")) or (
                inside and before.kind != sent.kind):
            name = f"{before.kind} {before.place}" if before else "nothing"
            self.wrong(f"{frame.what()} behind {name}")
        elif inside and before.left is not None:
            sent.left = before.left - sent.length
            if sent.left < 0 or (sent.place == "LAST") != (not sent.left):
                self.wrong(f"{frame.what()} and {sent.left} bytes left of "
                           "what the RETH said")

    def resume(self, frame, psn):
        """A READ of which a part is asked for again: the rest, or packets."""
        read, length = self.reads[psn], frame.dma_length()
        done = psn - read.start

        def fits(mtu):
            left = read.length - done * mtu
            return (frame.address() == read.address + done * mtu and
                    (length == left or
                     length < left and length and not length % mtu))
        self.ask(psn, length)
        if done:
            self.resumed.add(psn)
        self.narrow(fits, "a READ that goes on elsewhere")
