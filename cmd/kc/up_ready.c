/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_ready.c: waits until the nodes of this process have reported and its reconcilers pass their
 * readiness checks, for example until a webhook is registered.
 *
 * The Ready condition of a Node may be left from the former process, with that process's log port.
 * A node updates its status before it renews its Lease, so a Lease renewed after the start proves
 * that the status is current.
 */
#include "up.h"

#include "kc/kinds.h"
#include "kc/pods.h"
#include "kc/time.h"
#include "kc/view.h"
#include "kc/wait.h"

#define READY_TIMEOUT (30 * KC_SECOND)
#define POLL_INTERVAL (2 * KC_MILLISECOND)

static bool has_reported(const kc__cli_up *up, const char *name, kc_time since)
{
    kc_auto(kc_object) *lease =
        kc_client_get(up->admin, &kc_kind_lease, KC_KEY("kube-node-lease", name), NULL, NULL);
    kc_auto(kc_view) *view = lease ? kc_view_of(lease) : NULL;
    kc_time renewed = 0;
    if (!view ||
        kc_time_parse_micro(kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.renewTime")),
                            &renewed, NULL) < 0)
        return false;
    kc_auto(kc_object) *node =
        kc_client_get(up->admin, &kc_kind_node, KC_KEY("", name), NULL, NULL);
    return renewed >= since && kc_until_condition(node, "Ready");
}

static int await_node(const kc__cli_up *up, const char *name, kc_time since, kc_error *err)
{
    const kc_clock *clock = kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, READY_TIMEOUT);
    while (!has_reported(up, name, since)) {
        if (kc_clock_now(clock) >= deadline)
            return kc_error_set(err, KC_TIMEOUT, "node %s is not ready after 30 s", name);
        if (!kc_cancel_sleep_until(up->stop, clock, kc_clock_deadline(clock, POLL_INTERVAL)))
            return 0;
    }
    return 0;
}

int kc__cli_up_await_nodes(const kc__cli_up *up, kc_error *err)
{
    const kc_pods_opts *pods = &up->options->controllers.pods;
    const int n = pods->mode == KC_PODS_SIMULATE ? pods->nodes : pods->mode == KC_PODS_PROCESS;
    const kc_clock *clock = kc_clock_real();
    /* The Lease has a resolution of microseconds. */
    const kc_time since = kc_clock_wall(clock) - (kc_clock_now(clock) - up->began) - KC_MILLISECOND;
    for (int i = 0; i < n && !kc_cancel_fired(up->stop); i++) {
        kc_autofree char *name = kc_pods_node_name(pods, i);
        if (await_node(up, name, since, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

int kc__cli_up_await_checks(const kc__cli_up *up, kc_error *err)
{
    const kc_clock *clock = kc_clock_real();
    const int64_t deadline = kc_clock_deadline(clock, READY_TIMEOUT);
    for (;;) {
        kc_scoped(kc_error) why = {0};
        if (kc_manager_check_ready(up->manager, &why) == 0)
            return 0;
        if (kc_clock_now(clock) >= deadline)
            return kc_error_move(err, &why);
        if (!kc_cancel_sleep_until(up->stop, clock, kc_clock_deadline(clock, POLL_INTERVAL)))
            return 0;
    }
}
