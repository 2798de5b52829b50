"""A restarter of the kind that many installations wrote for Envoy: it starts the script given
with RESTART_EPOCH set, once more on each SIGHUP, passes SIGUSR1 and SIGTERM on, and gives up when a
child ends with anything but 0."""

import os
import signal
import sys
import time

children = []
epoch = 0


def start():
    global epoch
    os.environ["RESTART_EPOCH"] = str(epoch)
    epoch += 1
    pid = os.fork()
    if pid == 0:
        os.execv(sys.argv[1], [sys.argv[1]])
    children.append(pid)


def pass_on(number):
    for pid in children:
        os.kill(pid, number)


def end():
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pass_on(signal.SIGTERM)
    for pid in children:
        os.waitpid(pid, 0)
    sys.exit(0)


def child_changed():
    for pid in list(children):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended == 0:
            continue
        children.remove(pid)
        if status != 0:
            pass_on(signal.SIGKILL)
            sys.exit(1)
    if not children:
        sys.exit(0)


signal.signal(signal.SIGHUP, lambda *_: start())
signal.signal(signal.SIGTERM, lambda *_: end())
signal.signal(signal.SIGUSR1, lambda *_: pass_on(signal.SIGUSR1))
signal.signal(signal.SIGCHLD, lambda *_: child_changed())
start()
while True:
    time.sleep(60)
