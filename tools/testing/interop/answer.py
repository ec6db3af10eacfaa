# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""answer: what the responses of a connection must be, given its requests."""

from flow import spanned
from frame import ACKED, NAK, RNR

PSN_SEQUENCE_ERROR = 0
MSNS = 1 << 24
NO_FIRST = "a READ asked for from its middle on is not answered by a FIRST"


class Answers:
    """What one QP responds to the requests of another.

    `lossy` says that frames of the responder are lost before they are seen.
    """

    def __init__(self, requests, lossy, wrong):
        self.requests, self.lossy, self.wrong = requests, lossy, wrong
        # The READ whose response is under way: its next PSN, the bytes that
        # may be left of it (it may answer any of several requests), and how
        # often requests had been repeated when it began.
        self.next = self.left = self.repeats = None
        # One that a part was sent in the midst of: the same of that.
        self.set_aside = None

    def add(self, frame):
        psn = self.requests.absolute(frame.psn)
        if frame.kind == "RESPONSE":
            self.read(frame, psn)
            return
        kind, code = frame.syndrome()
        if kind == NAK:
            self.next = None
        self.interrupt(frame)
        if frame.kind == "ATOMIC_ACK":
            self.atomic(frame, psn)
        elif kind == ACKED:
            self.acknowledge(frame, psn)
        elif kind == RNR:
            self.refuse(frame, psn, ("SEND", "WRITE"))
        elif code == PSN_SEQUENCE_ERROR:
            self.count(frame, psn)
        else:
            self.refuse(frame, psn, ("SEND", "WRITE", "READ", "ATOMIC",
                                     "ATOMIC_WRITE"))

    def interrupt(self, frame):
        """A response has no others in its midst, but when it is asked for
        again."""
        if (self.next is not None and not self.lossy and
                self.repeats == self.requests.repeats):
            self.wrong(f"{frame.what()} in the midst of a READ's response")
        if self.next is not None:
            self.set_aside = self.next, self.left, self.repeats
        self.next = None

    def count(self, frame, before, most=None):
        """The MSN: of the messages that end before this PSN, or up to most."""
        least = self.requests.messages.get(before)
        if before < self.requests.first and self.requests.lossy:
            return
        if least is None:
            self.wrong("nothing that was sent")
            return
        most = least if most is None else most
        if (frame.msn() - least) % MSNS > most - least:
            self.wrong(f"MSN {frame.msn()}, not {least} to {most}")

    def total(self):
        return self.requests.messages[self.requests.whole]

    def acknowledge(self, frame, psn):
        requests = self.requests
        if not requests.first <= psn < requests.whole:
            self.wrong("acknowledges what was not sent")
            return
        if psn + 1 in requests.messages:
            # To what is repeated the PSN may be old and the MSN is the newest.
            self.count(frame, psn + 1,
                       self.total() if requests.repeats else None)
        for start in [s for s in requests.unanswered if s <= psn]:
            if not self.lossy:
                self.wrong(f"acknowledges {requests.sent[start].kind} "
                           "without its response")
            del requests.unanswered[start]

    def refuse(self, frame, psn, kinds):
        sent = self.requests.reads.get(psn) or self.requests.sent.get(psn)
        if sent is None or sent.kind not in kinds:
            self.wrong(f"syndrome {frame.aeth[0]:#x} to "
                       f"{sent.kind if sent else 'nothing'}")
            return
        self.count(frame, sent.start)

    def answered(self, start):
        """In the order of the requests, but for repetitions."""
        unanswered = self.requests.unanswered
        if start in unanswered and not self.lossy and (
                min(unanswered) != start):
            self.wrong("a response before that of an earlier request")
        unanswered.pop(start, None)

    def atomic(self, frame, psn):
        sent = self.requests.sent.get(psn)
        if sent is None or sent.kind != "ATOMIC":
            self.wrong("an atomic's response to something else")
            return
        self.answered(psn)
        self.count(frame, psn, self.total())

    def read(self, frame, psn):
        request = self.requests.reads.get(psn)
        if request is None:
            self.wrong("a READ's response to something else")
            return
        resumed = self.next != psn and psn in self.requests.resumed
        if resumed and frame.place in ("MIDDLE", "LAST"):
            self.wrong(NO_FIRST)
        if resumed or frame.place in ("FIRST", "ONLY"):
            self.interrupt(frame)
            self.begin(frame, psn)
        elif self.next is None and self.set_aside and (
                self.set_aside[0] == psn):
            self.next, self.left, self.repeats = self.set_aside
            self.set_aside = None
        elif self.next != psn and not (self.lossy and self.guess(psn)):
            self.wrong(f"{frame.what()} out of order")
            return
        self.judge(frame, psn, request)

    def begin(self, frame, psn):
        if frame.place == "FIRST":
            self.fix_mtu(len(frame.payload))
        elif frame.place == "ONLY":
            self.fix_one(psn)
        self.left = self.requests.starts.get(psn)
        if self.left is None:
            self.wrong("a READ's response that begins where none was asked "
                       "for")
            self.left = [len(frame.payload)]
        self.repeats = self.requests.repeats

    def fix_one(self, psn):
        """Whatever the path MTU is, this READ fits into one packet."""
        request = self.requests.open
        if request and request.start == psn:
            self.requests.narrow(
                lambda m: spanned(request.length, m) == 1,
                f"{request.length} bytes in one packet")

    def fix_mtu(self, length):
        self.requests.narrow(lambda m: m == length,
                             f"{length} bytes of a READ's response")

    def guess(self, psn):
        """Go on behind what was lost, if the READ then still was on."""
        requests = self.requests
        if len(requests.mtus) > 1:
            return False
        mtu = min(requests.mtus)
        left = [length - (psn - start) * mtu
                for start, lengths in requests.starts.items()
                if start <= psn and requests.reads.get(start) is
                requests.reads[psn]
                for length in lengths if length > (psn - start) * mtu]
        if not left:
            return False
        self.left, self.repeats = left, requests.repeats
        return True

    def judge(self, frame, psn, request):
        last = frame.place in ("LAST", "ONLY")
        left = [n - len(frame.payload) for n in self.left]
        self.left = [n for n in left if n >= 0 and last == (not n)]
        if not self.left:
            self.wrong(f"{frame.what()} and {left[-1]} bytes left of the "
                       "READ")
            self.left = left[-1:]
        if frame.place == "MIDDLE":
            self.fix_mtu(len(frame.payload))
        self.next = None if last else psn + 1
        if last:
            self.answered(request.start)
        if "aeth" in frame.names:
            self.count(frame, request.start, self.total())
