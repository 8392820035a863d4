#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a server that tests/conformance/authorization.yaml configures, as several users, and prints its answers, one line of JSON each.

    tests/conformance/authorization.py URL     the token is $TOKEN, or "admintoken"

The users are those of the webhook of tests (tests/e2e/fixtures/authorizer). Each user has a name of its own for each run, because answers
are kept; the output has the name without it.
"""
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request

URL, TOKEN = sys.argv[1], os.environ.get("TOKEN", "admintoken")
RUN = f"-{time.time_ns()}"
PODS = "/api/v1/namespaces/default/pods"

# User, method, path, body.
REQUESTS = [
    ("allowed", "GET", PODS, None),
    ("allowed", "GET", "/metrics-of-nothing", None),
    ("denied", "GET", PODS, None),
    ("unknown", "GET", PODS, None),
    ("unasked-allowed", "GET", PODS, None),
    ("unasked", "GET", "/version/x", None),
    ("odd-allowed", "GET", PODS, None),
    ("odd", "GET", "/x", None),
    ("strict", "GET", PODS, None),
    ("strict-odd", "GET", PODS + "/a", None),
    ("strict-odd", "GET", "/x", None),
    ("strict-odd", "GET", "/api/v1/namespaces/default/secrets", None),
    ("selects-nothing", "GET", PODS + "?labelSelector=app%3Ddb", None),
    ("selects-nothing", "GET", PODS + "?labelSelector=app%3Dweb", None),
    ("selects-nothing", "GET", PODS, None),
]

SELF = "/apis/authorization.k8s.io/v1/"
REVIEWS = [
    ("allowed", {"resourceAttributes": {"verb": "get", "resource": "pods"}}),
    ("denied", {"resourceAttributes": {"verb": "get", "resource": "pods"}}),
    ("both", {"resourceAttributes": {"verb": "get", "resource": "pods"}}),
    ("unasked", {"resourceAttributes": {"verb": "get", "resource": "pods"}}),
    ("odd", {"nonResourceAttributes": {"verb": "get", "path": "/x"}}),
    ("strict-odd", {"nonResourceAttributes": {"verb": "get", "path": "/x"}}),
    ("strict-odd", {"resourceAttributes": {"verb": "list", "resource": "nodes"}}),
]


def send(user, method, path, body):
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(URL + path, data, method=method)
    request.add_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Content-Type", "application/json")
    if user:
        request.add_header("Impersonate-User", user)
    try:
        with urllib.request.urlopen(request, context=ssl._create_unverified_context()) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def words(text):
    """The message of a Status, or the text; nothing of a success."""
    try:
        answer = json.loads(text)
    except ValueError:
        return text
    return answer.get("message", "") if answer.get("kind") == "Status" else answer.get("status", "") if "Review" in answer["kind"] else ""


def show(**line):
    print(json.dumps(line, sort_keys=True).replace(RUN, ""))


for user, method, path, body in REQUESTS:
    status, text = send(user + RUN, method, path, body)
    show(user=user, path=path, status=status, message=words(text))
for user, spec in REVIEWS:
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {"user": user + RUN, **spec}}
    status, text = send(None, "POST", SELF + "subjectaccessreviews", review)
    show(user=user, review=spec, status=status, message=words(text))
status, text = send("allowed" + RUN, "POST", SELF + "selfsubjectrulesreviews",
                    {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "default"}})
rules = words(text)
show(user="allowed", review="rules", status=status, message={k: rules[k] for k in ("incomplete", "evaluationError") if k in rules} if isinstance(rules, dict) else rules)
