#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
encryption.py: encrypted Secrets of a server that is killed, and `kc store rewrite`.

Writers create and change Secrets while the server is killed and started again. After each kill, no file of the data
directory may contain a byte sequence of a value, and every acknowledged Secret must be readable. Then the key is
rotated: `kc store rewrite`, killed at random moments too, must leave every Secret readable with the new key alone.
"""
import base64
import os
import random
import subprocess
import tempfile
import time

from harness import BINARY, SOAK, Broken, Client, Server, Skipped, Threads, make_namespace, file_backend_only, run, test, wait_for

SECRETS = "/api/v1/namespaces/vault/secrets"
ROUNDS = 20 if SOAK else 3
WRITERS = 4


def provider(cipher, name, letter):
    secret = base64.b64encode((letter * 32).encode()).decode()
    return "  - %s:\n      keys:\n      - name: %s\n        secret: %s\n" % (cipher, name, secret)


IDENTITY = "  - identity: {}\n"
FIRST, SECOND = provider("aesgcm", "key1", "a"), provider("secretbox", "key2", "b")


def write_config(path, *providers):
    with open(path + ".new", "w") as f:
        f.write("apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n"
                "- resources: [secrets]\n  providers:\n" + "".join(providers))
    os.chmod(path + ".new", 0o600)
    os.rename(path + ".new", path)


MARK = "unmistakable-value"  # Begins every value that the tests store.


def marks():
    """What a file must not contain: the beginning of a value, and its base64 at every alignment."""
    raw = MARK.encode()
    return [raw] + [base64.b64encode(b"x" * shift + raw)[4:-4] for shift in range(3)]


def files_of(directory):
    """The files of the store, and those of the server's etcd."""
    for top in (os.path.join(directory, "store"), directory + ".etcd"):
        for root, _, names in os.walk(top):
            yield from (os.path.join(root, name) for name in names)


def assert_absent(directory):
    for path in files_of(directory):
        with open(path, "rb") as f:
            content = f.read()
        for mark in marks():
            assert mark not in content, (path, mark)


def secret(name, value, version=None):
    metadata = {"name": name}
    if version:
        metadata["resourceVersion"] = version
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"password": value}}


def password_of(item):
    return base64.b64decode(item["data"]["password"]).decode()


class Writer:
    """Writes its own Secrets until the connection breaks; knows what was acknowledged."""

    def __init__(self, number):
        self.number, self.acknowledged, self.sent, self.count = number, {}, set(), 0

    def write(self, server):
        try:
            client = Client(server)
            while True:
                self.count += 1
                name = "s%d-%d" % (self.number, self.count % 20)
                value = "%s-%d-%d" % (MARK, self.number, self.count)
                self.sent.add(value)
                if name in self.acknowledged:
                    status, _ = client.request("PUT", SECRETS + "/" + name, secret(name, value))
                else:
                    status, _ = client.request("POST", SECRETS, secret(name, value))
                if status in (200, 201, 409):
                    self.acknowledged[name] = value if status != 409 else None
        except (Broken, OSError):
            pass

    def check(self, stored):
        for name, value in self.acknowledged.items():
            found = password_of(stored[name])
            assert found == value or found in self.sent, (name, found, value)


def all_secrets(server):
    status, listed = Client(server).request("GET", SECRETS)
    assert status == 200, (status, listed)
    return {item["metadata"]["name"]: item for item in listed["items"]}


def fill(server, n):
    client, values = Client(server), {}
    for i in range(n):
        values["s%d" % i] = "%s-%d" % (MARK, i)
        status, answer = client.request("POST", SECRETS, secret("s%d" % i, values["s%d" % i]))
        assert status == 201, answer
    return values


@test
def killed_server_leaves_no_plain_value_and_loses_no_secret():
    config = os.path.join(tempfile.mkdtemp(prefix="kc-encryption-"), "e.yaml")
    write_config(config, FIRST)
    writers = [Writer(i) for i in range(WRITERS)]
    with Server(flags=["--encryption-provider-config", config]) as server:
        server.start()
        make_namespace(server, "vault")
        for _ in range(ROUNDS):
            threads = Threads()
            for writer in writers:
                threads.go(writer.write, server)
            time.sleep(random.uniform(0.2, 1.0))
            server.kill()
            threads.join()
            assert_absent(server.directory)
            server.start()
            stored = all_secrets(server)
            for writer in writers:
                writer.check(stored)
    print("   %d writes" % sum(w.count for w in writers))


