# SPDX-License-Identifier: Apache-2.0
"""
CEL rules and objects made to take long or to use much memory: costs that the estimate does not see, deep nesting, huge
literals, patterns that make matchers backtrack, text that grows. Each request is answered within a second, on a worker.
"""
import time

from attack import MIB, NS, SLACK, Threads, TooSlow, attack

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "cel.attack.example"
MOST_TIME = 1.0
GROWTH = 20 * MIB


def text(most=None, **more):
    return dict({"type": "string"}, **(dict(more, maxLength=most) if most else more))


def lists(items, most=None):
    return dict({"type": "array", "items": items}, **({"maxItems": most} if most else {}))


def rules(*texts):
    return [{"rule": r} for r in texts]


def spec(properties, *texts):
    """A schema whose spec has these properties and rules."""
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties,
                                                      "x-kubernetes-validations": rules(*texts)}}}


class Kind:
    """A definition and the collection of its objects; every request must be answered in time."""

    def __init__(self, t, schema):
        self.t, self.plural = t, t.unique("rule").replace("-", "") + "s"
        self.kind = self.plural.capitalize()
        self.name = "%s.%s" % (self.plural, GROUP)
        self.collection = "/apis/%s/v1/namespaces/%s/%s" % (GROUP, NS, self.plural)
        self.body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": self.name},
                     "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": self.plural, "kind": self.kind},
                              "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}

    def timed(self, *request):
        began = time.monotonic()
        status, answer = self.t.admin().request(*request)
        took = time.monotonic() - began
        if took >= MOST_TIME * SLACK:
            raise TooSlow("%s took %.2f s: %d %s" % (request[0], took, status, str(answer)[:300]))
        return status, answer

    def define(self):
        self.t.made("%s/%s" % (CRDS, self.name))
        return self.timed("POST", CRDS, self.body)

    def refused(self, part):
        """The definition is refused with this text."""
        status, answer = self.define()
        assert status == 422 and part in answer["message"], (status, str(answer)[:500])

    def accepted(self):
        """Whether the definition is accepted and served, instead of refused as invalid."""
        status, answer = self.define()
        assert status in (201, 422), str(answer)[:500]
        return status == 201 and self.wait()

    def serve(self):
        status, answer = self.define()
        assert status == 201, str(answer)[:1000]
        return self.wait()

    def wait(self):
        until = time.monotonic() + 10 * SLACK
        while self.t.admin().request("GET", self.collection)[0] != 200:
            assert time.monotonic() < until, "the definition is not served"
            time.sleep(0.01)
        return self

    def post(self, spec):
        body = {"apiVersion": GROUP + "/v1", "kind": self.kind, "metadata": {"name": self.t.unique("o")}, "spec": spec}
        return self.timed("POST", self.collection, body)

    def invalid(self, spec, part):
        status, answer = self.post(spec)
        assert status == 422 and part in answer["message"], (status, str(answer)[:500])

    def valid(self, spec):
        status, answer = self.post(spec)
        assert status == 201, (status, str(answer)[:500])

    def remove(self):
        self.t.admin().request("DELETE", "%s/%s" % (CRDS, self.name))


OVER_BUDGET = "operation cancelled: actual cost limit exceeded"


# ---- costs ----


@attack(growth=GROWTH, mix=True)
def rule_with_nested_loops_over_unbounded_lists_is_refused_by_its_estimate(t):
    Kind(t, spec({"a": lists(text())}, "self.a.all(x, self.a.all(y, self.a.all(z, x + y != z)))")).refused("estimated rule cost exceeds budget by factor of more than 100x")


@attack(growth=GROWTH, mix=True)
def loops_behind_dyn_stop_at_the_cost_limit(t):
    kind = Kind(t, spec({"a": lists({"type": "integer"}, 200)}, "dyn(self.a).all(x, dyn(self.a).all(y, dyn(self.a).all(z, x + y + z >= 0)))"))
    if kind.accepted():
        kind.invalid({"a": list(range(200))}, OVER_BUDGET)
        kind.remove()


@attack(growth=GROWTH, mix=True)
def object_that_uses_the_whole_budget_of_its_rules_is_answered(t):
    # Each rule stays below the limit of one evaluation, all of them exceed that of an object.
    rule = "self.a.all(x, self.a.all(y, x + y >= 0 && %d > 0))"
    kind = Kind(t, spec({"a": lists({"type": "integer"}, 250)}, *(rule % (i + 1) for i in range(30)))).serve()
    for _ in range(3):
        kind.invalid({"a": list(range(250))}, "validation failed due to running out of cost budget, no further validation rules will be run")


