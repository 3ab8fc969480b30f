#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap time: programs whose times are worked out by hand, and programs that are refused. TAP."""
import csv
import os
import shutil
import subprocess

from map_fixture import check, finish, hosts, write, zipmap

# two routers with two nodes each, and 1,000 bytes a second between them, each way
PAIR = write("pair", "router:a node:2\nrouter:b node:2\nlink:a to:b bandwidth:1000\n")
# a line of three: 1,000 bytes a second, then 2,000
LINE = write("line", "router:a node:2\nrouter:b node:2\nrouter:c node:2\nlink:a to:b bandwidth:1000\nlink:b to:c bandwidth:2000\n")
# two ways from a to b: of 1,000 bytes a second, and of 3,000
WAYS = write("ways", "router:a node:1\nrouter:b node:1\nrouter:m\nrouter:n\nlink:a to:m bandwidth:1000\nlink:m to:b bandwidth:1000\n"
             "link:a to:n bandwidth:3000\nlink:n to:b bandwidth:3000\n")
FREE = ["--latency", "0", "--overhead", "0", "--local-bandwidth", "0", "--eager", "1G", "--tolerance", "0"]


def timed(network, program, *options):
    """phase -> its row of the CSV, and what is printed"""
    write("program", program)
    r = zipmap("time", "-n", network if ":" in network else "graph file:" + network, *FREE, *options, "--csv", "times.csv", "program")
    if r.returncode:
        return {}, r.stderr
    return {row["phase"]: row for row in csv.DictReader(open("times.csv"))}, r.stdout


def takes(name, network, program, seconds, *options, decides=None, phase="1", **parts):
    rows, text = timed(network, program, *options)
    row = rows.get(phase, {})
    ok = bool(row) and abs(float(row["seconds"]) - seconds) <= 1e-6 * (1 + seconds) and (decides is None or row["decides"] == decides)
    for part, value in parts.items():
        ok = ok and abs(float(row[part]) - value) <= 1e-6
    check(ok, name, (seconds, parts, row, text))


# --- links that messages share
takes("a message alone has its link", PAIR, "ranks 4\n0 send 2 1000\n2 recv 0\n", 1, decides="link a>b")
takes("two messages share a link", PAIR, "ranks 4\n0 send 2 1000\n1 send 3 1000\n2 recv 0\n3 recv 1\n", 2, decides="link a>b", links=2)
takes("the shorter one ends, and the other has all of it", PAIR, "ranks 4\n0 send 2 1000\n1 send 3 500\n2 recv 0\n3 recv 1\n", 1.5)
takes("... with a tolerance, within which messages end together", PAIR, "ranks 4\n0 send 2 1000\n1 send 3 990\n2 recv 0\n3 recv 1\n", 1.99,
      "--tolerance", "0.01")
takes("messages between the same ranks move one after the other", PAIR,
      "ranks 4\n0 isend 2 1000 request:1\n0 isend 2 1000 tag:1 request:2\n0 wait 1 2\n2 recv 0\n2 compute 5\n2 recv 0 tag:1\n", 6, links=1)
takes("the two directions do not share", PAIR, "ranks 4\n0 send 2 1000\n3 send 1 1000\n2 recv 0\n1 recv 3\n", 1)
takes("one that begins later shares from then on", PAIR,  # 500 B alone, then both at 500 B/s: 500 in 1 s, and 500 more alone
      "ranks 4\n0 send 2 1000\n1 compute 0.5\n1 send 3 1000\n2 recv 0\n3 recv 1\n", 2)
# a>c and a>b get 500 each, b>c 1,500. a>c ends at 1 s; a>b has 500 left at 1,000 B/s; b>c 1,500 left at 2,000 B/s
THREE = "ranks 6\n0 send 4 500\n1 send 2 1000\n3 send 5 3000\n4 recv 0\n2 recv 1\n5 recv 3\n"
takes("three messages on a line are max-min fair", LINE, THREE, 1.75, decides="link b>c")
takes("... and without the third, the first link decides", LINE, THREE.replace("3000", "1500"), 1.5, decides="link a>b")
takes("two nodes of one router need no link", PAIR, "ranks 4\n0 send 1 1000\n1 recv 0\n", 0.25, "--node-bandwidth", "4000",
      decides="node 0 out", ends=0.25, links=0)
