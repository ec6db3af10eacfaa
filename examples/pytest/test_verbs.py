# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RC and UD with pyverbs, on the device that the environment names."""

import os
import time

import pytest

from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR
import pyverbs.enums as e

PORT, QKEY, SIZE = 1, 0x1234, 1024
# In front of what a UD queue pair receives.
GRH = 40


class Node:
    """A device opened, with a queue pair of it."""

    def __init__(self, kind):
        self.index = int(os.environ.get("SOFTRDMA_GID_INDEX", "0"))
        self.context = Context(name=os.environ["SOFTRDMA_DEVICE"])
        self.pd = PD(self.context)
        self.cq = CQ(self.context, 16)
        self.mr = MR(self.pd, GRH + SIZE, e.IBV_ACCESS_LOCAL_WRITE)
        caps = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1,
                     max_recv_sge=1)
        self.qp = QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq,
                                         rcq=self.cq, cap=caps))

    def path(self):
        """To this device itself."""
        gid = self.context.query_gid(PORT, self.index)
        route = GlobalRoute(dgid=gid, sgid_index=self.index, hop_limit=64)
        return AHAttr(gr=route, is_global=1, port_num=PORT)

    def connect(self, number, retries=7):
        attr = QPAttr(port_num=PORT)
        attr.dest_qp_num = number
        attr.path_mtu = e.IBV_MTU_1024
        attr.ah_attr = self.path()
        attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, retries, 7
        attr.min_rnr_timer = 12
        attr.max_rd_atomic = attr.max_dest_rd_atomic = 1
        self.qp.to_rts(attr)

    def receive(self, size=SIZE):
        self.qp.post_recv(RecvWR(sg=[SGE(self.mr.buf, size, self.mr.lkey)],
                                 num_sge=1))

    def send(self, data, address=None, number=None):
        """With an address, and the number of a queue pair there, by UD."""
        self.mr.write(data, len(data))
        wr = SendWR(num_sge=1, opcode=e.IBV_WR_SEND,
                    sg=[SGE(self.mr.buf, len(data), self.mr.lkey)])
        if address:
            wr.set_wr_ud(address, number, QKEY)
        self.qp.post_send(wr)

    def completion(self, seconds=20):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            n, found = self.cq.poll(1)
            if n:
                return found[0]
        raise AssertionError(f"no completion after {seconds} s")


@pytest.fixture
def rc():
    a, b = Node(e.IBV_QPT_RC), Node(e.IBV_QPT_RC)
    a.connect(b.qp.qp_num)
    b.connect(a.qp.qp_num)
    return a, b


def test_rc_carries_a_message(rc):
    a, b = rc
    b.receive()
    a.send("reliable" * 64)
    assert a.completion().status == e.IBV_WC_SUCCESS
    assert b.completion().byte_len == 512
    assert b.mr.read(512, 0) == b"reliable" * 64


def test_rc_refuses_what_is_longer_than_the_receive(rc):
    a, b = rc
    b.receive(size=16)
    a.send("too long for that" * 4)
    assert b.completion().status == e.IBV_WC_LOC_LEN_ERR
    assert a.completion().status == e.IBV_WC_REM_INV_REQ_ERR


def test_rc_gives_up_on_a_peer_that_is_not_there():
    a = Node(e.IBV_QPT_RC)
    gone = Node(e.IBV_QPT_RC)
    number = gone.qp.qp_num
    gone.qp.close()
    a.connect(number, retries=1)
    a.send("anybody?")
    assert a.completion().status == e.IBV_WC_RETRY_EXC_ERR


def test_ud_carries_a_message():
    a, b = Node(e.IBV_QPT_UD), Node(e.IBV_QPT_UD)
    for node in a, b:
        attr = QPAttr(port_num=PORT)
        attr.qkey = QKEY
        node.qp.to_rts(attr)
    b.receive(GRH + SIZE)
    a.send("datagram", AH(a.pd, attr=a.path()), b.qp.qp_num)
    assert a.completion().status == e.IBV_WC_SUCCESS
    assert b.completion().byte_len == GRH + 8
    assert b.mr.read(8, GRH) == b"datagram"
