/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c: DELETE of one object. The answer is a Status, with the uid of what went, or the object
 * where it stays for a while or its kind is shown (pods, namespaces, services, …).
 */
#include "apiserver/rest/decode.h"
#include "apiserver/rest/deletion.h"

static kc__verdict decode(kc__call *call)
{
    kc_auto(kc_object) *body = NULL;
    kc__verdict verdict = kc__decode_options_body(call, &body);
    if (verdict != KC__NEXT)
        return verdict;
    call->skip_validation = true;
    return kc__options_read_delete(&call->query, body, call->arena, &call->options, &call->error) <
                   0
               ? KC__FAIL
               : KC__NEXT;
}

static kc__verdict precondition(kc__call *call, const char *what, kc_str wanted, kc_str is,
                                const char *hint)
{
    const kc__resource *r = call->resource;
    kc__fail(call, KC_CONFLICT,
             "Operation cannot be fulfilled on %s%s%s \"%.*s\": the %s in the precondition (%.*s) "
             "does not match the %s in record (%.*s). The object might have been %s",
             r->kind, *r->group ? "." : "", r->group, KC_ARG(call->info.name), what, KC_ARG(wanted),
             what, KC_ARG(is), hint);
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->kind), call->info.name);
    return KC__FAIL;
}

static kc__verdict check_preconditions(kc__call *call)
{
    const kc__options *o = &call->options;
    kc_str uid = kc_object_uid(call->current);
    kc_str version = kc_object_resource_version(call->current);
    if (!kc_str_empty(o->uid) && !kc_str_eq(o->uid, uid))
        return precondition(call, "UID", o->uid, uid, "deleted and then recreated");
    if (!kc_str_empty(o->resource_version) && !kc_str_eq(o->resource_version, version))
        return precondition(call, "ResourceVersion", o->resource_version, version, "modified");
    return KC__NEXT;
}

static kc__verdict propose(kc__call *call)
{
    if (!call->current)
        call->current = kc__cache_get(call->served->cache, call->key);
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    kc__verdict verdict = check_preconditions(call);
    if (verdict != KC__NEXT)
        return verdict;
    kc__deletion plan;
    if (kc__deletion_plan(call, call->current, &plan) < 0)
        return KC__FAIL;
    kc_object_unref(call->proposed);
    call->proposed = plan.object;
    call->removes = plan.removes;
    return KC__NEXT;
}

static kc__verdict answer(kc__call *call)
{
    bool waits = call->options.orphan_dependents == KC__NO && !call->removes;
    if (!call->removes || call->resource->strategy->shows_deleted)
        return kc__answer_object(call, waits ? 202 : 200, call->current);
    return kc__answer_deleted(call, 200, call->current);
}

const kc__verb kc__verb_delete = {
    .name = "delete",
    .bit = KC__DELETE,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