takes("ranks of one node need no link", "crossbar node:1 core:2", "ranks 2\n0 send 1 1000\n1 recv 0\n", 0.5, "--local-bandwidth", "2000",
      decides="messages inside node 0")
takes("a node's end is shared, too", PAIR, "ranks 4\n0 isend 2 300 request:1\n0 isend 3 300 request:2\n0 wait 1 2\n2 recv 0\n3 recv 0\n",
      1.2, "--node-bandwidth", "500", decides="node 0 out", ends=1.2)
takes("... and where a message comes in", PAIR, "ranks 4\n0 send 2 300\n1 send 2 300\n2 recv 0\n2 recv 1\n", 1.2, "--node-bandwidth", "500",
      decides="node 2 in")

# --- paths
takes("static routing sends half over each path", WAYS, "ranks 2\n0 send 1 4000\n1 recv 0\n", 2, "-r", "SD", decides="link a>m")
takes("adaptive routing sends what each path carries", WAYS, "ranks 2\n0 send 1 4000\n1 recv 0\n", 1, "-r", "AD")
takes("deterministic routing takes one path", WAYS, "ranks 2\n0 send 1 3000\n1 recv 0\n", 1, "-r", "DET", decides="link a>n")

# --- dependency
takes("a chain: what comes before, and the ends", PAIR,
      "ranks 4\n0 send 2 1000\n2 recv 0\n2 compute 0.5\n2 send 1 1000\n1 recv 2\n",
      0.01 + 1 + 0.1 + 0.01 + 0.5 + 0.01 + 1 + 0.1 + 0.01, "--overhead", "0.01", "--latency", "0.1",
      compute=0.5, ends=0.04, latency=0.2, links=2)
takes("a sender that is late", PAIR, "ranks 4\n0 compute 3\n0 send 2 1000\n2 recv 0\n", 4, decides="rank 0 computes", compute=3, links=1)
takes("a receiver that is late, of a short message", PAIR, "ranks 4\n0 send 2 1000\n2 compute 3\n2 recv 0\n", 3, decides="rank 2 computes", links=0)
takes("... and of a long one, which waits for it", PAIR, "ranks 4\n0 send 2 1000\n2 compute 3\n2 recv 0\n", 3 + 0.1 + 1 + 0.1, "--eager", "999",
      "--latency", "0.1", decides="rank 2 computes", links=1)
takes("a long one, to a receiver that waits", PAIR, "ranks 4\n0 send 2 1000\n2 recv 0\n", 1.3, "--eager", "999", "--latency", "0.1", latency=0.3)
takes("the time of each byte at the ends", PAIR, "ranks 4\n0 send 2 100\n2 recv 0\n", 0.1 + 2 * (0.01 + 100 * 0.001), "--overhead", "0.01",
      "--per-byte", "0.001", ends=0.22)
takes("a time for each link", LINE, "ranks 6\n0 send 4 1000\n4 recv 0\n", 1.5, "--hop", "0.25", latency=0.5)
HOP = ["--hop", "1"]
takes("... which a message of 0 bytes takes, too", "torus:4x4", "ranks 16\n0 send 10 0\n10 recv 0\n", 4, *HOP, latency=4)
takes("... and the request for a long message, and the answer", "torus:4x4", "ranks 16\n0 send 10 1\n10 recv 0\n", 12, *HOP, "--eager", "0", latency=12)
takes("... to a receiver that is late, too", "torus:4x4", "ranks 16\n0 send 10 1\n10 compute 9\n10 recv 0\n", 17, *HOP, "--eager", "0", latency=8)
takes("... and the request of a GET", "torus:4x4", "ranks 16\n0 get 10 0\n", 8, *HOP, latency=8)
takes("... and none between two nodes of one router", PAIR, "ranks 4\n0 send 1 0\n1 recv 0\n", 0.5, *HOP, "--latency", "0.5", latency=0.5)
takes("computing overlaps with a message", PAIR,
      "ranks 4\n0 isend 2 1000 request:7\n0 compute 0.4\n0 wait 7\n2 irecv 0 request:1\n2 compute 1.5\n2 wait 1\n", 1.5, decides="rank 2 computes")
