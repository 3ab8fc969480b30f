#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map with a network: links, time and the load of each rail, added up by hand, and the places that use it best. TAP."""
import csv

from map_fixture import bridged, chain, check, even, finish, graph, hidden, hosts, mapped, one_way, read, write, zipmap

hosts([2] * 8, [2] * 8, 2)
n = 34
edges = hidden(n, chain(n), 4)
graph(n, edges)
write("fabric", "part:a fattree arity:2 level:3 bandwidth:1G\npart:b crossbar node:9 bandwidth:1G\nzipper:zip a:7 b:8\n")
where, lines, r = mapped("--fabric", "fabric")
check(r.returncode == 1 or bridged(where, edges) == 0, "a network with too few nodes is told, or used", r.stderr)
write("fabric", "part:a crossbar node:9 bandwidth:1G\npart:b crossbar node:9 bandwidth:1G\nzipper:zip a:8 b:8\n")
where, lines, r = mapped("--fabric", "fabric")
check(where is not None and bridged(where, edges) == 0, "with a network: as good a cut", r.stderr)
write("fabric", "part:a crossbar node:9 bandwidth:1G\npart:b crossbar node:9 bandwidth:1G\nzipper:zap a:8 b:8\n")
where, lines, r = mapped("--fabric", "fabric")
check("there is no zipper:zip" in r.stderr, "a zipper node that the network does not have", r.stderr)

# a fat tree, in which two nodes are as far apart as their common switch is high, and a dragonfly whose four routers are a
# path (two groups of two, and one cable), joined by a zipper; links, rails and time by hand
def apart_tree(x, y):
    return 0 if x == y else 2 if x // 2 == y // 2 else 4 if x // 4 == y // 4 else 6


dragonfly = "dragonfly group:2 chassis:1 router:2 node:1 core:1"
write("hosts", "#ZIP cluster a\n" + "".join("a%d:1\n" % i for i in range(7)) + "#ZIP cluster b\nb0:1\nb1:1\nb2:1\n"
      "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper zop a=tcp:10.1.0.2 b=tcp:10.2.0.2\n")
write("fabric", "part:a fattree down:2x2x2 up:1x2x2\npart:b " + dragonfly + "\nzipper:zip a:7 b:3 forward:1000000\n"
      "zipper:zop a:7 b:3 forward:1000000\n")
edges = [(i, j, 14 + 2 * ((5 * i + 3 * j) % 11)) for i in range(10) for j in range(i)]
graph(10, edges)
where, lines, r = mapped("--fabric", "fabric", "-S", "block", "--rates", "inside:0 native:0 direct:0 bridged:0")


def links(x, y):
    if x < 7 and y < 7:
        return apart_tree(x, y)
    return abs(x - y) if x >= 7 and y >= 7 else apart_tree(min(x, y), 7) + 3 + (3 - (max(x, y) - 7))


mean = sum(w * links(u, v) for u, v, w in edges) / sum(w for u, v, w in edges)
found = [line for line in lines if line.startswith("#ZIP predicted links")]
check(found and abs(float(found[0].split()[3]) - mean) < 1e-5, "fat tree, zipper and dragonfly: links on the way of a byte",
      (found, mean))
crossing = sum(w for u, v, w in edges if (u < 7) != (v < 7))
check(one_way(lines, "a>b") == one_way(lines, "b>a") == even(crossing, "zip", "zop"), "... load of each rail", lines)


def modelled(network, *args):
    """The result of zipmap model for the map, and the bytes of each link."""
    r = zipmap("model", "-n", network, "-f", "hosts", "-m", "map", "-j", "graph:graph", "--csv", "csv", "--links", "links", *args)
    if r.returncode:
        return None, r.stderr
    return next(csv.DictReader(open("csv"))), {x["link"]: float(x["bytes"]) for x in csv.DictReader(open("links"))}


row, load = modelled("fabric")
check(row and abs(float(row["byte_hops"]) / float(row["bytes"]) - mean) < 1e-5 and
      abs(float(row["seconds"]) - crossing / 2e6) < 1e-9, "zipmap model says the same of the map", (row, load))
check(row and load["zip:a>b"] == load["zop:a>b"] == crossing / 2, "... and has each link", load)
NO_LATENCY = ["--rates", "inside:0 native:0 direct:0 bridged:0"]
check("#ZIP predicted time %.9f s" % (crossing / 2e6) in lines, "... the zippers are the slowest, and each has half", lines)
for option, parts in [("one", 1), ("1", 1), ("2", 2), ("all", 2)]:
    zipmap("-f", "hosts", "-g", "graph", "-o", "map", "-F", "fabric", "-S", "block", "--zippers", option, *NO_LATENCY)
    check("#ZIP predicted time %.9f s" % (crossing / parts / 1e6) in read()[1], "... with --zippers " + option, read()[1])

# one path to the first zipper, four to the second: a job sends the same over both, with any routing; a planned network goes by
# its paths, so that the second zipper forwards most
write("hosts", "#ZIP cluster a\na0:1\n#ZIP cluster b\nb0:1\n"
      "#ZIP zipper near a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper far a=tcp:10.1.0.2 b=tcp:10.2.0.2\n")
write("fabric2", "part:a fattree down:2x2x2 up:1x2x2\npart:b crossbar node:3\nzipper:near a:1 b:1 forward:1000000\n"
      "zipper:far a:7 b:2 forward:1000000\n")
