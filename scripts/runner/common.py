# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What all of the runner shares: folders, statuses, ways to say something."""

import fcntl
import os
import shutil
import signal
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.realpath(__file__))))
SCRIPTS = os.path.join(TOP, "scripts")
GUEST = os.path.join(SCRIPTS, "guest")
# What is made on the way. Installed, the tree is not to be written to.
BUILD = os.environ.get("SOFTRDMA_BUILD") or os.path.join(TOP, "build")
INSTALLED = not os.path.exists(os.path.join(TOP, "Makefile"))
# Runs whose logs are kept where nobody says "make clean".
KEPT_RUNS = 20

UNLOAD_FAILED, NOT_BUILT, SETUP_FAILED, LOST, REPORTED = 94, 95, 96, 97, 98

# A command's time limit does not count the boot; seconds the whole may take on
# top of it before the kernel is given up.
BOOT_ALLOWANCE = {"kvm": 60, "tcg": 240, "icount": 900}


def note(message):
    print(f"vm: {message}", file=sys.stderr, flush=True)


def die(status, message):
    note(message)
    sys.exit(status)


def read_file(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except FileNotFoundError:
        return ""


def cache_dir():
    """The folder of what outlives build/, the same as in scripts/kernel."""
    base = (os.environ.get("SOFTRDMA_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        "softrdma"))
    os.makedirs(base, exist_ok=True)
    return base


def lock_log_dir(path, kind):
    """Its lock, which whoever writes into it shares as long as it runs; or None."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def drop_old_logs(base):
    """Only where the logs are in the cache of a user."""
    runs = sorted(os.path.join(base, d) for d in os.listdir(base))
    for path in runs[:-KEPT_RUNS]:
        lock = lock_log_dir(path, fcntl.LOCK_EX)
        if lock is not None:
            shutil.rmtree(path, ignore_errors=True)
            os.close(lock)


def make_log_dir(name):
    logs = os.path.join(BUILD, "log")
    base = os.path.join(logs, time.strftime("%Y%m%d-%H%M%S-") + name)
    path, n = base, 1
    while True:
        try:
            os.makedirs(path)
            break
        except FileExistsError:
            n += 1
            path = f"{base}-{n}"
    # Held until this process ends.
    lock_log_dir(path, fcntl.LOCK_SH)
    if INSTALLED:
        drop_old_logs(logs)
    return path


def hold(folder):
    """Keep a folder of build/ to this process until it ends. Who comes second waits."""
    path = os.path.join(BUILD, f".{folder}.lock")
    os.makedirs(BUILD, exist_ok=True)
    lock = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"# waits for another run in {os.path.join(BUILD, folder)}",
              file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def end_on_signals():
    """Make them an exit like others, which ends the kernel and tidies up."""
    for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        # Under nohup, and in the background, one is to be ignored.
        if signal.getsignal(s) != signal.SIG_IGN:
            signal.signal(s, lambda n, _: sys.exit(128 + n))
