# SPDX-License-Identifier: BSD-3-Clause
"""Records conversations with a zipperd, and has them again with another one. See README.md.

golden.py record PORTFILE HOST PORT FILE   stands between peers and zipperd until SIGTERM, then writes FILE
golden.py replay FILE HOST PORT            says what the peers said, and compares zipperd's answers byte for byte
golden.py again FILE HOST PORT             says what the first peer said, whatever the answers, and prints the text of the last one
golden.py credential KEY USER JOB EXPIRES  prints ZIPPER_CREDENTIAL; zmpirun makes none for so long a time
"""
import hashlib
import os
import signal
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import between  # noqa: E402

ENVELOPE_BYTES, LENGTH_AT = 64, 28  # common/wire/wire.h
ERROR = 15  # enum zctl_type in common/control/ctl.h
LINE_BYTES = 48
PATIENCE_S = 60


class Recorder:
    """The events of all connections in one order: what has caused an event stands before it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.events = []  # [what, connection, bytes]

    def note(self, what, number, data=b""):
        with self.lock:
            last = self.events[-1] if self.events else None
            if data and last and last[0] == what and last[1] == number:
                last[2] += data
            else:
                self.events.append([what, number, bytearray(data)])

    def pump(self, number, what, source, sink):
        end = {">": "close", "<": "closed"}[what]
        try:
            while data := source.recv(1 << 16):
                self.note(what, number, data)
                sink.sendall(data)
        except OSError:
            pass
        self.note(end, number)
        try:
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def write(self, path):
        with self.lock, open(path, "w") as f:
            f.write("# SPDX-License-Identifier: BSD-3-Clause\n")
            for what, number, data in self.events:
                f.write(f"{what} {number}\n")
                for at, n in pieces(data):
                    for i in range(at, at + n, LINE_BYTES):
                        f.write(f"{' ' if i == at else '  '} {data[i:min(i + LINE_BYTES, at + n)].hex()}\n")


def pieces(data):
    """(place, length) of each envelope and each payload, for readers; a rest that is none is one piece."""
    at = 0
    while at < len(data):
        payload = int.from_bytes(data[at + LENGTH_AT:at + LENGTH_AT + 4], "little")
        whole = ENVELOPE_BYTES + payload <= len(data) - at
        for n in [ENVELOPE_BYTES, payload] if whole else [len(data) - at]:
            if n:
                yield at, n
            at += n


def record(portfile, host, port, path):
    recorder = Recorder()

    def end(*_):
        recorder.write(path)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
    for number, (client, server) in enumerate(between.connections(portfile, host, port)):
        recorder.note("open", number)
        for what, source, sink in (">", client, server), ("<", server, client):
            threading.Thread(target=recorder.pump, args=(number, what, source, sink), daemon=True).start()


def read(path):
    events = []
    with open(path) as f:
        for line in f:
            if line.startswith(" "):
                events[-1][2] += bytes.fromhex(line)
            elif not line.startswith("#"):
                what, number = line.split()
                events.append([what, int(number), bytearray()])
    return events


def receive(s, n):
    """n bytes, or fewer where the connection ends before."""
    data = b""
    try:
        while len(data) < n and (more := s.recv(n - len(data))):
            data += more
    except ConnectionResetError:
        pass
    return data


def differ(number, at, want, got):
    i = next((i for i in range(min(len(want), len(got))) if want[i] != got[i]), min(len(want), len(got)))
    print(f"connection {number}: zipperd answers otherwise than recorded, from byte {at + i} on")
    print(f"recorded: {want[i:i + 64].hex()}\nanswered: {got[i:i + 64].hex() or 'nothing: it closed the connection'}")
    return 1


def replay(path, host, port):
    links, heard, frames = {}, {}, 0
    for what, number, data in read(path):
        if what == "open":
            links[number] = socket.create_connection((host, int(port)), timeout=PATIENCE_S)
            links[number].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            heard[number] = 0
        elif what == ">":
            try:
                links[number].sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # zipperd closed it in the recording, too, or its next answer is missed
        elif what == "<":
            got = receive(links[number], len(data))
            if got != data:
                return differ(number, heard[number], data, got)
            heard[number] += len(data)
            frames += 1
        elif what == "close":
            try:
                links[number].shutdown(socket.SHUT_WR)
            except OSError:
                pass
        elif what == "closed" and receive(links[number], 1):
            print(f"connection {number}: zipperd says more than recorded")
            return 1
    print(f"{len(links)} connections, {frames} answers as recorded")
    return 0


def again(path, host, port):
    answer = b""
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as link:
        for what, number, data in read(path):
            if number == 0 and what == ">":
                link.sendall(data)
                envelope = receive(link, ENVELOPE_BYTES)
                answer = receive(link, int.from_bytes(envelope[LENGTH_AT:LENGTH_AT + 4], "little"))
                if answer[:1] == bytes([ERROR]):
                    break
    print(answer[2 + 4 + 2:].decode("latin-1"))  # behind the type, the code and the length


def credential(key, user, job, expires):
    """As derive in common/control/auth.c."""
    texts = b"".join(bytes([len(t)]) + t.encode() for t in ("leiden-zipper job credential 1", user, job))
    digest = hashlib.blake2b(texts + int(expires).to_bytes(8, "little"), key=bytes.fromhex(key), digest_size=32)
    print(f"{expires}:{digest.hexdigest()}")


if __name__ == "__main__":
    sys.exit({"record": record, "replay": replay, "again": again, "credential": credential}[sys.argv[1]](*sys.argv[2:]))
