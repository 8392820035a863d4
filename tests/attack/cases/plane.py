# SPDX-License-Identifier: Apache-2.0
"""
Attacks on the plane as a whole: a reconciler that crashes for one object, Events and definitions without end, a full disk, and files that
other users of the machine can change.
"""
import os
import re
import shutil
import subprocess
import tempfile

from attack import MIB, NS, SANITIZED, SLACK, TOKEN, Broken, Skipped, Target, Threads, attack, wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CONFIGMAPS = "/api/v1/namespaces/%s/configmaps" % NS
EVENTS = "/api/v1/namespaces/%s/events" % NS
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

# Null pointer for an object named "null"; "fatal" ends the process in a way that no handler sees.
PLUGIN = r"""
#include "kc/app.h"
#include "kc/kinds.h"
#include <signal.h>
static volatile int sink;
static void grab(const char *p)
{
    sink = *(const volatile char *)p;
}
static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)ctx, (void)err;
    if (kc_str_is(request->key.name, "null"))
        grab(NULL);
    if (kc_str_is(request->key.name, "fatal")) {
        signal(SIGSEGV, SIG_DFL);
        grab(NULL);
    }
    return kc_done();
}
KC_RECONCILER(crasher) = {.kind = &kc_kind_config_map, .reconcile = reconcile};
"""


