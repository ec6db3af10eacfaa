# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""With rdma_rxe, or softrdma again, at the other end of a wire.

Before each case the wire is told its name, which tools/testing/interop looks
for in the capture. It is rdma_rxe's end that is made to lose frames, so that
what softrdma sends is seen whole; or B, when both are softrdma.
"""

import dataclasses
import functools
import json
import os
import re
import socket
import subprocess

import suite_perftest
import suite_pingpong
import suite_rdmacm
from case import Case

TOP = os.path.normpath(os.path.join(os.path.dirname(__file__), "../../.."))
QUEUE = os.path.join(TOP, "tools/testing/interop/queue")
EXCHANGE = os.path.join(TOP, "build/interop/exchange")
RDMA_POST = os.path.join(TOP, "build/interop/rdma_post")
DISCARD = 9
MTUS = (256, 512, 1024, 2048, 4096)
LOSS_PERCENT = 1

# Of the other suites; what is left out differs in what the library does only.
# An emulated rdma_rxe cannot do 1 MB over each of 16 QPs (srq) in time.
OF_PINGPONG = r"(rc|uc|ud|srq)_(plain|ipv6|65536)$|rc_1048576$"
OF_RDMACM = (r"rping_(23|1025|65535|ipv6)$|ucmatose(_20x100|_ipv6)?$|"
             r"udaddy(_20x50|_ipv6)?$|rdma_client$|rcopy_100000$|"
             r"rstream_verify$")
OF_PERFTEST = (r"(send|write|read)_(bw_(RC|UC|UD)(_cm|_16_qps|_srq|_both_ways)?"
               r"|lat_(RC|UC|UD))$")


def set_loss(ends, end, percent):
    argv = [QUEUE, "eth0", str(percent)]
    if end == "A":
        subprocess.run(argv, check=True)
    else:
        ends.peer.ask(60, run=argv)


@functools.cache
def lose_nothing(ends):
    for end in "AB":
        set_loss(ends, end, 0)


def rxe_ends():
    return [e for e in "AB" if os.environ[f"SRD_DRIVER_{e}"] == "rxe"]


def lossy_end():
    return (rxe_ends() or ["B"])[0]


def announce(ends, name, loss):
    """On the wire; and as it may lose it, three times."""
    macs = {"A": "525400000001", "B": "525400000002"}
    rxe = [macs[end] for end in rxe_ends()]
    mark = "softrdma-case " + json.dumps(
        {"case": name, "rxe": rxe,
         "lossy": [macs[lossy_end()]] if loss else []})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(3):
            s.sendto(mark.encode(), (ends.values["ip_b"], DISCARD))


def at_wire(case, prefix, loss=0):
    """The case with what is to be done before it; those with loss come last."""
    name = f"{prefix}_{case.name}"

    def before(ends):
        lose_nothing(ends)
        announce(ends, name, loss)
        if loss:
            set_loss(ends, lossy_end(), loss)

    return dataclasses.replace(case, name=name, before=before)


def of(suite, prefix, pattern):
    for case in suite.cases("pair"):
        if re.match(pattern, case.name):
            yield at_wire(case, prefix)


def exchange(kind, mtu, *options, v6=False, quick=False, limit=120,
             lossy=False):
    six = "6" if v6 else ""
    argv = [EXCHANGE, "-c", kind, "-m", str(mtu), *options]
    # For rdma_rxe; see there.
    a, b = (["-w"] if end in rxe_ends() else [] for end in "AB")
    if kind == "rc" and not rxe_ends():
        argv.append("-x")
    if lossy:
        argv.append("-l")
    return Case(
        name="_".join([kind, str(mtu), *(["ipv6"] if v6 else []),
                       *options]).replace("-", ""),
        quick=quick, limit=limit, ready="tcp 18516",
        server=[*argv, *b, "-d", "{dev_b}", "-g", "{gid%s_b}" % six],
        client=[*argv, *a, "-d", "{dev_a}", "-g", "{gid%s_a}" % six,
                "{ip_b}"], expect="exchanges")


def exchanges():
    for mtu in MTUS:
        yield exchange("rc", mtu, quick=mtu == 1024)
        yield exchange("uc", mtu, quick=mtu == 1024)
    yield exchange("ud", 4096, quick=True)
    yield exchange("rc", 1024, v6=True)
    yield exchange("ud", 4096, v6=True)
    yield exchange("rc", 2048, "-o", "1")
    yield exchange("rc", 2048, "-o", "16")


def posting_calls():
    """Every rdma_post_*() of librdmacm, as in make demo."""
    for name, address in (("calls", "{ip_b}"), ("calls_ipv6", "{ip6_b}")):
        yield Case(name=name, quick=True, ready="cm 7471",
                   server=[RDMA_POST, "-s", address],
                   client=[RDMA_POST, address], expect="ud_send")


def sized():
    perf = suite_perftest.perf
    for mtu in MTUS:
        for prog in ("send_bw", "write_bw", "read_bw"):
            yield perf(f"mtu{mtu}", prog, "-m", str(mtu), "-s", "10000")
        yield suite_pingpong.pingpong("rc", f"mtu{mtu}", "-c", "-m", str(mtu),
                                      "-s", "65537")
    for prog in ("send_bw", "write_bw", "read_bw"):
        for size in (1, 1023, 1025, 65537):
            yield perf(f"{size}", prog, "-s", str(size), "-m", "1024")
    for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
        for prog in ("atomic_bw", "atomic_lat"):
            yield perf(kind.lower(), prog, "-A", kind)
    for outs in (1, 4, 16):
        yield perf(f"outs_{outs}", "read_bw", "--outs", str(outs), "-s",
                   "65536")
        yield perf(f"outs_{outs}", "atomic_bw", "--outs", str(outs))


def lossy_exchanges(mtus):
    for mtu in mtus:
        yield exchange("rc", mtu, limit=240, quick=mtu == 1024, lossy=True)


def lossy():
    perf = suite_perftest.perf
    yield from lossy_exchanges((256, 1024, 4096))
    # No ping-pongs: who gets the last message leaves, whether or not its ACK
    # has arrived.
    yield perf("srq_4_qps", "send_bw", "-s", "4096", "--use-srq", "-q", "4",
               n=50, limit=120)
    for prog in ("send_bw", "write_bw", "read_bw"):
        yield perf("65537", prog, "-s", "65537", n=50, limit=120)
    yield perf("FETCH_AND_ADD", "atomic_bw", "-A", "FETCH_AND_ADD", n=200,
               limit=120)
    # Not rping: it writes to what it has sent before that is acknowledged, so
    # that a repetition may be different.
    yield suite_rdmacm.stream("verify", "rstream", "-T", "v", limit=120)


def cases(where):
    for case in exchanges():
        yield at_wire(case, "exchange")
    if where == "pair":
        for case in posting_calls():
            yield at_wire(case, "posting")
        # The rest is what the other suites do between two such kernels.
        last = lossy_exchanges(MTUS)
    else:
        yield from of(suite_pingpong, "pingpong", OF_PINGPONG)
        yield from of(suite_rdmacm, "rdmacm", OF_RDMACM)
        yield from of(suite_perftest, "perftest", OF_PERFTEST)
        for case in sized():
            yield at_wire(case, "sized")
        last = lossy()
    for case in last:
        yield at_wire(case, "loss", LOSS_PERCENT)