takes("times of computing by a factor", PAIR, "ranks 4\n0 compute 3\n0 send 2 1000\n2 recv 0\n", 2.5, "--compute", "0.5")
takes("tags say which message a receive gets", PAIR,
      "ranks 4\n0 isend 2 1000 tag:1 request:1\n0 compute 3\n0 isend 2 500 tag:2 request:2\n0 wait 1 2\n2 recv 0 tag:2\n2 recv 0 tag:1\n", 3.5)
takes("one-sided: neither the target nor the source of the bytes does anything", PAIR, "ranks 4\n0 put 2 1000\n0 get 2 1000\n", 2.3,
      "--latency", "0.1", latency=0.3)

# --- many messages: what is tolerated is the error of the program's time
full, text = timed("dragonfly group:4 chassis:2 router:4", "ranks 32\nall alltoall 100K\n", "-r", "AH", "--overhead", "1e-6")
fast, text = timed("dragonfly group:4 chassis:2 router:4", "ranks 32\nall alltoall 100K\n", "-r", "AH", "--overhead", "1e-6", "--tolerance", "0.01")
full, fast = (float(rows["1"]["seconds"]) if rows else 0 for rows in (full, fast))
check(full > 0 and abs(fast / full - 1) < 0.02, "rates that are found for many messages together", (full, fast))

# --- phases: the critical path adds up; ranks are in them as long as they are
rows, text = timed(PAIR, "ranks 4\nall phase halo\n0 send 2 1000\n2 recv 0\nall phase 7\n2 compute 0.5\n2 send 0 250\n0 recv 2\n0-3 phase halo\n0 compute 1\n")
check(sorted(rows) == ["7", "halo"] and float(rows["halo"]["seconds"]) == 2 and abs(float(rows["7"]["seconds"]) - 0.75) < 1e-9 and
      rows["7"]["decides"] == "rank 2 computes" and rows["halo"]["rank"] == "0" and abs(float(rows["halo"]["rank_longest"]) - 1) < 1e-9,
      "phases", (rows, text))
check("\nprogram" in text and "2.75 s" in text and "link a>b" in text, "... and the program, with what decides", text)

# a name in quotes, with a comma and an escape sequence
rows, text = timed(PAIR, "ranks 2\n0 phase a,\"b\"\x1b[1m\n0 compute 1\n")
check('a,"b"\x1b[1m' in rows and 'a,"b"?[1m ' in text and "\x1b" not in text, "the name of a phase has any characters", (rows, text))

# --- requests: many are open, and end in another order
ORDER = [7 * i % 1000 for i in range(1000)]
takes("a thousand requests", PAIR, "ranks 4\n" + "".join("0 isend 2 1 request:%d\n" % (i << 10) for i in range(1000)) +
      "".join("0 wait %d\n0 isend 2 1 request:%d\n" % (i << 10, i) for i in ORDER) + "".join("0 wait %d\n" % i for i in range(1000)) +
      2000 * "2 recv 0\n", 2)

# --- collectives: latencies of 1 s count the steps
CROSS = "crossbar node:8"
STEP = ["--latency", "1"]
for line, seconds in [("barrier", 3), ("bcast 0", 3), ("bcast 0 root:5", 3), ("reduce 0 root:2", 3), ("allreduce 0", 6), ("gather 0", 3), ("scatter 0", 3),
                      ("allgather 0", 7), ("alltoall 0", 1), ("reduce_scatter 0", 1), ("scan 0", 7)]:
    takes("steps of 8 ranks: " + line, CROSS, "ranks 8\nall %s\n" % line, seconds, *STEP)
takes("a collective of some ranks", CROSS, "ranks 8\ncomm some 1,3-4\n1,3,4 scan 0 comm:some\n", 2, *STEP)
# bytes: ends of nodes carry 1,000 a second
takes("bytes of a ring", CROSS, "ranks 8\nall allgather 100\n", 0.7, "--node-bandwidth", "1000")
takes("bytes of a direct exchange", CROSS, "ranks 8\nall alltoall 100\n", 0.7, "--node-bandwidth", "1000")
takes("bytes of a tree", CROSS, "ranks 8\nall bcast 100\n", 0.3, "--node-bandwidth", "1000", "--eager", "0")

