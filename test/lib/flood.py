# SPDX-License-Identifier: BSD-3-Clause
"""Connections that say nothing, for flood.t.

flood.py HOST PORT COUNT ADDRESSES STOP   holds COUNT connections open, from so many addresses of 127.0.1.0/24, and opens
new ones for those that are closed, until the file STOP exists; prints how many it has opened
"""
import os
import select
import socket
import sys


def connect(host, port, source):
    s = socket.socket()
    s.setblocking(False)
    s.bind((source, 0))
    try:
        s.connect((host, port))
    except BlockingIOError:
        pass
    return s


def main():
    host, port, count, addresses, stop = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
    ends = select.epoll()
    held = {}
    opened = 0
    while not os.path.exists(stop):
        for _ in range(min(count - len(held), 500)):
            try:
                s = connect(host, port, f"127.0.1.{1 + opened % addresses}")
            except OSError:  # no ports or descriptors for the moment
                break
            held[s.fileno()] = s
            ends.register(s.fileno(), select.EPOLLRDHUP)
            opened += 1
        for fd, _ in ends.poll(0.02 if len(held) == count else 0, 1000):
            held.pop(fd).close()
    print(opened)


main()
