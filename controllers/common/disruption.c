/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption.c: see disruption.h. The condition and the deletion are two writes. After a crash
 * between them the pod has the condition but exists, and the next reconcile deletes it. Both writes
 * carry the pod's uid: a later pod with the same name is not touched.
 */
#include "common/disruption.h"

#include "common/pod_state.h"

#include "kc/conditions.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"

typedef struct marking {
    const kc__common_disruption *how;
    const kc_clock *clock;
    int64_t generation;
} marking;

static int common_disruption_mark(kc_edit *edit, void *user, kc_error *err)
{
    const marking *m = user;
    (void)err;
    if (m->how->fail) {
        kc_edit_set_nested(edit, "status.phase", kc_node_str(edit, KC_STR("Failed")));
        if (m->generation)
            kc_edit_set_nested(edit, "status.observedGeneration", kc_node_i64(edit, m->generation));
    }
    if (m->how->reason)
        kc_condition_set(edit, m->clock,
                         &(kc_condition){.type = KC_STR("DisruptionTarget"),
                                         .status = KC_STR("True"),
                                         .reason = kc_cstr(m->how->reason),
                                         .message = kc_cstr(m->how->message),
                                         .observed_generation = m->generation});
    return 0;
}

static bool common_disruption_has_ended(const kc_object *pod)
{
    const kc__common_pod_state state = kc__common_pod_state_of(pod);
    return kc__common_pod_is_terminal(&state);
}

static int gone_is_fine(kc_error *to, kc_error *err)
{
    return kc_is_not_found(err) ? 0 : kc_error_move(to, err);
}

int kc__common_evict_pod(kc_client *client, const kc_object *pod, const kc__common_disruption *how,
                         kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    marking m = {how, kc_client_clock(client), kc_object_generation(pod)};
    const bool silent = how->fail ? common_disruption_has_ended(pod) : !how->reason;
    if (!silent && kc_mutate_status(client, pod, common_disruption_mark, &m, NULL, &why) < 0)
        return gone_is_fine(err, &why);
    kc_autofree char *uid = kc_str_dup(kc_object_uid(pod));
    if (kc_client_delete(client, &kc_kind_pod, kc_object_key(pod),
                         &(kc_delete_opts){.immediately = how->immediately, .uid = uid}, &why) < 0)
        return gone_is_fine(err, &why);
    return 0;
}
