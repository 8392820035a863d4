/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_ready.c: when the nodes of this process are there, and its reconcilers have what they need:
 * a hook that the API server asks, say.
 *
 * A Node that is Ready may say so since the last start; and it may name the port of then, at which
 * nobody answers for logs. A node first reports and then renews its lease: so it is the lease that
 * tells.
 */
#include "up.h"

#include "kc/kinds.h"
#include "kc/pods.h"
#include "kc/time.h"
#include "kc/view.h"
#include "kc/wait.h"

#define PATIENCE (30 * KC_SECOND)
#define EVERY    (2 * KC_MILLISECOND)

static bool has_reported(const kc__up *up, const char *name, kc_time since)
{
    kc_auto(kc_object) *lease =
        kc_client_get(up->client, &kc_kind_lease, KC_KEY("kube-node-lease", name), NULL, NULL);
    kc_auto(kc_view) *view = lease ? kc_view_of(lease) : NULL;
    kc_time renewed = 0;
    if (!view || kc_time_parse_micro(kc_as_str(kc_dig(kc_view_root(view), "spec.renewTime")),
                                     &renewed, NULL) < 0)
        return false;
    kc_auto(kc_object) *node =
        kc_client_get(up->client, &kc_kind_node, KC_KEY("", name), NULL, NULL);
    return renewed >= since && kc_until_condition(node, "Ready");
}

static int await_node(const kc__up *up, const char *name, kc_time since, kc_error *err)
{
    const kc_clock *clock = kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, PATIENCE);
    while (!has_reported(up, name, since)) {
        if (kc_clock_now(clock) >= deadline)
            return kc_error_set(err, KC_TIMEOUT, "node %s is not ready after 30 s", name);
        if (!kc_cancel_sleep_until(up->stop, clock, kc_clock_deadline(clock, EVERY)))
            return 0;
    }
    return 0;
}

int kc__up_await_nodes(const kc__up *up, kc_error *err)
{
    const kc_pods_opts *pods = &up->options->controllers.pods;
    const int n = pods->mode == KC_PODS_SIMULATE ? pods->nodes : pods->mode == KC_PODS_PROCESS;
    const kc_clock *clock = kc_clock_real();
    /* The lease has microseconds. */
    const kc_time since = kc_clock_wall(clock) - (kc_clock_now(clock) - up->began) - KC_MILLISECOND;
    for (int i = 0; i < n && !kc_cancel_fired(up->stop); i++) {
        kc_autofree char *name = kc_pods_node_name(pods, i);
        if (await_node(up, name, since, err) < 0)
            return -1;
    }
    return 0;
}

int kc__up_await_checks(const kc__up *up, kc_error *err)
{
    const kc_clock *clock = kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, PATIENCE);
    for (;;) {
        kc_scoped(kc_error) why = {0};
        if (kc_manager_check_ready(up->manager, &why) == 0)
            return 0;
        if (kc_clock_now(clock) >= deadline)
            return kc_error_move(err, &why);
        if (!kc_cancel_sleep_until(up->stop, clock, kc_clock_deadline(clock, EVERY)))
            return 0;
    }
}
