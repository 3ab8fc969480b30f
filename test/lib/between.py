# SPDX-License-Identifier: BSD-3-Clause
"""For programs that stand between ranks and a zipperd: relay.py, eavesdrop.py, hostile.py."""
import os
import socket


def connections(portfile, host, port):
    """Listens, writes its port into portfile, and gives for each connection that comes the socket of the client and one to zipperd."""
    listener = socket.create_server(("127.0.0.1", 0))
    with open(portfile + ".new", "w") as f:
        f.write(str(listener.getsockname()[1]))
    os.rename(portfile + ".new", portfile)
    while True:
        client, _ = listener.accept()
        server = socket.create_connection((host, int(port)))
        for s in client, server:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield client, server