@attack(growth=GROWTH, mix=True)
def rule_of_each_of_many_items_stops_at_the_budget_of_the_object(t):
    item = {"type": "object", "properties": {"s": text(50)}, "x-kubernetes-validations": rules("self.s.matches('^([a-z]+[0-9]*)+$')", "self.s.split('').all(c, c != 'Z')")}
    kind = Kind(t, {"type": "object", "properties": {"spec": {"type": "object", "properties": {"items": lists(item, 600)}}}}).serve()
    status, answer = kind.post({"items": [{"s": "abc0" * 12} for _ in range(600)]})
    assert status in (201, 422), answer


@attack(growth=GROWTH, mix=True)
def writes_by_many_clients_that_use_the_budget_do_not_delay_others(t):
    kind = Kind(t, spec({"a": lists({"type": "integer"}, 250)}, "self.a.all(x, self.a.all(y, x + y >= 0))", "self.a.all(x, self.a.all(y, x - y < 1000))")).serve()
    body = {"apiVersion": GROUP + "/v1", "kind": kind.kind, "metadata": {"name": "x"}, "spec": {"a": list(range(250))}}

    def write():
        for _ in range(5):
            status, answer = t.admin().request("POST", kind.collection + "?dryRun=All", body)
            assert status in (201, 422, 429), (status, str(answer)[:300])

    threads = Threads()
    for _ in range(8):
        threads.go(write)
    threads.join()


# ---- expressions ----


@attack(growth=GROWTH, mix=True)
def deeply_nested_expressions_are_refused(t):
    deep = 20000
    for expression, part in (("(" * deep + "true" + ")" * deep, "recursion limit exceeded"), ("!" * 40001 + "true", ""), ("[" * deep + "]" * deep + " == []", "recursion limit exceeded"),
                             ("-" * 30000 + "1 < 2", ""), ("true ? " * 5000 + "true" + " : true" * 5000, "compilation failed"), ("self" + ".a" * 20000, ""), ("{1:" * deep + "1" + "}" * deep + " == {}", "recursion limit exceeded")):
        status, answer = Kind(t, spec({"a": text(5)}, expression)).define()
        assert status == 422 and part in answer["message"] or not part and status == 201, (expression[:40], status, str(answer)[:300])


@attack(growth=GROWTH, mix=True)
def nested_macros_are_refused(t):
    for macro in ("[1].all(x%d, %s)", "[1].exists_one(x%d, %s)", "[[1].map(x%d, %s) == []].all(y, y)"):
        expression = "true"
        for i in range(200):
            expression = macro % (i, expression)
        status, answer = Kind(t, spec({"a": text(5)}, expression)).define()
        assert status in (201, 422), answer


def define_each(t, *expressions):
    for expression in expressions:
        kind = Kind(t, spec({"a": text(5)}, expression))
        status, answer = kind.define()
        assert status in (201, 422), (expression[:40], answer)
        kind.remove()


@attack(growth=GROWTH, mix=True)
def long_text_literals_are_compiled_within_their_limits(t):
    define_each(t, "'%s' != self.a" % ("x" * 99000), "1" * 90000 + " > 0", "self.a.matches('%s')" % ("(a|b)" * 15000), "self.a == r'''%s'''" % ("\\" * 90000),
                "b'%s' == b''" % ("\\xff" * 20000))


@attack(growth=GROWTH, mix=True)
def literal_list_of_40000_elements_is_compiled_within_its_limits(t):
    define_each(t, "[%s].all(x, x > 0)" % ",".join(["1"] * 40000))


@attack(growth=GROWTH, mix=True)
def literal_map_of_12000_entries_is_compiled_within_its_limits(t):
    define_each(t, "{%s}.size() > 0" % ",".join("%d:1" % i for i in range(12000)), "self.a in [%s]" % ",".join("'%d'" % i for i in range(14000)))


@attack(growth=GROWTH, mix=True)
def chain_of_12000_additions_is_compiled_within_its_limits(t):
    define_each(t, "%s == ''" % "+".join(["self.a"] * 12000))


@attack(growth=GROWTH, mix=True)
def expression_beyond_the_size_limit_is_refused(t):
    Kind(t, spec({"a": text(5)}, "self.a != '%s'" % ("x" * 100001))).refused("expression code point size exceeds limit")


@attack(growth=GROWTH, mix=True)
def definition_with_thousands_of_rules_is_answered(t):
    # The rules themselves stay in memory as long as the definition: 5,000 of them, each with a pattern of its own.
    kind = Kind(t, spec({"a": text(63)}, *("self.a != 'x%d'" % i for i in range(5000)))).serve()
    kind.valid({"a": "b"})


# ---- patterns ----

BOMBS = ("^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y", "((a{1,10}){1,10}){1,10}b", "[\\\\pL\\\\pN]{1,200}b", "(a?){300}a{300}", "(?i)(é|É|e){1,100}$")


