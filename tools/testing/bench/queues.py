# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""queues: what scripts/bench measures behind queues that lose, delay or reorder."""

MEBI = 1 << 20
PATH_MTU = 1024
# What a packet of the path MTU has around it: Ethernet, IPv4, UDP, BTH and ICRC;
# of TCP, with time stamps, what a packet of 1448 has.
AROUND = 58
TCP_SEGMENT, TCP_AROUND = 1448, 66

# What is measured under loss, by topology: (test, size, messages). On veth whole
# trains are lost, and on nic single packets.
LOSSY = {"veth": (("ib_write_bw", 4096, 2000), ("ib_send_bw", 4096, 2000),
                  ("ib_read_bw", 4096, 2000), ("ib_write_bw", 65536, 300)),
         "nic": (("ib_write_bw", 65536, 400), ("ib_send_bw", 65536, 400),
                 ("ib_read_bw", 65536, 400), ("ib_read_bw", 1 << 20, 40))}
# Percents; 0 is what they are compared with.
LOSSES = {"veth": (0, 1, 5), "nic": (0, 0.1, 1, 5)}
# Goodput that must remain, and that is aimed at.
LOSS_TARGETS = {"veth": {1: (0.7, 0.9), 5: (0.4, 0.7)},
                "nic": {1: (0.9, 0.95), 5: (0.75, 0.9)}}
# Into a line of so many Mbit/s: round trips, ms, and percents of loss; ecn: nothing is
# lost, but the queues are short, and mark.
FAR_MBIT = 200
FAR_TRIPS = (10, 50)
FAR_LOSSES = (0, 0.1, "ecn")
FAR = (("ib_write_bw", 1 << 20, 100), ("ib_send_bw", 1 << 20, 100),
       ("ib_read_bw", 1 << 20, 100))
# Of what the line can carry: must, and aim.
FAR_TARGET = (0.9, 0.95)
# Ways to change the order of packets, by netem; what is measured then; and how much
# of TCP it must have, and is to, where trips do not differ by milliseconds.
ORDERS = ("delay-1ms-0.5ms", "delay-1ms-reorder-25%", "delay-5ms-2ms")
REORDERED = (("ib_write_bw", 65536, 1500), ("ib_send_bw", 65536, 1500),
             ("ib_read_bw", 65536, 1500))
ORDER_TARGETS = {how: (2, 4) for how in ORDERS[:2]}
# Beside single packets lost, TCP: size and messages.
LOSSY_TCP = (65536, 400)


def part_of_line(figure, mbit, tcp):
    """MB/s of payload, as a part of what a line of so many Mbit/s can carry."""
    payload, around = (TCP_SEGMENT, TCP_AROUND) if tcp else (PATH_MTU, AROUND)
    return figure * MEBI * 8 / (mbit * 1e6) * (payload + around) / payload


def lossy_jobs(topology):
    jobs = []
    for loss in LOSSES[topology]:
        jobs.append(f"loss:{loss}")
        jobs += [f"run:{n}:{s}:{c}" for n, s, c in LOSSY[topology]]
        if topology == "nic":
            jobs.append("tcp:bw:{}:{}".format(*LOSSY_TCP))
    return jobs


def far_jobs():
    jobs = []
    for trip in FAR_TRIPS:
        for loss in FAR_LOSSES:
            jobs.append(f"far:{trip}:{FAR_MBIT}:{loss}")
            jobs += [f"run:{n}:{s}:{c}" for n, s, c in FAR]
            jobs.append("tcp:bw:{}:{}".format(*FAR[0][1:]))
    return jobs


def order_jobs():
    jobs = []
    for how in ORDERS:
        jobs.append(f"order:{how}")
        jobs += [f"run:{n}:{s}:{c}" for n, s, c in REORDERED]
        jobs.append("tcp:bw:{}:{}".format(*REORDERED[0][1:]))
    return jobs


def under_loss(ours, topology):
    head = ["test", "size", "loss %", "MB/s", "of loss-free", "must (aim)",
            "met"]
    rows = []
    tcp = [("tcp_bw", *LOSSY_TCP)] if topology == "nic" else []
    for name, size, _ in [*LOSSY[topology], *tcp]:
        clean = ours.of(name, size, "0")
        for loss in LOSSES[topology][1:]:
            value = ours.of(name, size, f"{loss}")
            if not value or not clean:
                rows.append([name, size, loss, "failed", "", "", "missed"])
                continue
            part = value / clean
            targets = None if tcp and name == "tcp_bw" else (
                LOSS_TARGETS[topology].get(loss))
            rows.append([name, size, loss, f"{value:.1f}", f"{part:.2f}",
                         *remains(part, targets)])
    return head, rows


def out_of_order(ours):
    """Goodput beside TCP's where nothing is lost, but overtaken."""
    head = ["test", "size", "netem", "MB/s", "tcp", "/ tcp", "must (aim)", "met"]
    rows = []
    for name, size, _ in REORDERED:
        for how in ORDERS:
            value = ours.of(name, size, how)
            tcp = ours.of("tcp_bw", REORDERED[0][1], how)
            words = how.replace("-", " ")
            if not value or not tcp:
                rows.append([name, size, words, "failed", "", "", "", "missed"])
                continue
            rows.append([name, size, words, f"{value:.1f}", f"{tcp:.1f}",
                         f"{value / tcp:.2f}",
                         *remains(value / tcp, ORDER_TARGETS.get(how))])
    return head, rows


def far_away(ours):
    """Goodput into a long line, and what was repeated."""
    head = ["test", "size", "ms", "loss %", "MB/s", "of the line", "must (aim)",
            "repeated", "met"]
    rows = []
    for name, size, _ in [*FAR, ("tcp_bw", *FAR[0][1:])]:
        for trip in FAR_TRIPS:
            for loss in FAR_LOSSES:
                label = f"{trip}ms/{loss}"
                value = ours.of(name, size, label)
                if not value:
                    rows.append([name, size, trip, loss, "failed", "", "", "",
                                 "missed"])
                    continue
                twice = ours.of("repeated", size, f"{name}/{label}")
                part = part_of_line(value, FAR_MBIT, name == "tcp_bw")
                target, met = ["", ""] if name == "tcp_bw" else (
                    remains(part, FAR_TARGET))
                if twice and not loss:
                    met = "missed"
                rows.append([name, size, trip, loss, f"{value:.1f}",
                             f"{part:.2f}", target,
                             "" if twice is None else f"{twice:.0f}", met])
    return head, rows


def remains(part, targets):
    if not targets:
        return ["", ""]
    must, aim = targets
    return [f"{must:g} ({aim:g})", "aim" if part >= aim else
            "must" if part >= must else "missed"]
