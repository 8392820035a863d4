# SPDX-License-Identifier: Apache-2.0
"""
powercut.py: a server whose end is a power cut. A helper of crash.py and faults.py; powercut.c does the noting.
"""
import os
import random
import shutil
import struct
import tempfile

from harness import Server, built

SECTOR = 512
FILES = ("data.mdb", "journal")


class Unplugged(Server):
    """A server whose kill is a power cut: of what was written and not synced, any part is undone, sector by
    sector; see powercut.c."""

    def __init__(self, directory=None, preload=None, environment=None, lies=False):
        library = built("powercut")
        self.lists = tempfile.mkdtemp(prefix="kc-undo-")
        for name in FILES:
            open(self.list_of(name), "wb").close()
        self.undone = 0
        ours = {"KC_POWERCUT_DIRECTORY": "/store", "KC_POWERCUT_UNDO": os.path.join(self.lists, "undo")}
        if lies:
            ours["KC_POWERCUT_LIES"] = "1"
        super().__init__(directory, preload=preload + ":" + library if preload else library,
                         environment=dict(environment or {}, **ours))

    def kill(self):
        super().kill()
        for name in FILES:
            self.lose(name, random.choice((0.1, 0.5, 0.9, 1.0)))

    def list_of(self, name):
        return os.path.join(self.lists, "undo." + name)

    def lose(self, name, chance):
        with open(self.list_of(name), "r+b") as f:
            entries = list(self.entries(f.read()))
            f.truncate(0)
        path = os.path.join(self.directory, "store", name)
        if not entries or not os.path.exists(path):
            return
        with open(path, "r+b") as data:
            for at, old in reversed(entries):
                self.undo(data, at, old, chance)

    @staticmethod
    def entries(undos):
        """The offset and the old bytes of each; a last one that is not complete was never written."""
        place = 0
        while place + 16 <= len(undos):
            at, length = struct.unpack_from("QQ", undos, place)
            old = undos[place + 16:place + 16 + length]
            if len(old) == length:
                yield at, old
            place += 16 + length

    def undo(self, data, at, old, chance):
        while old:
            n = min(len(old), SECTOR - at % SECTOR)
            if random.random() < chance:
                data.seek(at)
                data.write(old[:n])
                self.undone += 1
            at, old = at + n, old[n:]

    def discard(self):
        super().discard()
        shutil.rmtree(self.lists, ignore_errors=True)