@attack(growth=GROWTH, mix=True)
def patterns_that_make_matchers_backtrack_take_linear_time(t):
    kind = Kind(t, spec({"s": text(30000)}, *("self.s.matches('%s') || true" % p for p in BOMBS), "self.s.findAll('(a*)*', 100).size() >= 0", "self.s.find('(a|b|ab)*c') != 'x'")).serve()
    for value in ("a" * 30000, "a" * 29999 + "!", "ab" * 15000, "é" * 15000):
        status, answer = kind.post({"s": value})
        assert status in (201, 422), answer


@attack(growth=GROWTH, mix=True)
def pattern_that_an_object_names_is_compiled_within_its_limits(t):
    kind = Kind(t, spec({"s": text(1000), "p": text(1000)}, "self.s.matches(self.p) || true")).serve()
    for pattern in ("((a{1,30}){1,30}){1,1}", "(" * 400, "[" * 900, "\\pL" * 300, "(?i)" + "[a-z\\pL]" * 100, "(((((((((((a{2}){2}){2}){2}){2}){2}){2}){2}){2})))", ".{1000}", "(a|b|c|d){900}", "x*" * 490, "\\Q" * 450):
        status, answer = kind.post({"s": "a" * 1000, "p": pattern})
        assert status in (201, 422), answer


@attack(growth=GROWTH, mix=True)
def patterns_whose_repetitions_multiply_are_refused(t):
    for pattern in ("(a{1000}){1000}", "((((a{50}){50}){50}){50})", "(" * 1001 + "a" + ")" * 1001, "a{1001}"):
        status, answer = Kind(t, spec({"s": text(50)}, "self.s.matches('%s')" % pattern)).define()
        assert status == 422, (pattern[:30], status, str(answer)[:300])


# ---- text that grows ----


@attack(growth=GROWTH, mix=True)
def text_that_doubles_in_every_step_stops_at_the_limits(t):
    # The values of an evaluation have a limit of their own, and are freed with it.
    grow = "self.s"
    for _ in range(12):
        grow = "[%s].map(x, x + x)[0]" % grow
    for rule in ("(%s).size() > 0" % grow, "self.s.replace('', self.s).size() > 0", "self.s.split('').map(c, self.s).join(self.s).size() > 0", "self.s.split('').map(c, self.s.split('').map(d, self.s)).size() >= 0", "'%s'.format([self.s, self.s]).replace('a', self.s).replace('a', self.s).size() > 0"):
        kind = Kind(t, spec({"s": text(2000)}, rule))
        if kind.accepted():
            status, answer = kind.post({"s": "a" * 2000})
            assert status in (201, 422), answer
            kind.remove()


@attack(growth=GROWTH, mix=True)
def long_text_of_a_message_expression_is_dropped(t):
    schema = spec({"s": text(20000)}, "false")
    schema["properties"]["spec"]["x-kubernetes-validations"] = [{"rule": "false", "message": "plain", "messageExpression": "self.s + self.s"}]
    kind = Kind(t, schema).serve()
    status, answer = kind.post({"s": "m" * 20000})
    assert status == 422 and "plain" in answer["message"] and len(answer["message"]) < 10000, str(answer)[:300]


# ---- objects ----


@attack(growth=GROWTH, mix=True)
def large_objects_with_rules_are_validated_on_a_worker(t):
    # A body of 1 MB is kept several times while it is written.
    kind = Kind(t, spec({"m": {"type": "object", "maxProperties": 5000, "additionalProperties": text(200)}}, "self.m.all(k, k.size() < 300)", "self.m.all(k, self.m[k] != k)", "!('x' in self.m)")).serve()
    value = {"m": {"key%d" % i: "v" * 180 for i in range(5000)}}
    for _ in range(3):
        status, answer = kind.post(value)
        assert status in (201, 422), str(answer)[:300]


@attack(growth=GROWTH, mix=True)
def update_that_correlates_long_lists_takes_linear_time(t):
    item = {"type": "object", "required": ["k"], "properties": {"k": text(20), "v": {"type": "integer"}}, "x-kubernetes-validations": rules("self.v >= oldSelf.v")}
    keyed = dict(lists(item, 5000), **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"]})
    kind = Kind(t, {"type": "object", "properties": {"spec": {"type": "object", "properties": {"l": keyed}}}}).serve()
    name = t.unique("o")
    body = {"apiVersion": GROUP + "/v1", "kind": kind.kind, "metadata": {"name": name}, "spec": {"l": [{"k": "k%d" % i, "v": 1} for i in range(5000)]}}
    status, answer = kind.timed("POST", kind.collection, body)
    assert status == 201, str(answer)[:300]
    body["metadata"]["resourceVersion"] = answer["metadata"]["resourceVersion"]
    body["spec"]["l"].reverse()
    status, answer = kind.timed("PUT", kind.collection + "/" + name, body)
    assert status == 200, str(answer)[:300]
