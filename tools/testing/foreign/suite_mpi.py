# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""mpi: MPICH and OpenMPI with programs that look at every byte.

programs/mpi_check.c, and in Python mpi4py_check.py. On one host with nothing set, as a new user runs it;
then so that the ranks have nothing but the device to talk through, which its
counter of packets is asked about.
"""

import os

from case import Case

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.normpath(os.path.join(HERE, "../../.."))
REMOTE = os.path.join(HERE, "remote")
CHECK = os.path.join(TOP, "build/foreign/mpi_check.")
# The distribution's, which has mpi4py.
PYTHON = "/usr/bin/python3"
CHECK_PY = os.path.join(HERE, "programs/mpi4py_check.py")


# softrdma's name for what its engines took, looped packets too, and rdma_rxe's.
TAKEN = ("rx_packets", "rcvd_pkts")


def taken(ends):
    where = (f"/sys/class/infiniband/{ends.values['dev_a']}"
             "/ports/1/hw_counters/")
    with open(where + next(n for n in TAKEN if os.path.exists(where + n))) as f:
        return int(f.read())


class Traffic:
    """That a case talks by way of the device, and not beside it."""

    def __init__(self, packets):
        self.least, self.begun = packets, 0

    def before(self, ends):
        self.begun = taken(ends)

    def after(self, ends):
        packets = taken(ends) - self.begun
        if packets < self.least:
            return f"only {packets} packets by way of the device"
        return None


def check(name, argv, env, n, most, *steps, packets=1000, remote=False,
          **options):
    """Of n ranks; with remote half of them are at the other end."""
    traffic = Traffic(packets)
    return Case(
        name=f"{name}_{n}", env=env, before=traffic.before,
        after=traffic.after, ready="tcp 7998",
        server=[REMOTE, "--serve", "{ip_b}"] if remote else None,
        server_ends=remote, client=[*argv, str(most), *steps],
        expect=rf"mpi_check: {n} ranks, \d+ bytes and values right",
        **{"limit": 240, **options})


def mpich(name, n, most, env, *, remote=False, **options):
    hosts = []
    if remote:
        hosts = ["-launcher", "rsh", "-launcher-exec", REMOTE, "-localhost",
                 "{ip_a}", "-hosts", "{ip_a},{ip_b}", "-ppn", str(n // 2)]
    argv = ["mpirun.mpich", *hosts, "-n", str(n), CHECK + "mpich"]
    return check(f"mpich_{name}", argv, env, n, most, remote=remote, **options)


# To be run as root it otherwise refuses.
ALLOW = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PML_UCX = ("--mca", "pml", "ucx", "--mca", "osc", "ucx")
MTL_OFI = ("--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "osc",
           "pt2pt", "--mca", "btl", "self")


# Of four ranks of OpenMPI 4.1.4 (osc ucx) one-sided access hangs, over TCP, without
# any RDMA device, too.
def openmpi(name, n, most, how, env, *, remote=False, **options):
    hosts, steps = [], ["two-sided"] if n > 2 else []
    if remote:
        hosts = ["--mca", "plm_rsh_agent", REMOTE, "--host",
                 f"{{ip_a}}:{n // 2},{{ip_b}}:{n // 2}"]
    argv = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", *hosts,
            *how, "-n", str(n), CHECK + "openmpi"]
    return check(f"openmpi_{name}", argv, {**ALLOW, **env}, n, most, *steps,
                 remote=remote, **options)


# mpi4py is made for OpenMPI.
def mpi4py(name, transport, n, program, expect, packets=500):
    traffic = Traffic(packets)
    return Case(
        name=f"mpi4py_{name}_{transport}_{n}", before=traffic.before,
        after=traffic.after, env={**ALLOW, **over(transport)}, limit=240,
        client=["mpirun.openmpi", "--oversubscribe", "--bind-to", "none",
                *PML_UCX, "-n", str(n), PYTHON, *program],
        expect=expect)


def python(transport, n):
    yield mpi4py("check", transport, n,
                 [CHECK_PY, *(["one-sided"] if n == 2 else [])],
                 f"mpi4py_check: {n} ranks, all right")
    # A benchmark of its own: a message goes round.
    yield mpi4py("ringtest", transport, n,
                 ["-m", "mpi4py.bench", "ringtest", "-n", "65536", "-l", "20"],
                 f"time for 20 loops = .*{n} processes, 65536 bytes")


# To UCX rc_v is rc_verbs, and ud_verbs to connect it; without that there is no
# connection. Ranks of one host would otherwise use its memory, MPICH's before UCX
# is asked.
def over(transport):
    return {"UCX_TLS": f"{transport.replace('verbs', 'v')},self",
            "MPIR_CVAR_NOLOCAL": "1"}


def one_host():
    """All ranks at end A."""
    for n in (2, 4):
        yield mpich("nothing_set", n, 1 << 20 if n == 4 else 8 << 20, {},
                    packets=0)
        for transport in ("rc_verbs", "ud_verbs"):
            yield mpich(transport, n, 1 << 20, over(transport))
            yield openmpi(f"ucx_{transport}", n, 1 << 20, PML_UCX,
                          over(transport))
        yield openmpi("ofi", n, 1 << 20, MTL_OFI,
                      {"FI_PROVIDER": "verbs;ofi_rxm"})
        yield from python("rc_verbs", n)
        yield from python("ud_verbs", n)
    yield mpich("rc_verbs_8_MB", 2, 8 << 20, over("rc_verbs"))


def two_ends():
    for n in (2, 4):
        for transport in ("rc_verbs", "ud_verbs"):
            yield mpich(transport, n, 1 << 20, over(transport), remote=True)
            yield openmpi(f"ucx_{transport}", n, 1 << 20, PML_UCX,
                          over(transport), remote=True)
    yield mpich("rc_verbs_8_MB", 2, 8 << 20, over("rc_verbs"), remote=True)


def cases(topology):
    if topology == "loopback":
        yield from one_host()
        return
    # On one host again: the quick part is in the boot with namespaces.
    yield mpich("nothing_set", 4, 1 << 16, {}, packets=0, quick=True)
    yield from two_ends()
