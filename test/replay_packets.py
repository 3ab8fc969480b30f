#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap time against a packet-level simulation of the same program (simulate_program.c), on dragonflies and a torus of more than
1,000 routers: the time of the whole program, where bandwidth decides. TAP."""
import os
import random
import subprocess
import sys
import tempfile
import time

BUILD = os.environ["ZIP_TOP_BUILDDIR"]
DRAGONFLY = "dragonfly group:48 chassis:3 router:8 node:1 core:1 bandwidth:1000M"  # 1,152 routers
TORUS = "torus:8x8x16 bandwidth:1000M"  # 1,024 routers
FABRIC = "fattree down:18x8x8 up:1x6x8 bandwidth:1000M"  # 1,152 nodes
PACKET = 8192
ERROR = 0.15
count = failed = 0


def check(ok, name, detail):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s # %s" % ("ok" if ok else "not ok", count, name, detail), flush=True)


def halo(dims, bytes, rounds, compute=0.0):
    """Each rank exchanges with its neighbours on a periodic grid in each round, and computes."""
    n = 1
    for d in dims:
        n *= d
    lines = ["ranks %d" % n]
    steps = [1]
    for d in dims:
        steps.append(steps[-1] * d)
    for r in range(n):
        to = set()
        for d, step in zip(dims, steps):
            x = r // step % d
            to |= {r + ((x + 1) % d - x) * step, r + ((x - 1) % d - x) * step}
        to = sorted(to - {r})
        for k in range(rounds):
            if compute:
                lines.append("%d compute %g" % (r, compute * (1 + r % 3)))
            lines += ["%d irecv %d request:%d" % (r, v, v) for v in to]
            lines += ["%d isend %d %d request:%d" % (r, v, bytes, n + v) for v in to]
            lines.append("%d wait %s" % (r, " ".join([str(v) for v in to] + [str(n + v) for v in to])))
    return lines


def shuffles(n, rounds, draw, sizes):
    """In each round each rank sends to another one, and then receives: it cannot run ahead of the others far."""
    lines = ["ranks %d" % n]
    for k in range(rounds):
        to = list(range(n))
        draw.shuffle(to)
        for a, b in enumerate(to):
            if a != b:
                lines.append("%d isend %d %d tag:%d request:%d" % (a, b, draw.choice(sizes), k, k))
        for a, b in enumerate(to):
            if a != b:
                lines.append("%d recv %d tag:%d" % (b, a, k))
    return lines


def wave(n, bytes):
    """Ranks in a row: each sends to the one seven further on when the one before has sent to it; ten waves at once."""
    lines = ["ranks %d" % n]
    for r in range(n):
        for w in range(10):
            if r >= 7:
                lines.append("%d recv %d tag:%d" % (r, r - 7, w))
            if r + 7 < n:
                lines.append("%d send %d %d tag:%d" % (r, r + 7, bytes, w))
    return lines


os.chdir(tempfile.mkdtemp())
draw = random.Random(1)
PROGRAMS = [
    ("a 4D halo, twice, and computing between", DRAGONFLY, "RDN", "SD", halo((4, 4, 6, 6), 131072, 2, 1e-4)),
    ("a 4D halo over single paths", DRAGONFLY, "LIN", "DET", halo((4, 6, 6, 8), 131072, 1)),
    ("random partners, six rounds", DRAGONFLY, "LIN", "SD", shuffles(1152, 6, draw, [65536, 262144, 524288])),
    ("random partners in a fat tree", FABRIC, "RDN", "DET", shuffles(1152, 4, draw, [131072, 524288])),
    ("a 2D halo on a torus", TORUS, "RDN", "DET", halo((32, 32), 131072, 2)),
    ("waves through all ranks", DRAGONFLY, "RDN", "SD", wave(256, 131072)),
]
for name, network, placement, routing, lines in PROGRAMS:
    with open("program", "w") as f:
        f.write("\n".join(lines) + "\n")
    begin = time.process_time()
    r = subprocess.run([os.path.join(BUILD, "mapper", "zipmap"), "time", "-n", network, "-p", placement, "-r", routing, "--latency", "0",
                        "--overhead", "0", "--eager", "1G", "--csv", "times.csv", "program"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    predicted = float(open("times.csv").read().split("\n")[1].split(",")[1]) if r.returncode == 0 else 0
    for queue in sys.argv[1:] or ["fair", "fifo"]:
        r = subprocess.run([os.path.join(BUILD, "test", "simulate_program"), network, placement, routing, str(PACKET), queue, "program"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        simulated = float(r.stdout) if r.returncode == 0 else 0
        error = predicted / simulated - 1 if simulated else 1
        check(abs(error) < ERROR, "%s; packets in %s queues" % (name, queue),
              "%.4g s, packets %.4g s: %+.1f %%%s" % (predicted, simulated, 100 * error, r.stderr))
print("1..%d" % count)
sys.exit(failed > 0)
