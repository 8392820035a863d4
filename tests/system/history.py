# SPDX-License-Identifier: Apache-2.0
"""
history.py: decides whether the recorded history of one object is linearizable.

A history is linearizable when every request can be given one moment between its start and its end so
that, in the order of these moments, a simple register would have given the same answers. Objects are
independent, so each is searched by itself, as Wing and Gong do: try every request that may come next,
go back when that leads nowhere, and remember which (set of requests done, state) were tried.

A request of unknown outcome may take effect at any time after its start, or never. It is tried only
where no other request fits, so that many of them do not make the search long.
"""
from collections import namedtuple

INFINITY = float("inf")

# What was asked: verb, value (of a put), expected (a version, of a conditional put). What came of it:
# ok | exists | missing | conflict | unknown, with the value and the version an answer showed.
Call = namedtuple("Call", "start end verb value expected outcome shown version")


def step(state, call):
    """The state after a call, of a register that holds None or (value, version); or False when the
    answer is not one it could have given."""
    if call.verb == "get":
        seen = (call.shown, call.version) if call.outcome == "ok" else None
        return state if seen == state else False
    if call.verb == "create":
        if call.outcome == "exists":
            return state if state is not None else False
        return (call.value, call.version) if call.outcome in ("ok", "unknown") and state is None else False
    if call.outcome == "missing":
        return state if state is None else False
    if call.outcome == "conflict":
        return state if call.expected is not None and state is not None and state[1] != call.expected else False
    if state is None or (call.expected is not None and state[1] != call.expected):
        return False
    return None if call.verb == "delete" else (call.value, call.version)


def linearizable(calls):
    """Whether some order of the calls explains them."""
    known = sorted((c for c in calls if c.outcome != "unknown"), key=lambda c: c.start)
    loose = [c for c in calls if c.outcome == "unknown" and c.verb != "get"]
    tried = set()
    stack = [(0, None, frozenset(), frozenset())]  # The first not done, the state, those done beyond it, loose ones used.
    while stack:
        first, state, beyond, used = stack.pop()
        while first in beyond:
            beyond = beyond - {first}
            first += 1
        if first == len(known):
            return True
        if (first, state, beyond, used) in tried:
            continue
        tried.add((first, state, beyond, used))
        found, deadline = candidates(known, first, beyond)
        for i, c in enumerate(loose):
            after = step(state, c) if i not in used and c.start <= deadline else False
            if after is not False:
                stack.append((first, after, beyond, used | {i}))
        for i in reversed(found):
            after = step(state, known[i])
            if after is not False:
                stack.append((first, after, beyond | {i}, used))
    return False


def candidates(calls, first, beyond):
    """Calls that may be next: those that began before any other that is not done had ended; and when
    the first of these ended."""
    deadline = INFINITY
    found = []
    for i in range(first, len(calls)):
        if calls[i].start > deadline:
            break
        if i not in beyond:
            found.append(i)
            deadline = min(deadline, calls[i].end)
    return found, deadline


def explain(calls):
    """The earliest call that cannot be explained, and those beside it."""
    calls = sorted(calls, key=lambda c: c.start)
    good, bad = 0, len(calls)  # Whether the first n can be explained, by bisection.
    while bad - good > 1:
        middle = (good + bad) // 2
        cut = calls[middle].start
        known = [c if c.end < cut else c._replace(end=INFINITY, outcome="unknown") for c in calls[:middle]
                 if c.end < cut or c.verb != "get"]
        good, bad = (middle, bad) if linearizable(known) else (good, middle)
    culprits = [c for c in calls if calls[good].start <= c.end < calls[min(bad, len(calls) - 1)].start]
    begin = min((c.start for c in culprits), default=calls[good].start)
    beside = [c for c in calls[:bad] if c.end >= begin and c not in culprits]
    return "does not fit: %s\nbeside it:\n%s" % ("\n".join(map(str, culprits)), "\n".join(map(str, beside)))
