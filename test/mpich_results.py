# SPDX-License-Identifier: BSD-3-Clause
"""For mpich_suite.py: what came out for each line of MPICH's test suite, in a file that grows, and the table that is made from it.
apps/check_apps.py keeps its results in such a file, too."""
import json
import os
import re

COLUMNS = "lines", "natively", "merged", "known", "failed"


class Results:
    """{line's key: {"native": bool or "too slow", "worlds": {layout: bool}, "bytes": over the bridge}}, the last of each key. Those of
    apps/check_apps.py have other fields."""

    def __init__(self, path):
        self.path, self.found = path, {}
        for text in open(path) if path and os.path.exists(path) else []:
            try:
                key, result = json.loads(text)
            except ValueError:  # the run was killed while it wrote
                continue
            self.found[key] = result

    def put(self, key, result):
        self.found[key] = result
        if self.path:
            with open(self.path, "a") as f:
                f.write(json.dumps([key, result]) + "\n")

    def settled(self, key, layouts):
        """Nothing new can come: it fails natively, or passes in all these layouts."""
        result = self.found.get(key, {})
        return result.get("native") is False or all(result.get("worlds", {}).get(layout) for layout in layouts)


def good(result):
    return result["native"] is True and all(result["worlds"].values())


def tally(rows):
    """{folder: {column: number}} from (line, result or None, whether its failure is known) each."""
    table = {}
    for line, result, known in rows:
        row = table.setdefault(line.folder.split("/")[0], dict.fromkeys((*COLUMNS, "bytes"), 0))
        if result:
            row["lines"] += 1
            row["bytes"] += result["bytes"]
        if result and result["native"] is True:
            row["natively"] += 1
            row["merged" if good(result) else "known" if known else "failed"] += 1
    return table


def write_table(path, table, parts):
    """Rows of other folders stay."""
    rows = {}
    before, after = "", ""
    if os.path.exists(path):
        text = open(path).read()
        before, _, rest = text.partition("| folder |")
        body = re.match(r".*\n\|[- |]*\n((?:\|.*\n)*)", rest)
        after = rest[body.end():] if body else ""
        rows = {re.match(r"\| `(.*?)` ", r).group(1): r for r in (body.group(1).splitlines() if body else []) if r.startswith("| `")}
    for folder, row in table.items():
        rows[folder] = "| `%s` | %s | %s | %d |" % (folder, parts, " | ".join(str(row[c]) for c in COLUMNS), row["bytes"])
    sums = [sum(int(r.split("|")[n].strip()) for r in rows.values()) for n in range(3, 4 + len(COLUMNS))]
    with open(path, "w") as f:
        f.write("%s| folder | clusters | %s | bytes over the bridge |\n" % (before, " | ".join(COLUMNS)))
        f.write("| --- | --- |%s --- |\n" % (" --- |" * len(COLUMNS)))
        f.write("".join(rows[k] + "\n" for k in sorted(rows)))
        f.write("| all | | %s |\n" % " | ".join(map(str, sums)) + after)
