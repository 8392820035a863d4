/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_claims.c: VolumeBinding, as far as a cluster without persistent volumes needs it: a pod
 * whose claim is missing or terminating is unschedulable. An existing claim is accepted without
 * checks.
 */
#include "scheduler/cycle.h"
#include "scheduler/texts.h"

static bool sched_plugin_claims_reject(kc__sched_cycle *c, const char *before, const char *claim,
                                       const char *after)
{
    c->refusal =
        kc_arena_printf(c->arena, "%spersistentvolumeclaim \"%s\"%s", before, claim, after);
    return false;
}

static bool check_claim(kc__sched_cycle *c, const char *name, bool ephemeral)
{
    const kc_object *claim = kc__sched_cluster_claim(c->cluster, c->demand->key.ns, kc_cstr(name));
    if (!claim && ephemeral)
        return sched_plugin_claims_reject(
            c, "waiting for ephemeral volume controller to create the ", name, "");
    if (!claim)
        return sched_plugin_claims_reject(c, "", name, " not found");
    if (kc_object_being_deleted(claim))
        return sched_plugin_claims_reject(c, "", name, " is being deleted");
    return true;
}

bool kc__sched_prepare_claims(kc__sched_cycle *c)
{
    const kc_pod_spec *spec = &c->demand->wants->pod->spec;
    for (size_t i = 0; i < spec->n_volumes; i++) {
        const kc_volume *v = &spec->volumes[i];
        if (v->persistent_volume_claim &&
            !check_claim(c, kc__sched_text(v->persistent_volume_claim->claim_name), false))
            return false;
        if (v->ephemeral.json &&
            !check_claim(c,
                         kc_arena_printf(c->arena, "%.*s-%s", KC_ARG(c->demand->key.name),
                                         kc__sched_text(v->name)),
                         true))
            return false;
    }
    return true;
}