# --- placements and maps
write("map", "0 0\n1 2\n2 1\n3 3\n")
takes("a map", PAIR, "ranks 4\n0 send 1 1000\n1 recv 0\n", 1, "-m", "map")
hosts([2], [2])
write("map", "0-1 a0\n2-3 b0\n")
takes("a map of hosts, over a zipper", "part:a crossbar node:2 core:2; part:b crossbar node:2 core:2; zipper:zip a:1 b:1 port:1000",
      "ranks 4\n0 send 2 1000\n1 send 3 1000\n2 recv 0\n3 recv 1\n", 2, "-f", "hosts", "-m", "map", decides="link a>zip")
rows, text = timed(PAIR, "ranks 5\n0 send 1 1000\n1 recv 0\n")
check("5 ranks do not fit on 4 nodes of 1 cores" in text, "too many ranks", text)

# --- refused
for program, reason in [("ranks 2\n0 recv 1\n", "program:2: rank 0 waits for ever for a message from rank 1"),
                        ("ranks 2\n\n0 recv 1\n0 send 1 5\n1 recv 0\n1 send 0 5\n", "program:3: rank 0 waits for ever for a message from rank 1, and others"),
                        ("ranks 2\n0 send 1 2000000000\n", "program:2: rank 0 waits for ever for a receive of its message by rank 1, as the message is longer than --eager\n"),
                        # rank 0 and rank 1 wait for others; rank 2 sends a message to a rank that sends one, too
                        ("ranks 4\n0 recv 1\n1 recv 2\n2 send 3 2000000000\n2 send 1 5\n3 send 2 5\n3 recv 2 tag:1\n",
                         "program:4: rank 2 waits for ever for a receive of its message by rank 3, as the message is longer than --eager, and others"),
                        ("ranks 4\n0 recv 1\n1 recv 2\n2 recv 3\n", "program:4: rank 2 waits for ever for a message from rank 3, and others"),
                        ("0 send 1 5\n", "program:1: \"ranks N\" must be the first line"),
                        ("", "program: no program: it has no \"ranks N\""),
                        ("ranks 0\n", "program:1: 0 ranks are not 1 to"),
                        ("ranks 2\nranks 2\n", "program:2: \"ranks\" stands there twice"),
                        ("ranks 2\n0 sendd 1 5\n", "program:2: \"sendd\" is no operation"),
                        ("ranks 2\n0\n", "program:2: \"\" is no operation"),
                        ("ranks 2\n0 send 2 5\n", "program:2: the other rank: \"2\" is not a number of at most 1"),
                        ("ranks 2\n0 send 1\n", "program:2: bytes is missing"),
                        ("ranks 2\n0 send 1 x\n", "program:2: bytes: \"x\" is not a number"),
                        ("ranks 2\n2 send 1 5\n", "program:2: \"2\" is no list of ranks below 2"),
                        ("ranks 2\n0 send 1 5 tg:1\n", "program:2: there is no key \"tg\""),
                        ("ranks 2\n0 send 1 5 6\n", "program:2: \"6\" is not KEY:VALUE"),
                        ("ranks 2\n0 compute -1\n", "program:2: compute: \"-1\" is no time in seconds"),
                        ("ranks 2\n0 isend 1 5\n", "program:2: "),
                        ("ranks 2\n0 isend 1 5 request:1\n0 isend 1 5 request:1\n", "program:3: request 1 of rank 0 has not been waited for"),
                        ("ranks 2\n0 wait 3\n", "program:2: rank 0 has no request 3"),
                        ("ranks 2\n0 wait\n", "program:2: wait needs the number of a request"),
                        ("ranks 2\n0 bcast 5 comm:x\n", "program:2: there is no communicator \"x\""),
                        ("ranks 2\ncomm x 1\n0 bcast 5 comm:x\n", "program:3: rank 0 is not in communicator \"x\""),
                        ("ranks 2\nall bcast 5 root:2\n", "program:2: root 2 is not in a communicator of 2"),
                        ("ranks 2\ncomm x 1\ncomm x 0\n", "program:3: a second communicator \"x\""),
                        ("ranks 2\ncomm x 5\n", "program:2: \"5\" is no list of ranks below 2"),
                        ("ranks 2\n0 phase\n", "program:2: phase needs a name"),
                        # keys
                        ("ranks 2 tag:3\n", "program:1: ranks takes no tag:N; leave it out"),
                        ("ranks 2\n0 compute 1 root:0\n", "program:2: compute takes no root:N; leave it out"),
                        ("ranks 2\n0 phase x tag:1\n", "program:2: phase takes no tag:N; leave it out"),
                        ("ranks 2\n0 put 1 5 tag:1\n", "program:2: put takes no tag:N; leave it out"),
                        ("ranks 2\n0 send 1 5 root:1\n", "program:2: send takes no root:N; leave it out"),
                        ("ranks 2\n0 recv 1 request:1\n", "program:2: recv takes no request:N; leave it out"),
                        ("ranks 2\nall bcast 5 tag:1\n", "program:2: bcast takes no tag:N; leave it out"),
                        ("ranks 2\nall barrier root:1\n", "program:2: barrier takes no root:N; leave it out"),
                        ("ranks 2\nall scan 5 root:1\n", "program:2: scan takes no root:N; leave it out"),
                        ("ranks 2\n0 send 1 5 tag:1 tag:1\n", "program:2: tag:N stands there twice; leave one out"),
                        ("ranks 2\n0 isend 1 5 tag:1\n", "program:2: isend needs request:N"),
                        # communicators
                        ("ranks 4\ncomm c 0,0,1\n", "program:2: communicator \"c\" has rank 0 twice; name it once"),
                        ("ranks 2\ncomm c 0-1 1\n", "program:2: a communicator has more ranks than the program; name each once"),
                        ("ranks 3\ncomm c 1-2\n0 send 1 5 comm:c\n", "program:3: rank 0 is not in communicator \"c\""),
                        ("ranks 3\ncomm c 1-2\n1 recv 0 comm:c\n", "program:3: rank 0 is not in communicator \"c\""),
                        # limits
                        ("ranks 2\n0 wait" + 65 * " 1" + "\n", "program:2: wait takes at most 64 requests a line; begin another line"),
                        ("ranks 2\n0 compute 1e308\n", "program:2: rank 0 computes for more than 1e+12 s in all; give shorter times"),
                        ("ranks 2\n0 compute 9e11\n0 compute 9e11\n", "program:3: rank 0 computes for more than 1e+12 s in all; give shorter times"),
                        ("ranks 2\n0 send 1 5000000000000000\n", "program:2: bytes: \"5000000000000000\" is not a number of at most 4503599627370496"),
                        ("ranks 4\nall gather 4503599627370496\n", "program:2: a message has more than 4503599627370496 bytes; give fewer bytes"),
                        ("ranks 4\n" + 4097 * "0 put 1 4503599627370496\n",
                         "program:4097: the messages of the program have more than 18446744073709551615 bytes; give fewer bytes"),
                        ("ranks 5\nnonsense\n", "program:1: 5 ranks do not fit on 4 nodes of 1 cores")]:
    rows, text = timed(PAIR, program)
    check(not rows and text.startswith("zipmap time: " + reason) and text.count("\n") == 1, "refused: " + repr(program[:80]), text)
