# SPDX-License-Identifier: Apache-2.0
"""
Admission policies that ask for much work or memory: expressions that exceed their budget, many of them, patterns that a
backtracking matcher would not finish, policies of the largest size, variables that refer to each other. Each request is answered
within a second; the thread that compiles policies delays no request.
"""
import time

from attack import MIB, NS, SLACK, SLOW, TooSlow, attack

GROUP = "/apis/admissionregistration.k8s.io/v1/"
POLICIES, BINDINGS = GROUP + "validatingadmissionpolicies", GROUP + "validatingadmissionpolicybindings"
MAPS = "/api/v1/namespaces/%s/configmaps" % NS
ANSWER = 1.0 * SLACK


class Policy:
    """A policy for ConfigMaps with a label of its own, and its binding."""

    def __init__(self, t, **spec):
        self.t, self.name = t, t.unique("policy")
        rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"]}
        self.body = {"metadata": {"name": self.name}, "spec": dict(
            {"matchConstraints": {"resourceRules": [rule], "objectSelector": {"matchLabels": {"policy": self.name}}}}, **spec)}

    def create(self):
        """The answer to the policy, which must come in time."""
        start = time.monotonic()
        self.t.made("%s/%s" % (POLICIES, self.name))
        answer = self.t.admin().request("POST", POLICIES, self.body)
        took = time.monotonic() - start
        if took >= 2 * ANSWER:
            raise TooSlow("written in %.2f s" % took)
        return answer

    def apply(self):
        status, answer = self.create()
        assert status == 201, answer
        self.bind()
        time.sleep(0.5 * SLOW)
        return self

    def bind(self):
        self.t.made("%s/%s" % (BINDINGS, self.name))
        binding = {"metadata": {"name": self.name}, "spec": {"policyName": self.name, "validationActions": ["Deny"]}}
        status, answer = self.t.admin().request("POST", BINDINGS, binding)
        assert status == 201, answer

    def write(self, data):
        """Creates a ConfigMap that the policy applies to; must be answered in time."""
        name, start = self.t.unique("map"), time.monotonic()
        self.t.made("%s/%s" % (MAPS, name))
        status, answer = self.t.admin().request("POST", MAPS, {
            "metadata": {"name": name, "labels": {"policy": self.name}}, "data": data})
        took = time.monotonic() - start
        if took >= ANSWER:
            raise TooSlow("answered in %.2f s" % took)
        return status, answer


def nested(depth, inner="true"):
    for i in range(depth):
        inner = "object.data.all(k%d, %s)" % (i, inner)
    return inner


ENTRIES = {"key-%02d" % i: "value" for i in range(40)}


@attack(growth=20 * MIB, mix=True)
def expensive_expression_exceeds_its_cost_limit(t):
    policy = Policy(t, validations=[{"expression": nested(6)}]).apply()
    for _ in range(8):
        status, answer = policy.write(ENTRIES)
        assert status == 422 and "actual cost limit exceeded" in answer["message"], answer


@attack(growth=20 * MIB, mix=True)
def many_expensive_expressions_exceed_the_budget_of_the_policy(t):
    policy = Policy(t, validations=[{"expression": nested(3, "k0 + k1 != 'x'")}] * 200).apply()
    for _ in range(4):
        status, answer = policy.write(ENTRIES)
        assert status == 422 and "running out of cost budget" in answer["message"], answer


@attack(growth=20 * MIB, mix=True)
def strings_that_double_exceed_the_cost_limit(t):
    variables = [{"name": "v0", "expression": "'x' + object.data['key-00']"}]
    for i in range(1, 60):
        variables.append({"name": "v%d" % i, "expression": "variables.v%d + variables.v%d" % (i - 1, i - 1)})
    policy = Policy(t, variables=variables, validations=[{"expression": "variables.v59 != ''"}]).apply()
    for _ in range(4):
        status, answer = policy.write(ENTRIES)
        assert status == 422, answer


@attack(growth=20 * MIB, mix=True)
def backtracking_patterns_take_linear_time(t):
    policy = Policy(t, validations=[{"expression": "!object.data.text.matches('^(a+)+$') && !object.data.text.matches('(a|aa)*b')"}]).apply()
    for _ in range(4):
        status, answer = policy.write({"text": "a" * 20000 + "!"})
        assert status in (201, 422), answer


@attack(growth=20 * MIB, mix=True)
def largest_policy_is_answered_and_bounded_in_memory(t):
    # About a megabyte of small expressions.
    policy = Policy(t, validations=[{"expression": "object.data.x%d != 'y'" % i} for i in range(18000)])
    status, answer = policy.create()
    assert status in (201, 413, 422, 504), answer
    if status == 201:
        policy.bind()
        time.sleep(1.0 * SLOW)
        status, answer = policy.write({"a": "b"})
        assert status == 422, answer


@attack(growth=20 * MIB, mix=True)
def chain_of_variables_is_refused(t):
    variables = [{"name": "v0", "expression": "1"}]
    for i in range(1, 3000):
        variables.append({"name": "v%d" % i, "expression": "variables.v%d + 1" % (i - 1)})
    policy = Policy(t, variables=variables, validations=[{"expression": "variables.v2999 == 3000"}]).apply()
    status, answer = policy.write({"a": "b"})
    assert status == 422 and "nested too deeply" in answer["message"], answer


@attack(growth=20 * MIB, mix=True)
def policies_that_change_all_the_time_delay_no_request(t):
    policy = Policy(t, validations=[{"expression": "object.data.size() < 1000"}] * 100).apply()
    client = t.admin()
    for i in range(60):
        status, answer = client.request("PATCH", "%s/%s" % (POLICIES, policy.name),
                                        {"metadata": {"annotations": {"n": str(i)}}, "spec": {"failurePolicy": ["Fail", "Ignore"][i % 2]}},
                                        kind="application/merge-patch+json")
        assert status == 200, answer
        assert policy.write({"a": "b"})[0] == 201