class Directory:
    """A directory of its own, removed at the end."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="kc-attack-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def plugin_in(directory, text=PLUGIN):
    if SANITIZED:
        raise Skipped("sanitizers keep signals for themselves")
    source, library = os.path.join(directory, "crasher.c"), os.path.join(directory, "crasher.so")
    with open(source, "w") as f:
        f.write(text)
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-g", "-I" + os.path.join(ROOT, "include"), "-o",
                    library, source], check=True)
    return library


NOWHERE = ["--metrics-bind-address=", "--health-probe-bind-address="]


def plane(library):
    return Target(verb="up", flags=["--plugin", library, "--without", "pods"] + NOWHERE)


def metric(client, name):
    """A number of /metrics; 0 when it is not there."""
    text = client.request("GET", "/metrics")[1]
    found = [line for line in text.split("\n") if line.startswith(name + " ")]
    return float(found[0].split(" ")[1]) if found else 0.0


SUCCESSES = 'controller_runtime_reconcile_total{controller="crasher",result="success"}'
QUARANTINED = 'kc_controller_quarantined_keys{controller="crasher"}'


def make(client, name):
    status, answer = client.request("POST", CONFIGMAPS, {"metadata": {"name": name}, "data": {"k": "v"}})
    assert status == 201, answer


def ends(t, settled):
    """Waits until the process has ended, which is True, or runs and is settled."""
    def known():
        try:
            return t.process.poll() is not None or settled()
        except (OSError, Broken):
            return False
    wait_for(known, 20, "the process ends, or is settled")
    return t.process.poll() is not None


@attack(alone=True)
def plugin_crashing_on_one_object_does_not_stop_kc_up():
    with Directory() as directory, plane(plugin_in(directory)) as t:
        t.ready()
        make(t.admin(), "null")
        wait_for(lambda: metric(t.admin(), QUARANTINED) == 1, 5 * SLACK, "the key is quarantined")
        make(t.admin(), "well")
        assert "crasher.so+0x" in t.log_text(), "the log does not say where it crashed"
        wait_for(lambda: any(e["reason"] == "ReconcileQuarantined" for e in t.admin().request("GET", EVENTS)[1]["items"]),
                 5 * SLACK, "an event says so")
        panics = 'controller_runtime_reconcile_panics_total{controller="crasher"}'
        assert metric(t.admin(), panics) == 2
        for _ in range(2):
            t.kill()
            t.start(timeout=20 * SLACK)
            wait_for(lambda: metric(t.admin(), SUCCESSES) > 0, 10 * SLACK, "other keys are reconciled")
            assert metric(t.admin(), QUARANTINED) == 1 and metric(t.admin(), panics) == 0
        status, answer = t.admin().request("DELETE", CONFIGMAPS + "/null")
        assert status == 200, answer
        wait_for(lambda: metric(t.admin(), QUARANTINED) == 0, 5 * SLACK, "the quarantine ends with the object")
        t.serves()


@attack(alone=True)
def eight_crashing_objects_pause_the_controller_only():
    with Directory() as directory, plane(plugin_in(directory)) as t:
        t.ready()
        client = t.admin()
        for n in range(8):
            ns = "attack-%d" % n
            assert client.request("POST", "/api/v1/namespaces", {"metadata": {"name": ns}})[0] == 201
            status, answer = client.request("POST", "/api/v1/namespaces/%s/configmaps" % ns, {"metadata": {"name": "null"}})
            assert status == 201, answer
        wait_for(lambda: metric(t.admin(), 'kc_controller_paused{controller="crasher"}') == 1, 5 * SLACK, "it is paused")
        t.serves()


@attack(alone=True)
def plugin_that_ends_the_process_is_quarantined_after_three_starts():
    with Directory() as directory, plane(plugin_in(directory)) as t:
        t.ready()
        make(t.admin(), "fatal")
        t.process.wait(10 * SLACK)
        for starts in range(1, 6):
            t.log.close()
            t.spawn()
            if not ends(t, lambda: metric(t.admin(), QUARANTINED) == 1):
                break
        assert t.process.poll() is None, "it still ends after %d starts" % starts
        status, answer = t.admin().request("DELETE", CONFIGMAPS + "/fatal")
        assert status == 200, answer
        t.serves()
        return "up again after %d starts" % starts


LOADED = r"""
#include "kc/app.h"
#include "kc/kinds.h"
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("KC_CRASH_WHEN");
    if (path && access(path, F_OK) == 0)
        abort();
}
static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    (void)ctx, (void)request, (void)err;
    return kc_done();
}
KC_RECONCILER(loaded) = {.kind = &kc_kind_config_map, .reconcile = reconcile};
"""


@attack(alone=True)
def kc_up_crashing_at_every_start_starts_in_safe_mode():
    with Directory() as directory:
        flag = os.path.join(directory, "crash")
        with Target(verb="up", flags=["--plugin", plugin_in(directory, LOADED), "--without", "pods"] + NOWHERE,
                    environment={"KC_CRASH_WHEN": flag}) as t:
            t.ready()
            make(t.admin(), "kept")
            t.kill()
            open(flag, "w").close()
            for starts in range(1, 10):
                t.spawn()
                if not ends(t, lambda: "safe mode" in t.log_text() and t.admin().request("GET", "/readyz")[0] == 200):
                    break
                t.log.close()
            assert t.process.poll() is None and "safe mode" in t.log_text(), t.log_text()
            status, answer = t.admin().request("DELETE", CONFIGMAPS + "/kept")
            assert status == 200, answer
            assert t.stop() == 0
            os.unlink(flag)
            t.start(timeout=20 * SLACK)
            wait_for(lambda: t.log_text().rfind(" loaded,") > t.log_text().rfind("safe mode"), 10 * SLACK, "reconcilers run again")
            return "safe mode at start %d" % starts


def flood(t, worker, n):
    client, refused = t.admin(), 0
    for i in range(n):
        status, answer = client.request("POST", EVENTS, {
            "metadata": {"name": "e-%d-%d" % (worker, i)}, "reason": "R", "message": "x" * 500,
            "involvedObject": {"kind": "Pod", "name": "p", "namespace": NS}})
        assert status in (201, 429), answer
        refused += status == 429
    return refused


@attack(target={"flags": ["--max-events-per-namespace", "1000", "--max-events", "1500"]}, growth=64 * MIB)
def flood_of_events_is_bounded_and_the_oldest_are_deleted(t):
    threads = Threads()
    for worker in range(4):
        threads.go(flood, t, worker, 1500)
    threads.join()
    items = t.admin().request("GET", EVENTS)[1]["items"]
    assert len(items) <= 1000 + 4, len(items)
    assert "e-0-0" not in {i["metadata"]["name"] for i in items}


def definition(name):
    return {"metadata": {"name": name + ".attack.example.com"},
            "spec": {"group": "attack.example.com", "scope": "Namespaced", "names": {"plural": name, "kind": name.capitalize()},
                     "versions": [{"name": "v1", "served": True, "storage": True,
                                   "schema": {"openAPIV3Schema": {"type": "object",
                                                                  "x-kubernetes-preserve-unknown-fields": True}}}]}}


def churn(t, prefix, n, until=lambda: None):
    """Makes definitions and an object of each, calls `until`, and deletes them."""
    client, names = t.admin(), ["%s%d" % (prefix, i) for i in range(n)]
    path = "/apis/attack.example.com/v1/namespaces/%s/%s"
    for name in names:
        status, answer = client.request("POST", CRDS, definition(name))
        assert status == 201, answer
    for name in names:
        body = {"apiVersion": "attack.example.com/v1", "kind": name.capitalize(), "metadata": {"name": "o"}}
        wait_for(lambda: client.request("POST", path % (NS, name), body)[0] == 201, 10 * SLACK, "it is served")
    until()
    for name in names:
        assert client.request("DELETE", CRDS + "/%s.attack.example.com" % name)[0] == 200
    wait_for(lambda: not [i for i in client.request("GET", CRDS)[1]["items"] if i["spec"]["group"] == "attack.example.com"],
             20 * SLACK, "they are gone")


def metrics_of_definitions(t, rounds, each):
    """Bytes of /metrics after the first round and after the last."""
    sizes = []
    for n in range(rounds):
        churn(t, "k%dx" % n, each)
        sizes.append(len(t.admin().request("GET", "/metrics")[1]))
    assert sizes[-1] < sizes[0] + 3000, sizes
    assert "k0x0" not in t.admin().request("GET", "/metrics")[1]


@attack(growth=128 * MIB)
def metrics_do_not_grow_with_created_and_deleted_crds(t):
    metrics_of_definitions(t, rounds=4, each=12)


@attack(long=True)
def metrics_do_not_grow_with_500_created_and_deleted_crds(t):
    metrics_of_definitions(t, rounds=20, each=25)


@attack(alone=True)
def deleted_crds_leave_no_metric_series_of_caches():
    with Target(verb="up", flags=["--without", "pods,hub"] + NOWHERE) as t:
        def named(name):
            return re.search(name + r"\d", t.admin().request("GET", "/metrics")[1], re.IGNORECASE)
        t.ready()
        wait_for(lambda: "\nworkqueue_depth{" in t.admin().request("GET", "/metrics")[1], 10 * SLACK, "controllers run")
        for name, count in (("first", 4), ("more", 12)):
            churn(t, name, count, until=lambda: wait_for(lambda: named(name), 60 * SLACK, "caches have series"))
            wait_for(lambda: not named(name), 10 * SLACK, "series go with the definitions")


# ---- a full disk ----


class SmallDisk:
    def __init__(self, size):
        self.directory = tempfile.mkdtemp(prefix="kc-attack-")
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "kc", self.directory],
                                               stderr=subprocess.DEVNULL).returncode:
            os.rmdir(self.directory)
            raise Skipped("a filesystem cannot be mounted here")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "-l", self.directory], check=False)
        os.rmdir(self.directory)


@attack(alone=True)
def disk_filled_by_a_client_can_be_cleaned_up():
    with SmallDisk("24m") as disk, Target() as t:
        t.directory = os.path.join(disk.directory, "data")
        t.ready()
        client, made, full = t.admin(), [], False
        for n in range(2000):
            status, answer = client.request("POST", CONFIGMAPS, {"metadata": {"name": "f%d" % n}, "data": {"k": "x" * 40000}})
            assert status in (201, 503), answer
            if status == 503:
                full = True
                break
            made.append("f%d" % n)
        assert full and "no space" in answer["message"], answer
        for name in made:
            status, answer = client.request("DELETE", CONFIGMAPS + "/" + name)
            assert status == 200, answer
        make(client, "again")
        t.serves()
        return "full after %d objects, all deleted" % len(made)


# ---- files that others can change ----


def refused(t, *words):
    code, text = t.refuses_to_start(20 * SLACK)
    assert code == 1, (code, text)
    lines = [line for line in text.split("\n") if line.startswith("kc ")]
    assert len(lines) == 1 and all(word in lines[0] for word in words), text


@attack(alone=True)
def data_directory_writable_by_others_is_refused():
    with Target() as t:
        os.makedirs(t.directory, exist_ok=True)
        for mode in (0o777, 0o1777):  # In a sticky one others can create the store, or a key, before the server does.
            os.chmod(t.directory, mode)
            refused(t, "--file-rootpath", "other users can write")
        os.chmod(t.directory, 0o700)
        t.ready()


@attack(alone=True)
def store_and_certificates_open_to_others_are_refused():
    with Target() as t:
        for name in ("store", "certs"):
            path = os.path.join(t.directory, name)
            os.makedirs(path, mode=0o700)
            for mode in (0o777, 0o1777):
                os.chmod(path, mode)
                refused(t, "--file-rootpath", "other users can write", path)
            os.chmod(path, 0o700)
            if os.geteuid() == 0:
                os.chown(path, 12345, 12345)
                refused(t, "--file-rootpath", path, "belongs to a user other than root")
                os.chown(path, 0, 0)
        t.ready()


@attack(alone=True)
def symlinked_store_is_refused():
    with Directory() as elsewhere, Target() as t:
        os.makedirs(t.directory, exist_ok=True)
        store = os.path.join(t.directory, "store")
        os.symlink(elsewhere, store)
        refused(t, "symbolic link")
        assert os.listdir(elsewhere) == []
        os.unlink(store)
        os.mkdir(store, 0o700)
        target = os.path.join(elsewhere, "target")
        os.symlink(target, os.path.join(store, "data.mdb"))
        refused(t, "data.mdb", "symbolic link")
        assert not os.path.exists(target)
        os.unlink(os.path.join(store, "data.mdb"))
        t.ready()


@attack(alone=True)
def writable_token_file_is_refused_and_readable_one_warned_about():
    with Directory() as directory:
        tokens = os.path.join(directory, "tokens.csv")
        with open(tokens, "w") as f:
            f.write("%s,admin,1,system:masters\n" % TOKEN)
        with Target(flags=["--token-auth-file", tokens]) as t:
            os.chmod(tokens, 0o606)
            refused(t, "--token-auth-file", "other users can write")
            os.chmod(tokens, 0o644)
            t.ready()
            assert "other users can read a secret" in t.log_text()


@attack(alone=True)
def plugin_replaceable_by_others_is_refused():
    with Directory() as directory:
        library = plugin_in(directory)
        with plane(library) as t:
            os.chmod(library, 0o777)
            refused(t, "other users can write", "crasher.so")
            os.chmod(library, 0o755)
            os.chmod(directory, 0o777)
            refused(t, "other users can write", directory)
            os.chmod(directory, 0o700)
            if os.geteuid() == 0:
                os.chown(library, 12345, 12345)
                refused(t, "is owned by a user other than root")
                os.chown(library, 0, 0)
            t.ready()
