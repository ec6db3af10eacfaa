#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""mpi4py_check: what Python programs do with MPI, every byte looked at.

usage: mpirun -n N python3 mpi4py_check.py [one-sided]

Objects (pickled) and buffers in a ring and by probing, collectives of both kinds,
requests that wait together, tasks given out to the ranks (mpi4py.futures), and with "one-sided" a window: put, get, accumulate,
fetch-and-op, compare-and-swap.
"""

import array
import sys

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor

if sys.argv[1:2] == ["--help"]:
    sys.exit(print(__doc__.strip()))

WORLD = MPI.COMM_WORLD
RANK, RANKS = WORLD.rank, WORLD.size
NEXT, LAST = (RANK + 1) % RANKS, (RANK - 1) % RANKS
SIZES = (0, 1, 8, 1000, 1025, 65536, 1 << 20)


def bytes_of(rank, size):
    """The same for all who ask; another for each rank and size."""
    word = bytes((rank * 31 + size + i * 7) % 251 for i in range(251))
    return (word * (size // 251 + 1))[:size]


def expect(got, wanted, what):
    if got != wanted:
        print(f"mpi4py_check: rank {RANK}: {what} is wrong", flush=True)
        WORLD.Abort(1)


def ring_of_objects():
    for size in SIZES:
        mine = {"rank": RANK, "data": bytes_of(RANK, size), "pair": (1, "two")}
        got = WORLD.sendrecv(mine, dest=NEXT, source=LAST)
        expect(got, {"rank": LAST, "data": bytes_of(LAST, size),
                     "pair": (1, "two")}, f"object with {size} bytes")


def ring_of_buffers():
    for size in SIZES:
        here = bytearray(size)
        requests = [WORLD.Irecv([here, MPI.BYTE], LAST, tag=size % 1000),
                    WORLD.Isend([bytes_of(RANK, size), MPI.BYTE], NEXT,
                                tag=size % 1000)]
        MPI.Request.Waitall(requests)
        expect(bytes(here), bytes_of(LAST, size), f"buffer of {size}")


def probed():
    """Lengths that the receiver learns from the message."""
    for size in SIZES:
        request = WORLD.isend(bytes_of(RANK, size), dest=NEXT, tag=7)
        message = WORLD.mprobe(source=MPI.ANY_SOURCE, tag=7)
        expect(message.recv(), bytes_of(LAST, size), f"probed {size}")
        request.wait()


def collectives():
    for size in SIZES:
        root = size % RANKS
        expect(WORLD.bcast(bytes_of(root, size) if RANK == root else None,
                           root), bytes_of(root, size), f"bcast {size}")
        expect(WORLD.allgather(bytes_of(RANK, size)),
               [bytes_of(r, size) for r in range(RANKS)], f"allgather {size}")
        expect(WORLD.alltoall([bytes_of(RANK * RANKS + r, size)
                               for r in range(RANKS)]),
               [bytes_of(r * RANKS + RANK, size) for r in range(RANKS)],
               f"alltoall {size}")
    mine = array.array("q", [RANK + i for i in range(5000)])
    total = array.array("q", [0] * 5000)
    WORLD.Allreduce([mine, MPI.INT64_T], [total, MPI.INT64_T])
    expect(list(total), [RANKS * i + RANKS * (RANKS - 1) // 2
                         for i in range(5000)], "Allreduce")


def task(size):
    return bytes_of(size % 5, size)


def tasks():
    with MPICommExecutor(WORLD, root=0) as executor:
        if executor:
            sizes = range(0, 60000, 600)
            expect(list(executor.map(task, sizes)), [task(s) for s in sizes],
                   "the result of a task")


def one_sided():
    length = 1 << 16
    window = MPI.Win.Allocate(length + 8, comm=WORLD)
    memory = window.tomemory()
    memory[length:] = (0).to_bytes(8, sys.byteorder)
    window.Fence()
    window.Put([bytes_of(RANK, length), MPI.BYTE], NEXT)
    window.Fence()
    expect(bytes(memory[:length]), bytes_of(LAST, length), "Put")
    got = bytearray(length)
    window.Get([got, MPI.BYTE], NEXT)
    window.Fence()
    expect(bytes(got), bytes_of(RANK, length), "Get")
    one, old = array.array("q", [1]), array.array("q", [0])
    counter = (length, 1, MPI.INT64_T)
    for _ in range(10):
        window.Lock(0)
        window.Accumulate([one, MPI.INT64_T], 0, target=counter, op=MPI.SUM)
        window.Fetch_and_op([one, MPI.INT64_T], [old, MPI.INT64_T], 0, length,
                            MPI.SUM)
        window.Unlock(0)
    WORLD.Barrier()
    wanted, new = array.array("q", [20 * RANKS]), array.array("q", [77])
    if RANK == RANKS - 1:
        window.Lock(0)
        window.Compare_and_swap([new, MPI.INT64_T], [wanted, MPI.INT64_T],
                                [old, MPI.INT64_T], 0, length)
        window.Unlock(0)
        expect(old[0], 20 * RANKS, "Compare_and_swap")
    WORLD.Barrier()
    if RANK == 0:
        window.Lock(0)
        value = int.from_bytes(memory[length:length + 8], sys.byteorder)
        window.Unlock(0)
        expect(value, 77, "the word that was swapped")
    window.Fence()
    window.Free()


def main():
    ring_of_objects()
    ring_of_buffers()
    probed()
    collectives()
    tasks()
    if sys.argv[1:] == ["one-sided"]:
        one_sided()
    WORLD.Barrier()
    if RANK == 0:
        print(f"mpi4py_check: {RANKS} ranks, all right", flush=True)


main()
