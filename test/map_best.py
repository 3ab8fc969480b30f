#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: graphs whose best map is known, under hidden numbers, and all maps of small graphs tried out. TAP."""
import itertools
import random

from map_fixture import bridged, chain, check, finish, graph, grid, hidden, hosts, mapped, read, THREE, write, zipmap


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


# name, edges, ranks, slots of a, of b, of the zipper node, least weight to be bridged
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
write("three", THREE)
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

# --- as heavy as weights may be, and as far as clusters may be: nothing overflows (UBSan sees it)
write("hosts", "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\n#ZIP cluster c\nc:4\n#ZIP zipper z b=tcp:10.1.0.1 c=tcp:10.2.0.1\n")
graph(8, hidden(8, [(i, i // 4 * 4 + (i + 1) % 4, 1 << 59) for i in range(8)], 1))
where, lines, r = mapped("--zippers", "all")
check("#ZIP predicted bridged 0 bytes 0 messages" in lines and not r.stderr, "two very heavy rings, and a cluster that nothing reaches",
      (lines[:1], r.stderr))

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

finish()
