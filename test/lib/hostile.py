# SPDX-License-Identifier: BSD-3-Clause
"""Bad peers of zipperd, for badinput.t.

record PORTFILE HOST PORT FOLDER   proxy in front of zipperd that keeps what ranks say, one file a connection
throw HOST PORT FOLDER SEED STOP   truncated, damaged and random streams, until the file STOP exists; prints how many
"""
import os
import random
import socket
import struct
import sys
import threading

import between


def pump(source, sink, keep):
    try:
        while data := source.recv(65536):
            if keep:
                keep.write(data)
                keep.flush()
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def record(portfile, host, port, folder):
    for number, (client, server) in enumerate(between.connections(portfile, host, port)):
        keep = open(os.path.join(folder, f"stream{number}"), "wb")
        threading.Thread(target=pump, args=(client, server, keep), daemon=True).start()
        threading.Thread(target=pump, args=(server, client, None), daemon=True).start()


def one(host, port, data, rng):
    """One connection: sends data, in pieces at times, then hears what comes or does not, and goes in one of three ways."""
    with socket.create_connection((host, port), timeout=60) as s:
        try:
            s.settimeout(5)
            at = 0
            while at < len(data):
                n = rng.choice((1, 7, 64, 65536))
                s.sendall(data[at:at + n])
                at += n
            way = rng.randrange(3)
            if way == 0:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # reset
            elif way == 1:
                s.settimeout(0.05)
                s.recv(4096)
        except OSError:
            pass


def throw(host, port, folder, seed, stop):
    rng = random.Random(int(seed))
    port = int(port)
    streams = [open(os.path.join(folder, f), "rb").read() for f in sorted(os.listdir(folder))]
    streams = [s for s in streams if s]
    silent = [socket.create_connection((host, port)) for _ in range(20)]
    counts = dict.fromkeys(("cut", "damaged", "random", "replayed", "huge"), 0)
    while not os.path.exists(stop):
        kind = rng.choice(list(counts))
        data = bytearray(rng.choice(streams))
        if kind == "cut":
            data = data[:rng.randrange(len(data))]
        elif kind == "damaged":
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(min(len(data), 400))] = rng.randrange(256)
        elif kind == "random":
            data = rng.randbytes(rng.choice((1, 4, 64, 1000, 70000)))
        elif kind == "huge":  # every length field that there may be: as large as can be
            at = rng.randrange(min(len(data), 120))
            data[at:at + 4] = b"\xff\xff\xff\x7f"
        one(host, port, data, rng)
        counts[kind] += 1
    for s in silent:
        s.close()
    print(" ".join(f"{n} {kind}" for kind, n in counts.items()), "seed", seed)


{"record": record, "throw": throw}[sys.argv[1]](*sys.argv[2:])
