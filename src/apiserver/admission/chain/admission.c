/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission.c: the chain of admission plugins.
 *
 * call->admission_at is the index of the plugin that runs. A plugin that waits leaves it unchanged,
 * so that the phase continues with the same plugin when it runs again, and the plugins before it
 * run once. At the end of a stage it is reset to 0.
 *
 * When a mutating policy or webhook has changed the object, the mutating plugins run once more; the
 * webhooks do that themselves, because they have a second round of their own
 * (webhooks/dispatch_mutating.c).
 */
#include "apiserver/admission/chain/admission.h"

#include "apiserver/admission/chain/plugins.h"

static bool is_on(const kc__rest_call *call, size_t i)
{
    return call->api->plugins >> i & 1;
}

/* NULL: the plugin is off, or has nothing to do in this stage. */
static kc__rest_phase_fn *function_of(const kc__rest_call *call, size_t i,
                                      kc__admission_stage stage)
{
    const kc__admission_plugin *plugin = &kc__admission_plugins[i];
    if (!is_on(call, i))
        return NULL;
    switch (stage) {
    case KC__ADMISSION_MUTATE: return plugin->mutate;
    case KC__ADMISSION_ALLOCATE: return plugin->allocate;
    default: return plugin->validate;
    }
}

kc__rest_verdict kc__admission_run(kc__rest_call *call, kc__admission_stage stage)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (; verdict == KC__REST_NEXT && call->admission_at < kc__admission_n_plugins;
         call->admission_at++) {
        kc__rest_phase_fn *run = function_of(call, call->admission_at, stage);
        verdict = run ? run(call) : KC__REST_NEXT;
        if (verdict == KC__REST_PENDING || verdict == KC__REST_ON_LOOP ||
            verdict == KC__REST_ON_WORKER)
            return verdict;
    }
    if (verdict == KC__REST_NEXT && stage == KC__ADMISSION_MUTATE && call->policies_changed) {
        verdict = kc__admission_rerun_mutating(call);
        if (verdict != KC__REST_NEXT && verdict != KC__REST_FAIL)
            return verdict; /* With all plugins done: the next call runs them again only. */
        call->policies_changed = false;
    }
    call->admission_at = 0;
    return verdict;
}

kc__rest_verdict kc__admission_rerun_mutating(kc__rest_call *call)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    call->reinvoking = true;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < kc__admission_n_plugins; i++) {
        kc__rest_phase_fn *mutate = function_of(call, i, KC__ADMISSION_MUTATE);
        if (mutate && !kc__admission_plugins[i].waits)
            verdict = mutate(call);
    }
    call->reinvoking = false;
    return verdict;
}

kc__rest_verdict kc__admission_run_body(kc__rest_call *call)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < kc__admission_n_plugins; i++)
        if (is_on(call, i) && kc__admission_plugins[i].admit_body)
            verdict = kc__admission_plugins[i].admit_body(call);
    return verdict;
}

kc__rest_verdict kc__admission_run_deletion(kc__rest_call *call, const kc_object *object)
{
    kc__rest_verdict verdict = KC__REST_NEXT;
    for (size_t i = 0; verdict == KC__REST_NEXT && i < kc__admission_n_plugins; i++)
        if (is_on(call, i) && kc__admission_plugins[i].admit_deletion)
            verdict = kc__admission_plugins[i].admit_deletion(call, object);
    return verdict;
}

void kc__admission_release(kc__rest_call *call)
{
    if (!call->verb || !call->verb->mutates)
        return;
    for (size_t i = 0; i < kc__admission_n_plugins; i++)
        if (kc__admission_plugins[i].release)
            kc__admission_plugins[i].release(call);
}
