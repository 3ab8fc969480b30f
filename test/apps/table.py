# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/apps.md."""
import dataclasses
import os
import re

HEAD = "| application | version | clusters | runs | natively | merged | bytes over the bridge |"


@dataclasses.dataclass
class Row:
    name: str
    version: str
    clusters: int
    runs: int = 0
    natively: int = 0
    merged: int = 0
    bytes: int = 0

    def add(self, natively, merged, bytes):
        """The result of one run, as check_apps.py keeps it."""
        self.runs += 1
        self.natively += natively is True
        self.merged += merged
        self.bytes += bytes

    def __str__(self):
        return "| `%s` | %s | %d | %d | %d | %d | %d |" % dataclasses.astuple(self)


class Rows:
    def __init__(self):
        self.rows = []

    def new(self, name, version, clusters):
        self.rows.append(Row(name, version, clusters))
        return self.rows[-1]

    def write(self, path):
        """Rows of other applications stay, and so does the text before and after the table."""
        before, after, rows = "", "", {}
        if os.path.exists(path):
            before, _, rest = open(path).read().partition(HEAD + "\n")
            body = re.match(r"\|[- |]*\n((?:\|.*\n)*)", rest)
            after = rest[body.end():] if body else rest
            rows = {re.match(r"\| `(.*?)` ", r).group(1): r for r in (body.group(1).splitlines() if body else [])}
        rows.update({row.name: str(row) for row in self.rows})
        with open(path, "w") as f:
            f.write("%s%s\n|%s\n" % (before, HEAD, " --- |" * (HEAD.count("|") - 1)))
            f.write("".join(rows[k] + "\n" for k in sorted(rows)) + after)
