# SPDX-License-Identifier: Apache-2.0
"""
Hostile directories of manifests (`kc up --manifests`): a user who may write files there must not stop the server, exhaust its memory, or make it delete
what other files define.
"""
import os
import shutil
import tempfile

from attack import MIB, ROOM, SANITIZED, SLACK, Measure, Target, attack, wait_for

MAPS = "/api/v1/namespaces/default/configmaps/"
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    "%s: &%s [%s]\n" % (chr(98 + i), chr(98 + i), ", ".join(["*" + chr(97 + i)] * 9)) for i in range(8))


def manifest(name, value="one"):
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: %s}\n" % (name, value)


class Site:
    """`kc up` with a directory of manifests that has one good file."""

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="kc-attack-")
        self.dir = os.path.join(self.directory, "manifests")
        os.mkdir(self.dir)
        self.write("good.yaml", manifest("good"))
        self.target = Target(verb="up", flags=["--without=hub,pods", "--manifests", self.dir])
        self.target.__enter__()
        self.target.ready()
        self.await_map("good")
        return self

    def __exit__(self, *why):
        self.target.__exit__(*why)
        shutil.rmtree(self.directory, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path + ".part", "w") as f:
            f.write(text)
        os.rename(path + ".part", path)

    def has(self, name):
        return self.target.admin().request("GET", MAPS + name)[0] == 200

    def await_map(self, name):
        wait_for(lambda: self.has(name), 20 * SLACK, "ConfigMap %s exists" % name)

    def await_log(self, text):
        wait_for(lambda: text in self.target.log_text(), 30 * SLACK, "the log has %r" % text)

    def recovers(self):
        """A good file is applied, and nothing that exists was deleted."""
        name = self.target.unique("after")
        self.write(name + ".yaml", manifest(name))
        self.await_map(name)
        assert self.has("good"), "an object of a good file was deleted"
        self.target.serves()


def survives(site, growth, act):
    """Runs act; other clients are served in time and memory stays bounded. Returns the row of figures."""
    measure = Measure(site.target)
    try:
        act()
    finally:
        measure.end()
    grown = measure.peak - measure.before
    assert SANITIZED or grown <= growth * ROOM, "memory grew by %d MiB" % (grown // MIB)
    assert not measure.latency["failures"], "requests of others failed: %s" % measure.latency["failures"]
    return measure.row()


def refuses_too_many_files(n):
    with Site() as site:
        hidden = os.path.join(site.directory, "many")
        os.mkdir(hidden)
        for i in range(n):
            os.close(os.open(os.path.join(hidden, "%d.yaml" % i), os.O_CREAT | os.O_WRONLY, 0o600))

        def act():
            os.rename(hidden, os.path.join(site.dir, "many"))
            site.await_log("has more than 10000 manifests")
            assert site.has("good")

        row = survives(site, 64 * MIB, act)
        os.rename(os.path.join(site.dir, "many"), hidden)
        site.recovers()
        return row


@attack(alone=True)
def directory_with_12k_manifests_is_refused_as_a_whole():
    return refuses_too_many_files(12000)


@attack(alone=True, long=True)
def directory_with_100k_manifests_is_refused_as_a_whole():
    return refuses_too_many_files(100000)


@attack(alone=True)
def huge_files_yaml_bombs_and_strange_files_concern_only_themselves():
    with Site() as site:
        def act():
            with open(os.path.join(site.directory, "huge"), "wb") as f:
                f.truncate(100 << 30)
            os.rename(os.path.join(site.directory, "huge"), os.path.join(site.dir, "huge.yaml"))
            site.write("bomb.yaml", BOMB)
            site.write("deep.json", '{"a":' * 100000)
            site.write("nul.yaml", "a: \0\n")
            site.write("flow.yaml", "[" * 1000000)
            os.mkfifo(os.path.join(site.dir, "pipe.yaml"))
            os.symlink("/dev/zero", os.path.join(site.dir, "zero.yaml"))
            os.symlink("..", os.path.join(site.dir, "cycle"))
            os.symlink("nowhere", os.path.join(site.dir, "broken.yaml"))
            for name in ("huge", "bomb", "nul", "flow", "pipe", "zero", "broken"):
                site.await_log("/%s.yaml" % name)
            site.await_log("/deep.json")
            name = site.target.unique("beside")
            site.write(name + ".yaml", manifest(name))
            site.await_map(name)

        row = survives(site, 128 * MIB, act)
        assert site.has("good")
        for name in os.listdir(site.dir):
            if name not in ("good.yaml",) and not name.startswith("beside"):
                os.unlink(os.path.join(site.dir, name))
        site.recovers()
        return row


@attack(alone=True)
def ten_thousand_broken_files_write_a_bounded_log():
    with Site() as site:
        hidden = os.path.join(site.directory, "many")
        os.mkdir(hidden)
        for i in range(9000):
            with open(os.path.join(hidden, "%d.yaml" % i), "w") as f:
                f.write("a: [%d\n" % i)

        def act():
            os.rename(hidden, os.path.join(site.dir, "many"))
            site.await_log("further manifests failed")
            site.write("good.yaml", manifest("good", "two"))
            wait_for(lambda: site.target.admin().request("GET", MAPS + "good")[1]["data"]["key"] == "two", 30 * SLACK,
                     "the good file is applied")

        row = survives(site, 64 * MIB, act)
        lines = [line for line in site.target.log_text().splitlines() if "manifest failed" in line]
        assert len(lines) <= 100, "%d lines in the log" % len(lines)
        os.rename(os.path.join(site.dir, "many"), hidden)
        site.recovers()
        return row


@attack(alone=True)
def directory_whose_files_change_without_end_does_not_starve_the_server():
    with Site() as site:
        def act():
            for i in range(2000):
                site.write("busy.yaml", manifest("busy", "v%d" % i))
            wait_for(lambda: site.target.admin().request("GET", MAPS + "busy")[1].get("data", {}).get("key") == "v1999",
                     20 * SLACK, "the last state is applied")

        row = survives(site, 32 * MIB, act)
        site.recovers()
        return row
