#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Placement beside jobs that already run: busy nodes, whole or in part, of zipmap map and zipmap model. Where ranks are is
counted here; what links carry is added up for random machines and jobs. TAP."""
import csv
import json
import random

from map_fixture import check, finish, graph, mapped, write, zipmap


def sizes(where):
    """How many ranks each node has."""
    found = {}
    for node, _, _ in where.values():
        found[node] = found.get(node, 0) + 1
    return found


# --- zipmap map: three nodes of 4 slots in one cluster, and one of 4 in another
HOSTS = "#ZIP cluster a\n" + "".join("a%d:4\n" % i for i in range(3)) + "#ZIP cluster b\nb0.site.example:4\n" \
    "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n"
write("hosts", HOSTS)
graph(8, [(i, j, 10) for i in range(8) for j in range(i)])
for args, wanted in [([], {"a0": 4, "a1": 4}), (["--busy", "a0"], {"a1": 4, "a2": 4}), (["--busy", "A[0-0],c[1-9]"], {"a1": 4, "a2": 4}),
                     (["--busy", "a[0,2]"], {"a1": 4, "b0.site.example": 4})]:
    where, _, r = mapped("-S", "block", *args)
    check(where and sizes(where) == wanted, "zipmap map %s: the ranks are on the rest" % " ".join(args), (where, r.stderr))
    said = [line for line in r.stdout.split("\n") if line.startswith("other jobs")]
    busy = 4 - len(wanted) if len(args) and "," in args[1] and "c" not in args[1] else len(args) // 2
    check(said == (["other jobs keep %d nodes busy, and 0 in part; %d slots are left" % (busy, 16 - 4 * busy)] if args else []),
          "... and the output says so", r.stdout)
for text, wanted in [("a1 1\nb0 2/2/0/4\n", {"a0": 4, "a1": 3, "a2": 1}), ("# none\n\na[0-2] 2 # half\n", {"a0": 2, "a1": 2, "a2": 2, "b0.site.example": 2}),
                     ("a0 0/4/0/4\na1\na2 3/0/1/4\n", {"a0": 4, "b0.site.example": 4}), ("a[1-2] 3\na1 3\n", {"a0": 4, "a1": 1, "a2": 1, "b0.site.example": 2}),
                     ("a0 99\na1 4\n", {"a2": 4, "b0.site.example": 4})]:
    write("busy", text)
    where, _, r = mapped("-S", "block", "--busy-file", "busy")
    check(where and sizes(where) == wanted, "zipmap map --busy-file: %r" % text, (where, r.stderr))
write("busy", "a0 2\na1 3\n")
where, _, r = mapped("--busy", "b0", "--busy-file", "busy")
check(where is None and "8 ranks, but only 7 slots" in r.stderr, "too few cores are left", r.stderr)
graph(7, [(i, j, 10) for i in range(7) for j in range(i)])
where, _, r = mapped("--busy", "b0", "--busy-file", "busy")
check(where and sizes(where) == {"a0": 2, "a1": 1, "a2": 4}, "a list and a file together", (where, r.stderr))
for strategy in ("auto", "spread", "fastest", "edge-cut"):
    where, _, r = mapped("--busy-file", "busy", "-S", strategy)
    found = sizes(where) if where else {}
    check(where and found.get("a0", 0) <= 2 and found.get("a1", 0) <= 1, "no more ranks than free slots: " + strategy, (found, r.stderr))

# cores: a node keeps as many slots as it has free cores, and its ranks are not bound, as nobody knows which cores are free
write("hosts", HOSTS + "#ZIP node a0,a1 cores=6\n")
write("busy", "a0 1\na1 3\n")
graph(16, [(i, j, 10) for i in range(16) for j in range(i)])
where, _, r = mapped("-S", "block", "--busy-file", "busy")
check(where is None and "16 ranks, but only 15 slots" in r.stderr, "free cores that are known make slots", r.stderr)
graph(8, [(i, j, 10) for i in range(8) for j in range(i)])
where, _, r = mapped("-S", "block", "--busy-file", "busy")
check(where and sizes(where) == {"a0": 4, "a1": 3, "a2": 1} and {cpus for _, _, cpus in where.values()} == {"-"},
      "... and the ranks beside other jobs have no cores of their own", where)
where, _, r = mapped("-S", "block", "--busy", "a0")
check(where and {node: cpus != "-" for node, _, cpus in where.values()} == {"a1": True, "a2": False}, "... others have", where)

# a map that is kept, or improved
write("old", "0-3 a0\n4-7 a1\n")
r = zipmap("-f", "hosts", "-g", "graph", "-S", "keep", "--improve", "old", "--busy", "a1")
check(r.returncode == 1 and "old: rank 4 is on a1, which takes no ranks" in r.stderr, "a map on a busy node is not kept", r.stderr)
r = zipmap("-f", "hosts", "-g", "graph", "-S", "keep", "--improve", "old", "--busy-file", "busy")
check(r.returncode == 1 and r.stderr == "zipmap map: old: rank 7 is one too many for a1, where other jobs leave 3 slots\n",
      "... nor with more ranks than free cores", r.stderr)
where, _, r = mapped("--improve", "old", "--busy", "a1")
check(where and sizes(where) == {"a0": 4, "a2": 4}, "... but can be improved", (where, r.stderr))

# --- what is refused
for args, reason in [(["--busy", "x[1-4]"], "hosts has none of the 4 busy nodes"), (["--busy", "a["], "--busy: 'a[' is no list of hosts"),
                     (["--busy", ","], "--busy: ',' names no node"), (["--busy-file", "none"], "none: No such file or directory")]:
    r = zipmap("-f", "hosts", "-g", "graph", *args)
    check(r.returncode == 1 and r.stderr.startswith("zipmap map: " + reason) and r.stderr.count("\n") == 1, "refused: %s" % args, r.stderr)
for text, reason in [("a0 1 2\n", 'busy:1: not "NODES" or "NODES CORES"'), ("\na0 x\n", 'busy:2: "x" is no number of busy cores'),
                     ("a0 -1\n", 'busy:1: "-1" is no number'), ("a0 1/2\n", 'busy:1: "1/2" is no number'), ("a0 1/2/3/\n", 'busy:1: "1/2/3/" is'),
                     ("a0 1/2/3/6/7\n", 'busy:1: "1/2/3/6/7" is no'), ("a0 1//3/6\n", 'busy:1: "1//3/6" is no'), ("a0 10000001\n", 'busy:1: "10000001" is no'),
                     ("a0 1/2/3/7\n", "busy:1: 1/2/3/7: the first three numbers do not make up the last one"),
                     ("a0 1\na[1-2]\nA0 2\n", "busy:3: node A0 is there twice, with different numbers of cores"), ("a0\na0 1\n", "busy:2: node a0 is"),
                     ("a[2-1]\n", "busy:1: 'a[2-1]' is no list of hosts"), ("a0\0\n", "busy:1: zero byte in the line")]:
    write("busy", text)
    for command in (["-f", "hosts", "-g", "graph"], ["model", "-n", "crossbar node:4", "-j", "2d"]):
        r = zipmap(*command, "--busy-file", "busy")
        check(r.returncode == 1 and r.stderr.startswith("zipmap %s: %s" % ("model" if "model" in command else "map", reason)),
              "refused: %r" % text, r.stderr)
SLURM = "SwitchName=l0 Nodes=n[0-3]\nSwitchName=l1 Nodes=n[4-7]\nSwitchName=top Switches=l[0-1]\n"
write("topology.conf", SLURM)
for network, args, reason in [("crossbar node:4", ["--busy", "n[0-1]"], "the network has none of the 2 busy nodes: its nodes have numbers"),
                              ("crossbar node:4", ["--busy", "[4-5]"], "the network has none of the 2 busy nodes: its nodes have numbers"),
                              ("crossbar node:4", ["--busy", "[0-9]"], "all nodes are busy"),
                              ("slurm file:topology.conf", ["--busy", "[0-1]"], "the network has none of the 2 busy nodes"),
                              ("crossbar node:4", ["--busy", "1", "-j", "2d:1x4"], "job: 4 ranks on 4 nodes do not fit on 3 free nodes of 1 cores")]:
    job = [] if "-j" in args else ["-j", "2d"]
    r = zipmap("model", "-n", network, *job, *args)
    check(r.returncode == 1 and r.stderr == "zipmap model: %s\n" % reason, "refused: %s %s" % (network, args), r.stderr)
r = zipmap("model", "-n", "crossbar node:4", "-j", "2d:1x2", "-m", "old", "--busy", "1")
check(r.returncode == 2 and r.stderr == "zipmap model: --busy: a map says which nodes are taken\n", "a map beside busy nodes", r.stderr)


# --- zipmap model: who sends
def senders(*args):
    r = zipmap("model", "-q", *args, "--links", "links")
    rows = list(csv.DictReader(open("links"))) if r.returncode == 0 else []
    return {(x["placement"], x["link"].split(">")[0]): float(x["bytes"]) for x in rows if float(x["bytes"]) and x["link"][0] == "n"}, r


found, r = senders("-n", "crossbar node:16", "--busy", "[0-3,7],15", "-j", "spread min:3 max:3 bytes:1000", "-p", "all")
check(found and {x for _, x in found} == {"n%d" % i for i in range(16) if i not in (0, 1, 2, 3, 7, 15)} and len(found) == 60 and
      set(found.values()) == {3000}, "zipmap model --busy: every placement has the rest of the nodes", (found, r.stderr))
write("busy", "[0-3] 3\n4\n5 1\n")
found, r = senders("-n", "crossbar node:8 core:4", "--busy-file", "busy", "-j", "m2m:1x15x1 bytes:1", "-p", "RDN,LIN,RRR")
want = {0: 1, 1: 1, 2: 1, 3: 1, 5: 3, 6: 4, 7: 4}
check(found == {(p, "n%d" % n): c * (15 - c) for p in ("RDN", "LIN", "RRR") for n, c in want.items()},
      "... and the rest of the cores: all of them", (found, r.stderr))
r = zipmap("model", "-n", "crossbar node:8 core:4", "--busy-file", "busy", "-j", "spread min:2 max:2", "--json", "json")
check(r.returncode == 0 and sum(json.load(open("json"))[0][k] for k in ("messages", "local_messages")) == 30,
      "a job without a size has a rank on each free core", r.stdout + r.stderr)
for job, reason in [("2d:1x16", "job: 16 ranks do not fit on 15 free cores"), ("2d nodes:4", "job: 16 ranks do not fit on 15 free cores")]:
    r = zipmap("model", "-n", "crossbar node:8 core:4", "--busy-file", "busy", "-j", job)
    check(r.returncode == 1 and r.stderr == "zipmap model: %s\n" % reason, "refused: " + job, r.stderr)
r = zipmap("model", "-n", "crossbar node:8 core:4", "--busy-file", "busy", "-j", "2d ranks:6", "-j", "2d ranks:9", "-p", "LIN")
check(r.returncode == 1 and r.stderr == "zipmap model: LIN: job 2 does not fit: jobs share no node, and those before left too few\n",
      "two jobs do not share a node", r.stderr)


# --- random machines, busy nodes and jobs: what the two links of each leaf carry
def reference(nodes, cores, busy, jobs):
    """Bytes of each link of leaves of four nodes each, with jobs in the order of nodes."""
    free = [cores - min(cores, busy.get(n, 0)) for n in range(nodes)]
    order, at, links = [n for n in range(nodes) if free[n]], 0, {}
    for ranks, messages in jobs:
        places = []
        while len(places) < ranks:
            if at == len(order):
                return None
            places += [order[at]] * min(free[order[at]], ranks - len(places))
            at += 1
        for a, b, size in messages:
            x, y = places[a] // 4, places[b] // 4
            if x != y:
                for link in ("l%d>top" % x, "top>l%d" % y):
                    links[link] = links.get(link, 0) + size
    return links


draw, wrong, fits = random.Random(4), [], 0
for case in range(40):
    leaves, cores = draw.randint(2, 5), draw.randint(1, 4)
    nodes = 4 * leaves
    write("topology.conf", "".join("SwitchName=l%d Nodes=n[%d-%d]\n" % (i, 4 * i, 4 * i + 3) for i in range(leaves)) +
          "SwitchName=top Switches=l[0-%d]\n" % (leaves - 1))
    busy = {n: draw.choice([1, cores, draw.randint(0, cores + 1)]) for n in draw.sample(range(nodes), draw.randint(1, nodes - 2))}
    write("busy", "".join("n%d %d\n" % x for x in busy.items()))
    free, jobs, words = sum(cores - min(cores, busy.get(n, 0)) for n in range(nodes)), [], []
    for i in range(draw.randint(1, 3)):
        ranks = draw.randint(1, max(1, free // 2))
        messages = [(draw.randrange(ranks), draw.randrange(ranks), draw.randint(1, 99)) for _ in range(12)]
        messages = [m for m in messages if m[0] != m[1]]
        write("job%d" % i, "%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n" % (ranks, ranks, len(messages)) +
              "".join("%d %d %d\n" % (a + 1, b + 1, n) for a, b, n in messages))
        jobs.append((ranks, messages))
        words += ["-j", "graph:job%d" % i]
    wanted = reference(nodes, cores, busy, jobs)
    r = zipmap("model", "-q", "-n", "slurm file:topology.conf core:%d" % cores, "--busy-file", "busy", *words, "-p", "LIN", "--links", "links")
    found = {x["link"]: round(float(x["bytes"])) for x in csv.DictReader(open("links")) if float(x["bytes"])} if r.returncode == 0 else None
    fits += wanted is not None
    if found != wanted or (wanted is None and "fit" not in r.stderr):
        wrong.append((case, found, wanted, r.stderr))
check(not wrong and fits > 20, "random machines, busy nodes and jobs", (fits, wrong[:1]))

finish()