@test
@file_backend_only
def rewrite_of_stopped_store_removes_plain_values_from_its_files():
    with Server() as server:
        server.start()
        make_namespace(server, "vault")
        values = fill(server, 300)
        server.stop()
        try:
            assert_absent(server.directory)
        except AssertionError:
            pass  # As it must be: this is what the search finds in a store without encryption.
        else:
            raise AssertionError("the search does not find plain values")
        config = os.path.join(server.directory, "encryption.yaml")
        write_config(config, SECOND, IDENTITY)
        done = subprocess.run([BINARY, "store", "rewrite", "--file-rootpath", server.directory], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("300 of "), done.stdout
        assert_absent(server.directory)
        write_config(config, SECOND)
        server.start()
        assert {name: password_of(item) for name, item in all_secrets(server).items()} == values


@test
@file_backend_only
def killed_rewrite_is_completed_by_the_next_one():
    with Server() as server:
        server.start()
        make_namespace(server, "vault")
        values = fill(server, 300)
        server.stop()
        config = os.path.join(server.directory, "encryption.yaml")
        command = [BINARY, "store", "rewrite", "--file-rootpath", server.directory]
        for round in range(ROUNDS):
            write_config(config, *((SECOND, FIRST, IDENTITY) if round % 2 else (FIRST, SECOND, IDENTITY)))
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.05))
            process.kill()
            process.wait()
        write_config(config, SECOND, FIRST, IDENTITY)
        assert subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0
        write_config(config, SECOND)
        server.start()
        assert {name: password_of(item) for name, item in all_secrets(server).items()} == values
        assert_absent(server.directory)


def health(server, path):
    status, text = Client(server).request("GET", path)
    return status, text


@test
def health_has_the_check_of_a_reloaded_configuration():
    config = os.path.join(tempfile.mkdtemp(), "encryption.yaml")
    write_config(config, FIRST, IDENTITY)
    for flags, status in (([], 404), (["--encryption-provider-config-automatic-reload"], 200)):
        with Server(flags=["--encryption-provider-config", config] + flags) as server:
            server.start()
            assert [health(server, path + "/kms-providers")[0] for path in ("/healthz", "/readyz", "/livez")] == [status, status, 404]


@test
def changed_configuration_is_reloaded_and_an_invalid_one_keeps_the_server_ready():
    if not SOAK:
        raise Skipped("the file is read once per minute; KC_SOAK=1 waits for it")
    config = os.path.join(tempfile.mkdtemp(), "encryption.yaml")
    write_config(config, FIRST, IDENTITY)
    with Server(flags=["--encryption-provider-config", config, "--encryption-provider-config-automatic-reload"]) as server:
        server.start()
        make_namespace(server, "vault")
        fill(server, 5)
        write_config(config, "  - nonsense: {}\n")
        wait_for(lambda: "the changed file is invalid" in health(server, "/readyz?verbose")[1], 90, "the note about the file")
        assert health(server, "/readyz")[0] == 200 and len(all_secrets(server)) >= 5
        write_config(config, SECOND, FIRST, IDENTITY)
        wait_for(lambda: "the changed file is invalid" not in health(server, "/readyz?verbose")[1], 90, "the end of the note")
        subprocess.run([BINARY, "store", "rewrite", "--server", "http://127.0.0.1:%d" % server.port], check=True, env=dict(os.environ, KUBECONFIG="/dev/null"))
        server.kill()
        write_config(config, SECOND, IDENTITY)
        server.start()
        assert len(all_secrets(server)) >= 5


@test
def kms_is_refused_with_the_providers_that_are_supported():
    config = os.path.join(tempfile.mkdtemp(), "encryption.yaml")
    for version in ("v1", "v2"):
        write_config(config, "  - kms: {apiVersion: %s, name: plugin, endpoint: unix:///tmp/kms.sock}\n" % version)
        server = Server(flags=["--encryption-provider-config", config])
        try:
            code, text = server.refuses_to_start()
        finally:
            server.discard()
        assert code == 1 and "the provider kms (v1 and v2) is not supported; use aesgcm, aescbc or secretbox" in text, (code, text)


@test
def rewrite_of_running_server_replaces_the_key():
    config = os.path.join(tempfile.mkdtemp(prefix="kc-encryption-"), "e.yaml")
    write_config(config, FIRST)
    with Server(flags=["--encryption-provider-config", config]) as server:
        server.start()
        make_namespace(server, "vault")
        values = fill(server, 50)
        server.stop()
        write_config(config, SECOND, FIRST)
        server.start()
        command = [BINARY, "store", "rewrite", "--server", "http://127.0.0.1:%d" % server.port]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        versions = {name: item["metadata"]["resourceVersion"] for name, item in all_secrets(server).items()}
        assert subprocess.run(command, capture_output=True).returncode == 0
        again = {name: item["metadata"]["resourceVersion"] for name, item in all_secrets(server).items()}
        assert versions == again, "the second run must write nothing"
        server.stop()
        write_config(config, SECOND)
        server.start()
        assert {name: password_of(item) for name, item in all_secrets(server).items()} == values


if __name__ == "__main__":
    run()
