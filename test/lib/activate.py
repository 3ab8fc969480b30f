# SPDX-License-Identifier: BSD-3-Clause
"""Listens for a program as a service manager does: activate.py PORTFILE SOCKET WORDS COMMAND...

Listens on a port of 127.0.0.1, on another one that the program does not know, and on SOCKET. Writes the first port into PORTFILE, and
puts it for @PORT@ in the command. Then it reads words from the pipe WORDS, each on a line: start, stop (SIGTERM, and wait), end. Each is answered by a line.
"""
import os
import signal
import socket
import sys

FIRST_FD = 3


def start(sockets, command):
    pid = os.fork()
    if pid == 0:
        # copies above those that they replace
        above = [os.dup(s.fileno()) for s in sockets]
        above = [os.dup2(fd, 100 + i) for i, fd in enumerate(above)]
        for i, fd in enumerate(above):
            os.dup2(fd, FIRST_FD + i, inheritable=True)
        os.environ["LISTEN_PID"] = str(os.getpid())
        os.environ["LISTEN_FDS"] = str(len(sockets))
        os.execv(command[0], command)
    return pid


def main(portfile, path, words, *command):
    sockets = [socket.create_server(("127.0.0.1", 0)), socket.create_server(("127.0.0.1", 0))]
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    os.chmod(path, 0o600)
    unix.listen(64)
    sockets.append(unix)
    port = str(sockets[0].getsockname()[1])
    with open(portfile + ".new", "w") as f:
        f.write(port)
    os.rename(portfile + ".new", portfile)
    command = [word.replace("@PORT@", port) for word in command]
    child = 0
    for line in open(words):
        word = line.strip()
        if word == "start":
            child = start(sockets, command)
        elif child:
            os.kill(child, signal.SIGTERM)
            _, status = os.waitpid(child, 0)
            child = 0
            word += f" {status}"
        print(word, flush=True)
        if word.startswith("end"):
            break


main(*sys.argv[1:])
