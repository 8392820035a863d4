/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_claims.c: VolumeBinding, as far as a plane without persistent volumes needs it: a pod
 * whose claim is not there, or is going, waits and says so. A claim that is there is taken as it
 * is.
 */
#include "scheduler/cycle.h"
#include "scheduler/texts.h"

static bool refuse(kc__cycle *c, const char *before, const char *claim, const char *after)
{
    c->refusal =
        kc_arena_printf(c->arena, "%spersistentvolumeclaim \"%s\"%s", before, claim, after);
    return false;
}

static bool check_claim(kc__cycle *c, const char *name, bool ephemeral)
{
    const kc_object *claim = kc__cluster_claim(c->cluster, c->demand->key.ns, kc_cstr(name));
    if (!claim && ephemeral)
        return refuse(c, "waiting for ephemeral volume controller to create the ", name, "");
    if (!claim)
        return refuse(c, "", name, " not found");
    if (kc_object_being_deleted(claim))
        return refuse(c, "", name, " is being deleted");
    return true;
}

bool kc__prepare_claims(kc__cycle *c)
{
    const kc_pod_spec *spec = &c->demand->wants->pod->spec;
    for (size_t i = 0; i < spec->n_volumes; i++) {
        const kc_volume *v = &spec->volumes[i];
        if (v->persistent_volume_claim &&
            !check_claim(c, kc__text(v->persistent_volume_claim->claim_name), false))
            return false;
        if (v->ephemeral.json &&
            !check_claim(c,
                         kc_arena_printf(c->arena, "%.*s-%s", KC_ARG(c->demand->key.name),
                                         kc__text(v->name)),
                         true))
            return false;
    }
    return true;
}
