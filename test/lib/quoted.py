#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""quoted.py PAGE SOURCE...: checks that the programs print the lines that a page quotes.

The lines are the text in backquotes in the column "line" of the page's tables; <name> in them stands for a value. A line
is a part of a text in the sources, or several such parts with ": " between them, as a message and its reason are joined.
Prints the lines that are not in the sources, and last "N quoted". The status is 0 if there are lines, and all are there.
"""
import re
import sys

LITERAL = r'"((?:[^"\\\n]|\\.)*)"'
CONVERSION = r"%[-+ #0]*[0-9*]*(?:\.[0-9*]+)?(?:hh|ll|[hlzjt])?[a-zA-Z]"
VALUE = "\1"


def texts_of(source):
    """The string literals of C, joined as the compiler joins them, with VALUE for each conversion."""
    code = re.sub(r'%"\s*PRI[a-zA-Z0-9]+\s*(?=")', '%u"', source)
    code = re.sub(r'%"\s*PRI[a-zA-Z0-9]+', '%u"', code)
    code = re.sub(r'(?<!\\)"\s*(?:\\\n\s*)?"', "", code)
    for literal in re.findall(LITERAL, code):
        text = literal.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "")
        yield re.sub(CONVERSION, VALUE, text).replace("%%", "%")


def quoted_in(page):
    counts = False
    for row in page.splitlines():
        if not row.startswith("| "):
            counts = False
        elif row.startswith("| line |"):
            counts = True
        elif counts:
            yield from re.findall(r"`([^`]+)`", row.split(" | ")[0])


def is_printed(line, all_texts):
    """Every part of the line stands in some text. A part that is one value needs none."""
    line = re.sub(r"<[^<>]+>", VALUE, line)
    parts = line.split(": ")
    done = 0
    while done < len(parts):
        for end in range(len(parts), done, -1):
            part = ": ".join(parts[done:end])
            if part == VALUE or part in all_texts:
                break
        else:
            return False
        done = end
    return True


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        lines = list(quoted_in(page.read()))
    texts = set()
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as source:
            texts.update(texts_of(source.read()))
    all_texts = "\n".join(texts)
    missing = [line for line in lines if not is_printed(line, all_texts)]
    for line in missing:
        print("not in the sources: " + line)
    print(f"{len(lines)} quoted")
    sys.exit(1 if missing or not lines else 0)


main()
