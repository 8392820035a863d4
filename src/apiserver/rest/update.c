/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.c: PUT, and what PATCH makes of an object: a new state in the place of the old one.
 *
 * A client may not change everything. Names, uid and times are kept; a change of the object leaves
 * its status alone and a change of its status the rest. The generation counts changes of what is
 * neither metadata nor status. An object that is being deleted goes when its last finalizer does.
 */
#include "apiserver/rest/decode.h"
#include "apiserver/rest/write.h"
#include "kc/diff.h"
#include "kc/meta.h"

static kc__verdict decode(kc__call *call)
{
    if (kc__options_read_write(&call->query, "UpdateOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    return kc__decode_body(call);
}

/* ---- is it an update of this object? ---- */

static kc__verdict check_name(kc__call *call, const kc__metadata *m)
{
    kc_str name = call->info.name;
    if (kc_str_empty(m->name))
        return kc__fail(
            call, KC_BAD_REQUEST,
            "the name of the object (%.*s based on URL) was undeterminable: name must be "
            "provided",
            KC_ARG(name));
    if (!kc_str_eq(m->name, name))
        return kc__fail(call, KC_BAD_REQUEST,
                        "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                        KC_ARG(m->name), KC_ARG(name));
    return KC__NEXT;
}

static kc__verdict other_uid(kc__call *call, kc_str uid)
{
    kc_str own = kc_object_uid(call->current);
    kc__fail(
        call, KC_CONFLICT,
        "Operation cannot be fulfilled on %s%s%s \"%.*s\": StorageError: invalid object, Code: "
        "4, Key: /registry/%s/%.*s, ResourceVersion: 0, AdditionalErrorMsg: Precondition "
        "failed: UID in precondition: %.*s, UID in object meta: %.*s",
        call->resource->plural, *call->resource->group ? "." : "", call->resource->group,
        KC_ARG(call->info.name), call->resource->plural, KC_ARG(call->key), KC_ARG(uid),
        KC_ARG(own));
    kc_error_about(&call->error, kc_cstr(call->resource->group), kc_cstr(call->resource->plural),
                   call->info.name);
    return KC__FAIL;
}

static kc__verdict no_version(kc__call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "metadata.resourceVersion", KC_STR("0"),
                        "must be specified for an update");
    return kc__fail_invalid(call, call->info.name, &errors);
}

/* The versions and uids a client names are promises about what it replaces. */
static kc__verdict check_promises(kc__call *call, const kc__metadata *m)
{
    bool named = !kc_str_empty(m->resource_version) && !kc_str_is(m->resource_version, "0");
    if (!kc_str_empty(m->uid) && !kc_str_eq(m->uid, kc_object_uid(call->current)))
        return other_uid(call, m->uid);
    if (!named)
        return call->resource->strategy->conditional ? no_version(call) : KC__NEXT;
    call->conditional = true;
    if (!kc_str_eq(m->resource_version, kc_object_resource_version(call->current)))
        return kc__fail_modified(call, call->info.name);
    return KC__NEXT;
}

/* ---- the new state ---- */

static void take_from(kc_edit *edit, const kc_value *old, const char *name)
{
    const kc_value *value = kc_get(old, name);
    if (value)
        kc_node_set(edit, kc_edit_root(edit), kc_cstr(name), kc_node_copy(edit, value));
    else
        kc_node_remove(kc_edit_root(edit), kc_cstr(name));
}

/* Everything but metadata and the named member comes from the old object. */
static void take_all_but(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_node *kept = kc_node_clone(edit, kc_node_get(kc_edit_root(edit), kc_cstr(name)));
    kc_node *metadata = kc_node_clone(edit, kc_node_get(kc_edit_root(edit), KC_STR("metadata")));
    kc_edit_set_root(edit, kc_node_copy(edit, old));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), metadata);
    if (kept)
        kc_node_set(edit, kc_edit_root(edit), kc_cstr(name), kept);
    else
        kc_node_remove(kc_edit_root(edit), kc_cstr(name));
}