graph(2, [(0, 1, 100000)])
for option, routing, bytes in [("job", "SD", 50000), ("2", "SD", 50000), ("one", "SD", 100000), ("all", "SD", 80000), ("job", "AD", 50000)]:
    zipmap("-f", "hosts", "-g", "graph", "-o", "map", "-F", "fabric2", "--zippers", option, "-r", routing, *NO_LATENCY)
    time = [float(line.split()[3]) for line in read()[1] if line.startswith("#ZIP predicted time")]
    check(abs(time[0] - bytes / 1e6) < 1e-6, "a near zipper and a far one, --zippers %s, %s" % (option, routing), time)
row, load = modelled("fabric2")
check(row and float(row["seconds"]) == 0.05, "... as zipmap model has it of a map for all of the job's", (row, load))
# ranks on the zipper node, which is in no list of nodes
write("hosts", "#ZIP cluster a\na0:2\n#ZIP cluster b\nb0:2\nz:2\n#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n")
graph(6, [(0, 2, 1000), (1, 4, 10), (2, 3, 5), (3, 5, 1)])
write("map", "0-1 a0\n2-3 z\n4-5 b0\n")
row, load = modelled("part:a crossbar node:2; part:b crossbar node:2; zipper:z a:1 b:1")
check(row and int(row["bytes"]) == 2 * 1011 and max(load.values()) == 1010, "zipmap model: ranks on a zipper node", (row, load))
write("hosts", "#ZIP cluster a\n" + "".join("a%d:1\n" % i for i in range(7)) + "#ZIP cluster b\nb0:1\nb1:1\nb2:1\n"
      "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper zop a=tcp:10.1.0.2 b=tcp:10.2.0.2\n")
graph(10, edges)
write("fabric", "part:a fattree down:2x2x2 up:1x2x2\npart:b " + dragonfly + "\nzipper:zop a:7 b:3\n")
r = zipmap("-f", "hosts", "-g", "graph", "-F", "fabric")
check("fabric: there is no zipper:zip, which forwards for the job by hosts" in r.stderr, "a zipper that the network lacks",
      r.stderr)
for text, error in [("0-8 a0\n9 a1\n", "map:1: "), ("0 a0\n", "map has 1 ranks, the job 10"), ("0-9 c0\n", "map:1: node c0 is no host of")]:
    write("map", text)
    row, error_found = modelled("fabric")
    check(row is None and error in error_found and error_found.count("\n") == 1, "zipmap model refuses: " + error, error_found)

# ranks change nodes until the network is used best
write("hosts", "#ZIP cluster a\n" + "".join("a%d:1\n" % i for i in range(4)))
graph(4, [(2, 0, 1000), (0, 3, 1000), (3, 1, 1000)])
where, lines, r = mapped("--fabric", dragonfly)
check(any(line.startswith("#ZIP predicted links 1.000000 a byte") for line in lines) and "have changed places" in r.stdout,
      "a hidden chain lies along the dragonfly's routers", lines[:7])
write("hosts", "#ZIP cluster a\n" + "".join("a%d:1\n" % i for i in range(8)))
edges = hidden(8, [(i, j, {2: 900, 4: 30, 6: 1}[apart_tree(i, j)]) for i in range(8) for j in range(i)], 11)
graph(8, edges)
best = (4 * 900 * 2 + 8 * 30 * 4 + 16 * 6) / (4 * 900 + 8 * 30 + 16)
where, lines, r = mapped("--fabric", "fattree down:2x2x2 up:1x2x2")
check(any(line.startswith("#ZIP predicted links %.6f a byte" % best) for line in lines), "hidden pairs of pairs are together in "
      "the fat tree", (best, lines[:7]))

# two clusters whose zippers meet on a network of their own: out of a, through it, into b; each zipper in, forward, out
write("hosts", "#ZIP cluster a\na:2\n#ZIP cluster b\nb:2\n#ZIP zipper y a=tcp:10.1.0.1 wan=tcp:10.9.0.1\n"
      "#ZIP zipper z wan=tcp:10.9.0.2 b=tcp:10.2.0.1\n")
graph(4, [(0, 1, 9), (2, 3, 9), (1, 2, 7)])
parts = "".join("part:%s crossbar node:3\n" % name for name in ("a", "wan", "b"))
where, lines, r = mapped("-F", parts + "zipper:y a:2 wan:0\nzipper:z wan:1 b:2\n")
check(any(line.startswith("#ZIP predicted links %d.000000 a byte" % (3 * 2 + 2 * 3)) for line in lines) and
      sum(line.endswith("7 bytes 1 messages") for line in lines if line.startswith("#ZIP rail ")) == 4,
      "a network between zippers is a part of the network", r.stderr or lines[:9])
r = zipmap("-f", "hosts", "-g", "graph", "-F", "part:a crossbar node:3; part:b crossbar node:3; zipper:y a:2 b:2")
check(r.returncode == 1 and "there is no zipper:z, which forwards for the job by hosts" in r.stderr, "... and must be there", r.stderr)

# more bytes than the network model takes, in one edge: told at once, not cut into 2^31 pieces
hosts([1], [1], 0)
graph(2, [(0, 1, 9000000000000000000)])
r = zipmap("-f", "hosts", "-g", "graph", "-F", "part:a crossbar node:2; part:b crossbar node:2; zipper:zip a:1 b:1")
check(r.returncode == 1 and r.stderr == "zipmap map: more than 2^52 bytes between nodes: the network model takes no more\n",
      "too many bytes for a network", r.stderr)
r = zipmap("model", "-n", "crossbar node:2", "-j", "graph:graph")
check(r.returncode == 1 and r.stderr == "zipmap model: graph: more than 2^52 bytes\n", "... and as a pattern", r.stderr)

finish()
