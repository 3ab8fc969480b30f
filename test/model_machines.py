# SPDX-License-Identifier: BSD-3-Clause
"""Machines for model_reference.py, written down link by link. Paths are found by searching the graph (on a torus by
walking). A machine has routers, which send and receive; direct(): all shortest paths, in zipmap's order; drawn(): the
indirect path of 64 random bits; links(); describe() and name(): what zipmap calls the machine and a link. It may have
single(), the path of DET, and `nodes`, the words for one node at each router."""
import itertools


def search(out, a, b):
    """All shortest paths between two routers, by breadth-first search over the links `out` of each router."""
    paths = [[]] if a == b else []
    edge, seen = [(a, [])], set()
    while edge and not paths:
        seen.update(at for at, _ in edge)
        following = []
        for at, path in edge:
            for link in out[at]:
                if link[1] == b:
                    paths.append(path + [link])
                if link[1] not in seen:
                    following.append((link[1], path + [link]))
        edge = following
    return paths


class Machine:
    """Links are (from router, to router, tag); routers are (group, chassis, place)."""

    def __init__(self, groups, chassis, width, lanes, wiring):
        self.groups, self.chassis, self.width, self.lanes, self.wiring = groups, chassis, width, lanes, wiring
        self.local = chassis * width
        self.routers = [(g, c, x) for g in range(groups) for c in range(chassis) for x in range(width)]
        numbers = lanes * (groups if wiring == "modulo" else groups - 1)
        self.ports = -(-numbers // self.local)
        self.out = {}
        for r in self.routers:
            g, c, x = r
            self.out[r] = [(r, (g, c, y), "row") for y in range(width) if y != x]
            self.out[r] += [(r, (g, b, x), "column") for b in range(chassis) if b != c]
        self.cables = {}
        for g in range(groups):
            for h in range(groups):
                if g != h:
                    self.cables[g, h] = [self.cable(g, h, k) for k in range(lanes)]

    def end(self, g, h, lane):
        if self.wiring == "modulo":
            q = lane * self.groups + h
            local, port = q % self.local, q // self.local
        else:
            others = [k for k in range(self.groups) if k != g]
            if self.wiring == "circulant":
                others = [(g + 1 + k) % self.groups for k in range(self.groups - 1)]
            q = lane * (self.groups - 1) + others.index(h)
            if self.wiring == "round-robin":
                local, port = q % self.local, q // self.local
            else:
                local, port = q // self.ports, q % self.ports
        return (g, local // self.width, local % self.width), port

    def cable(self, g, h, lane):
        a, port = self.end(g, h, lane)
        b, _ = self.end(h, g, lane)
        return (a, b, "p%d" % port)

    def inside(self, a, b):
        """All shortest paths between two routers of a group, row first."""
        # two ways differ in their first link: along the row comes first
        return sorted(search(self.out, a, b), key=lambda p: p[0][2] != "row" if p else 0)

    def direct(self, s, d):
        if s[0] == d[0]:
            return self.inside(s, d)
        found = []
        for cable in self.cables[s[0], d[0]]:
            # the first leg's choice runs fastest
            found += [p + [cable] + q for q in self.inside(cable[1], d) for p in self.inside(s, cable[0])]
        fewest = min(len(p) for p in found)
        return [p for p in found if len(p) == fewest]

    def links(self):
        return [k for r in self.routers for k in self.out[r]] + [k for c in self.cables.values() for k in c]

    def describe(self):
        return "dragonfly group:%d chassis:%d router:%d global:%d wiring:%s" % (
            self.groups, self.chassis, self.width, self.lanes, self.wiring)

    def name(self, link):
        a, b, tag = link
        port = "." + tag if tag[0] == "p" else ""
        return "g%d.c%d.r%d%s>g%d.c%d.r%d" % (a + (port,) + b)

    def drawn(self, s, d, bits):
        """The indirect path of 64 random bits, one link between two groups."""
        draw = bits >> 32
        wide = draw * self.groups
        local = ((wide & 0xFFFFFFFF) * self.local) >> 32
        via = (wide >> 32, local // self.width, local % self.width)
        return self.one(s, via, bits & 0xFFFF) + self.one(via, d, bits >> 16 & 0xFFFF)

    def one(self, s, d, bits):
        if s[0] == d[0]:
            ways = self.inside(s, d)
            return ways[bits & 1] if len(ways) == 2 else ways[0]
        cable = self.cables[s[0], d[0]][0]
        first, last = self.inside(s, cable[0]), self.inside(cable[1], d)
        return first[bits & 1 if len(first) == 2 else 0] + [cable] + last[bits >> 1 & 1 if len(last) == 2 else 0]


class Torus:
    """Routers are tuples of coordinates, links are (router, dimension, step)."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.lanes = 1
        self.routers = list(itertools.product(*[range(n) for n in sizes]))

    def direct(self, s, d):
        """The first dimension first. Two ways where both are equally long; the choice in the first one runs fastest."""
        paths = [(s, [])]
        for i, n in enumerate(self.sizes):
            up, down = (d[i] - s[i]) % n, (s[i] - d[i]) % n
            ways = [w for w in [(up, 1), (down, -1)] if w[0] == min(up, down)] if up else [(0, 1)]
            paths = [self.walk(at, path, i, steps, step) for steps, step in ways for at, path in paths]
        return [path for _, path in paths]

    def walk(self, at, path, dim, steps, step):
        for _ in range(steps):
            path = path + [(at, dim, step)]
            at = at[:dim] + ((at[dim] + step) % self.sizes[dim],) + at[dim + 1:]
        return at, path

    def drawn(self, s, d, bits):
        via = self.routers[(bits >> 32) * len(self.routers) >> 32]
        first, last = self.direct(s, via), self.direct(via, d)
        return first[(bits & 0xFFFF) % len(first)] + last[(bits >> 16 & 0xFFFF) % len(last)]

    def links(self):
        return [(r, i, step) for r in self.routers for i, n in enumerate(self.sizes) if n > 1 for step in (1, -1)]

    def describe(self):
        return "torus:" + "x".join(map(str, self.sizes))

    def name(self, link):
        return ".".join(map(str, link[0])) + "-+"[link[2] > 0] + str(link[1])


class FatTree:
    """Vertices are (level, subtree, the parents taken on the way up), links are (from, to, number of the parent). Nodes
    are routers."""

    nodes = ""

    def __init__(self, down, up):
        self.down, self.up = down, up
        self.lanes = 1
        self.out = {}
        nodes = 1
        for n in down:
            nodes *= n
        self.routers = [(0, n, ()) for n in range(nodes)]
        here = self.routers
        for level in range(len(down)):
            above = []
            for v in here:
                for p in range(up[level]):
                    w = (level + 1, v[1] // down[level], v[2] + (p,))
                    self.out.setdefault(v, []).append((v, w, p))
                    self.out.setdefault(w, []).append((w, v, p))
                    above.append(w)
            here = sorted(set(above))

    def direct(self, s, d):
        return search(self.out, s, d)

    def single(self, s, d):
        """D-mod-K: the destination, divided by the ways below, chooses the parent."""
        at, path, ways = s, [], 1
        for level in range(max(len(p) for p in self.direct(s, d)) // 2):
            link = [k for k in self.out[at] if k[1][0] == level + 1 and k[2] == d[1] // ways % self.up[level]][0]
            path.append(link)
            at = link[1]
            ways *= self.up[level]
        return path + self.fall(at, d)

    def fall(self, at, d):
        path = []
        for level in reversed(range(at[0])):
            v = (level, d[1], at[2][:level])
            for n in self.down[:level]:
                v = (level, v[1] // n, v[2])
            path.append((at, v, at[2][-1]))
            at = v
        return path

    def indirect(self, s, d):
        """All ways over a root; or over the leaf switch, if it has both."""
        rising = [[k] for k in self.out[s]]
        if s[1] // self.down[0] != d[1] // self.down[0]:
            for level in range(1, len(self.down)):
                rising = [path + [k] for path in rising for k in self.out[path[-1][1]] if k[1][0] == level + 1]
        return [path + self.fall(path[-1][1], d) for path in rising]

    def drawn(self, s, d, bits):
        paths = self.indirect(s, d)
        return paths[(bits >> 32) * len(paths) >> 32]

    def links(self):
        return [link for v in self.out for link in self.out[v]]

    def describe(self):
        return "fattree down:%s up:%s" % ("x".join(map(str, self.down)), "x".join(map(str, self.up)))

    def name(self, link):
        low, number = min(link[0], link[1], key=lambda v: v[0]), 0
        for p, n in zip(low[2], self.up):
            number = number * n + p
        return "l%d.s%d.%d%sp%d" % (low[0], low[1], number, "<>"[link[0] == low], link[2])


class HyperX:
    """Routers are tuples of coordinates, links are (from router, to router, dimension)."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.lanes = 1
        self.routers = list(itertools.product(*[range(n) for n in sizes]))
        self.out = {r: [(r, r[:i] + (x,) + r[i + 1:], i) for i, n in enumerate(sizes) for x in range(n) if x != r[i]]
                    for r in self.routers}

    def direct(self, s, d):
        differ = [i for i in range(len(self.sizes)) if s[i] != d[i]]
        return sorted(search(self.out, s, d), key=lambda path: self.order(differ, [link[2] for link in path]))

    def order(self, differ, dims):
        """The number of an order of dimensions: which of those that are left comes next; the first choice runs fastest."""
        number, factor, left = 0, 1, list(differ)
        for dim in dims:
            number += factor * left.index(dim)
            factor *= len(left)
            left.remove(dim)
        return number

    def drawn(self, s, d, bits):
        via = self.routers[(bits >> 32) * len(self.routers) >> 32]
        first, last = self.direct(s, via), self.direct(via, d)
        return first[(bits & 0xFFFF) * len(first) >> 16] + last[(bits >> 16 & 0xFFFF) * len(last) >> 16]

    def links(self):
        return [link for r in self.routers for link in self.out[r]]

    def describe(self):
        return "hyperx:" + "x".join(map(str, self.sizes))

    def name(self, link):
        return ">".join(".".join(map(str, r)) for r in link[:2])


class Megafly:
    """Switches are (group, "l" or "s", number); leaves are routers. Links are (from, to, number of the link)."""

    def __init__(self, groups, leaves, spines, bundle):
        self.groups, self.leaves, self.spines, self.bundle = groups, leaves, spines, bundle
        self.lanes = 1
        self.routers = [(g, "l", a) for g in range(groups) for a in range(leaves)]
        self.out = {}
        for g in range(groups):
            mine = [(g, "s", x) for x in range(spines)]
            for a in range(leaves):
                self.out[g, "l", a] = [((g, "l", a), x, 0) for x in mine]
            for x in mine:
                self.out[x] = [(x, (g, "l", a), 0) for a in range(leaves)]
        for g in range(groups):
            for k in range(bundle):
                for h in range(groups):
                    if g != h:
                        a, b = self.end(g, h, k)[0], self.end(h, g, k)[0]
                        self.out[a].append((a, b, k))

    def end(self, g, h, k):
        q = k * (self.groups - 1) + [x for x in range(self.groups) if x != g].index(h)
        return (g, "s", q % self.spines), q // self.spines

    def direct(self, s, d):
        """By the spine, or by the number of the link between the groups."""
        return sorted(search(self.out, s, d), key=lambda p: [(link[2], link[1][2]) for link in p] if len(p) == 2
                      else [link[2] for link in p])

    def drawn(self, s, d, bits):
        via = self.routers[(bits >> 32) * len(self.routers) >> 32]
        first, last = self.direct(s, via), self.direct(via, d)
        return first[(bits & 0xFFFF) * len(first) >> 16] + last[(bits >> 16 & 0xFFFF) * len(last) >> 16]

    def links(self):
        return [link for a in self.out for link in self.out[a]]

    def describe(self):
        return "megafly group:%d leaf:%d spine:%d global:%d" % (self.groups, self.leaves, self.spines, self.bundle)

    def name(self, link):
        a, b, k = link
        port = ".p%d" % self.end(a[0], b[0], k)[1] if a[0] != b[0] else ""
        return "g%d.%s%d%s>g%d.%s%d" % (a + (port,) + b)


def powers(q):
    """The powers of an element whose powers are all elements of the field of q except 0; and subtraction and
    multiplication. Elements are numbers, with a polynomial's coefficients as digits. Where q is no prime it is the
    polynomial x."""
    p = min(n for n in range(2, q + 1) if q % n == 0)
    k = next(n for n in range(1, q) if p ** n >= q)

    def digits(n):
        return [n // p ** i % p for i in range(k)]

    def number(values):
        return sum(v % p * p ** i for i, v in enumerate(values))

    def times(a, b, rule):
        """Polynomials are multiplied, and x^k is replaced by the rule."""
        product = [0] * (2 * k - 1)
        for i, x in enumerate(digits(a)):
            for j, y in enumerate(digits(b)):
                product[i + j] += x * y
        for i in reversed(range(k, 2 * k - 1)):
            for j, y in enumerate(digits(rule)):
                product[i - k + j] += product[i] * y
        return number(product[:k])

    for candidate in range(1, q):
        root, rule = (candidate, 0) if k == 1 else (p, candidate)
        found = [1]
        while len(found) < q - 1:
            found.append(times(found[-1], root, rule))
        if sorted(found) == list(range(1, q)):
            return (found, lambda a, b: number([x - y for x, y in zip(digits(a), digits(b))]),
                    lambda a, b: times(a, b, rule))


class Joined:
    """Routers joined in any way, by the links `out` of each of them. Links are (from, to, tag)."""

    lanes = 1

    def __init__(self):
        self.known = {}

    def direct(self, s, d):
        if (s, d) not in self.known:
            self.known[s, d] = search(self.out, s, d)
        return self.known[s, d]

    def single(self, s, d):
        """In each router, of the links that lead on, the one with the destination's number."""
        path, number = [], self.routers.index(d)
        while s != d:
            on = list(dict.fromkeys(p[0] for p in self.direct(s, d)))
            path.append(on[number % len(on)])
            s = path[-1][1]
        return path

    def drawn(self, s, d, bits):
        via = self.routers[(bits >> 32) * len(self.routers) >> 32]
        first, last = self.direct(s, via), self.direct(via, d)
        return first[(bits & 0xFFFF) * len(first) >> 16] + last[(bits >> 16 & 0xFFFF) * len(last) >> 16]

    def links(self):
        return [link for r in self.out for link in self.out[r]]


class SlimFly(Joined):
    """Routers are (side, x, y)."""

    def __init__(self, q):
        super().__init__()
        self.q = q
        power, minus, times = powers(q)
        w, delta = (q + 1) // 4, {0: 0, 1: 1, 3: -1}[q % 4]
        if delta >= 0:
            sets = [range(0, q - 1, 2), range(1, q - 1 if delta else q, 2)]
        else:
            sets = [list(range(0, 2 * w - 1, 2)) + list(range(2 * w - 1, 4 * w - 2, 2)),
                    list(range(1, 2 * w, 2)) + list(range(2 * w, 4 * w - 1, 2))]
        sets = [{power[e % (q - 1)] for e in exponents} for exponents in sets]
        self.routers = list(itertools.product((0, 1), range(q), range(q)))

        def joined(a, b):
            if a[0] == b[0]:
                return a[1] == b[1] and minus(b[2], a[2]) in sets[a[0]]
            (_, x, y), (_, m, c) = sorted([a, b])
            return minus(y, times(m, x)) == c

        self.out = {a: [(a, b, 0) for b in self.routers if joined(a, b)] for a in self.routers}
        assert all(len(self.out[a]) == (3 * q - delta) // 2 for a in self.routers)

    def describe(self):
        return "slimfly q:%d" % self.q

    def name(self, link):
        return ">".join("%d.%d.%d" % r for r in link[:2])


class Graph(Joined):
    """Routers are numbers, the first ones with nodes. Written to a file in another order."""

    nodes = ""

    def __init__(self, routers, ends, cables, path):
        super().__init__()
        self.path, self.routers = path, list(range(ends))
        self.out = {a: [] for a in range(routers)}
        for a, b, n in sorted(cables + [(b, a, n) for a, b, n in cables]):
            self.out[a] += [(a, b, k if n > 1 else None) for k in range(n)]
        with open(path, "w") as f:
            f.write("".join("link:r%d to:r%d%s\n" % (a, b, " cables:%d" % n if n > 1 else "") for a, b, n in cables))
            f.write("".join("router:r%d%s\n" % (a, " node:1" if a < ends else "") for a in range(routers)))

    def describe(self):
        return "graph file:" + self.path

    def name(self, link):
        return "r%d>r%d%s" % (link[0], link[1], "" if link[2] is None else ":%d" % link[2])
