#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""zipmap map: needed features, pinned ranks, forbidden and slow nodes; demands that are hard or cannot be met. TAP."""
from map_fixture import chain, check, finish, graph, hidden, hosts, mapped, write, zipmap

hosts([4, 4], [4, 4], 2, "#ZIP node a1,b[0-1] gpu=2\n")
graph(12, hidden(12, chain(12), 3))
where, lines, r = mapped("--need", "gpu:0-2,7", "--pin", "3:a0", "--pin", "4-5:zip", "--forbid", "b1")
check(where and all(where[v][0] in ("a1", "b0") for v in (0, 1, 2, 7)), "ranks that need a GPU are where one is", r.stderr)
check(where and where[3][0] == "a0" and where[4][0] == where[5][0] == "zip", "pinned ranks are where they belong", where)
check(where and not any(w[0] == "b1" for w in where.values()), "a forbidden node has no ranks", where)
users = [w[0] for v, w in (where or {}).items() if v in (0, 1, 2, 7)]
check(max(users.count(x) for x in set(users)) <= 2, "no more of them on a node than it can take", users)
hosts([1500, 1500], [8])
graph(2500, chain(2500))
even = range(0, 2500, 2)
where, lines, r = mapped("-S", "block", "--pin", ",".join(map(str, even)) + ":a1") # 5,694 characters
check(where and all(where[v][0] == "a1" for v in even), "more than a thousand pinned ranks", r.stderr[:200])
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
# a map that is only predicted
write("old", "0-3 a0\n4-6 a1\n7 a2\n8-11 b0\n")
for args, text in [(["--forbid", "a1"], "old: rank 4 is on a1, which takes no ranks"), (["--pin", "8:a2"], "old: rank 8 is on b0, and pinned to a2"),
                   (["--need", "gpu:0"], "old: rank 0 needs gpu, which a0 does not have"),
                   (["--need", "gpu:4-6"], "old: rank 6 needs gpu, which a1 does not have for so many"),
                   (["--forbid", "zip", "--pin", "4-6:a1", "--need", "gpu:8,9,4"], None)]:
    r = zipmap("-f", "hosts", "-g", "graph", "--improve", "old", "-S", "keep", *args)
    check(r.stderr == "zipmap map: %s\n" % text if text else r.returncode == 0, "keep: " + " ".join(args), r.stderr)
# ... on cores that zipperd has
RESERVED = "old: rank 7 is one too many for zip, which has 3 cores beside those of zipperd"
write("old", "0-1 a0\n2-3 b0\n4-7 zip\n")
graph(8, chain(8))
for line, args, text in [("", ["--reserve", "1"], RESERVED), (" reserve=1", [], RESERVED), (" reserve=0", ["--reserve", "1"], None),
                         ("", ["--reserve", "4"], "old: rank 4 is on zip, which takes no ranks"), ("", ["--reserve", "0"], None), ("", [], None)]:
    hosts([4], [4], 4, "#ZIP node zip cores=4%s\n" % line)
    r = zipmap("-f", "hosts", "-g", "graph", "--improve", "old", "-S", "keep", *args)
    check(r.stderr == "zipmap map: %s\n" % text if text else r.returncode == 0, "keep:%s %s" % (line, " ".join(args)), r.stderr)

# demands that are hard to meet: ranks that need both features find few nodes; single moves do not meet another demand
JOINED = "#ZIP zipper zip a=tcp:10.1.0.1 b=tcp:10.2.0.1\n"
HARD = [
    ("#ZIP cluster a\na0:2\na1:3\n#ZIP cluster b\nb0:1\n" + JOINED + "#ZIP node a0,b0 gpu=2 big=1\n#ZIP node a1 gpu=1 big\n",
     [(0, 4, 9), (1, 5, 5), (2, 1, 1), (3, 0, 2), (3, 1, 1), (5, 0, 1000), (5, 4, 9)], 6, {"gpu": (1, 4, 5), "big": (0, 4, 5)}, [],
     {"a0": {"gpu": 2, "big": 1}, "a1": {"gpu": 1, "big": 9}, "b0": {"gpu": 2, "big": 1}}),
    ("#ZIP cluster a\na0:2\n#ZIP cluster b\nb0:3\nb1:3\nzip:2\n" + JOINED +
     "#ZIP node a0 gpu=1 big\n#ZIP node b0 gpu=1 big=2\n#ZIP node b1 gpu=1 big=1\n#ZIP node zip big=2\n",
     [(0, 2, 6), (0, 3, 1000), (1, 3, 7), (1, 4, 2), (1, 6, 5), (2, 3, 9), (2, 5, 9), (2, 6, 9), (3, 4, 5), (3, 5, 2), (3, 6, 9),
      (4, 5, 9), (4, 6, 9), (5, 6, 9)], 7, {"gpu": (1, 3), "big": (0, 2, 3, 5)}, ["-S", "spread"],
     {"a0": {"gpu": 1, "big": 9}, "b0": {"gpu": 1, "big": 2}, "b1": {"gpu": 1, "big": 1}, "zip": {"big": 2}}),
    # the first search finds no map for this demand
    ("#ZIP cluster a\na0:3\na2:3\na4:3\n#ZIP cluster b\nb1:2\nb3:4\nb5:2\n" + JOINED +
     "#ZIP node a0 gpu=1\n#ZIP node b1,b5 gpu=1 big=1 ssd=1\n#ZIP node a2 gpu=1 big=2 ssd=1\n#ZIP node b3 gpu=2 big=2 ssd=1\n"
     "#ZIP node a4 gpu=3 big=2 ssd=1\n", [(1, 0, 1), (3, 0, 8), (8, 1, 8)], 17,
     {"gpu": (2, 4, 5, 6, 8, 9, 10, 13, 15), "big": (0, 1, 2, 3, 5, 7, 10, 15), "ssd": (2, 3, 6, 12, 13)}, ["--effort", "20"],
     {"a0": {"gpu": 1}, "b1": {"gpu": 1, "big": 1, "ssd": 1}, "a2": {"gpu": 1, "big": 2, "ssd": 1}, "b3": {"gpu": 2, "big": 2, "ssd": 1},
      "a4": {"gpu": 3, "big": 2, "ssd": 1}, "b5": {"gpu": 1, "big": 1, "ssd": 1}}),
]
for text, edges, n, needs, args, limits in HARD:
    write("hosts", text)
    graph(n, edges)
    demands = [word for f in needs for word in ("--need", f + ":" + ",".join(map(str, needs[f])))]
    where, lines, r = mapped(*args, *demands)
    given = {(node, f): sum(where[v][0] == node for v in needs[f]) for node in limits for f in needs} if where else {}
    check(given and all(given[node, f] <= limits[node].get(f, 0) for node, f in given), "met: " + " ".join(args + demands), r.stderr or given)

finish()
