#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: the predicted time, added up by hand and against the network model. TAP."""
import random

from map_fixture import check, finish, graph, hosts, read, write, zipmap

NO_LATENCY = "inside:0 native:0 direct:0 bridged:0 "
M = 1 << 20


def time(*args, rates=NO_LATENCY, name="hosts"):
    """The predicted seconds, and the busiest port or link."""
    r = zipmap("-f", name, "-g", "graph", "-o", "out", "--rates", rates, *args)
    said = [line for line in r.stdout.splitlines() if line.startswith("time: ")]
    found = [float(line.split()[3]) for line in read("out")[1] if line.startswith("#ZIP predicted time")] if not r.returncode else []
    return (found[0], said[0].split(" for the ")[-1]) if said and found else (-1, r.stderr)


def close(found, seconds, where=None):
    """Are the numbers equal to a nanosecond, the unit of the map's line, or to a millionth?"""
    return abs(found[0] - seconds) < 1e-9 + 1e-6 * seconds and where in (None, found[1])


def cluster(name, nodes):
    return "#ZIP cluster %s\n" % name + "".join("%s%d:1\n" % (name, i) for i in range(nodes))


def zipper(name, ports, i=1):
    return "#ZIP zipper %s %s\n" % (name, " ".join("%s=tcp:10.%d.0.%d" % (p, ord(p[0]), i) for p in ports))


# a ring over two clusters: two ranks on the zipper node, one port to each, or bridged
write("hosts", "#ZIP cluster a\na:4\n#ZIP cluster b\nb:4\nz:2\n" + zipper("z", "ab"))
graph(8, [(i, (i + 1) % 8, 40000000) for i in range(8)])
write("cut", "0-2 a\n3 z\n4-6 b\n7 z\n")
write("pairs", "0-3 a\n4-7 b\n")
fabric = "part:a crossbar node:2 bandwidth:12M; part:b crossbar node:2 bandwidth:12M; zipper:z a:1 b:1 port:12M forward:12M"
for map in ("cut", "pairs"):
    keep = ("-S", "keep", "--improve", map)
    found = time(*keep, rates=NO_LATENCY + "bandwidth:12M forward:12M"), time("-F", fabric, *keep)
    check(all(close(t, 80e6 / (12 * M)) for t in found), "a ring, %s: the same with a network and without" % map, found)
r = zipmap("-f", "hosts", "-g", "graph", "--rates", "bandwidth:12M forward:12M")
check(r.returncode == 0 and "fastest goes by that" not in r.stdout, "... and pairs is not said to be faster", r.stdout)

# rails that share the zipper's ports
write("hosts", "".join(cluster(c, 8) for c in "abcd") + zipper("z", "abcd"))
graph(32, [(i, j, 10000000) for i in range(32) for j in range(i)])
fabric = "".join("part:%s crossbar node:9 bandwidth:4G\n" % c for c in "abcd") + "zipper:z a:8 b:8 c:8 d:8 port:4G forward:4G\n"
found = time("-S", "block", rates=NO_LATENCY + "bandwidth:4G forward:4G"), time("-S", "block", "-F", fabric)
check(all(close(t, 3 * 64 * 1e7 / (4 << 30)) for t in found) and found[0][1] == "port of z to a", "three rails leave by a port",
      found)
