/* SPDX-License-Identifier: Apache-2.0 */
/*
 * update.c: PUT, and what PATCH makes of an object: a new state in the place of the old one.
 *
 * A client may not change everything. Names, uid and times are kept; a change of the object leaves
 * its status alone and a change of its status the rest. The generation counts changes of what is
 * neither metadata nor status. An object that is being deleted goes when its last finalizer does.
 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/scale.h"
#include "apiserver/rest/write.h"
#include "kc/diff.h"
#include "kc/meta.h"

static kc__verdict decode(kc__call *call)
{
    if (kc__options_read_write(&call->query, "UpdateOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    return kc__is_scale(call) ? kc__scale_decode(call) : kc__decode_body(call);
}

/* ---- is it an update of this object? ---- */

static kc__verdict check_name(kc__call *call, kc_str given)
{
    kc_str name = call->info.name;
    if (kc_str_empty(given))
        return kc__fail(
            call, KC_BAD_REQUEST,
            "the name of the object (%.*s based on URL) was undeterminable: name must be "
            "provided",
            KC_ARG(name));
    if (!kc_str_eq(given, name))
        return kc__fail(call, KC_BAD_REQUEST,
                        "the name of the object (%.*s) does not match the name on the URL (%.*s)",
                        KC_ARG(given), KC_ARG(name));
    return KC__NEXT;
}

kc__verdict kc__check_identity(kc__call *call)
{
    kc__metadata m = {.ns = kc_object_namespace(call->given)};
    kc__verdict verdict = kc__check_namespace(call, &m);
    return verdict == KC__NEXT ? check_name(call, kc_object_name(call->given)) : verdict;
}

/* A client that names a uid means that object and no other of the name; `own` is what is there. */
static kc__verdict check_uid(kc__call *call, kc_str own)
{
    kc_str uid = kc_object_uid(call->given);
    if (kc_str_empty(uid) || kc_str_eq(uid, own))
        return KC__NEXT;
    return kc__fail_precondition(call, call->info.name, "UID", uid, own);
}

static kc__verdict no_version(kc__call *call)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "metadata.resourceVersion", KC_STR("0"),
                        "must be specified for an update");
    kc_field_errors_to_error(&errors, kc_cstr(call->resource->group),
                             kc_cstr(call->resource->plural), call->info.name, &call->error);
    return KC__FAIL;
}

/* The version a client names is a promise about what it replaces. */
static kc__verdict check_version(kc__call *call)
{
    kc_scoped(kc_error) err = {0};
    uint64_t version;
    if (kc__object_version(call->proposed, &version, &err) < 0)
        return kc__fail(call, KC_UNKNOWN, "%s", kc_error_text(&err));
    if (!version) {
        bool needed = call->resource->strategy->conditional && !kc__is_scale(call);
        return needed ? no_version(call) : KC__NEXT;
    }
    call->conditional = true;
    return version == kc_object_revision(call->current) ? KC__NEXT
                                                        : kc__fail_modified(call, call->info.name);
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
    const char *part = kc__part_of(call);
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

static bool annotations_differ(const kc_object *a, const kc_object *b)
{
    return !kc_str_eq(kc_object_annotations_json(a), kc_object_annotations_json(b));
}

static bool grows(const kc__call *call)
{
    bool status = call->subresource && !strcmp(call->subresource->name, "status");
    if (!call->resource->custom)
        return spec_differs(call->proposed, call->current) ||
               (call->resource->strategy->annotated && !status &&
                annotations_differ(call->proposed, call->current));
    return !status && kc__custom_differs(call->proposed, call->current);
}

/* What only the server decides stays as it was; what a client changes all the same and may not is
 * for the validation to say. */
static void keep_system_fields(kc__call *call, kc__metadata *m)
{
    kc__metadata old;
    kc__metadata_of(call->current, call->arena, &old);
    if (kc_str_empty(m->uid))
        m->uid = old.uid;
    m->created = old.created;
    if (!kc_str_empty(old.deleted))
        m->deleted = old.deleted;
    if (old.has_grace && !m->has_grace) {
        m->has_grace = true;
        m->grace_seconds = old.grace_seconds;
    }
    m->resource_version = old.resource_version;
    m->generation = old.generation;
    if (call->resource->strategy->generation && grows(call))
        m->generation++;
}

kc__verdict kc__recount_generation(kc__call *call)
{
    kc__metadata m;
    kc__metadata_of(call->proposed, call->arena, &m);
    m.generation = kc_object_generation(call->current);
    m.generation += grows(call);
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

/* call->proposed with what the change may not touch. */
static int keep_the_rest(kc__call *call)
{
    const kc__resource *r = call->resource;
    if (r->custom) {
        kc_auto(kc_object) *given = kc_take(call->proposed);
        call->proposed = kc__custom_prepare_update(r->custom, given, call->current,
                                                   kc__part_of(call), &call->error);
        return call->proposed ? 0 : -1;
    }
    bool plain =
        !kc__subresource_find(r, KC_STR("status")) && !call->resource->strategy->prepare_update;
    return plain ? 0 : kc__reshape(call, &call->proposed, keep_other_part);
}

kc__verdict kc__prepare_update(kc__call *call)
{
    kc__metadata m;
    kc__verdict verdict = kc__is_scale(call) ? kc__scale_apply(call) : KC__NEXT;
    if (verdict == KC__NEXT)
        verdict = check_version(call);
    if (verdict != KC__NEXT)
        return verdict;
    if (keep_the_rest(call) < 0)
        return KC__FAIL;
    kc__metadata_of(call->proposed, call->arena, &m);
    kc__check_namespace(call, &m);
    keep_system_fields(call, &m);
    kc__dedup_owners(call, &m);
    call->removes = goes_now(call, &m);
    return kc__propose_metadata(call, &m);
}

static kc__verdict propose(kc__call *call)
{
    kc__scale_resume(call);
    kc__verdict verdict = kc__check_identity(call);
    if (verdict != KC__NEXT)
        return verdict;
    if (!kc__load_current(call) && call->error.reason)
        return KC__FAIL;
    if (!call->current && (!call->resource->strategy->upserts || call->subresource))
        return kc__fail_not_found(call, call->info.name);
    verdict = check_uid(call, call->current ? kc_object_uid(call->current) : KC_STR(""));
    if (verdict != KC__NEXT)
        return verdict;
    if (!call->current)
        return kc__propose_new(call);
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->given);
    return KC__NEXT;
}

static kc__verdict prepare(kc__call *call)
{
    if (call->current)
        return kc__prepare_update(call);
    call->status = 201;
    return kc__prepare_new(call);
}

static kc__verdict answer(kc__call *call)
{
    if (kc__is_scale(call))
        return kc__scale_answer(call);
    return kc__answer_object(call, call->status ? call->status : 200, call->current);
}

const kc__verb kc__verb_update = {
    .name = "update",
    .bit = KC__UPDATE,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .prepare = prepare,
    .answer = answer,
};