for line in "gather 4503599627370496", "allgather 1", "alltoall 1":
    rows, text = timed("crossbar node:16384", "ranks 16384\nall %s\n" % line)
    check(not rows and text.startswith("zipmap time: program:2: ") and text.count("\n") == 1, "refused: 16,384 ranks, " + line, text)
r = zipmap("time", "-n", "crossbar", "nothing")
check(r.returncode == 1 and r.stderr == "zipmap time: nothing: No such file or directory\n", "no file", r.stderr)
r = zipmap("time", "program")
check(r.returncode == 2 and "no network" in r.stderr, "no network", r.stderr)
for program, warning in ("ranks 2\n0 send 1 5\n", "1 message is never received"), ("ranks 2\n0 send 1 5\n0 send 1 5\n", "2 messages are never received"):
    write("program", program)
    r = zipmap("time", "-n", "graph file:" + PAIR, "program")
    check(r.returncode == 0 and r.stderr == "zipmap time: warning: %s\n" % warning and "received" not in r.stdout, warning, (r.stdout, r.stderr))
write("program", "ranks 2\n0 send 1 5\n1 recv 0\n")
r = zipmap("time", "-n", "crossbar node:2", "-r", "AH", "--paths", "1", "program")
check(r.returncode == 0 and r.stderr == "", "one path, by an option alone", r.stderr)
r = zipmap("time", "-n", "crossbar node:2", "-r", "AH", "--paths", "1", "--direct-paths", "2", "program")
check(r.returncode == 2 and "--direct-paths 2 is more than --paths 1" in r.stderr, "... and more direct ones than paths", r.stderr)
r = zipmap("time", "-n", "crossbar node:2", "-f", "hosts", "program")
check(r.returncode == 2 and "--hosts needs a map: give one (-m)" in r.stderr, "hosts without a map", r.stderr)

