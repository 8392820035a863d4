# SPDX-License-Identifier: Apache-2.0
"""
Clients that guess passwords, use credentials that have ended, or give themselves rights: a user that edits users, Secrets of others.
"""
import http.client
import json
import statistics
import threading
import time

from attack import LIMIT, MIB, attack, bound

USERS = "/apis/platform.kubecontroller.io/v1/users"
PASSWORD = "a password that is long enough"


def post(t, path, body):
    """Status and parsed response of a request without credentials."""
    line = http.client.HTTPConnection("127.0.0.1", t.port, timeout=60)
    line.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = line.getresponse()
    status, text = answer.status, answer.read()
    line.close()
    return status, json.loads(text or b"{}")


def login(t, name, password):
    return post(t, "/people/login", {"username": name, "password": password})


def add_user(t, password=PASSWORD):
    name = t.unique("person")
    user = {"apiVersion": "platform.kubecontroller.io/v1", "kind": "User", "metadata": {"name": name}, "spec": {"displayName": name}}
    status, answer = t.admin().request("POST", USERS, user)
    assert status == 201, answer
    status, answer = t.admin().request("POST", "/people/password", {"username": name, "password": password})
    assert status == 200, answer
    return name


# The clients of the flood and the two hashes share the processors with the server.
@attack(growth=160 * MIB, p99=0.05)
def flood_of_logins_is_answered_with_429_and_delays_nobody(t):
    name, found, end = add_user(t), {}, time.time() + 4
    lock = threading.Lock()

    def guess(i):
        while time.time() < end or found.get(429, 0) <= found.get(401, 0) and time.time() < end + LIMIT:
            status, _ = login(t, name if i % 2 else "nobody-%d" % i, "guess-%d" % i)
            time.sleep(0.02)  # The server is measured, not the threads of this process.
            with lock:
                found[status] = found.get(status, 0) + 1

    threads = [threading.Thread(target=guess, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) <= {401, 429}, found
    assert found[429] > found.get(401, 0), found
    assert found.get(401, 0) <= 40, found  # The tries of one source.


@attack(growth=160 * MIB)
def password_check_takes_as_long_for_an_unknown_user(t):
    name = add_user(t)

    def duration(user):
        began = time.time()
        status, _ = login(t, user, "a wrong password")
        assert status == 401, status
        return time.time() - began

    known, unknown = [], []
    for i in range(8):
        known.append(duration(name))
        unknown.append(duration("nobody-%d" % i))
    a, b = statistics.median(known), statistics.median(unknown)
    most = bound(2, 10)  # A hash takes a hundred times as long as everything else.
    assert a < most * b and b < most * a, (a, b)


@attack(growth=160 * MIB)
def token_from_before_a_password_change_is_refused(t):
    name = add_user(t)
    status, session = login(t, name, PASSWORD)
    assert status == 200, session
    status, _ = t.admin().request("POST", "/people/password", {"username": name, "password": PASSWORD + "!"})
    assert status == 200
    line = http.client.HTTPConnection("127.0.0.1", t.port, timeout=60)
    line.request("GET", "/api/v1/namespaces", headers={"Authorization": "Bearer " + session["token"]})
    assert line.getresponse().status == 401
    status, _ = post(t, "/people/renew", {"session": session["session"]})
    assert status == 401, status


@attack(growth=160 * MIB)
def secrets_of_people_cannot_be_read_by_an_administrator(t):
    name = add_user(t)
    for path in ("/api/v1/namespaces/kc-credentials/secrets", "/api/v1/namespaces/kc-credentials/secrets/user-" + name):
        status, answer = t.admin().request("GET", path)
        assert status == 403, answer
    status, answer = t.admin().request("GET", "/api/v1/secrets")
    assert status == 200 and name not in json.dumps(answer), answer
    reference = {"spec": {"credentialsRef": {"namespace": "default", "name": "mine"}}}
    status, answer = t.admin().request("PATCH", USERS + "/" + name, reference, kind="application/merge-patch+json")
    assert status == 403, answer
