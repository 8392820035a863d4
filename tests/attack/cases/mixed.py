# SPDX-License-Identifier: Apache-2.0
"""
Mixed attack and normal load against one server for a long time: normal clients' p99 stays below the bound, the server is never
restarted, and its memory at the end is within a fifth of what it was after warming up.

KC_ATTACK_MINUTES says for how long; 30 by default.
"""
import os
import random
import time

from attack import MIB, P99, SLACK, Measure, Target, Threads, attack, mixed_cases

MINUTES = float(os.environ.get("KC_ATTACK_MINUTES", "30"))
SETTLE = 60.0  # Seconds until memory must have been given back.
MOST_REFUSED = 0.5  # Share of attacks that may be refused otherwise: with more, little was attacked.


def fire(target, until, outcomes):
    """
    Runs one mixable case after the other. A case shares the server's budgets with others here, so that it may be refused (429) where
    it expects another answer: such cases are counted, and fail the run only if they are more than half.
    """
    order = random.Random(random.getrandbits(32))
    while time.monotonic() < until:
        try:
            order.choice(mixed_cases()).play(target)
            outcomes.append(True)
        except (AssertionError, OSError):
            outcomes.append(False)


def load(target, minutes):
    """Two of them side by side; the outcomes."""
    outcomes, threads, until = [], Threads(), time.monotonic() + minutes * 60
    for _ in range(2):
        threads.go(fire, target, until, outcomes)
    threads.join(timeout=minutes * 60 + 120)
    return outcomes


def warm_up(target):
    """Every case once, and a minute of load, so that caches, pools and kept events have their usual size."""
    for case in mixed_cases():
        case.play(target)
    target.mixed = True
    load(target, 1)
    time.sleep(SETTLE)


@attack(long=True, alone=True)
def mixed_attacks_do_not_delay_others_or_leak_memory():
    with Target(trust_localhost=False) as t:  # Cases of clients without credentials are among them.
        t.ready()
        warm_up(t)
        settled, measure = t.rss(), Measure(t)
        try:
            outcomes = load(t, MINUTES)
        finally:
            print("mixed: " + measure.end().row(), flush=True)
        time.sleep(SETTLE)
        t.serves()
        row = "%s, %d attacks, %d of them refused otherwise, RSS after %.0f s of rest %d MiB" % (
            measure.row(), len(outcomes), outcomes.count(False), SETTLE, t.rss() / MIB)
        assert outcomes.count(False) <= len(outcomes) * MOST_REFUSED, row
        assert measure.latency["p99"] < P99 * SLACK, row
        assert t.rss() < settled * 1.2, "RSS was %d MiB before: %s" % (settled / MIB, row)
        return row
