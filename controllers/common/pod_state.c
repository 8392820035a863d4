/* SPDX-License-Identifier: Apache-2.0 */
/* pod_state.c: see pod_state.h. */
#include "common/pod_state.h"

#include "kc/meta.h"

static const struct {
    const char *name;
    kc__common_pod_phase phase;
} phases[] = {
    {"Running", KC__COMMON_POD_RUNNING},
    {"Succeeded", KC__COMMON_POD_SUCCEEDED},
    {"Failed", KC__COMMON_POD_FAILED},
    {"Unknown", KC__COMMON_POD_UNKNOWN},
};

static kc__common_pod_phase common_pod_state_phase_of(kc_str text)
{
    for (size_t i = 0; i < KC_COUNT(phases); i++)
        if (kc_str_is(text, phases[i].name))
            return phases[i].phase;
    return KC__COMMON_POD_PENDING;
}

static void read_ready(const kc_value *conditions, kc__common_pod_state *state)
{
    kc_value_each_item (conditions, c) {
        if (!kc_str_is(kc_value_as_str(kc_value_get(c, "type")), "Ready"))
            continue;
        state->ready = kc_str_is(kc_value_as_str(kc_value_get(c, "status")), "True");
        if (state->ready)
            kc_time_parse(kc_value_as_str(kc_value_get(c, "lastTransitionTime")),
                          &state->ready_since, NULL);
        return;
    }
}

kc__common_pod_state kc__common_pod_state_in(const kc_value *pod)
{
    const kc_value *status = kc_value_get(pod, "status");
    kc__common_pod_state state = {
        .phase = common_pod_state_phase_of(kc_value_as_str(kc_value_get(status, "phase"))),
        .deleting = kc_value_as_str(kc_value_nested(pod, "metadata.deletionTimestamp")).n > 0,
    };
    read_ready(kc_value_get(status, "conditions"), &state);
    return state;
}

kc__common_pod_state kc__common_pod_state_of(const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(pod);
    return kc__common_pod_state_in(kc_view_root(view));
}
