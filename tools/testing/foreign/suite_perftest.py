# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""perftest: every operation, transport and option that applies.

It checks no byte of what it moves; that each completes, with the status and the
size it should, is what is tested here.
"""

from case import Case

# With -R both ends meet first; then the client connects at once, and the server
# only begins to listen. The client means to try again when it comes too early, and
# crashes instead: what it tries it with, it has freed.
# Of datagrams the same news is that the service is not there (SIDR status 1).
TOO_EARLY = r"RDMA_CM_EVENT_(REJECTED; error: 8|UNREACHABLE; error: 1\b)"


def perf(name, prog, *options, quick=False, limit=120, n=20):
    argv = [f"ib_{prog}", "-F", "-n", str(n), *options]
    cm = "-R" in options
    return Case(
        name=f"{prog}_{name}", quick=quick, limit=limit,
        ready="cm 18515" if cm else "tcp 18515",
        server=[*argv, "-d", "{dev_b}", "-x", "{gid_b}"],
        client=[*argv, "-d", "{dev_a}", "-x", "{gid_a}", "{ip_b}"],
        expect=r"#bytes.*\n *\d+ +\d+ +", again=TOO_EARLY if cm else "")


# What can be done over which transport.
OPERATIONS = {"send": ("RC", "UC", "UD"), "write": ("RC", "UC"),
              "read": ("RC",)}


def operations():
    for operation, transports in OPERATIONS.items():
        for c in transports:
            for what in ("bw", "lat"):
                yield operation, c, f"{operation}_{what}"


def around_mtus():
    """The sizes at which a message gets one more packet."""
    for mtu in (256, 512, 1024, 2048, 4096):
        for operation in ("send", "write", "read"):
            for size in (mtu - 1, mtu, mtu + 1):
                yield perf(f"mtu{mtu}_{size}", f"{operation}_bw",
                           "-m", str(mtu), "-s", str(size), n=5)


def basic(operation, c, prog):
    """What is asked of each operation over each transport."""
    bw = prog.endswith("bw")
    yield perf(c, prog, "-c", c, "-s", "1000", quick=bw)
    if operation != "write":
        # A write makes no event at the peer.
        yield perf(f"{c}_events", prog, "-c", c, "-s", "1000", "-e")
    if c != "UC":
        # The RDMA CM's library makes no UC connections.
        yield perf(f"{c}_cm", prog, "-c", c, "-s", "1000", "-R",
                   quick=prog == "send_lat" and c == "UD")
    if operation != "read":
        yield perf(f"{c}_inline", prog, "-c", c, "-s", "64", "-I", "64")
    if not bw:
        yield perf(f"{c}_one_byte", prog, "-c", c, "-s", "1")
        return
    yield perf(f"{c}_both_ways", prog, "-c", c, "-s", "1000", "-b")
    yield perf(f"{c}_16_qps", prog, "-c", c, "-s", "1000", "-q", "16",
               quick=operation == "write" and c == "RC")
    if c != "UD":
        # All powers of two, to 8 MB.
        yield perf(f"{c}_all_sizes", prog, "-c", c, "-a", n=5, limit=120)
        yield perf(f"{c}_65537", prog, "-c", c, "-s", "65537")


def cases(topology):
    for operation, c, prog in operations():
        yield from basic(operation, c, prog)
    for c in OPERATIONS["send"]:
        yield perf(f"{c}_srq", "send_bw", "-c", c, "-s", "1000", "--use-srq",
                   quick=c == "RC")
    yield perf("RC_srq_16_qps", "send_bw", "-s", "1000", "--use-srq", "-q",
               "16")
    for operation in OPERATIONS:
        # 25 MB at once: on an emulated machine that others use, the last of it
        # takes seconds, longer than perftest's timeout with all its retries.
        yield perf("64_qps", f"{operation}_bw", "-s", "4096", "-q", "64",
                   "-u", "18", n=100)
    for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
        for prog in ("atomic_bw", "atomic_lat"):
            yield perf(kind.lower(), prog, "-A", kind,
                       quick=prog == "atomic_bw")
        yield perf(f"{kind.lower()}_16_qps", "atomic_bw", "-A", kind, "-q",
                   "16")
    yield perf("cm", "atomic_bw", "-R")
    yield perf("outstanding_1", "read_bw", "-o", "1", "-s", "65536")
    yield perf("outstanding_16", "read_bw", "-o", "16", "-s", "65536")
    yield perf("batches", "send_bw", "-l", "8", "-s", "1000", n=64)
    yield perf("completion_each", "write_bw", "-Q", "1", "-s", "1000")
    yield perf("1MB", "write_bw", "-s", "1048576", n=20)
    if topology == "pair":
        # Where rdma_rxe fails: the same, time and again.
        for i in range(1, 21):
            yield perf(f"16_qps_64k_{i}", "write_bw", "-q", "16", "-s",
                       "65536", "-u", "18", n=100, limit=120)
    if topology == "netns":
        yield from around_mtus()
