#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap convert of OTF2 traces, which write_trace writes by the library's own writer. Messages, collectives and times are
added up here: by hand, and for random traces by the model of zipmap.graph(5), written down once more. TAP."""
import os
import random
import shutil
import subprocess
import sys

from map_fixture import check, finish, write, zipmap

WRITER = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "test", "write_trace")
if not os.access(WRITER, os.X_OK):
    r = zipmap("convert", write("a.otf2", ""), "graph")
    check(r.returncode == 1 and r.stderr == "zipmap convert: a.otf2: this zipmap was built without OTF2, which reads such traces\n",
          "without OTF2, zipmap says so", r.stderr)
    print("ok 2 # skip built without OTF2 (Debian: libopen-trace-format2-dev)\n1..2")
    sys.exit(r.returncode != 1)

OPS = "barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw allreduce reduce " \
    "reduce_scatter scan exscan reduce_scatter_block".split()
NONE = 0xffffffff


def traced(script, name="t"):
    shutil.rmtree(name, ignore_errors=True)
    subprocess.run([WRITER, name, name], input=script, text=True, check=True)
    return "%s/%s.otf2" % (name, name)


def edges(path, *args):
    r = zipmap("show", "--edges", *args, path)
    return {tuple(map(int, line.split()[:2])): tuple(map(int, line.split()[2:])) for line in r.stdout.split("\n") if line}


def calls(path):
    """(kind, size) -> (bytes, calls)"""
    lines = zipmap("show", "--top", "0", path).stdout.split("\n")
    found = {}
    for i, line in enumerate(lines):
        if line.startswith("phase") and "calls of" in line:
            for words in map(str.split, lines[i + 1:]):
                if not words:
                    break
                found[words[1], int(words[2])] = int(words[3]), int(words[4])
    return found


# --- by hand
SCRIPT = """ranks 4
comm odd 3 1
inter two 0 2 / 1 3
win w odd
send 0 world 3 100
isend 0 world 3 20
send 3 odd 1 7
send 1 self 0 5
thread 2 world 1 9
send 2 two 1 11
send 3 two 0 13
put 1 w 0 64
get 3 w 1 32
coll 0 1 world 2 0 10
coll 1 1 world 2 0 10
coll 2 1 world 2 40 10
coll 3 1 world 2 0 10
coll 1 17 odd {n} 0 0
coll 0 11 self {n} 8 8
icoll 3 0 odd {n} 0 0
icoll 1 0 odd {n} 0 0
coll 0 1 two 0 0 6
""".format(n=NONE)
for form in ("", "local\n"):
    trace = traced(form + SCRIPT)
    r = zipmap("convert", trace, "graph")
    check(r.returncode == 0, "a trace is converted" + (", with numbers of its own at each location" if form else ""), r.stderr)
    check(edges("graph", "--class", "p2p") == {(0, 3): (120, 2), (3, 1): (7, 1), (1, 1): (5, 1), (2, 1): (9, 1), (2, 3): (11, 1), (3, 0): (13, 1)},
          "... sends: on communicators, between two groups, by other threads", edges("graph", "--class", "p2p"))
    check(edges("graph", "--class", "put") == {(1, 3): (64, 1)} and edges("graph", "--class", "get") == {(1, 3): (32, 1)},
          "... one-sided: put from the origin, get to it", (edges("graph", "--class", "put"), edges("graph", "--class", "get")))
    # from 2: to 3 and to 0, and from 0 to 1; the barrier of two both ways, with no bytes
    check(edges("graph", "--class", "collective") == {(2, 3): (10, 1), (2, 0): (10, 1), (0, 1): (10, 1), (1, 3): (0, 1), (3, 1): (0, 1)},
          "... collectives by the model", edges("graph", "--class", "collective"))
    check(calls("graph") == {("bcast", 4): (10, 4), ("barrier", 2): (0, 2), ("bcast", 2): (0, 1)}, "... and their calls", calls("graph"))
r = zipmap("convert", "--class", "p2p,put", trace, "some")
check(r.returncode == 0 and sum(n for n, _ in edges("some").values()) == 165 + 64, "classes are selected", edges("some"))
r = zipmap("convert", "--to", "market", trace, "graph.mtx")
s = zipmap("convert", "graph", "same.mtx")
check(r.returncode == s.returncode == 0 and open("graph.mtx").read() == open("same.mtx").read() and "4 4" in open("graph.mtx").read(),
      "a trace as Matrix Market", r.stderr + s.stderr)
r = zipmap("convert", "--phase", "2", trace, "none")
check(r.returncode == 1 and r.stderr == "zipmap convert: t/t.otf2: has phase 1 only, as every trace\n", "a phase that no trace has", r.stderr)

# --- times: 1,000 ticks a second; nested functions belong to the outer one; functions without a time; the run
trace = traced("""ranks 2
enter 0 100 main
enter 0 110 MPI_Init_thread
leave 0 150 MPI_Init_thread
enter 0 160 MPI_Send
leave 0 163 MPI_Send
enter 0 170 MPI_Waitall
enter 0 171 MPI_Recv
leave 0 175 MPI_Recv
leave 0 180 MPI_Waitall
enter 0 190 MPI_Comm_rank
leave 0 195 MPI_Comm_rank
enter 0 200 MPI_Isend
leave 0 201 MPI_Isend
enter 0 300 MPI_Finalize
leave 0 310 MPI_Finalize
leave 0 320 main
enter 1 120 MPI_Init
leave 1 150 MPI_Init
enter 1 160 MPI_Allreduce
leave 1 190 MPI_Allreduce
enter 1 200 MPI_Send
leave 1 204 MPI_Send
enter 1 350 MPI_Finalize
leave 1 360 MPI_Finalize
""")
r = zipmap("convert", trace, "graph")
out = zipmap("show", "--top", "0", "graph").stdout if r.returncode == 0 else r.stderr


times = {" ".join(words[:-9]): (int(words[-9]), *map(" ".join, zip(words[-8:-2:2], words[-7:-2:2])))
         for words in map(str.split, out.split("\n")) if len(words) > 9 and words[-1] == "%"}
check({k: v for k, v in times.items()} == {"run": (2, "150 ms", "175 ms", "200 ms"), "in MPI": (5, "14 ms", "24 ms", "34 ms"),
                                           "send": (2, "3 ms", "3.5 ms", "4 ms"), "wait": (1, "0 us", "5 ms", "10 ms"),
                                           "start": (1, "0 us", "500 us", "1 ms"), "allreduce": (1, "0 us", "15 ms", "30 ms")},
      "times of the calls of a trace, by their kinds and the clock of the trace", out)

# --- random traces against the model, written down once more
def model(kind, rank, n, root):
    """What a rank sends in one call: (peer, blocks, messages)."""
    v = (rank - root) % n

    def parent(x):
        return x & (x - 1)

    def below(x):
        return [y for y in range(n) if y == x or (y and x in ancestors(y))]

    def ancestors(x):
        found = []
        while x:
            x = parent(x)
            found.append(x)
        return found
    down = [x for x in range(1, n) if parent(x) == v]
    if n == 1:
        return []
    if kind == "barrier":
        return [((rank + (1 << k)) % n, 0, 1) for k in range(32) if 1 << k < n]
    if kind == "bcast":
        return [((x + root) % n, 1, 1) for x in down]
    if kind == "scatter":
        return [((x + root) % n, len(below(x)), 1) for x in down]
    if kind == "reduce":
        return [((parent(v) + root) % n, 1, 1)] if v else []
    if kind == "gather":
        return [((parent(v) + root) % n, len(below(v)), 1)] if v else []
    if kind == "gatherv":
        return [(root, 1, 1)] if v else []
    if kind == "allreduce":
        return model("reduce", rank, n, 0) + model("bcast", rank, n, 0)
    if kind == "allgather":
        return [((rank + 1) % n, n - 1, n - 1)]
    if kind in ("scan", "exscan"):
        return [(rank + 1, 1, 1)] if rank + 1 < n else []
    return [(x, 1, 1) for x in range(n) if x != rank]


def sizes(kind, rank, n, root, unit, place):
    """Bytes that Score-P says a rank sends and receives; place: in place."""
    m = n - place
    if kind in ("gather", "reduce"):
        return (0 if place and rank == root else unit, m * unit if rank == root else 0)
    if kind in ("scatter", "bcast"):
        m = n if kind == "bcast" else m
        return (m * unit if rank == root else 0, 0 if place and rank == root and kind == "scatter" else unit)
    if kind == "scan":
        return ((n - rank - place) * unit, (rank + 1 - place) * unit)
    if kind == "exscan":
        return ((n - rank - 1) * unit, rank * unit)
    return (0, 0) if kind == "barrier" else (m * unit, m * unit)


def add(to, key, *values):
    to[key] = tuple(a + b for a, b in zip(to.get(key, (0,) * len(values)), values))


UNIFORM = [k for k in OPS if k not in ("gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatter")]
draw, wrong = random.Random(2), []
for case in range(40):
    ranks = draw.randint(1, 9)
    comms = {"world": list(range(ranks))}
    script, messages, called = "ranks %d\n" % ranks, {}, {}
    for i in range(draw.randint(0, 3)):
        comms["c%d" % i] = draw.sample(range(ranks), draw.randint(1, ranks))
        script += "comm c%d %s\n" % (i, " ".join(map(str, comms["c%d" % i])))
    for _ in range(draw.randint(1, 30)):
        name = draw.choice(list(comms))
        members = comms[name]
        n, unit = len(members), draw.randint(1, 50)
        if draw.random() < 0.4:
            a, b, size = draw.randrange(n), draw.randrange(n), draw.randint(0, 1000)
            script += "%s %d %s %d %d\n" % (draw.choice(["send", "isend", "thread"]), members[a], name, b, size)
            add(messages, (members[a], members[b]), size, 1)
            continue
        kind, root = draw.choice(UNIFORM + ["gatherv", "scatterv"]), draw.randrange(n)
        # what cannot be told from a call that is not in place is left out
        place = draw.random() < 0.3 and n > 1 and ((n - 1) * unit) % n != 0 and not (kind == "scan" and n % 2)
        units = [unit] * n if kind not in ("gatherv", "scatterv") else [draw.randint(0, 50) for _ in range(n)]
        for rank in range(n):
            if kind == "gatherv":
                sent, received = units[rank], sum(units) if rank == root else 0
            elif kind == "scatterv":
                sent, received = sum(units) if rank == root else 0, units[rank]
            else:
                sent, received = sizes(kind, rank, n, root, unit, place)
            script += "%s %d %d %s %d %d %d\n" % (draw.choice(["coll", "icoll"]), members[rank], OPS.index(kind), name, root, sent, received)
            handed = {"barrier": 0, "bcast": unit * (rank == root), "scatter": n * unit * (rank == root), "alltoall": n * unit,
                      "reduce_scatter_block": n * unit, "scatterv": sent, "gatherv": units[rank]}.get(kind, unit)
            add(called, (kind, n), 0 if kind == "exscan" and n == 1 else handed, 1)
            if kind == "scatterv":
                if rank != root and units[rank]:
                    add(messages, (members[root], members[rank]), units[rank], 1)
                continue
            if kind == "gatherv" and not units[rank]:
                continue
            for peer, blocks, count in model(kind, rank, n, root):
                add(messages, (members[rank], members[peer]), blocks * (units[rank] if kind == "gatherv" else unit), count)
    r = zipmap("convert", traced(draw.choice(["", "local\n"]) + script), "graph")
    found, counted = edges("graph"), calls("graph")
    if r.returncode or found != messages or counted != called:
        wrong.append((case, r.stderr, [x for x in (set(found.items()) ^ set(messages.items()))], counted, called, script))
check(not wrong, "random traces: messages and collectives as the model has them", wrong[:1])

# kinds of which a rank knows only sums: what it sends is spread evenly, and no byte is lost but for the division
script = "ranks 3\n" + "".join("coll %d %d world %d %d %d\n" % (rank, OPS.index(kind), NONE, sent, received)
                               for kind, sent, received in [("alltoallv", 300, 300), ("alltoallw", 30, 30), ("reduce_scatter", 3, 3),
                                                            ("allgatherv", 0, 900)] for rank in range(3))
r = zipmap("convert", traced(script), "graph")
check(r.returncode == 0 and edges("graph") == {(a, b): (111 + 600 * (b == (a + 1) % 3), 3 + 2 * (b == (a + 1) % 3))
                                              for a in range(3) for b in range(3) if a != b},
      "collectives of which only sums are known", edges("graph"))

# --- what is refused
def refused(path, reason, what):
    r = zipmap("convert", path, "none")
    check(r.returncode == 1 and r.stderr.startswith("zipmap convert: " + reason) and r.stderr.count("\n") == 1 and not os.path.exists("none"),
          "refused: " + what, r.stderr)


refused("nothing.otf2", "nothing.otf2: No such file or directory", "no file")
refused(write("text.otf2", "hello\n"), "text.otf2: no trace of OTF2: ", "no trace")
for script, reason, what in [("send 0 world 2 5\n", "t/t.otf2: rank 0 names rank 2 of a communicator of 2", "a rank that is not there"),
                             ("coll 0 1 world 2 0 5\n", "t/t.otf2: a collective with root 2 on a communicator of 2", "a root that is not there"),
                             ("comm c 1\ncoll 0 0 c 0 0 0\n", "t/t.otf2: a collective of rank 0 on a communicator without it", "a collective of another"),
                             ("comm c 7\n", "t/t.otf2: communicator 2 has members that are no ranks", "a member that is no rank"),
                             ("send 0 world 1 18446744073709551615\nsend 0 world 1 1\n", "t/t.otf2: a sum of bytes", "too many bytes")]:
    refused(traced("ranks 2\n" + script), reason, what)
refused(traced("ranks 0\n"), "t/t.otf2: no ranks of MPI in this trace", "a trace without MPI")
traced("ranks 2\nsend 0 world 1 5\nsend 1 world 0 5\n")
os.unlink("t/t/13.evt")
refused("t/t.otf2", "t/t.otf2: ", "a file of events is missing")
traced("ranks 2\nsend 0 world 1 5\n")
with open("t/t.def", "r+b") as f:
    f.truncate(os.path.getsize("t/t.def") // 2)
refused("t/t.otf2", "t/t.otf2: ", "definitions that are cut off")

finish()