graph(32, [(i, j, 10000000) for i in range(32) for j in range(i) if i // 8 == j // 8 or i - j == 8])
found = time("-S", "block", rates=NO_LATENCY + "bandwidth:4G forward:1G")
check(close(found, 8e7 / (1 << 30), "z a>b"), "... and a rail may need longer", found)

# messages that a rank receives count like those that it sends
write("hosts", cluster("a", 64))
for u, v in ((0, 1), (1, 0)):
    edges = "".join("%d %d 8\n" % (((i, 1), (1, i))[u]) for i in range(2, 65))
    write("graph", "%%MatrixMarket matrix coordinate integer general\n64 64 63\n" + edges)
    found = time("-S", "block", rates="native:1500 bandwidth:8M")
    check(close(found, 63 * 1.5e-6 + 63 * 8 / (8 * M), "port of a0"), "63 ranks and one: %s" % ("to it", "from it")[u], found)

# ... also those over hops: each forward takes its time, at the receiver as at the sender
write("hosts", cluster("a", 4) + cluster("b", 1) + cluster("c", 4) + zipper("y", "ab") + zipper("z", "bc", 2))
for name, ends in (("to", lambda i: (i, 9)), ("from", lambda i: (9, i))):
    edges = "".join("%d %d 8\n" % ends(i) for i in range(1, 5))
    write("graph", "%%MatrixMarket matrix coordinate integer general\n9 9 4\n" + edges)
    found = time("-S", "block", rates="inside:0 native:0 direct:0 bridged:5000 bandwidth:8M forward:8M")
    check(close(found, 4 * 2 * 5e-6 + 4 * 8 / (8 * M)), "four ranks and one over two zippers: %s it" % name, found)

# a network that says nothing of the nodes' own links; two nodes of its routers
write("hosts", cluster("a", 64))
graph(64, [(i, i + 1, 1000000) for i in range(0, 64, 2)])
dragonfly = "dragonfly group:4 chassis:2 router:2 node:4 core:1"
for text, rates, seconds in ((dragonfly, "", 1e6 / (5120 * M)), (dragonfly, "bandwidth:1M", 1e6 / M),
                             (dragonfly + " injection:10240M", "", 1e6 / (10240 * M)), ("crossbar node:64 bandwidth:10240M", "", 1e6 / (10240 * M)),
                             ("crossbar node:64 bandwidth:10240M", "bandwidth:1G", 1e6 / (1024 * M)), ("torus:8x8", "bandwidth:1M", 1e6 / M)):
    found = time("-S", "block", "-F", text, rates=NO_LATENCY + rates)
    check(close(found, seconds), "with -F '%s' and '%s'" % (text, rates), found)

found = time("-S", "block", "-F", "crossbar node:64 bandwidth:10240M", "--rates", NO_LATENCY, rates="bandwidth:1M")
check(close(found, 1e6 / M), "a second --rates leaves told what the first one told", found)

# ... and ports of a zipper in the network, whether the zipper could have ranks or not
graph(16, [(i, 8 + i, 500000000) for i in range(8)])
write("map", "".join("%d a%d\n%d b%d\n" % (i, i, 8 + i, i) for i in range(8)))
fabric = "part:a torus:9 bandwidth:102400M; part:b torus:9 bandwidth:102400M; zipper:z a:8 b:8 port:20480M forward:20480M"
for host in ("", "z:2\n"):
    write("hosts", cluster("a", 8) + cluster("b", 8) + host + zipper("z", "ab"))
    found = time("-S", "keep", "--improve", "map", "-F", fabric)
    check(close(found, 4e9 / (20480 * M)), "a zipper of two tori, with the host line '%s'" % host.strip(), found)

# two zipper nodes with two networks in common: the first of the one with the lower rank
write("hosts", "#ZIP cluster a\na:2\nz1:2\n#ZIP cluster b\nb:2\nz2:2\n" + zipper("z1", "ba") + zipper("z2", "ab", 2))
graph(2, [(0, 1, 1000000)])
for first, port in ((1, "port of z2 to b"), (2, "port of z1 to a")):
    write("map", "%d z1 a\n%d z2 b\n" % (first - 1, 2 - first))
    found = time("-S", "keep", "--improve", "map", rates=NO_LATENCY + "bandwidth:1M")
    check(close(found, 1e6 / M, port), "direct between two zipper nodes, of which z%d has the lower rank" % first, found)

# a zipper without a host line, and one that is on a network between zippers, have ports as well
write("hosts", cluster("a", 4) + cluster("b", 4) + zipper("y", ["a", "wan"]) + zipper("z", ["wan", "b"]))
graph(8, [(i, 4 + j, 1000000) for i in range(4) for j in range(4)])
found = time("-S", "block", rates=NO_LATENCY + "bandwidth:8M forward:800M")
check(close(found, 16e6 / (8 * M), "port of y to a"), "zippers without ranks have ports", found)
# two zippers of one host: on the same adapters, and on others
for second, ports in ((1, 1), (2, 2)):
    write("hosts", cluster("a", 4) + cluster("b", 4) + zipper("z", "ab") + zipper("z", "ab", second))
    found = time("-S", "block", rates=NO_LATENCY + "bandwidth:8M forward:8M")
    check(close(found, 16e6 / ports / (8 * M), ("z a>b", "port of z to a")[ports == 1]), "two zippers on %d adapters" % ports, found)
# ... and a rank on their host: its messages through either zipper, to a third cluster, pass the adapters of neither
write("hosts", cluster("a", 2) + "#ZIP cluster b\nb:1\ny:1\n#ZIP cluster c\nc:2\n" + zipper("y", "ab") + zipper("y", "ab", 2) +
      zipper("z", "bc", 9))
write("map", "0 y a\n1 a0\n2 a1\n3-4 c\n")
graph(5, [(0, 1, 9000000), (0, 3, 3000000), (2, 4, 3000000)])
found = time("-S", "keep", "--improve", "map", rates=NO_LATENCY + "bandwidth:8M forward:800M")
check(close(found, 11e6 / (8 * M), "port of y to a"), "what a rank sends through zippers of its own node passes no adapter there", found)

# a map that is kept, although its job is not the one that would be chosen: cluster a alone has room for all
write("hosts", "#ZIP cluster a\na:20\n#ZIP cluster b\nb:2\nz:2\n#ZIP cluster c\nc0:1\nc1:3\n" + zipper("y", "ab") + zipper("z", "bc", 2))
write("map", "0 c0\n1 c1\n2-3 z c\n4-5 b\n")
graph(6, [(0, 2, 1000000), (1, 3, 1000000)])
found = time("-S", "keep", "--improve", "map", rates=NO_LATENCY + "bandwidth:1M")
check(close(found, 2e6 / M, "port of z to c"), "keep: the ports of the map's own job", found)
r = zipmap("-f", "hosts", "-g", "graph", "-S", "keep", "--improve", "map")
check("\nno ranks in cluster a\n" in r.stdout, "... and the clusters that it has no ranks in", r.stdout)

# drawn: the same as by the model
for seed in range(12):
    rng = random.Random(seed)
    names = "abcd"[:rng.randint(2, 4)]
    sizes = [rng.randint(1, 4) for _ in names]
    slots = rng.randint(1, 5)
    text = "".join(cluster(c, n) for c, n in zip(names, sizes)) + "z:%d\n" % slots
    write("hosts", text + zipper("z", names) + zipper("y", names, 2))
    places = ["%s%d" % (c, i) for c, n in zip(names, sizes) for i in range(n)] + ["z"] * slots
    rng.shuffle(places)
    n = len(places)
    write("map", "".join("%d %s\n" % (i, p + " " + rng.choice(names) if p == "z" else p) for i, p in enumerate(places)))
    graph(n, [(i, j, 2 * rng.randint(1, 1000000)) for i in range(n) for j in range(i) if rng.random() < 0.4] + [(n - 1, 0, 2)])
    fabric = "".join("part:%s crossbar node:%d bandwidth:8M\n" % (c, k + 2) for c, k in zip(names, sizes)) + "".join(
        "zipper:%s %s port:8M forward:8M\n" % (z, " ".join("%s:%d" % (c, k + i) for c, k in zip(names, sizes)))
        for i, z in enumerate("zy"))
    keep = ("-S", "keep", "--improve", "map")
    found = time(*keep, rates=NO_LATENCY + "bandwidth:8M forward:8M"), time(*keep, "-F", fabric)
    check(found[0][0] > 0 and close(found[0], found[1][0]), "drawn %d: ports as the model has them" % seed, found)

# a row of three clusters: messages of ranks on a zipper node that the zipper bridges leave by one port
for seed in range(6):
    rng = random.Random(seed)
    write("hosts", cluster("a", 3) + cluster("b", 2) + "y:3\n" + cluster("c", 3) + "z:2\n" + zipper("y", "ab") + zipper("z", "bc", 2))
    places = ["a0", "a1", "a2", "b0", "b1", "c0", "c1", "c2"] + ["y " + rng.choice("ab") for _ in range(3)] + \
        ["z " + rng.choice("bc") for _ in range(2)]
    rng.shuffle(places)
    write("map", "".join("%d %s\n" % place for place in enumerate(places)))
    graph(13, [(i, j, 2 * rng.randint(1, 1000000)) for i in range(13) for j in range(i) if rng.random() < 0.3] + [(12, 0, 2)])
    fabric = "".join("part:%s crossbar node:5 bandwidth:8M\n" % c for c in "abc") + \
        "zipper:y a:3 b:3 port:8M forward:800M; zipper:z b:4 c:4 port:8M forward:800M\n"
    found = time(*keep, rates=NO_LATENCY + "bandwidth:8M forward:800M"), time(*keep, "-F", fabric)
    check(found[0][0] > 0 and close(found[0], found[1][0]), "drawn %d: a row of clusters, as the model has it" % seed, found)

finish()
