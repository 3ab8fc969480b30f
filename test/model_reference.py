#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An independent, slow model of the machines in model_machines.py (dragonflies, megaflies, fat trees, Slim Flies, HyperX
networks, tori and graphs from files). It writes down every path by searching the graph (on a torus by walking), and
iterates as the paper's section III says, in plain floating point. "zipmap model" must give the same load of every link on random small machines. Only the random numbers are shared (their definition is
in mapper/base/rng.h), so that AI, AH and AL draw the same paths. Several ranks sit at a router: each of their messages draws
paths of its own. TAP."""
import csv
import itertools
import os
import random
import re
import subprocess
import sys
import tempfile

from model_machines import FatTree, Graph, HyperX, Machine, Megafly, SlimFly, Torus

ZIPMAP = os.path.join(os.environ["ZIP_TOP_BUILDDIR"], "mapper", "zipmap")
MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
BANDWIDTH = 1000.0
NEXT = 0xD1342543DE82EF95  # between the messages of a pair of routers
RANKS = 3  # at a router


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def random_at(seed, stream, a, b):
    x = mix(seed + stream * GOLDEN & MASK)
    return mix(mix(x + a & MASK) + b * GOLDEN & MASK)


def add(load, path, value):
    for link in path:
        load[link] = load.get(link, 0) + value


def static_direct(m, messages):
    load = {}
    for s, d, b, _ in messages:
        paths = m.direct(s, d)
        for p in paths:
            add(load, p, b / len(paths))
    return load


def deterministic(m, messages):
    load = {}
    for s, d, b, _ in messages:
        paths = m.direct(s, d)
        add(load, m.single(s, d) if hasattr(m, "single") else paths[m.routers.index(d) % len(paths)], b)
    return load


def split(load, paths, b):
    """At each router evenly over the links that lead on."""
    for link in {p[0] for p in paths if p}:
        share = b / len({p[0] for p in paths})
        add(load, [link], share)
        split(load, [p[1:] for p in paths if p[0] == link], share)


def multipath(m, messages):
    load = {}
    for s, d, b, _ in messages:
        split(load, m.direct(s, d), b)
    return load


def static_indirect(m, messages, rule):
    load = {}

    def both(s, i, d, b):
        for x, y in [(s, i), (i, d)]:
            paths = m.direct(x, y)
            for p in paths:
                add(load, p, b / len(paths))

    for s, d, b, _ in messages:
        if isinstance(m, FatTree):
            paths = m.indirect(s, d)
            for p in paths:
                add(load, p, b / len(paths))
        elif rule == "paper":
            for i in m.routers:
                both(s, i, d, b / len(m.routers))
        elif s[0] == d[0]:
            near = [r for r in m.routers if r[0] == s[0]]
            for i in near:
                both(s, i, d, b / len(near))
        else:
            for g in range(m.groups):
                there = [r for r in m.routers if r[0] == g]
                if g in (s[0], d[0]):
                    both(s, d, d, b / m.groups)
                else:
                    for i in there:
                        both(s, i, d, b / m.groups / len(there))
    return load


def adaptive(m, pairs, routing, seed, exposure, iterations, drawing):
    """pairs: (source, destination, bytes, messages). Up to `drawing` messages of a pair draw paths of their own. AL looks
    at the first router's own link alone; in a fat tree the link of the node comes before."""
    own = isinstance(m, FatTree)

    def seen(path):
        return path[own:own + 1] if routing == "AL" else path

    messages = [(s, d, b / min(n, drawing), k) for s, d, b, n in pairs for k in range(min(n, drawing))]
    number = {r: i for i, r in enumerate(m.routers)}
    left = {}
    got = [[] for _ in messages]
    if routing == "AD":
        exposure = 1
    for it in range(iterations):
        key = random_at(seed, 3, 0, 0 if routing == "AD" else it)
        asked, requests = {}, []
        for n, (s, d, b, k) in enumerate(messages):
            paths = []
            bits = mix((key ^ (number[s] << 32 | number[d])) + k * NEXT & MASK)
            if routing != "AI":
                direct = m.direct(s, d)
                want = 16 if routing == "AD" else 2
                if len(direct) <= want:
                    paths = list(direct)
                else:
                    k = ((bits & 0xFFFFFFFF) * len(direct)) >> 32
                    step = 1 + (((bits >> 32) * ((len(direct) - 1) // (want - 1))) >> 32)
                    paths = [direct[(k + i * step) % len(direct)] for i in range(want)]
            while routing != "AD" and len(paths) < 4:
                bits = mix(bits + GOLDEN & MASK)
                paths.append(m.drawn(s, d, bits))
            for k in itertools.chain(*paths):
                left.setdefault(k, BANDWIDTH / exposure)
            least = [min(left[k] for k in seen(p)) for p in paths]
            least = [x if x > 2e-6 * BANDWIDTH else 0 for x in least]
            for p, x in zip(paths, least):
                if x:
                    requests.append((n, p, b * x / sum(least)))
                    add(asked, p, requests[-1][2])
        given = {}
        for n, p, w in requests:
            a = w * min(left[k] / asked[k] for k in seen(p))
            got[n].append((p, a))
            add(given, p, a)
        for k in left:
            left[k] = max(0, left[k] - given.get(k, 0))
            if it + 1 < exposure:
                left[k] += BANDWIDTH / exposure
        for k in asked:
            assert routing == "AL" or given.get(k, 0) <= BANDWIDTH * (1 + 1e-12)
        if it + 1 < exposure:  # links that no message has requested yet
            for k in m.links():
                left.setdefault(k, BANDWIDTH / exposure * (it + 2))
    load = {}
    for n, (s, d, b, _) in enumerate(messages):
        total = sum(a for _, a in got[n])
        for p, a in got[n]:
            add(load, p, b * a / total)
    return load


def random_case(rng):
    lanes = rng.choice([1, 1, 1, 2])
    m = Machine(rng.randint(2, 6), rng.randint(1, 3), rng.randint(1, 4), lanes,
                rng.choice(["modulo", "consecutive", "circulant", "round-robin"]))
    return m, messages_of(m, rng)


def random_torus(rng):
    m = Torus([rng.choice([1, 2, 3, 4, 5])] + [rng.randint(2, 5) for _ in range(rng.randint(0, 2))])
    return m, messages_of(m, rng)


def random_hyperx(rng):
    m = HyperX([rng.randint(1, 4)] + [rng.randint(2, 4) for _ in range(rng.randint(0, 2))])
    return m, messages_of(m, rng)


def random_megafly(rng):
    m = Megafly(rng.randint(1, 6), rng.randint(2, 4), rng.randint(1, 4), rng.choice([1, 1, 2, 3]))
    return m, messages_of(m, rng)


def random_fattree(rng):
    levels = rng.randint(1, 3)
    m = FatTree([rng.randint(2, 3) for _ in range(levels)],
                [rng.choice([1, 1, 2])] + [rng.randint(1, 4 if levels == 3 else 18) for _ in range(levels - 1)])
    return m, messages_of(m, rng)


SLIMFLIES = itertools.cycle([5, 4, 7, 9, 8, 3])  # delta is 1, 0, -1, 1, 0, -1


def random_slimfly(rng):
    m = SlimFly(next(SLIMFLIES))
    return m, messages_of(m, rng)


def random_graph(rng):
    n = rng.randint(5, 14)
    ends = rng.randint(3, n)
    order = rng.sample(range(n), n)
    pairs = {tuple(sorted((order[i], order[rng.randrange(i)]))) for i in range(1, n)}  # a tree, and more
    pairs |= {tuple(sorted(rng.sample(range(n), 2))) for _ in range(rng.randint(n // 2, 2 * n))}
    cables = [pair[::rng.choice([1, -1])] + (rng.choice([1, 1, 1, 2, 3]),) for pair in sorted(pairs)]
    m = Graph(n, ends, rng.sample(cables, len(cables)), os.path.join(FOLDER[0], "graph"))
    return m, messages_of(m, rng)


FOLDER = []


def messages_of(m, rng):
    # dense enough that links fill up: each router to a few others, very different sizes
    messages = {}
    for s in m.routers:
        for d in rng.sample(m.routers, min(len(m.routers), 4)):
            if s != d:
                n = rng.choice([1, 1, 2, 5, RANKS * RANKS])
                messages[s, d] = rng.choice([1, 10, 100]) * rng.randint(100, 999) // n * n, n
    return [(s, d, b, n) for (s, d), (b, n) in sorted(messages.items())]


def zipmap_loads(m, messages, routing, rule, extra, folder):
    number = {r: i * RANKS + 1 for i, r in enumerate(m.routers)}
    ranks = [(i, j) for i in range(RANKS) for j in range(RANKS)]
    matrix, links = os.path.join(folder, "m.mtx"), os.path.join(folder, "links.csv")
    with open(matrix, "w") as f:
        f.write("%%%%MatrixMarket matrix coordinate integer general\n%d %d %d\n" %
                (RANKS * len(number), RANKS * len(number), sum(n for _, _, _, n in messages)))
        for s, d, b, n in messages:
            for i, j in ranks[:n]:
                f.write("%d %d %d\n" % (number[s] + i, number[d] + j, b // n))
    network = m.describe() + getattr(m, "nodes", " node:1") + " core:%d bandwidth:1000" % RANKS + (" intermediate:release" if rule == "release" else "")
    out = subprocess.run([ZIPMAP, "model", "-q", "-n", network, "-j", "graph:" + matrix, "-p", "LIN", "-r", routing,
                          "--links", links] + extra, check=True, stdout=subprocess.PIPE, text=True).stdout
    limit = re.search(r"paths are drawn for up to (\d+) messages of a pair", out)
    loads = {r["link"]: float(r["bytes"]) for r in csv.DictReader(open(links))}
    return loads, int(limit.group(1)) if limit else RANKS * RANKS


def compare(m, expected, found, tolerance):
    names = {m.name(k): v for k, v in expected.items()}
    unknown = set(names) - set(found)
    if unknown:
        return "no link " + unknown.pop()
    top = max(names.values(), default=1)
    for name, v in found.items():
        if abs(v - names.get(name, 0)) > tolerance * top:
            return "%s: %g, expected %g" % (name, v, names.get(name, 0))
    return None


def main():
    rng = random.Random(20140516)
    cases = int(os.environ.get("ZIP_MODEL_CASES", "12"))
    count = failed = 0
    limits = set()
    with tempfile.TemporaryDirectory() as folder:
        FOLDER.append(folder)
        others = [random_torus, random_hyperx, random_megafly, random_fattree, random_slimfly, random_graph]
        machines = [random_case] * cases + [make for make in others for _ in range(cases // 2)]
        for case, machine in enumerate(machines):
            m, messages = machine(rng)
            shape = "%s, %d messages" % (m.describe(), len(messages))
            if not messages:
                continue
            effort = ["--exposure", "5", "--iterations", "9", "--patience", "1000", "-s", "7"]
            # in every third case the limit of work lets fewer messages draw paths
            effort += ["--work", str(4 * (len(messages) + 1) * 2)] if case % 3 == 2 else []
            runs = [("SD", "paper"), ("SI", "paper"), ("AD", "paper"), ("DET", "paper")]
            runs += [("ECMP", "paper")] if m.lanes == 1 and getattr(m, "bundle", 1) == 1 else []
            if m.lanes == 1:
                runs += [("SI", "release")] * isinstance(m, Machine) + [("AI", "paper"), ("AH", "paper"), ("AL", "paper")]
            for routing, rule in runs:
                found, drawing = zipmap_loads(m, messages, routing, rule, effort, folder)
                if routing == "SD":
                    expected, tolerance = static_direct(m, messages), 1e-4
                elif routing == "ECMP":
                    expected, tolerance = multipath(m, messages), 1e-6
                elif routing == "DET":
                    expected, tolerance = deterministic(m, messages), 1e-9
                elif routing == "SI":
                    expected, tolerance = static_indirect(m, messages, rule), 1e-4 if rule == "paper" else 1e-6
                else:
                    expected, tolerance = adaptive(m, messages, routing, 7, 5, 9, 1 if routing == "AD" else drawing), 2e-3
                bad = compare(m, expected, found, tolerance)
                limits.add(drawing if routing in ("AI", "AH", "AL") else 0)
                count += 1
                failed += bool(bad)
                print("%s %d - %s (%s) on %s%s" % ("not ok" if bad else "ok", count, routing, rule, shape,
                                                   " # " + bad if bad else ""), flush=True)
    count += 1
    failed += len(limits - {0, 1}) < 2
    print("%s %d - with and without a limit on the messages that draw" % ("not ok" if len(limits - {0, 1}) < 2 else "ok", count))
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
