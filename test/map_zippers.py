#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map where there are several zippers: which forward, what each carries, and who reaches whom by them. TAP."""
import xml.etree.ElementTree

from map_fixture import bridged, chain, check, even, finish, graph, hidden, mapped, one_way, rails, read, THREE, write, zipmap


def used(lines):
    return [line.split()[3] for line in lines if line.startswith("#ZIP predicted zipper ")]


# a job uses all that serve all clusters with ranks
write("three", THREE)
graph(8, chain(8))
r = zipmap("-f", "three", "-g", "graph")
check(r.returncode == 1 and r.stderr == "zipmap map: three: no #ZIP zipper line serves all of the clusters a,b,c, and none "
      "the clusters that would have room for all ranks, and zipmap plans no job over several in a row (--zippers all predicts it)\n",
      "a job of three clusters that no zipper joins is refused", r.stderr)
# transit fabrics join zippers alone: no cluster is on them
text = "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\n#ZIP zipper z1 a=shm wan=shm lan=shm\n#ZIP zipper z2 wan=shm b=shm\n"
write("transit", text + "#ZIP zipper z3 lan=shm wan=shm\n")
r = zipmap("-f", "transit", "-g", "graph")
check(r.returncode == 1 and r.stderr == "zipmap map: transit: no #ZIP zipper line serves all of the clusters a,b, and none "
      "the clusters that would have room for all ranks, and zipmap plans no job over several in a row (--zippers all predicts it)\n",
      "nor one of two that a transit fabric joins", r.stderr)
r = zipmap("-f", "transit", "-g", "graph", "--zippers", "all")
check(r.returncode == 1 and "send to each other, and no zipper joins the two" in r.stderr, "and it is no way for predictions",
      r.stderr)
write("joined", text + "#ZIP zipper z3 a=shm b=shm lan=shm\n")
r = zipmap("-f", "joined", "-g", "graph", "-o", "map")
check(r.returncode == 0 and used(read()[1]) == ["z3"], "one that serves both is used, whatever else it is on", r.stderr)
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

finish()
