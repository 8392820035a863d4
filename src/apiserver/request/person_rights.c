/* SPDX-License-Identifier: Apache-2.0 */
/*
 * person_rights.c: what a write of a User (people/people.h) may grant. A User's teams and groups
 * are rights, and so is the Secret with its password. A step of the phase `prepared`, beside the
 * check of roles (escalate.c).
 *
 *     a team that is added         verb "bind" on the Team
 *     a group that is added        verb "bind" on "groups" of that name; never "system:" or "team:"
 *     a reference to credentials   verb "bind" on "users/credentials" of that User; it can only
 * name the User's own Secret
 *
 * The generation of a User's tokens is an annotation that the server writes: a client's value is
 * replaced by the stored one. Disabling a User raises it, so that tokens from before stay invalid
 * when the User is enabled again.
 */
#include "apiserver/authz/request_state.h"
#include "apiserver/people/people.h"
#include "apiserver/request/write.h"

#include "kc/diff.h"
#include "kc/meta.h"

static bool is_person(const kc__rest_call *call)
{
    return call->api->people && !call->subresource && !kc__draft_is_empty(&call->draft) &&
           !strcmp(call->resource->group, KC__PEOPLE_GROUP) &&
           !strcmp(call->resource->plural, "users");
}

/* ---- permissions ---- */

static kc__rest_verdict may_bind(kc__rest_call *call, const char *resource, const char *subresource,
                                 kc_str name)
{
    kc_scoped(kc_buf) reason = {0};
    const kc__authz_attributes a = {.user = &call->user,
                                    .verb = KC_STR("bind"),
                                    .is_resource = true,
                                    .group = KC_STR(KC__PEOPLE_GROUP),
                                    .version = KC_STR("v1"),
                                    .resource = kc_cstr(resource),
                                    .subresource = kc_cstr(subresource),
                                    .name = name};
    if (kc__authz_wait(call->api->authz, call->x->loop, &a, &reason) == KC__AUTHZ_ALLOW)
        return KC__REST_NEXT;
    kc__authz_forbid(&a, kc_buf_str(&reason), &call->error);
    call->forbidden = true;
    return KC__REST_FAIL;
}

static kc__rest_verdict forbid_person(kc__rest_call *call, const char *reason)
{
    kc__authz_forbid_object(KC_STR(KC__PEOPLE_GROUP), KC_STR("users"), kc__rest_proposed_name(call),
                            kc_cstr(reason), &call->error);
    return KC__REST_FAIL;
}

static bool has_item(const kc_value *list, kc_str text)
{
    kc_value_each_item (list, item)
        if (kc_str_eq(kc_value_as_str(item), text))
            return true;
    return false;
}

static kc__rest_verdict check_teams(kc__rest_call *call, const kc_value *spec, const kc_value *old)
{
    const kc_value *before = kc_value_get(old, "teams");
    kc_value_each_item (kc_value_get(spec, "teams"), team)
        if (!has_item(before, kc_value_as_str(team)) &&
            may_bind(call, "teams", NULL, kc_value_as_str(team)) != KC__REST_NEXT)
            return KC__REST_FAIL;
    return KC__REST_NEXT;
}

static kc__rest_verdict check_groups(kc__rest_call *call, const kc_value *spec, const kc_value *old)
{
    const kc_value *before = kc_value_get(old, "groups");
    kc_value_each_item (kc_value_get(spec, "groups"), group) {
        const kc_str name = kc_value_as_str(group);
        if (kc_str_starts(name, KC_STR("system:")) || kc_str_starts(name, KC_STR("team:")))
            return forbid_person(call,
                                 "spec.groups: groups that begin with \"system:\" or \"team:\" "
                                 "cannot be assigned");
        if (!has_item(before, name) && may_bind(call, "groups", NULL, name) != KC__REST_NEXT)
            return KC__REST_FAIL;
    }
    return KC__REST_NEXT;
}

static kc__rest_verdict check_credentials(kc__rest_call *call, const kc_value *spec,
                                          const kc_value *old, kc_str name)
{
    const kc_value *ref = kc_value_get(spec, "credentialsRef");
    const kc_str ns = kc_value_as_str(kc_value_get(ref, "namespace")),
                 secret = kc_value_as_str(kc_value_get(ref, "name"));
    if (!ns.n || !secret.n || kc_value_equal(ref, kc_value_get(old, "credentialsRef"), NULL))
        return KC__REST_NEXT; /* Validation rejects an incomplete reference. */
    const char *own = kc_arena_printf(call->arena, KC__PEOPLE_SECRET "%.*s", KC_ARG(name));
    if (!kc_str_is(ns, KC__PEOPLE_NAMESPACE) || !kc_str_is(secret, own))
        return forbid_person(
            call, kc_arena_printf(call->arena,
                                  "spec.credentialsRef can only name the Secret %s in the "
                                  "namespace " KC__PEOPLE_NAMESPACE,
                                  own));
    return may_bind(call, "users", "credentials", name);
}

/* ---- generation of tokens ---- */

static bool is_disabled(const kc_value *spec)
{
    return kc_value_as_bool(kc_value_get(spec, "disabled"), false);
}

static void keep_generation(kc__rest_call *call, bool next)
{
    uint64_t generation = 0;
    const kc_str key = KC_STR(KC__PEOPLE_GENERATION);
    const kc_str stored =
        call->current ? kc_object_annotation(call->current, key, call->arena) : (kc_str){0};
    kc_str_to_u64(stored, &generation);
    const kc_str wanted =
        next ? kc_cstr(kc_arena_printf(call->arena, "%llu", (unsigned long long)generation + 1))
             : stored;
    if (wanted.n && kc_object_annotation_is(call->draft.object, key, wanted))
        return;
    if (wanted.n)
        kc_edit_set_annotation(kc__draft_edit(&call->draft), key, wanted);
    else if (kc_object_has_annotation(call->draft.object, key))
        kc_edit_remove_annotation(kc__draft_edit(&call->draft), key);
}

kc__rest_verdict kc__rest_check_person(kc__rest_call *call)
{
    if (!is_person(call))
        return KC__REST_NEXT;
    if (kc__authz_has_webhook(call->api->authz) && !call->on_worker)
        return KC__REST_ON_WORKER; /* It waits for the webhook. */
    const kc_object *object = kc__draft_freeze(&call->draft, call->resource, &call->error);
    if (!object)
        return KC__REST_FAIL;
    const kc_str name = call->current ? kc_object_name(call->current) : kc_object_name(object);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_auto(kc_view) *stored = call->current ? kc_view_of(call->current) : NULL;
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    const kc_value *old = stored ? kc_value_get(kc_view_root(stored), "spec") : NULL;
    if (check_teams(call, spec, old) != KC__REST_NEXT ||
        check_groups(call, spec, old) != KC__REST_NEXT ||
        check_credentials(call, spec, old, name) != KC__REST_NEXT)
        return KC__REST_FAIL;
    keep_generation(call, old && is_disabled(spec) && !is_disabled(old));
    return KC__REST_NEXT;
}