static void keep_other_part(kc_edit *edit, kc__call *call)
{
    const kc__strategy *strategy = call->resource->strategy;
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *old = kc_view_root(view);
    const char *part = call->subresource ? call->subresource->name : NULL;
    if (part && !strcmp(part, "status"))
        take_all_but(edit, old, "status");
    else if (kc__subresource_find(call->resource, KC_STR("status")))
        take_from(edit, old, "status");
    if (strategy->prepare_update)
        strategy->prepare_update(edit, old, part);
}

/* Whether something other than metadata and status differs. */
static bool spec_differs(const kc_object *a, const kc_object *b)
{
    bool differs = false;
    kc_auto(kc_view) *one = kc_view_of(a), *two = kc_view_of(b);
    const kc_value *x = kc_view_root(one), *y = kc_view_root(two);
    kc_members (x, name, value)
        differs = differs || (!kc_str_is(name, "metadata") && !kc_str_is(name, "status") &&
                              !kc_value_equal(value, kc_get_str(y, name), NULL));
    kc_members (y, name, value)
        differs = differs || (!kc_str_is(name, "metadata") && !kc_str_is(name, "status") && value &&
                              !kc_get_str(x, name));
    return differs;
}

/* What only the server decides stays as it was. */
static void keep_system_fields(kc__call *call, kc__metadata *m)
{
    kc__metadata old;
    kc__metadata_of(call->current, call->arena, &old);
    m->uid = old.uid;
    m->created = old.created;
    m->deleted = old.deleted;
    m->has_grace = old.has_grace;
    m->grace_seconds = old.grace_seconds;
    m->resource_version = old.resource_version;
    m->generation = old.generation;
    if (call->resource->strategy->generation && spec_differs(call->proposed, call->current))
        m->generation++;
}

kc__verdict kc__recount_generation(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    m.generation = kc_object_generation(call->current);
    m.generation += spec_differs(call->proposed, call->current);
    return kc__propose_metadata(call, &m);
}

static bool goes_now(kc__call *call, const kc__metadata *m)
{
    if (kc_str_empty(m->deleted) || !kc_str_empty(m->finalizers) || m->grace_seconds > 0)
        return false;
    if (!call->resource->strategy->may_go)
        return true;
    kc_auto(kc_view) *view = kc_view_of(call->proposed);
    return call->resource->strategy->may_go(kc_view_root(view));
}

kc__verdict kc__propose_update(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->given, call->arena, &m);
    kc__verdict verdict = check_promises(call, &m);
    if (verdict != KC__NEXT)
        return verdict;
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->given);
    bool plain = !kc__subresource_find(call->resource, KC_STR("status")) &&
                 !call->resource->strategy->prepare_update;
    if (!plain && kc__reshape(call, &call->proposed, keep_other_part) < 0)
        return KC__FAIL;
    kc__metadata_of(call->proposed, call->arena, &m);
    kc__check_namespace(call, &m);
    keep_system_fields(call, &m);
    call->removes = goes_now(call, &m);
    return kc__propose_metadata(call, &m);
}

static kc__verdict propose(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->given, call->arena, &m);
    kc__verdict verdict = kc__check_namespace(call, &m);
    if (verdict == KC__NEXT)
        verdict = check_name(call, &m);
    if (verdict != KC__NEXT)
        return verdict;
    if (!call->current)
        call->current = kc__cache_get(call->served->cache, call->key);
    if (call->current)
        return kc__propose_update(call);
    if (!call->resource->strategy->upserts || call->subresource)
        return kc__fail_not_found(call, call->info.name);
    call->status = 201;
    return kc__propose_new(call);
}

static kc__verdict answer(kc__call *call)
{
    return kc__answer_object(call, call->status ? call->status : 200, call->current);
}

const kc__verb kc__verb_update = {
    .name = "update",
    .bit = KC__UPDATE,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
