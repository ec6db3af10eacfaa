# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Programs above the verbs: libfabric, qperf, fio, and librpma's callers."""

import os

from case import Case

HERE = os.path.dirname(os.path.realpath(__file__))
RPMA_CHECK = os.path.normpath(
    os.path.join(HERE, "../../../build/foreign/rpma_check"))


def fabric(name, provider, kind, *options, quick=False):
    argv = ["fi_pingpong", "-p", provider, "-e", kind, "-c", "-I", "20",
            *options]
    # Of several devices datagrams need to be told which.
    at = (["-d", "{dev_a}-dgram"], ["-d", "{dev_b}-dgram"])
    a, b = at if kind == "dgram" else ([], [])
    return Case(
        name=f"fi_{name}", quick=quick, ready="tcp 47592",
        server=[*argv, *b], client=[*argv, *a, "{ip_b}"],
        # Messages sent and acknowledged; seconds, MB/sec, usec/xfer, Mxfers/sec
        expect=r" 20 +=20 .*\d+\.\d+s( +\d+\.\d+){3}\n")


def qperf(*tests, name=None, quick=False):
    return Case(
        name=f"qperf_{name or tests[0]}", quick=quick, ready="tcp 19765",
        server=["qperf"], server_ends=False,
        client=["qperf", "{ip_b}", "-cm", "1", "-t", "1", *tests],
        expect=".*".join(rf"\b{t}:\s+\w+ += +[\d.]*[1-9]" for t in tests))


def fio(name, verb, *options, quick=False):
    # Who reads is the server, whatever the verb.
    argv = ["fio", "--name=j", "--ioengine=rdma", "--port=7475", "--bs=64k",
            "--size=4m", *options]
    return Case(
        name=f"fio_{name}", quick=quick, ready="cm 7475",
        # All receives at once: it asks for no retries when there is none.
        server=[*argv, "--rw=read", "--iodepth=64"],
        client=[*argv, "--rw=write", "--iodepth=8", f"--verb={verb}",
                "--hostname={ip_b}"],
        expect=r"err= 0.*io=4096KiB", server_expect=r"err= 0")


def rpma(name, ip, quick=False):
    argv = [RPMA_CHECK, ip, "7204"]
    return Case(
        name=f"rpma_{name}", quick=quick, ready="cm 7204", server=argv,
        client=[*argv, "client"], expect="all right",
        server_expect="all right")


def cases(topology):
    yield fabric("msg", "verbs", "msg")
    yield fabric("msg_64k", "verbs", "msg", "-S", "65536", quick=True)
    yield fabric("dgram", "verbs", "dgram", "-S", "1024", quick=True)
    yield fabric("rdm", "verbs;ofi_rxm", "rdm")
    yield fabric("rdm_64k", "verbs;ofi_rxm", "rdm", "-S", "65536", quick=True)
    yield fabric("tagged", "verbs;ofi_rxm", "rdm", "-m", "tagged")
    yield qperf("rc_bw")
    yield qperf("rc_lat")
    yield qperf("rc_bi_bw")
    yield qperf("rc_rdma_read_bw")
    yield qperf("rc_rdma_write_bw")
    yield qperf("rc_rdma_write_poll_lat")
    yield qperf("rc_compare_swap_mr", "rc_fetch_add_mr", name="atomics")
    yield qperf("ver_rc_compare_swap", quick=True)
    yield qperf("ver_rc_fetch_add", quick=True)
    # Its UC and UD tests know no RDMA CM, and without it no GID.
    yield fio("write", "write", quick=True)
    yield fio("read", "read")
    yield fio("send", "send")
    yield rpma("check", "{ip_b}", quick=True)
    yield rpma("check_ipv6", "{ip6_b}")
