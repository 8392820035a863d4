/* SPDX-License-Identifier: Apache-2.0 */
/* pod_state.c: see pod_state.h. */
#include "common/pod_state.h"

#include "kc/meta.h"

static const struct {
    const char *name;
    kc__pod_phase phase;
} phases[] = {
    {"Running", KC__POD_RUNNING},
    {"Succeeded", KC__POD_SUCCEEDED},
    {"Failed", KC__POD_FAILED},
    {"Unknown", KC__POD_UNKNOWN},
};

static kc__pod_phase phase_of(kc_str text)
{
    for (size_t i = 0; i < KC_COUNT(phases); i++)
        if (kc_str_is(text, phases[i].name))
            return phases[i].phase;
    return KC__POD_PENDING;
}

static void read_ready(const kc_value *conditions, kc__pod_state *state)
{
    kc_items (conditions, c) {
        if (!kc_str_is(kc_as_str(kc_get(c, "type")), "Ready"))
            continue;
        state->ready = kc_str_is(kc_as_str(kc_get(c, "status")), "True");
        if (state->ready)
            kc_time_parse(kc_as_str(kc_get(c, "lastTransitionTime")), &state->ready_since, NULL);
        return;
    }
}

kc__pod_state kc__pod_state_in(const kc_value *pod)
{
    const kc_value *status = kc_get(pod, "status");
    kc__pod_state state = {
        .phase = phase_of(kc_as_str(kc_get(status, "phase"))),
        .deleting = kc_as_str(kc_dig(pod, "metadata.deletionTimestamp")).n > 0,
    };
    read_ready(kc_get(status, "conditions"), &state);
    return state;
}

kc__pod_state kc__pod_state_of(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    return kc__pod_state_in(kc_view_root(view));
}
