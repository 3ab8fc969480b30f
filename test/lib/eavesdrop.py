# SPDX-License-Identifier: BSD-3-Clause
"""Stands between ranks and a zipperd, hears all that they say, and then tries to be one of them: eavesdrop.py PORTFILE HOST PORT

On SIGUSR1 it says again what it has heard, to zipperd and to listening ranks, and prints a line for each answer; then "done". Before
that it says of each connection whether it could read on behind the greeting. On SIGUSR2 it changes a bit of what zipperd says next
on a data channel.
"""
import queue
import signal
import socket
import struct
import sys
import threading

import between

ENVELOPE, CTRL = 64, 1  # common/wire/wire.h
HELLO, PROOF, JOIN, WORLD, ATTACH, ERROR, DIRECT = 1, 3, 4, 5, 6, 15, 16  # common/control/ctl.h
RANK, DATA = 1, 3
CONNECT = 2
PATIENCE_S = 10
LINK_PATIENCE_S = 1  # a rank that is not in MPI does not look; one that admits sends the first message
heard = []  # (what the client said, what zipperd said)
order_to_flip = threading.Event()


def pump(source, sink, kept, flips):
    try:
        while data := source.recv(1 << 18):
            if flips and order_to_flip.is_set() and service_of(flips) == DATA:
                order_to_flip.clear()
                data = data[:-1] + bytes((data[-1] ^ 1,))
                print("flipped", flush=True)
            kept.extend(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def messages(stream):
    """The control messages at the beginning: (type, body, where it ends)."""
    at = 0
    while len(stream) >= at + ENVELOPE:
        kind, length = stream[at + 1], struct.unpack_from("<I", stream, at + 28)[0]
        body = bytes(stream[at + ENVELOPE:at + ENVELOPE + length])
        at += ENVELOPE + length
        if kind != CTRL or len(body) < length:
            return
        yield struct.unpack_from("<H", body)[0], body, at


def service_of(stream):
    for _, body, _ in messages(stream):
        return body[8 + struct.unpack_from("<H", body, 6)[0]]
    return 0


def errors(said):
    return [body[8:].decode() for kind, body, _ in messages(said) if kind == ERROR]


def answer(address, data, patience=PATIENCE_S):
    """What the other end says to that: the text of its ERROR, or how it ends. A channel that stays open is one."""
    got = bytearray()
    with socket.create_connection(address, timeout=patience) as s:
        try:
            s.sendall(data)
            while more := s.recv(1 << 16):
                got.extend(more)
                if texts := errors(got):
                    return texts[0]
        except socket.timeout:
            return "ADMITTED" if got else "open"
        except OSError:
            pass
    return "closed" if not got else "ADMITTED for a while"


def shows(said, service):
    """Is what follows the greeting a message that can be read? Each envelope begins with the version and a kind."""
    ends = [at for kind, _, at in messages(said) if kind in (PROOF, ATTACH)]
    rest = said[ends[0]:] if ends else b""
    if len(rest) < ENVELOPE:
        return None
    return rest[0] == said[0] and 0 < rest[1] < 64 and (service != RANK or struct.unpack_from("<H", rest, ENVELOPE)[0] == JOIN)


def replay_channel(zipperd, said):
    ends = [at for _, _, at in messages(said)]
    print("channel, again:", answer(zipperd, said[:ends[1]]))
    for name, at in ("ticket", 2), ("nonce", 34), ("rank", 66), ("part", 70), ("endpoint", 74), ("seal", 78):
        forged = bytearray(said[:ends[1]])
        forged[ends[0] + ENVELOPE + at] ^= 1
        print(f"channel, another {name}:", answer(zipperd, forged))


def replay_control(zipperd, said):
    ends = [at for kind, _, at in messages(said) if kind == PROOF]
    print("control, again:", answer(zipperd, said[:ends[0]]))


def try_link(told):
    """With the ticket as it was told to the rank that was to connect."""
    vrank = part = 0
    for kind, body, _ in messages(told):
        if kind == WORLD:
            vrank = struct.unpack_from("<I", body, 2)[0]
        if kind != DIRECT or body[2] != CONNECT:
            continue
        nonce, masked = body[11:43], body[43:75]
        for address in body[77:77 + struct.unpack_from("<H", body, 75)[0]].decode().split():
            if not address.startswith("tcp:"):
                continue
            host, port = address[4:].rsplit(":", 1)
            for part in 0, 1:
                attach = struct.pack("<H32s32sIIIB", ATTACH, masked, nonce, vrank, part, 0, 0)
                envelope = bytearray(ENVELOPE)
                envelope[:2] = bytes((2, CTRL))
                envelope[8:16] = b"\xff" * 8
                struct.pack_into("<I", envelope, 28, len(attach))
                print("link, overheard ticket:", answer((host, int(port)), bytes(envelope) + attach, LINK_PATIENCE_S))


def attack(zipperd):
    for said, told in list(heard):
        service = service_of(said)
        if service in (RANK, DATA) and (shown := shows(bytes(said), service)) is not None:
            print("behind the greeting:", "shows" if shown else "hidden")
        if service == DATA:
            replay_channel(zipperd, bytes(said))
        elif service == RANK:
            replay_control(zipperd, bytes(said))
            try_link(told)
    print("done", flush=True)


def main(portfile, host, port):
    orders = queue.SimpleQueue()  # which a signal may interrupt
    signal.signal(signal.SIGUSR1, lambda *_: orders.put(1))
    signal.signal(signal.SIGUSR2, lambda *_: order_to_flip.set())
    zipperd = host, int(port)

    def attacker():
        while orders.get():
            attack(zipperd)
    threading.Thread(target=attacker, daemon=True).start()
    for client, server in between.connections(portfile, host, port):
        kept = bytearray(), bytearray()
        heard.append(kept)
        for source, sink, keep, flips in (client, server, kept[0], None), (server, client, kept[1], kept[0]):
            threading.Thread(target=pump, args=(source, sink, keep, flips), daemon=True).start()


main(*sys.argv[1:])
