# SPDX-License-Identifier: BSD-3-Clause
"""Stands between ranks and a zipperd, and cuts single connections: relay.py PORTFILE HOST PORT

SIGUSR1 cuts the data channel that came last, SIGUSR2 the control connection that came first. Each is told in a line.
"""
import queue
import signal
import socket
import sys
import threading

import between

ENVELOPE_BYTES, RANK, DATA = 64, 1, 3  # common/wire/wire.h; enum zctl_service in common/control/ctl.h
lock = threading.Lock()
alive = []  # (service, client, server), oldest first


def pump(source, sink):
    try:
        while data := source.recv(1 << 18):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        for s in source, sink:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def service_of(client):
    """From HELLO: the envelope, the type in 2 bytes, the protocol in 4, the release's length in 2, the release, the service."""
    peek = socket.MSG_PEEK | socket.MSG_WAITALL
    before = ENVELOPE_BYTES + 2 + 4 + 2
    release = int.from_bytes(client.recv(before, peek)[before - 2:], "little")
    return client.recv(before + release + 1, peek)[before + release]


def both_ways(client, server):
    try:
        service = service_of(client)
    except (OSError, IndexError):
        service = 0
    entry = service, client, server
    with lock:
        alive.append(entry)
    back = threading.Thread(target=pump, args=(server, client), daemon=True)
    back.start()
    pump(client, server)
    back.join()
    with lock:
        if entry in alive:
            alive.remove(entry)
    client.close()
    server.close()


def cut(service, which):
    with lock:
        found = [e for e in alive if e[0] == service]
        if found:
            alive.remove(found[which])
            for s in found[which][1:]:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
    print("cut" if found else "nothing to cut", "data" if service == DATA else "control", flush=True)


def cutter(orders):
    while True:
        cut(*orders.get())


def main(portfile, host, port):
    orders = queue.SimpleQueue()  # which a signal may interrupt
    signal.signal(signal.SIGUSR1, lambda *_: orders.put((DATA, -1)))
    signal.signal(signal.SIGUSR2, lambda *_: orders.put((RANK, 0)))
    threading.Thread(target=cutter, args=(orders,), daemon=True).start()
    for client, server in between.connections(portfile, host, port):
        threading.Thread(target=both_ways, args=(client, server), daemon=True).start()


main(*sys.argv[1:])
