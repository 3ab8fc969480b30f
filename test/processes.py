# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a time limit, each in a process group of its own, for mpich_suite.py and apps/check_apps.py."""
import os
import signal
import subprocess

running = set()


def run(command, folder, seconds, environment):
    """Status, standard output, standard error; status None: it took too long, and its process group was ended."""
    process = subprocess.Popen(command, cwd=folder, env=dict(os.environ, **environment), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    running.add(process)
    status = None
    try:
        said = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            said = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            try:
                said = process.communicate(timeout=5)
            except subprocess.TimeoutExpired:  # processes in other sessions keep the pipes open
                said = b"", b""
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    running.discard(process)
    return (status, *(text.decode(errors="replace") for text in said))
