# SPDX-License-Identifier: BSD-3-Clause
"""For mpich_suite.py: the lists of MPICH's test suite, and what counts as a pass there. The words are those of its README."""
import os
import re

LISTS = "testlist", "testlist.dtp", "testlist.cvar"
# its makefiles build these, and its list at the top leaves them out, or does so with some compilers
BESIDE = "perf", "ft", "threads", "f08"


class Line:
    """One line of a list: a program in a folder, with its ranks, arguments, variables, limits."""

    def __init__(self, folder, words):
        self.folder, self.name = folder, words[0]
        self.alone = int(words[1]) == 1
        self.ranks = max(int(words[1]), 2)  # one rank would be a world without a bridge
        self.arguments, self.environment, self.options = [], {}, []
        self.limit, self.memory_gb, self.result, self.fails = 0, 0.0, "", ""
        for word in words[2:]:
            key, _, value = word.partition("=")
            if key in ("arg", "args"):
                self.arguments += value.split() if key == "args" else [value]
            elif key == "env":
                self.environment.update([value.split("=", 1)])
            elif key == "mpiexecarg":
                self.options.append(value)
            elif key == "timeLimit":
                self.limit = int(value)
            elif key == "mem":
                self.memory_gb = float(value)
            elif key == "resultTest":
                self.result = value
            elif key == "xfail":
                self.fails = value

    def __str__(self):
        variables = ["%s=%s" % v for v in sorted(self.environment.items())]
        return " ".join(["%s/%s" % (self.folder, self.name), *self.arguments, *variables])

    def key(self):
        """One word for each different line."""
        return "%s -n %d%s %s" % (self, self.ranks, " alone" if self.alone else "", self.result)

    def passed(self, status, out):
        """What the suite's own runner would say of that exit status and standard output."""
        if self.result in ("TestStatus", "TestErrFatal"):
            return status not in (0, None)
        lines = [line.strip() for line in out.splitlines() if "FORTRAN STOP" not in line and line.strip() != "Test Passed"]
        times = (1, self.ranks) if self.alone else (1,)  # a program for one rank may not look which rank it is
        said = len(lines) in times and set(lines) <= {"No Errors", "No errors"}
        return said and (status not in (0, None) if self.result == "TestStatusNoErrors" else status == 0)


def read_list(suite, folder):
    """The lines of a folder, and those of the folders that its list names."""
    here = os.path.join(suite, folder)
    if os.path.isdir(here) and not os.path.exists(os.path.join(here, "testlist")):
        for name in sorted(os.listdir(here)):
            if os.path.exists(os.path.join(here, name, "testlist")):
                yield from read_list(suite, os.path.join(folder, name))
    for name in LISTS:
        path = os.path.join(here, name)
        for text in open(path, errors="replace") if os.path.exists(path) else []:
            words = text.split("#")[0].split()
            if len(words) == 1 and os.path.isdir(os.path.join(suite, folder, words[0])):
                yield from read_list(suite, os.path.normpath(os.path.join(folder, words[0])))
            elif len(words) > 1 and words[1].isdigit():
                where, program = os.path.split(os.path.normpath(os.path.join(folder, words[0])))
                yield Line(where, [program, *words[1:]])


def lines_of(suite, folders):
    """All different lines of these folders, or of the whole suite."""
    seen = set()
    for folder in folders or [".", *BESIDE]:
        for line in read_list(suite, folder):
            if line.key() not in seen:
                seen.add(line.key())
                yield line


def expected(path):
    """The failures that are known: [(regex, reason)]. Each line of the file: the name as in the output, two spaces, the reason."""
    found = []
    for text in open(path):
        if text.strip() and not text.startswith("#"):
            name, reason = re.split(r"  +|\t+", text.strip(), maxsplit=1)
            found.append((re.compile(name + r"( |$)"), reason))
    return found


def reason_of(known, line, layout):
    """Why that line fails in a world of that layout, if that is known."""
    return next((reason for name, reason in known if name.match("%s as %s" % (line, layout))), None)
