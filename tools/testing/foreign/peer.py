#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""peer: runs the servers of the cases at end B, told to by a TCP connection.

usage: peer.py ADDRESS

A request and its reply are a line of JSON each:

    {"start": ARGV, "env": {}, "ready": HOW, "seconds": N}   {"wrong": TEXT}
    {"finish": SECONDS}         {"status": NUMBER or null, "text": OUTPUT}
    {"run": ARGV}                                       {"text": OUTPUT}
    {"count": [DEVICE, NETDEV]}                      {"counters": {NAME: NUMBER}}
"""

import json
import os
import socket
import sys
import time

from program import HERE, Program, await_ready, counters

if sys.argv[1:2] == ["--help"]:
    sys.exit(print(__doc__.strip()))

PORT = 7999


class Peer:
    """The near side."""

    def __init__(self, on_b, address):
        self.far = Program([*on_b, os.path.join(HERE, "peer.py"), address])
        deadline = time.monotonic() + 60
        while True:
            try:
                self.socket = socket.create_connection((address, PORT), 60)
                self.file = self.socket.makefile("rw")
                return
            except OSError:
                if self.far.status() is not None or (
                        time.monotonic() > deadline):
                    sys.exit(f"no peer at {address}: {self.far.text()}")
                time.sleep(0.05)

    def ask(self, limit, **request):
        self.socket.settimeout(limit + 60)
        self.file.write(json.dumps(request) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())


def answer(request, programs):
    if "count" in request:
        return {"counters": counters(*request["count"])}
    if "run" in request:
        program = Program(request["run"])
        program.wait(60)
        program.end()
        return {"text": program.text()}
    if "start" in request:
        program = Program(request["start"], request["env"])
        programs.append(program)
        return {"wrong": await_ready(program, request["ready"],
                                     request["seconds"])}
    program = programs.pop()
    status = program.wait(request["finish"])
    program.end()
    return {"status": status, "text": program.text()}


def main():
    programs = []
    listener = socket.create_server((sys.argv[1], PORT))
    connection, _ = listener.accept()
    listener.close()
    with connection.makefile("rw") as file:
        for line in file:
            file.write(json.dumps(answer(json.loads(line), programs)) + "\n")
            file.flush()
    for program in programs:
        program.end()


if __name__ == "__main__":
    main()
