#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map with several zippers: those that forward, the load of each, and the ranks that reach each other directly. TAP."""
import xml.etree.ElementTree

from map_fixture import bridged, chain, check, even, finish, graph, hidden, mapped, one_way, rails, read, THREE, write, zipmap


def used(lines):
    return [line.split()[3] for line in lines if line.startswith("#ZIP predicted zipper ")]


# a job uses all zippers that serve all clusters with ranks
write("three", THREE)
graph(8, chain(8))
r = zipmap("-f", "three", "-g", "graph")
check(r.returncode == 0 and "bridged messages go through one or more of the zippers z, y\n" in r.stdout,
      "a job of three clusters that no zipper joins goes over two in a row", r.stderr or r.stdout)
r = zipmap("-f", "three", "-g", "graph", "--zippers", "1")
check(r.returncode == 1 and r.stderr == "zipmap map: three: no #ZIP zipper line serves all of the clusters a,b,c, and none "
      "join clusters that have room for all ranks\n", "but not with --zippers 1, as zmpirun --rails 1 does not", r.stderr)
write("loose", THREE.replace("b=tcp:10.2.0.2", "d=tcp:10.4.0.1").replace("c:2\n", "c:2\n#ZIP cluster d\nd:1\n"))
r = zipmap("-f", "loose", "-g", "graph")
check(r.returncode == 1 and r.stderr == "zipmap map: loose: no #ZIP zipper lines join the clusters a,b,c,d, and none "
      "join clusters that have room for all ranks\n", "two pairs of clusters that no way joins", r.stderr)
# transit fabrics join zippers alone: no cluster is on them
text = "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\n#ZIP zipper z1 a=shm wan=shm lan=shm\n#ZIP zipper z2 wan=shm b=shm\n"
write("transit", text + "#ZIP zipper z3 lan=shm wan=shm\n")
for option in ("job", "all"):
    r = zipmap("-f", "transit", "-g", "graph", "-o", "map", "--zippers", option)
    where, lines = read()
    carried = {zipper: {way: n for way, n in ways if n} for zipper, ways in rails(lines).items()}
    both = {"z1": ("a>wan", "wan>a"), "z2": ("wan>b", "b>wan")}
    check(r.returncode == 0 and {z: set(carried[z]) for z in carried if carried[z]} == {z: set(both[z]) for z in both} and
          len({n for z in both for n in carried[z].values()}) == 1, "two clusters that a transit fabric joins: --zippers " + option,
          r.stderr or carried)
    check(any(line.endswith(" 2 forwards 0.000010000 s") for line in lines), "... each message is forwarded twice", lines)
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
      "bridged messages are spread over the zippers z1, z2, z3\n" in r.stdout, "two clusters: the same over all three that serve them",
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
      "join clusters that have room for all ranks\n",
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
# z1 and z2 stand between the clusters: red is the line from z1 to the network of a, which is behind it, not to that of c below;
# the same of z2 and b, and both of z3, which forwards
write("old", "0 z1\n1 z2\n2 b\n")
zipmap("draw", "-f", "apart", "-g", "graph", "-m", "old", "-o", "apart.svg")
lines = [e for e in xml.etree.ElementTree.parse("apart.svg").getroot() if e.tag.endswith("line")]
bars = sorted((float(e.get("x1")), float(e.get("y1")), float(e.get("y2"))) for e in lines if e.get("stroke-width") == "5")
red = [(float(e.get("x1")), float(e.get("y1"))) for e in lines if e.get("stroke") == "#cc3333"][:-1]
on = [k for x, y in red for k, bar in enumerate(bars) if abs(x - bar[0]) < 6 and bar[1] <= y <= bar[2]]
check(len(bars) == 3 and len(red) == 4 and sorted(on) == [0, 0, 2, 2], "... and the picture has that at the ports of a and b",
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
for options, rc in [((), 0), (("--zippers", "all"), 0), (("--zippers", "1"), 1)]:
    r = zipmap("draw", "-f", "row", "-g", "graph", "-m", "map", "-o", "map.svg", *options)
    check(r.returncode == rc and (not rc or "serves all of the clusters a,c" in r.stderr),
          "a map over a network where no ranks are is drawn where it can be run: " + (" ".join(options) or "--zippers job"), r.stderr)

# a row of three clusters: a rank that sends much to both others is in the middle; light messages are forwarded twice
write("row", "".join("#ZIP cluster %s\n%s:4\n" % (c, c) for c in "abc") +
      "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 b=tcp:10.2.0.2 c=tcp:10.3.0.1\n")
cliques = [(i, j, 1000) for i in range(12) for j in range(i) if i // 4 == j // 4]
edges = hidden(12, cliques + [(0, 4, 50), (1, 8, 70), (5, 9, 3)], 4)
graph(12, edges)
where, lines, r = mapped("-f", "row")
names = [v for e in hidden(12, [(i, i, 0) for i in range(12)], 4) for v in e[:1]]
check([where[names[i]][0] for i in range(4)] == ["b"] * 4, "the group in the middle of a row", where)
to, from_ = ("a", "c") if where[names[4]][0] == "a" else ("c", "a")
carried = {(z, way): n for z in ("z1", "z2") for way, n in rails(lines)[z]}
check(carried == {("z1", "a>b"): 53 if to == "a" else 73, ("z1", "b>a"): 53 if to == "a" else 73,
                  ("z2", "b>c"): 73 if to == "a" else 53, ("z2", "c>b"): 73 if to == "a" else 53},
      "... and each direction of both zippers", carried)

# a ring of three clusters and zippers: two of them forward once between any two clusters, as zmpirun has it
write("ring", "".join("#ZIP cluster %s\n%s:4\n" % (c, c) for c in "abc") +
      "#ZIP zipper z1 a=tcp:10.1.0.1 b=tcp:10.2.0.1\n#ZIP zipper z2 b=tcp:10.2.0.2 c=tcp:10.3.0.1\n"
      "#ZIP zipper z3 c=tcp:10.3.0.3 a=tcp:10.1.0.3\n")
where, lines, r = mapped("-f", "ring")
check({z: {way for way, n in ways if n} for z, ways in rails(lines).items()} ==
      {"z1": {"a>b", "b>a"}, "z2": {"b>c", "c>b"}, "z3": {"c>a", "a>c"}} and
      all(" 1 forwards " in line for line in lines if line.startswith("#ZIP crossing")), "a ring of three", lines)
# two sites with two zippers each: equally short ways share the load
write("sites", "#ZIP cluster a\na:2\n#ZIP cluster b\nb:2\n" + "".join(
    "#ZIP zipper z%d a=tcp:10.1.0.%d wan=tcp:10.9.0.%d\n#ZIP zipper y%d wan=tcp:10.9.1.%d b=tcp:10.2.0.%d\n" % (i, i, i, i, i, i)
    for i in (1, 2)))
graph(4, [(0, 1, 999), (2, 3, 999), (0, 2, 100)])
where, lines, r = mapped("-f", "sites")
sums = {z: sum(n for way, n in ways) for z, ways in rails(lines).items()}
check(sorted(sums) == ["y1", "y2", "z1", "z2"] and sums["z1"] + sums["z2"] == sums["y1"] + sums["y2"] == 200 and min(sums.values()) > 0,
      "two sites with two zippers each", sums)

finish()
