# SPDX-License-Identifier: BSD-3-Clause
"""cut.py PID PORT: shuts down every TCP connection that a process has to that port, as a breaking network would.
Status 77: it is not permitted."""
import ctypes, errno, os, socket, sys

PIDFD_GETFD = 438  # pidfd_getfd(2), the same number on all architectures
pid, port = int(sys.argv[1]), int(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)
try:
    process = os.pidfd_open(pid)
except (AttributeError, OSError):
    sys.exit(77)
cut = 0
for number in os.listdir(f"/proc/{pid}/fd"):
    # It goes on meanwhile, and closes what it has seen break.
    try:
        if not os.readlink(f"/proc/{pid}/fd/{number}").startswith("socket:"):
            continue
    except OSError:
        continue
    fd = libc.syscall(PIDFD_GETFD, process, int(number), 0)
    if fd < 0 and ctypes.get_errno() == errno.EBADF:
        continue
    if fd < 0:
        sys.exit(77)
    with socket.socket(fileno=fd) as s:
        try:
            to = s.getpeername()
            if isinstance(to, tuple) and to[1] == port:
                s.shutdown(socket.SHUT_RDWR)
                cut += 1
        except OSError:
            pass
sys.exit(0 if cut else 1)
