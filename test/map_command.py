#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: graphs whose best map is known, all maps of small graphs tried out, demands, mistakes. TAP."""
import itertools
import os
import random
import re
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

ZIPMAP = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "mapper", "zipmap")
count = failed = 0


def check(ok, name, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s%s" % ("ok" if ok else "not ok", count, name, "" if ok else " # " + str(detail)), flush=True)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def hosts(a, b, zipper=0, extra=""):
    """Two clusters with these slots on each of their nodes, and a zipper node, which belongs to b."""
    text = "#ZIP cluster a\n" + "".join("a%d:%d\n" % (i, s) for i, s in enumerate(a))
    text += "#ZIP cluster b\n" + "".join("b%d:%d\n" % (i, s) for i, s in enumerate(b))
    text += "zip:%d\n" % zipper if zipper else ""
    return write("hosts", text + "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n" + extra)


def graph(n, edges):
    """Edges (u, v, weight), each one a message both ways."""
    text = "%%MatrixMarket matrix coordinate integer symmetric\n" + "%d %d %d\n" % (n, n, len(edges))
    return write("graph", text + "".join("%d %d %d\n" % (max(u, v) + 1, min(u, v) + 1, w) for u, v, w in edges))


def hidden(n, edges, seed):
    names = list(range(n))
    random.Random(seed).shuffle(names)
    return [(names[u], names[v], w) for u, v, w in edges]


def zipmap(*args):
    return subprocess.run([ZIPMAP] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def read(path="map"):
    """rank -> (node, cluster, cpus), and the lines of the prediction"""
    where, lines = {}, []
    for line in open(path):
        lines += [line.strip()] if line.startswith("#ZIP") else []
        words = line.split("#")[0].split()
        if words:
            first, last = (words[0].split("-") * 2)[:2]
            for v in range(int(first), int(last) + 1):
                where[v] = (words + ["-"] * 3)[1:4]
    return where, lines


def bridged(where, edges):
    side = {"a": 1, "b": 2, "z": 3}
    return sum(w for u, v, w in edges if not side[where[u][0][0]] & side[where[v][0][0]])


def mapped(*args):
    r = zipmap("-f", "hosts", "-g", "graph", "-o", "map", *args)
    if r.returncode:
        return None, [r.stderr], r
    return read() + (r,)


os.chdir(tempfile.mkdtemp())

# --- graphs whose best map is known

def chain(n):
    return [(i, i + 1, 1) for i in range(n - 1)]


def grid(x, y):
    return [(i * y + j, i * y + j + 1, 1) for i in range(x) for j in range(y - 1)] + \
        [(i * y + j, i * y + j + y, 1) for i in range(x - 1) for j in range(y)]


def grid3(x, y, z):
    return [(i * y * z + u, i * y * z + v, 1) for i in range(x) for u, v, _ in grid(y, z)] + \
        [(i * y * z + p, (i + 1) * y * z + p, 1) for i in range(x - 1) for p in range(y * z)]


def hypercube(d):
    return [(v ^ 1 << k, v, 1) for v in range(1 << d) for k in range(d) if v >> k & 1]


def tree(n):
    return [((i - 1) // 2, i, 1) for i in range(1, n)]


def cliques(n):
    return [(i, j, 1) for i in range(n) for j in range(i)] + [(n + i, n + j, 1) for i in range(n) for j in range(i)] + \
        [(0, n, 1)]


def ring(n):
    return chain(n) + [(n - 1, 0, 1)]


# name, edges, ranks, slots of a, of b, of the zipper node, least weight that has to be bridged
KNOWN = [
    ("a chain, no rank may be on the zipper", chain(64), 64, [32], [32], 0, 1),
    ("a chain, one rank on the zipper", chain(65), 65, [32], [32], 1, 0),
    ("a chain, unequal clusters", chain(100), 100, [8] * 9, [8] * 3, 4, 0),
    ("a ring, no rank on the zipper", ring(48), 48, [24], [24], 0, 2),
    ("a ring, one rank on the zipper: half of the cut", ring(49), 49, [24], [24], 1, 1),
    ("a ring, two ranks on the zipper", ring(50), 50, [24], [24], 2, 0),
    ("a grid, no rank on the zipper", grid(8, 12), 96, [48], [48], 0, 8),
    ("a grid, a column on the zipper", grid(8, 13), 104, [48], [48], 8, 0),
    ("a grid, half a column on the zipper", grid(8, 12), 96, [48], [44], 4, 4),
    ("a grid in three dimensions, no rank on the zipper", grid3(6, 4, 3), 72, [36], [36], 0, 12),
    ("a grid in three dimensions, a plane on the zipper", grid3(7, 4, 3), 84, [36], [36], 12, 0),
    ("a hypercube, no rank on the zipper", hypercube(5), 32, [16], [16], 0, 16),
    ("a hypercube, all but two corners that are opposite", hypercube(3), 8, [1], [1], 6, 0),
    ("a tree, its root on the zipper", tree(63), 63, [31], [31], 1, 0),
    ("two cliques and a bridge, cut at the bridge", cliques(12), 24, [12], [12], 0, 1),
    ("two cliques and a bridge, one end on the zipper", cliques(12), 24, [12], [11], 1, 0),
]
for name, edges, n, a, b, z, best in KNOWN:
    for strategy in ["auto", "vertex-cut", "edge-cut"]:
        shuffled = hidden(n, edges, n)
        hosts(a, b, z)
        graph(n, shuffled)
        where, lines, r = mapped("--strategy", strategy)
        cost = bridged(where, shuffled) if where else r.stderr
        check(cost == best, "%s: %s" % (name, strategy), "bridged %s, best %s" % (cost, best))
        if where and strategy == "auto":
            check("#ZIP predicted bridged %d bytes %d messages" % (2 * best, 2 * best) in lines, "... as predicted", lines[:1])
            listed = [line for line in lines if line.startswith("#ZIP crossing ")]
            check(len(listed) == 2 * best, "... and every crossing pair is named", listed)

# --- small graphs: nothing is better in all maps that there are
CAPS = [3, 2, 2, 2]
FAR = [[0, 1, 0, 2], [1, 0, 0, 1], [0, 0, 0, 1], [2, 1, 1, 0]]
write("three", "#ZIP cluster a\na:3\n#ZIP cluster b\nb:2\nz:2\n#ZIP cluster c\nc:2\n"
      "#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper y b=tcp:10.2.0.2 c=tcp:10.3.0.1\n")
rng = random.Random(1)
places = [p for p in itertools.product(range(4), repeat=7) if all(p.count(k) <= CAPS[k] for k in range(4))]
for trial in range(4):
    edges = [(i, j, rng.choice([1, 1, 2, 5, 9])) for i in range(7) for j in range(i) if rng.random() < 0.2 + 0.2 * trial]
    graph(7, edges)
    best = min(sum(w * FAR[p[u]][p[v]] for u, v, w in edges) for p in places)
    r = zipmap("map", "-f", "three", "-g", "graph", "-o", "map", "-q", "--zippers", "all")
    where = read()[0] if r.returncode == 0 else {}
    cost = sum(w * FAR["abzc".index(where[u][0])]["abzc".index(where[v][0])] for u, v, w in edges) if where else r.stderr
    check(cost == best, "three clusters in a row, seven ranks: as good as the best of all %d maps" % len(places),
          (cost, best))

write("hosts", "#ZIP cluster a\na:3\n#ZIP cluster b\nb:3\n#ZIP cluster c\nc:3\nd:1\nz:1\n"
      "#ZIP zipper z a=tcp:10.1.0.1 b=tcp:10.2.0.1 c=tcp:10.3.0.1\n")
edges = [(0, 2, 9), (0, 3, 5), (0, 5, 1005), (1, 2, 2), (1, 3, 1001), (1, 5, 9), (2, 3, 1005), (2, 4, 1009), (3, 4, 11), (4, 5, 5)]
graph(6, edges)
where, lines, r = mapped()
sides = {"a": 1, "b": 2, "c": 4, "d": 4, "z": 7}
cost = sum(w for u, v, w in edges if not sides[where[u][0]] & sides[where[v][0]]) if where else r.stderr
check(cost == 11, "six ranks of which all have to move at once", cost)

# --- several zippers: a job uses all that serve all clusters with ranks
def rails(lines):
    """name -> [(from>to, bytes)]"""
    found = {}
    for words in [line.split() for line in lines if line.startswith("#ZIP rail ")]:
        found.setdefault(words[2], []).append((words[3], int(words[4])))
    return found


graph(8, chain(8))
r = zipmap("-f", "three", "-g", "graph")
check(r.returncode == 1 and r.stderr == "zipmap map: three: no #ZIP zipper line serves all of the clusters a,b,c, and none "
      "the clusters that would have room for all ranks, so zmpirun could not run this (--zippers all predicts it)\n",
      "a job of three clusters that no zipper joins is refused", r.stderr)
graph(6, hidden(6, chain(6), 9))
r = zipmap("-f", "three", "-g", "graph", "-o", "map")
check(r.returncode == 0 and "no ranks in cluster c\n" in r.stdout and all(w[0] in "abz" for w in read()[0].values()),
      "where two of them have room enough, they are used", r.stderr)
text = "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\nz1:1\nz2:1\n#ZIP cluster c\nc:4\n"
write("two", text + "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 a=tcp:10.1.0.2 b=tcp:10.2.0.2\n"
      "#ZIP zipper z3 a=tcp:10.1.0.3 b=tcp:10.2.0.3 c=tcp:10.3.0.1\n")
edges = [(i, j, 1 + i + 10 * j) for i in range(10) for j in range(i)]
graph(10, edges)
r = zipmap("-f", "two", "-g", "graph", "-o", "map", "--forbid", "c", "-S", "block")
where, lines = read()
carried = rails(lines)
crossing = bridged(where, edges)


def even(bytes, *zippers):
    """What each of these carries of so many bytes: the same, and the rest goes to the first ones."""
    return {z: bytes // len(zippers) + (i < bytes % len(zippers)) for i, z in enumerate(zippers)}


def one_way(lines, way):
    return {z: n for z, found in rails(lines).items() for w, n in found if w == way and n}


def used(lines):
    return [line.split()[3] for line in lines if line.startswith("#ZIP predicted zipper ")]


check(one_way(lines, "a>b") == one_way(lines, "b>a") == even(crossing, "z1", "z2", "z3") and used(lines) == ["z1", "z2", "z3"] and
      "what is bridged is spread over the zippers z1, z2, z3\n" in r.stdout, "two clusters: the same over all three that serve them",
      carried)
check(where[8][0] == "z1" and where[9][0] == "z2" and crossing == sum(w for u, v, w in edges if u in (4, 5, 6, 7) and v < 4),
      "ranks on zipper nodes are near to both", crossing)
for option, zippers in [("job", ("z1", "z2", "z3")), ("1", ("z1",)), ("one", ("z1",)), ("2", ("z1", "z2")), ("3", ("z1", "z2", "z3"))]:
    zipmap("-f", "two", "-g", "graph", "-o", "map", "--forbid", "c", "-S", "block", "--zippers", option)
    where, lines = read()
    check(one_way(lines, "a>b") == even(crossing, *zippers) and used(lines) == list(zippers) and where[9][0] == "z2",
          "--zippers %s: over %s" % (option, ", ".join(zippers)), one_way(lines, "a>b"))
zipmap("-f", "two", "-g", "graph", "-o", "map", "--forbid", "c", "-S", "block", "--zippers", "all")
check(one_way(read()[1], "a>b") == even(crossing, "z1", "z2", "z3") and used(read()[1]) == [], "--zippers all shares it evenly",
      one_way(read()[1], "a>b"))
r = zipmap("-f", "two", "-g", "graph", "--forbid", "c", "-S", "block", "--zippers", "4")
check(r.returncode == 1 and r.stderr == "zipmap map: two: fewer than 4 #ZIP zipper lines serve all of the clusters a,b, and none "
      "the clusters that would have room for all ranks, so zmpirun could not run this (--zippers all predicts it)\n",
      "more zippers than serve the clusters", r.stderr)
r = zipmap("-f", "two", "-g", "graph", "-o", "map", "--zippers", "2")
check(r.returncode == 0 and "no ranks in cluster c\n" in r.stdout and used(read()[1]) == ["z1", "z2"],
      "two zippers are wanted, but one alone serves all three clusters: two of these have room", r.stderr)
zipmap("-f", "two", "-g", "graph", "-o", "map", "--forbid", "z1,z2")
where, lines = read()
carried, sums = rails(lines), {}
for u, v, w in edges:
    if where[u][0] != where[v][0]:
        for way in (where[u][0] + ">" + where[v][0], where[v][0] + ">" + where[u][0]):
            sums[way] = sums.get(way, 0) + w
check(len(sums) == 6 and sums == dict(carried["z3"]) and not any(n for z in ("z1", "z2") for _, n in carried[z]),
      "three clusters: over the one that joins them, and each direction of it as counted by hand", carried)

# three zippers, of which the first serves two of the three clusters: it carries nothing, but ranks there reach these directly
write("three-two", text + "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n"
      "#ZIP zipper z2 a=tcp:10.1.0.2 b=tcp:10.2.0.2 c=tcp:10.3.0.2\n#ZIP zipper z3 c=tcp:10.3.0.3 a=tcp:10.1.0.3 b=tcp:10.2.0.3\n")
write("old", "0-1 a\n2-3 b\n4-6 c\n7-8 a\n9 z1 a\n")
r = zipmap("-f", "three-two", "-g", "graph", "--improve", "old", "-S", "keep", "-o", "map")
lines, sums = read()[1], {}
side = "aabbcccaaa"
for u, v, w in edges:
    if side[u] != side[v] and (u, side[v]) != (9, "b"):
        for way in (side[u] + ">" + side[v], side[v] + ">" + side[u]):
            sums[way] = sums.get(way, 0) + w
direct = sum(w for u, v, w in edges if u == 9 and side[v] == "b")
check(sorted(sums) == ["a>b", "a>c", "b>a", "b>c", "c>a", "c>b"] and used(lines) == ["z2", "z3"] and
      all(one_way(lines, way) == even(sums[way], "z2", "z3") for way in sums),
      "three clusters, two of three zippers serve them: each direction by hand", (sums, rails(lines)))
check(any(line.startswith("#ZIP predicted direct %d bytes" % (2 * direct)) for line in lines),
      "... and a rank on the third one's node sends directly to its two clusters", lines)
r = zipmap("draw", "-f", "three-two", "-g", "graph", "-m", "old", "-o", "map.svg", "--zippers", "3")
check(r.returncode == 1 and "fewer than 3 #ZIP zipper lines serve all of the clusters a,b,c" in r.stderr,
      "no picture of a job over three of them", r.stderr)

# a network whose cluster has no ranks is none of the job's: two zipper nodes there do not reach each other by it
ports = "#ZIP zipper z1 a=tcp:10.1.0.1 c=tcp:10.3.0.1\n#ZIP zipper z2 b=tcp:10.2.0.2 c=tcp:10.3.0.2\n" \
    "#ZIP zipper z3 a=tcp:10.1.0.3 b=tcp:10.2.0.3 c=tcp:10.3.0.3\n"
write("apart", "#ZIP cluster a\na:4\nz1:1\n#ZIP cluster b\nb:4\nz2:1\n#ZIP cluster c\nc:4\n" + ports)
graph(3, [(0, 1, 5), (1, 2, 1)])
for third, cost in [("b", 10), ("c", 0)]:
    write("old", "0 z1\n1 z2\n2 %s\n" % third)
    zipmap("-f", "apart", "-g", "graph", "--improve", "old", "-S", "keep", "-o", "map")
    lines = read()[1]
    check(any(line.startswith("#ZIP predicted bridged %d bytes" % cost) for line in lines),
          "two zipper nodes on the network of c, the third rank in %s" % third, lines)
# z1 and z2 stand between the clusters: red is the line from z1 to the network of a, which is behind it, not to that of c below
write("old", "0 z1\n1 z2\n2 b\n")
zipmap("draw", "-f", "apart", "-g", "graph", "-m", "old", "-o", "apart.svg")
lines = [e for e in xml.etree.ElementTree.parse("apart.svg").getroot() if e.tag.endswith("line")]
bars = sorted((float(e.get("x1")), float(e.get("y1")), float(e.get("y2"))) for e in lines if e.get("stroke-width") == "5")
red = [(float(e.get("x1")), float(e.get("y1"))) for e in lines if e.get("stroke") == "#cc3333"][:-1]
on = [k for x, y in red for k, bar in enumerate(bars) if abs(x - bar[0]) < 6 and bar[1] <= y <= bar[2]]
check(len(bars) == 3 and len(red) == 2 and sorted(on) == [0, 2], "... and the picture has that at the ports of a and b",
      (bars, red))
where, lines, r = mapped("-f", "apart", "--pin", "0:z1", "--pin", "1:z2", "--forbid", "c")
check(any(line.startswith("#ZIP predicted bridged 10 bytes") for line in lines), "... also when nothing but a and b has slots",
      r.stderr or lines)
write("close", "#ZIP cluster a\na:1\nz1:1\n#ZIP cluster b\nb:1\nz2:1\n#ZIP cluster c\nc:1\n" + ports)
graph(4, [(0, 1, 1), (1, 2, 10), (2, 3, 1)])
where, lines, r = mapped("-f", "close", "--forbid", "c")
check(any(line.startswith("#ZIP predicted bridged 4 bytes") for line in lines),
      "... and the search knows: the two that send most are in one cluster", r.stderr or lines)
# z1 stands in d, on whose network it has no port: in the job of a it is not there, and in that of d nobody finds it there
write("apart", "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\nz2:1\n#ZIP cluster d\nd:4\nz1:1\n#ZIP cluster e\ne:4\nz4:1\n"
      "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 b=tcp:10.2.0.2 d=tcp:10.4.0.2\n"
      "#ZIP zipper z3 a=tcp:10.1.0.3 b=tcp:10.2.0.3 d=tcp:10.4.0.3 e=tcp:10.5.0.3\n#ZIP zipper z4 e=tcp:10.5.0.4 d=tcp:10.4.0.4\n")
graph(3, [(0, 1, 7), (1, 2, 1)])
for text, cost in [("0 z1 a\n1 d\n2 a\n", 14 + 2), ("0 z1 d\n1 a\n2 a\n", 0), ("0 z1 d\n1 b\n2 a\n", 2),
                   ("0 z1 d\n1 z2 b\n2 b\n", 0), ("0 z1 d\n1 z4 e\n2 e\n", 14), ("0 z4 e\n1 z1 d\n2 d\n", 0), ("0 z4 e\n1 z1 a\n2 d\n", 14 + 2)]:
    write("old", text)
    zipmap("-f", "apart", "-g", "graph", "--improve", "old", "-S", "keep", "-o", "map")
    lines = read()[1]
    check(any(line.startswith("#ZIP predicted bridged %d bytes" % cost) for line in lines),
          "a zipper node without a port in its own cluster: " + text.replace("\n", "; "), lines)
text = "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\nz1:1\nz2:1\n#ZIP cluster c\nc:4\n"
graph(10, edges)
write("map", "0-3 a\n4-9 c\n")
write("row", text + "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 b=tcp:10.2.0.2 c=tcp:10.3.0.1\n")
r = zipmap("draw", "-f", "row", "-g", "graph", "-m", "map", "-o", "map.svg")
check(r.returncode == 1 and "clusters a,c" in r.stderr, "a map that cannot be run is not drawn", r.stderr)
r = zipmap("draw", "-f", "row", "-g", "graph", "-m", "map", "-o", "map.svg", "--zippers", "all")
check(r.returncode == 0, "... unless all zippers are to forward", r.stderr)

# --- more than two clusters: branches that only know the root, which belongs on the zipper
branches, size = 4, 9
edges = []
for b in range(branches):
    first = 1 + b * size
    edges += [(0, first, 1)] + [(first + (i - 1) // 2, first + i, 3) for i in range(1, size)]
edges = hidden(1 + branches * size, edges, 8)
graph(1 + branches * size, edges)
text = "".join("#ZIP cluster c%d\nn%d:%d\nm%d:%d\n" % (b, b, 3 + b % 2, b, size - 3 - b % 2) for b in range(branches))
write("hosts", text + "zip:1\n#ZIP zipper zip " + " ".join("c%d=tcp:10.%d.0.1" % (b, b) for b in range(branches)) + "\n")
where, lines, r = mapped()
check("#ZIP predicted bridged 0 bytes 0 messages" in lines and
      all(where[u][0] == "zip" or where[v][0] == "zip" or where[u][0][1] == where[v][0][1] for u, v, w in edges),
      "four clusters around the zipper: nothing crosses", lines[:1])

# --- comparisons, improvement
hosts([8] * 4, [8] * 4, 6)
edges = hidden(64, grid(8, 8), 5)
graph(64, edges)
where, lines, r = mapped("--strategy", "pairs")
pairs = bridged(where, edges)
check(where[0][0] == "a0" and where[31][0] == "a3" and where[32][0] == "b0", "pairs: half in each cluster, in order", where)
os.rename("map", "pairs.map")
where, lines, r = mapped("--strategy", "block")
check(where[63][0] == "b3" and where[8][0] == "a1", "block: nodes are filled in order", where)
where, lines, r = mapped("--improve", "pairs.map")
check(bridged(where, edges) < pairs and "before" in r.stdout, "an old map is improved", r.stdout)
os.rename("map", "good.map")
where, lines, r = mapped("--improve", "good.map")
check("nothing better was found" in r.stdout, "and then nothing better is found", r.stdout)
check(where == read("good.map")[0], "... and the map stays as it is")
first = open("map").read()
mapped("--improve", "good.map", "-t", "1")
check(open("map").read() == first, "the result does not depend on the number of threads")
where, lines, kept = mapped("--improve", "pairs.map", "-S", "keep")
check(where == read("pairs.map")[0] and bridged(where, edges) == pairs and
      "#ZIP predicted bridged %d bytes %d messages" % (2 * pairs, 2 * pairs) in lines, "keep: an old map is only predicted", lines)
lines = r.stdout.splitlines()
check(any(re.match(r"pairs .*\d", line) for line in lines) and any(re.match(r"block .*\d", line) for line in lines) and
      any(re.match(r"this map ", line) for line in lines), "the table has pairs, block and the map", r.stdout)

hosts([4], [4], 2)
graph(8, chain(8)[:3] + [(3, 4, 1000000)] + chain(8)[4:])
where, lines, r = mapped()
check(bridged(where, chain(8)) == 0 and "\npairs bridges no less, but is predicted to need " not in r.stdout,
      "no other layout is faster: nothing is said", r.stdout)
graph(8, [(u, v, 1000000) for u, v, _ in chain(8)])
where, lines, r = mapped()
check(bridged(where, chain(8)) == 0 and "\npairs bridges no less, but is predicted to need " in r.stdout,
      "auto bridges nothing, and tells that pairs is faster", r.stdout)
where, lines, r = mapped("--strategy", "fastest")
times = dict(re.findall(r"^(pairs|block|this map) .* ([0-9.]+) us$", r.stdout, re.M))
check(where and [where[v][0] for v in range(8)] == ["a0"] * 4 + ["b0"] * 4 and times.get("this map") == times.get("pairs"),
      "fastest takes pairs then", r.stdout)
os.rename("map", "pairs.map")
where, lines, r = mapped("--strategy", "fastest", "--improve", "pairs.map")
check("nothing better was found" in r.stdout, "... and finds nothing faster than that", r.stdout)
hosts([8] * 4, [8] * 4, 6)

graph(32, hidden(32, chain(32), 3))
where, lines, r = mapped("--strategy", "spread")
sizes = [sum(w[0] == node for w in where.values()) for node in set(w[0] for w in where.values())]
check(max(sizes) == 4 and bridged(where, hidden(32, chain(32), 3)) == 0, "spread: no node has more ranks than it must", sizes)
hosts([4, 3], [4], 2)
graph(12, chain(12))
r = zipmap("-f", "hosts", "-g", "graph", "--strategy", "pairs")
check("pairs: 12 ranks, but 11 slots on nodes that are no zippers" in r.stderr, "pairs needs room beside the zipper nodes", r.stderr)

pin = ["--pin", "7:" + ("a0" if read("good.map")[0][7][0][0] == "b" else "b0")]
hosts([8] * 4, [8] * 4, 6)
graph(64, hidden(64, grid(8, 8), 5))
where, lines, r = mapped("--improve", "good.map", *pin)
check(where and where[7][0] == pin[1][2:] and "nothing better" not in r.stdout, "an old map that breaks a demand is mended",
      r.stderr)

# --- demands
hosts([4, 4], [4, 4], 2, "#ZIP node a1,b[0-1] gpu=2\n")
graph(12, hidden(12, chain(12), 3))
where, lines, r = mapped("--need", "gpu:0-2,7", "--pin", "3:a0", "--pin", "4-5:zip", "--forbid", "b1")
check(where and all(where[v][0] in ("a1", "b0") for v in (0, 1, 2, 7)), "ranks that need a GPU are where one is", r.stderr)
check(where and where[3][0] == "a0" and where[4][0] == where[5][0] == "zip", "pinned ranks are where they belong", where)
check(where and not any(w[0] == "b1" for w in where.values()), "a forbidden node has no ranks", where)
users = [w[0] for v, w in (where or {}).items() if v in (0, 1, 2, 7)]
check(max(users.count(x) for x in set(users)) <= 2, "no more of them on a node than it can take", users)
hosts([8], [8], 0, "#ZIP node a0 speed=0.5\n")
graph(8, chain(8))
where, lines, r = mapped()
check(all(w[0] == "b0" for w in where.values()), "the slower half of the nodes is not used when the faster one suffices", where)

hosts([4, 4], [4], 0, "#ZIP node a0 speed=0.5\n#ZIP node b0 speed=2\n")
where, lines, r = mapped()
check(sorted(w[0] for w in where.values()) == ["a1"] * 4 + ["b0"] * 4, "of three speeds the slowest is left out", where)

REFUSED = [
    (["--need", "gpu:0-1", "--need", "big:2-4", "--forbid", "a1"], "1 of the ranks that need big find no place beside the others"),
    (["--need", "gpu:0", "--need", "big:0", "--forbid", "b0"], "1 ranks need gpu and big, but the nodes that have it take 0"),
    (["--need", "gpu:0-3", "-S", "spread", "--forbid", "b0"], "4 ranks need gpu, but the nodes that have it take 2 of them"),
    (["--need", "gpu:0-4"], "5 ranks need gpu, but the nodes that have it take 4 of them"),
    (["--need", "bigmem:0"], "1 ranks need bigmem, but the nodes that have it take 0 of them"),
    (["--forbid", "a[0-2],b0"], "--forbid: node a[0-2] is not in hosts"),
    (["--forbid", "a0,a1,a2,b0"], "12 ranks, but only 2 slots"),
    (["--pin", "0-4:a0"], "more ranks are pinned to a0 than its 4 slots"),
    (["--pin", "0:a0", "--need", "gpu:0"], "rank 0 is pinned to a0 and needs gpu, which a0 does not have"),
    (["--pin", "0-2:a1", "--need", "gpu:0-2"], "rank 2 is pinned to a1 and needs gpu, but a1 has that for 2 of its ranks"),
    (["--pin", "0:a0", "--forbid", "a0"], "rank 0 is pinned to a0, which takes no ranks"),
    (["--pin", "0:a0", "--pin", "0:a1"], "--pin: rank 0 on two nodes"),
    (["--pin", "0:a9"], "--pin: node a9 is not in hosts"),
    (["--pin", "a0"], "--pin: 'a0' is not RANKS:NODE, as 0-3:node001"),
    (["--pin", "12:a0"], "--pin: rank 12: the graph has ranks 0 to 11"),
    (["--need", "gpu"], "--need: 'gpu' is not FEATURE:RANKS, as gpu:0-15"),
    (["--need", "gpu:3-1"], "--need: '3-1' are no ranks, as 0-3,8"),
    (["--forbid", ","], "--forbid: ',' names no node"),
    (["--forbid", "c0"], "--forbid: node c0 is not in hosts"),
]
hosts([4, 4, 4], [4], 2, "#ZIP node a1 gpu=2\n#ZIP node b0 gpu=2 big=4\n")
graph(12, chain(12))
for args, text in REFUSED:
    r = zipmap("-f", "hosts", "-g", "graph", *args)
    check(r.returncode == 1 and text in r.stderr and r.stderr.count("\n") == 1, "refused: " + " ".join(args), r.stderr)

# more bytes than the network model takes, in one edge: told at once, not cut into 2^31 pieces
hosts([1], [1], 0)
graph(2, [(0, 1, 9000000000000000000)])
r = zipmap("-f", "hosts", "-g", "graph", "-F", "part:a crossbar node:2; part:b crossbar node:2; zipper:zip a:1 b:1")
check(r.returncode == 1 and r.stderr == "zipmap map: more than 2^52 bytes between nodes: the network model takes no more\n",
      "too many bytes for a network", r.stderr)
r = zipmap("model", "-n", "crossbar node:2", "-j", "graph:graph")
check(r.returncode == 1 and r.stderr == "zipmap model: graph: more than 2^52 bytes\n", "... and as a pattern", r.stderr)

# demands that are hard to meet but can be: ranks that need both find few nodes; and one that single moves do not meet
JOINED = "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n"
HARD = [
    ("#ZIP cluster a\na0:2\na1:3\n#ZIP cluster b\nb0:1\n" + JOINED + "#ZIP node a0,b0 gpu=2 big=1\n#ZIP node a1 gpu=1 big\n",
     [(0, 4, 9), (1, 5, 5), (2, 1, 1), (3, 0, 2), (3, 1, 1), (5, 0, 1000), (5, 4, 9)], 6, {"gpu": (1, 4, 5), "big": (0, 4, 5)}, "auto",
     {"a0": {"gpu": 2, "big": 1}, "a1": {"gpu": 1, "big": 9}, "b0": {"gpu": 2, "big": 1}}),
    ("#ZIP cluster a\na0:2\n#ZIP cluster b\nb0:3\nb1:3\nzip:2\n" + JOINED +
     "#ZIP node a0 gpu=1 big\n#ZIP node b0 gpu=1 big=2\n#ZIP node b1 gpu=1 big=1\n#ZIP node zip big=2\n",
     [(0, 2, 6), (0, 3, 1000), (1, 3, 7), (1, 4, 2), (1, 6, 5), (2, 3, 9), (2, 5, 9), (2, 6, 9), (3, 4, 5), (3, 5, 2), (3, 6, 9),
      (4, 5, 9), (4, 6, 9), (5, 6, 9)], 7, {"gpu": (1, 3), "big": (0, 2, 3, 5)}, "spread",
     {"a0": {"gpu": 1, "big": 9}, "b0": {"gpu": 1, "big": 2}, "b1": {"gpu": 1, "big": 1}, "zip": {"big": 2}}),
]
for text, edges, n, needs, strategy, limits in HARD:
    write("hosts", text)
    graph(n, edges)
    demands = [word for f in needs for word in ("--need", f + ":" + ",".join(map(str, needs[f])))]
    where, lines, r = mapped("-S", strategy, *demands)
    given = {(node, f): sum(where[v][0] == node for v in needs[f]) for node in limits for f in needs} if where else {}
    check(given and all(given[node, f] <= limits[node].get(f, 0) for node, f in given), "met: " + " ".join(demands), r.stderr or given)

# --- hardware
hosts([8], [8], 16, "#ZIP node zip topology=pack:2,numa:1,l3:2,core:4,pu:2 hca=1 reserve=4\n"
      "#ZIP node a0 topology=pack:2,core:4,pu:2\n#ZIP node b0 cores=4\n")
graph(26, chain(26))
where, lines, r = mapped()
check(where is not None, "a map with hardware", r.stderr)
where = where or {}
a = [w[2] for v, w in sorted(where.items()) if w[0] == "a0"]
check(a == ["0", "8", "2", "10", "4", "12", "6", "14"][:len(a)] and len(a) >= 6, "ranks alternate over the sockets", a)
z = [int(w[2]) for v, w in sorted(where.items()) if w[0] == "zip"]
check(len(z) > 8 and z[:6] == [0, 16, 8, 18, 2, 20], "and over the L3 caches inside", z)
check(not set(z) & {24, 26, 28, 30} and len(z) <= 12, "cores near the device are kept for zipperd", z)
check(any("zip: cores" in line and "kept for zipperd, near NUMA node 1" in line for line in lines), "... and the map says so",
      lines)
check(all(w[2] == "-" for w in where.values() if w[0] == "b0"), "no binding where ranks are more than cores", where)

# --- the same from files as lstopo writes them: an HCA, GPUs, and which sockets they are at
def machine(path, hca=None, gpus=()):
    """XML of hwloc: two sockets of four cores with two hardware threads each, an L3 for two cores; hca, gpus: sockets."""
    number = itertools.count(1)

    def sets(first, n, socket):
        mask = "".join(" %s%s=\"0x%08x\"" % (kind, "cpuset", (1 << n) - 1 << first) for kind in ("", "complete_"))
        nodes = 3 if socket is None else 1 << socket
        return mask + "".join(" %s%s=\"0x%08x\"" % (kind, "nodeset", nodes) for kind in ("", "complete_"))

    def obj(kind, attributes, *inner):
        return '<object type="%s" gp_index="%d"%s>%s</object>\n' % (kind, next(number), attributes, "".join(inner))

    def pci(bus, kind, *devices):
        return obj("PCIDev", ' pci_busid="0000:%02x:00.0" pci_type="%s 00" pci_link_speed="0.0"' % (bus, kind), *devices)

    def io(s):
        found = []
        if s == hca:
            found.append(pci(16 * s + 1, "0207 [15b3:101b] [15b3:0001]",
                             obj("OSDev", ' name="mlx5_0" osdev_type="3"'), obj("OSDev", ' name="ib0" osdev_type="2"')))
        for i in range(list(gpus).count(s)):
            found.append(pci(16 * s + 2 + i, "0302 [10de:20b0] [10de:144e]",
                             obj("OSDev", ' name="cuda%d" subtype="CUDA" osdev_type="5"' % i),
                             obj("OSDev", ' name="nvml%d" osdev_type="1"' % i)))
        return [obj("Bridge", ' bridge_type="0-1" depth="0" bridge_pci="0000:[%02x-%02x]"' % (16 * s, 16 * s + 15), *found)] \
            if found else []

    sockets = []
    for s in range(2):
        caches = []
        for k in range(2):
            first = 8 * s + 4 * k
            cores = [obj("Core", ' os_index="%d"' % (c // 2) + sets(c, 2, s),
                         *[obj("PU", ' os_index="%d"' % p + sets(p, 1, s)) for p in (c, c + 1)]) for c in (first, first + 2)]
            caches.append(obj("L3Cache", sets(first, 4, s) + ' cache_size="1048576" depth="3" cache_linesize="64" '
                              'cache_associativity="0" cache_type="0"', *cores))
        memory = obj("NUMANode", ' os_index="%d" local_memory="1073741824"' % s + sets(8 * s, 8, s))
        sockets.append(obj("Package", ' os_index="%d"' % s + sets(8 * s, 8, s), memory, *(caches + io(s))))
    root = obj("Machine", ' os_index="0"' + sets(0, 16, None), *sockets)
    write(path, '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n<topology version="2.0">\n' +
          root + "</topology>\n")


machine("zip.xml", hca=1)
machine("gpu.xml", gpus=(0, 0, 1))
machine("plain.xml")
text = "#ZIP cluster a\na0:8\na1:8\n#ZIP cluster b\nb0:8\nzip:8\n#ZIP zipper zip a=mlx5_0:1@10.1.0.1 b=mlx5_0:2@10.2.0.1\n" \
    "#ZIP node a0 topology=plain.xml\n#ZIP node a1 topology=gpu.xml\n"
write("hosts", text + "#ZIP node zip topology=zip.xml reserve=3\n")
graph(28, hidden(28, chain(28), 1))
where, lines, r = mapped("--need", "gpu:3,9-12")
check(where is not None and all(where[v][0] == "a1" for v in (3, 9, 10, 11, 12)), "the node with GPUs is found in its file",
      r.stderr)
where = where or {}
for node, order in [("a0", "0 8 4 12 2 10 6 14"), ("a1", "0 8 4 12 2 10 6 14"), ("zip", "0 8 4 2 6")]:
    cores = [w[2] for v, w in sorted(where.items()) if w[0] == node]
    check(cores == order.split()[:len(cores)] and len(cores) >= 4, "%s: sockets in turn, and L3 caches inside" % node, cores)
check("#ZIP zip: cores 10,12,14 are kept for zipperd, near mlx5_0" in lines,
      "three cores are kept at the socket of the HCA that the address names", lines[-1:])
r = zipmap("-f", "hosts", "-g", "graph", "--need", "gpu:0-8")
check(r.returncode == 1 and "9 ranks need gpu, but the nodes that have it take 8 of them" in r.stderr,
      "more ranks than fit beside the GPUs", r.stderr)
write("hosts", text + "#ZIP node zip topology=zip.xml hca=mlx5_7\n")
r = zipmap("-f", "hosts", "-g", "graph")
check("no device or NUMA node mlx5_7 in the topology" in r.stderr, "a device that is not there", r.stderr)
write("hosts", text.replace("plain.xml", "here") + "#ZIP node zip topology=here\n")
os.environ["HWLOC_XMLFILE"] = os.path.abspath("zip.xml")
where, lines, r = mapped()
check("#ZIP zip: cores 12,14 are kept for zipperd, near mlx5_0" in lines and
      [w[2] for v, w in sorted((where or {}).items()) if w[0] == "zip"][:3] == ["0", "8", "4"],
      "topology=here is what hwloc says (here: HWLOC_XMLFILE), one core kept for each direction", r.stderr)
del os.environ["HWLOC_XMLFILE"]
write("hosts", "#ZIP cluster a\na0:8\nz1:8\n#ZIP cluster b\nb0:8\nz2:8\nz3:8\n"
      "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 a=mlx5_0:1@10.1.0.2 b=mlx5_0:2@10.2.0.2\n"
      "#ZIP zipper z3 a=tcp:10.1.0.3 b=tcp:10.2.0.3\n#ZIP zipper z3 a=mlx5_0:1@10.1.0.4 b=mlx5_0:2@10.2.0.4\n"
      "#ZIP node z1,z2,z3 topology=zip.xml\n")
graph(32, chain(32))
where, lines, r = mapped()
kept = sorted(line[5:] for line in lines if "are kept for zipperd" in line)
check(kept == ["z1: cores 4,6 are kept for zipperd", "z2: cores 12,14 are kept for zipperd, near mlx5_0",
               "z3: cores 8,10,12,14 are kept for zipperd, near mlx5_0"],
      "each zipper node keeps cores, near its own device; one that is in two lines for two zipperds", kept or r.stderr)
crowd = [sum(w[0] == z for w in (where or {}).values()) for z in ("z1", "z2", "z3")]
check(crowd[0] <= 6 and crowd[1] <= 6 and crowd[2] <= 4, "... and has no more ranks than the other cores", crowd)

# --- bad input
edges = chain(12)
BAD = [
    ("hosts", "#ZIP cluster a\na:x\n", [], "hosts:2: slots: 'x' is not a number"),
    ("hosts", "#ZIP cluster a\na:4\nb:4\na:4\n", [], "hosts:4: host a stands in line 2 already"),
    ("hosts", "#ZIP cluster a\na:12\n#ZIP node a topology=pack:x\n", [], "hosts:3: topology pack:x: not what hwloc calls"),
    ("hosts", "#ZIP cluster a\na:12\n#ZIP node a topology=none.xml\n", [], "hosts:3: topology ./none.xml: "),
    ("hosts", "#ZIP cluster a\na:6\n#ZIP cluster b\nb:6\n", [], "no #ZIP zipper line serves all of the clusters a,b"),
    ("graph", "2 1\n2\n3\n", [], "graph:3: not a vertex of the graph"),
    ("old", "0-10 a\n11 c\n", ["--improve", "old"], "old:2: node c is no host of hosts"),
    ("old", "0-3 a\n", ["--improve", "old"], "old has 4 ranks, graph has 12"),
]
for path, text, args, error in BAD:
    write("hosts", "#ZIP cluster a\na:12\n")
    graph(12, edges)
    write(path, text)
    r = zipmap("map", "-f", "hosts", "-g", "graph", *args)
    check(r.returncode == 1 and error in r.stderr and r.stderr.count("\n") == 1, "bad input: " + error, r.stderr)
write("hosts", "#ZIP cluster a\na:12\n")
graph(12, edges)
os.mkfifo("pipe")
reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
r = zipmap("map", "-f", "hosts", "-g", "graph", "-q", "-o", "pipe")
check(r.returncode == 0 and "0-11 a" in reader.communicate()[0] and stat.S_ISFIFO(os.stat("pipe").st_mode),
      "what is no file is written to, and not replaced", r.stderr)
reader.kill()
reader.wait()
r = zipmap("convert", "graph", "pipe", "--to", "zipmap")
check(r.returncode == 1 and r.stderr == "zipmap convert: pipe: not a regular file, and it would be replaced\n" and
      stat.S_ISFIFO(os.stat("pipe").st_mode), "a recorded graph has to be a file", r.stderr)
for args in [["-f", "hosts"], ["-g", "graph"], ["-f", "hosts", "-g", "graph", "--strategy", "best"],
             ["-f", "hosts", "-g", "graph", "--improve", "old", "-S", "pairs"], ["-f", "hosts", "-g", "graph", "--zippers", "none"],
             ["-f", "hosts", "-g", "graph", "--zippers", "0"], ["-f", "hosts", "-g", "graph", "--zippers", "17"],
             ["-f", "hosts", "-g", "graph", "-S", "keep"],
             ["-f", "hosts", "-g", "graph", "--rates", "speed:1"], ["-f", "hosts", "-g", "graph", "--effort", "0"]]:
    r = zipmap("map", *args)
    check(r.returncode == 2 and r.stderr.count("\n") == 1, "wrong usage: " + " ".join(args), r.stderr)

# --- with a network
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
NO_LATENCY = ["--rates", "inside:0 native:0 direct:0 bridged:0"]
check("#ZIP predicted time %.9f s" % (crossing / 2e6) in lines, "... the zippers are the slowest, and each has half", lines)
for option, parts in [("one", 1), ("1", 1), ("2", 2), ("all", 2)]:
    zipmap("-f", "hosts", "-g", "graph", "-o", "map", "-F", "fabric", "-S", "block", "--zippers", option, *NO_LATENCY)
    check("#ZIP predicted time %.9f s" % (crossing / parts / 1e6) in read()[1], "... with --zippers " + option, read()[1])

# one path to the first zipper, four to the second: a job sends the same over both, by whatever routing, a planned network by
# its paths, which the second then has to forward most of
write("hosts", "#ZIP cluster a\na0:1\n#ZIP cluster b\nb0:1\n"
      "#ZIP zipper near a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper far a=tcp:10.1.0.2 b=tcp:10.2.0.2\n")
write("fabric2", "part:a fattree down:2x2x2 up:1x2x2\npart:b crossbar node:3\nzipper:near a:1 b:1 forward:1000000\n"
      "zipper:far a:7 b:2 forward:1000000\n")
graph(2, [(0, 1, 100000)])
for option, routing, bytes in [("job", "SD", 50000), ("2", "SD", 50000), ("one", "SD", 100000), ("all", "SD", 80000), ("job", "AD", 50000)]:
    zipmap("-f", "hosts", "-g", "graph", "-o", "map", "-F", "fabric2", "--zippers", option, "-r", routing, *NO_LATENCY)
    time = [float(line.split()[3]) for line in read()[1] if line.startswith("#ZIP predicted time")]
    check(abs(time[0] - bytes / 1e6) < 1e-6, "a near zipper and a far one, --zippers %s, %s" % (option, routing), time)
write("hosts", "#ZIP cluster a\n" + "".join("a%d:1\n" % i for i in range(7)) + "#ZIP cluster b\nb0:1\nb1:1\nb2:1\n"
      "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper zop a=tcp:10.1.0.2 b=tcp:10.2.0.2\n")
graph(10, edges)
write("fabric", "part:a fattree down:2x2x2 up:1x2x2\npart:b " + dragonfly + "\nzipper:zop a:7 b:3\n")
r = zipmap("-f", "hosts", "-g", "graph", "-F", "fabric")
check("fabric: there is no zipper:zip, which forwards for the job by hosts" in r.stderr, "a zipper that the network lacks",
      r.stderr)

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

# --- pictures
hosts([3, 3], [3, 3], 3)
edges = hidden(15, chain(15), 2)
graph(15, edges)
where, lines, r = mapped()
r = zipmap("draw", "-f", "hosts", "-g", "graph", "-m", "map", "-o", "map.svg", "--title", "a <b> & c")
check(r.returncode == 0 and r.stdout + r.stderr == "", "a picture is drawn", r.stderr)
svg = xml.etree.ElementTree.parse("map.svg").getroot() if r.returncode == 0 else []
texts = [e.text for e in svg if e.tag.endswith("text")]
check("a <b> & c" in texts and all(name in texts for name in ["a0", "a1", "b0", "b1", "zip"]), "with title and nodes", texts)
check(sorted(int(t) for t in texts if t.isdigit()) == list(range(15)), "and each rank once", texts)
colours = [e.get("stroke") for e in svg if e.tag.endswith("line")]  # the legend has each once
check(colours.count("#cc3333") == 1 and colours.count("#2f9e57") > 1,
      "nothing is bridged, something direct: no red line, but green ones", colours)
zipmap("-f", "hosts", "-g", "graph", "-o", "block.map", "-S", "block", "-q")
zipmap("draw", "-f", "hosts", "-g", "graph", "-m", "block.map", "-o", "block.svg")
check(open("block.svg").read().count("#cc3333") > 1, "the block layout of the same has a red line")
for args, code in [(["-f", "hosts", "-g", "graph", "-m", "map"], 2), (["-f", "hosts", "-g", "graph", "-m", "none", "-o", "x"], 1)]:
    r = zipmap("draw", *args)
    check(r.returncode == code and r.stderr.count("\n") == 1, "draw refuses: " + " ".join(args), r.stderr)

print("1..%d" % count)
sys.exit(failed > 0)
