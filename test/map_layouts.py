#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: simple layouts to compare with, and old maps that are predicted or improved. TAP."""
import os
import re

from map_fixture import bridged, chain, check, finish, graph, grid, hidden, hosts, mapped, read, zipmap

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
graph(8, [(u, v, 1000000 if u == 3 else 2000000) for u, v, _ in chain(8)]) # of which the map puts a heavy one on a port
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
graph(20, chain(20))
where, lines, r = mapped("--strategy", "spread")
sizes = [sum(w[0] == node for w in where.values()) for node in set(w[0] for w in where.values())]
check(sorted(sizes) == [2] * 7 + [3] * 2, "... and none has two less than another", sizes)
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

finish()
