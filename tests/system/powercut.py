# SPDX-License-Identifier: Apache-2.0
"""
powercut.py: a server whose end is a power cut. A helper of crash.py and faults.py; powercut.c does the noting.
"""
import os
import random
import struct
import tempfile

from harness import Server, built

SECTOR = 512


class Unplugged(Server):
    """A server whose kill is a power cut: of what was written and not synced, any part is undone, sector by
    sector; see powercut.c."""

    def __init__(self, folder=None, preload=None, environment=None, lies=False):
        library = built("powercut")
        handle, self.journal = tempfile.mkstemp(prefix="kc-journal-")
        os.close(handle)
        self.undone = 0
        ours = {"KC_POWERCUT_FILE": "/store/data.mdb", "KC_POWERCUT_JOURNAL": self.journal}
        if lies:
            ours["KC_POWERCUT_LIES"] = "1"
        super().__init__(folder, preload=preload + ":" + library if preload else library,
                         environment=dict(environment or {}, **ours))

    def kill(self):
        super().kill()
        with open(self.journal, "r+b") as f:
            entries = list(self.entries(f.read()))
            f.truncate(0)
        chance = random.choice((0.1, 0.5, 0.9, 1.0))
        with open(os.path.join(self.folder, "store", "data.mdb"), "r+b") as data:
            for at, old in reversed(entries):
                self.undo(data, at, old, chance)

    @staticmethod
    def entries(journal):
        """The offset and the old bytes of each; a last one that is not complete was never written."""
        place = 0
        while place + 16 <= len(journal):
            at, length = struct.unpack_from("QQ", journal, place)
            old = journal[place + 16:place + 16 + length]
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
        if os.path.exists(self.journal):
            os.unlink(self.journal)