# --- a trace: blocking and nonblocking calls, MPI_Sendrecv, collectives, computing, a phase. 1,000 ticks a second
WRITER = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "test", "write_trace")


def traced(script):
    shutil.rmtree("t", ignore_errors=True)
    subprocess.run([WRITER, "t", "t"], input=script, text=True, check=True)
    return "t/t.otf2"


def trace_takes(name, script, seconds, *options, phase="1"):
    r = zipmap("time", "-n", "graph file:" + PAIR, *FREE, *options, "--csv", "times.csv", traced(script))
    rows = {row["phase"]: row for row in csv.DictReader(open("times.csv"))} if r.returncode == 0 else {}
    check(phase in rows and abs(float(rows[phase]["seconds"]) - seconds) < 1e-6, name, (rows, r.stdout, r.stderr))


if os.access(WRITER, os.X_OK):
    trace_takes("a trace: a message", "ranks 4\nsend 0 world 2 1000\nrecv 2 world 0 1000\n", 1)
    trace_takes("... nonblocking, with receives whose sender is known later",
                "ranks 4\nisend 0 world 2 1000 5\nisend 1 world 2 500 6\nirecv 2 1\nirecv 2 2\nreceived 2 world 0 1000 1\nreceived 2 world 1 500 2\n"
                "sent 0 5\nsent 1 6\n", 1.5)
    both = "".join("enter %d 100 MPI_Sendrecv\nsend %d world %d 1000\nrecv %d world %d 1000\nleave %d 200 MPI_Sendrecv\n" % (a, a, b, a, b, a)
                   for a, b in ((0, 2), (2, 0)))
    trace_takes("... MPI_Sendrecv sends and receives at the same time", "ranks 4\n" + both, 1, "--eager", "0")
    trace_takes("... computing between calls counts, calls do not",
                "ranks 4\nenter 0 100 MPI_Init\nleave 0 200 MPI_Init\nenter 0 210 MPI_Comm_rank\nleave 0 220 MPI_Comm_rank\nenter 0 500 MPI_Send\n"
                "send 0 world 2 1000\nleave 0 900 MPI_Send\nenter 0 1000 MPI_Send\nsend 0 world 2 1000\nleave 0 1100 MPI_Send\n"
                "enter 2 9000 MPI_Recv\nrecv 2 world 0 1000\nrecv 2 world 0 1000\nleave 2 9500 MPI_Recv\n", 0.3 + 0.1 + 1.9)
    trace_takes("... phases", "ranks 4\nphase solve\nenter 0 100 solve\nsend 0 world 2 1000\nleave 0 200 solve\nenter 2 100 solve\nrecv 2 world 0 1000\n"
                "leave 2 200 solve\n", 1, phase="solve")
    coll = "".join("coll %d 1 world 2 0 0\n" % r for r in range(4))
    trace_takes("... a broadcast, step by step", "ranks 4\n" + coll, 2, "--latency", "1")
    r = zipmap("time", "-n", "crossbar node:4", traced("ranks 2\nsend 0 world 1 10\nthread 0 world 1 10\n"))
    check(r.returncode == 1 and "two threads of rank 0 call MPI; their order is not known" in r.stderr, "refused: two threads of a rank", r.stderr)
    r = zipmap("time", "-n", "crossbar node:4", traced("ranks 2\nrecv 0 world 1 10\n"))
    check(r.returncode == 1 and r.stderr == "zipmap time: t/t.otf2: rank 0 waits for ever for a message from rank 1\n", "refused: a message is missing", r.stderr)
    # nonblocking collectives: operation 0 is a barrier, 1 a broadcast, 8 an all-to-all, 17 creates a communicator
    script = "ranks 4\n" + "".join("ibegin %d 1\n" % k for k in range(4)) + "send 0 world 2 1000\n"
    script += "".join("icoll %d 0 world 0 0 0 1\n" % k for k in range(4)) + "recv 2 world 0 1000\n"
    trace_takes("... a nonblocking barrier that others pass while a rank sends", script, 1, "--eager", "0")
    script = "ranks 4\ncomm p 0 2\nibegin 0 1\nibegin 0 2\nibegin 2 1\nibegin 2 2\n"
    script += "icoll 0 1 p 0 2000 1000 2\nicoll 0 1 p 0 1000 500 1\nicoll 2 1 p 0 0 500 1\nsend 2 world 0 1000\nicoll 2 1 p 0 0 1000 2\n"
    trace_takes("... two that two ranks complete in different order", script + "recv 0 world 2 1000\n", 1.5)  # 500 B arrive first
    first = "coll 0 1 p 0 1000 500\ncoll 2 1 p 0 0 500\n"
    script = "ranks 4\ncomm p 0 2\n" + first + "ibegin 0 1\nibegin 2 1\n" + first + "icoll 0 1 p 1 0 1000 1\nicoll 2 1 p 1 2000 1000 1\n"
    trace_takes("... and a blocking one in between", script, 1.5)
    slow = "".join("enter %d 0 MPI_Init\nleave %d 0 MPI_Init\nibegin %d 1\nenter %d 3000 MPI_Wait\nicoll %d 8 world 0 2000 2000 1\n"
                   "leave %d 3000 MPI_Wait\n" % ((k,) * 6) for k in range(4))
    trace_takes("... an all-to-all behind computing", "ranks 4\n" + slow, 3)
    coll = "".join("ibegin %d 1\nicoll %d 1 world 2 0 0 1\n" % (k, k) for k in range(4))
    trace_takes("... where nothing is in between, step by step", "ranks 4\n" + coll, 2, "--latency", "1")
    # synchronisation
    late = "enter 0 0 MPI_Init\nleave 0 0 MPI_Init\nenter 0 3000 MPI_Win_fence\n%sleave 0 3000 MPI_Win_fence\n"
    trace_takes("... a fence waits for all ranks of the window", "ranks 4\ncomm p 0 2\nwin w p\n" + late % "fence 0 w\n" + "fence 2 w\nput 2 w 0 1000\n", 4)
    trace_takes("... so does a communicator that is made",
                "ranks 4\ncomm p 0 2\n" + late % "coll 0 17 p 0 0 0\n" + "coll 2 17 p 0 0 0\nsend 2 world 0 1000\nrecv 0 world 2 1000\n", 4)
    # threads: the other thread of a rank is read behind the first one
    trace_takes("... phases of a thread that does not call MPI",
                "ranks 4\nphase work\nsend 0 world 2 1000\ntenter 0 1 work\ntleave 0 2000 work\nrecv 2 world 0 1000\n", 1)
    trace_takes("... and of one that does, behind one that does not",
                "ranks 4\nphase work\nenter 0 1 work\nleave 0 2 work\nthread 0 world 2 1000\nrecv 2 world 0 1000\n", 1)
    for line in ("irecv 0 1", "coll 0 0 world 0 0 0", "ibegin 0 1"):
        r = zipmap("time", "-n", "crossbar node:4", traced("ranks 2\nthread 1 world 0 10\n%s\n" % line.replace("0", "1", 1)))
        check(r.returncode == 1 and "two threads of rank 1 call MPI" in r.stderr, "refused: two threads, one with " + line, r.stderr)
    r = zipmap("time", "-n", "crossbar node:4", traced("ranks 2\nglobal\nirecv 0 1\nreceived 0 world 4294967295 10 1\n"))
    check(r.returncode == 1 and r.stderr == "zipmap time: t/t.otf2: rank 0 names rank 4294967295 of 2\n", "refused: a rank that is not there", r.stderr)
    # polling and cancelled requests
    poll = "ranks 4\nenter 2 0 MPI_Init\nleave 2 0 MPI_Init\nirecv 2 1\n"
    poll += "".join("enter 2 %d MPI_Test\nleave 2 %d MPI_Test\n" % (k, k) for k in (500, 1500, 2500))
    poll += "enter 2 3500 MPI_Test\nreceived 2 world 0 1000 1\nleave 2 3500 MPI_Test\nenter 2 3700 MPI_Test\nleave 2 3700 MPI_Test\n"
    trace_takes("... a loop that polls does not compute", poll + "send 0 world 2 1000\n", 1 + 0.2)
    trace_takes("... a request that is cancelled", "ranks 4\nirecv 0 1\ncancelled 0 1\nirecv 0 1\nsend 2 world 0 1000\nreceived 0 world 2 1000 1\n", 1)
finish()
