# SPDX-License-Identifier: Apache-2.0
"""
The C sources of the product and the functions they define, for the checks of this folder. Not a parser: it relies on the format of
.clang-format, in which a function starts in the first column and its braces stand alone in theirs.
"""
import collections
import os
import re
import subprocess
import sys

FOLDERS = ("src", "include", "controllers", "reconcilers", "cmd")
COMMENTS = re.compile(r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
HEAD = re.compile(r"^((?:[A-Za-z_][\w]*[ \*]+)+)(\w+)\(([^;{}]*)\)(?: KC_\w+(?:\([^)]*\))?)*\n(?=\{)", re.M)
FUNCTION = re.compile(HEAD.pattern + r"\{(.*?)^\}", re.M | re.S)

# type: with `static` and the like; line: of its name; body: without comments, with the lines of the source.
Function = collections.namedtuple("Function", "type name parameters body line body_line")


def sources(folders=FOLDERS):
    """The paths of the sources, templates aside, from the root of the repository."""
    found = [path for path in listed("-co", "--exclude-standard", *folders)
             if path.endswith((".c", ".h")) and "/templates/" not in path and os.path.exists(path)]
    if not found:
        sys.exit("%s: git lists no sources" % os.path.basename(sys.argv[0]))
    return found


def listed(*arguments):
    """What `git ls-files` lists. It refuses the folder of another user ("dubious ownership"): then nothing can be checked, and nothing passes."""
    done = subprocess.run(["git", "ls-files", *arguments], stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("%s: git cannot list the files" % os.path.basename(sys.argv[0]))
    return done.stdout.splitlines()


def stripped(path):
    """The text of a source without comments and with empty literals. Lines keep their numbers."""
    with open(path, encoding="utf-8") as f:
        return COMMENTS.sub(lambda m: "\n" * m.group().count("\n") if m.group().startswith("/*") else '""', f.read())


def functions(text):
    """The functions that a stripped text defines."""
    for found in FUNCTION.finditer(text):
        yield Function(found.group(1).strip(), found.group(2), found.group(3), found.group(4),
                       text.count("\n", 0, found.start(2)) + 1, text.count("\n", 0, found.start(4)) + 1)
