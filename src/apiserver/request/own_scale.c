/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_scale.c: the owners of the replicas, in an object and in its Scale.
 *
 *     Deployment, apps/v1         Scale, autoscaling/v1        Deployment
 *     one: .spec.replicas, …  ─▶  one: .spec.replicas   ─▶     one: …
 *     two: .metadata.labels       scaler: .spec.replicas       two: .metadata.labels
 *                                 (after the write)            scaler: .spec.replicas
 *
 * A Scale shows the entries that own the replicas, with one path and the version of the Scale.
 * After the write, entries of the object that are no longer among those of the Scale lose the
 * replicas, and new entries of the Scale become entries of the object. The identifier of an update
 * contains its version, so it differs between the two: such an entry always loses the replicas and,
 * unless the write took them, gets them back as an entry without a time. Kubernetes does the same.
 */
#include "apiserver/request/own_internal.h"

#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/scale.h"
#include "object/fields/fields_set.h"

#define SCALE_VERSION "autoscaling/v1"

/* A path of names. */
typedef struct field_names {
    kc__fields_element *elements;
    size_t n;
} field_names;

/* ".spec.replicas" */
static field_names names_of_path(kc_arena *arena, kc_str text)
{
    kc_str rest = kc_str_sub(text, kc_str_starts(text, KC_STR(".")), text.n);
    size_t room = 1;
    for (size_t i = 0; i < rest.n; i++)
        room += rest.p[i] == '.';
    field_names names = {.elements = kc_arena_alloc(arena, room * sizeof(*names.elements))};
    while (rest.p && names.n < room)
        names.elements[names.n++] = kc__fields_name(kc_str_cut(&rest, '.'));
    return names;
}

static bool owns_path(const kc__fields_owner *owner, const field_names *names)
{
    return kc__fields_set_has(owner->set, names->elements, names->n);
}

static const kc__fields_set *only_path(kc_arena *arena, const field_names *names)
{
    return kc__fields_set_of_path(arena, names->elements, names->n);
}

/* Whether the kind has the version of an entry; *ret is the path of its replicas, empty for none.
 */
static bool replicas_of(kc__rest_call *call, kc_arena *arena, const kc__fields_owner *owner,
                        field_names *ret)
{
    const kc__resource *r = call->resource;
    kc_str path = {0};
    *ret = (field_names){0};
    if (!r->ops->replicas_path(r, owner->version, &path))
        return false;
    if (path.n)
        *ret = names_of_path(arena, path);
    return true;
}

/* ---- from the object to its Scale ---- */

static void add_scale_owners(kc__rest_call *call, const kc__fields_managed *object,
                             kc__fields_managed *scale)
{
    field_names replicas = names_of_path(scale->arena, KC_STR("spec.replicas")), names;
    kc_vec_each (&object->owners, owner) {
        if (!replicas_of(call, scale->arena, owner, &names) || !names.n ||
            !owns_path(owner, &names))
            continue;
        kc__fields_owner shown = *owner;
        shown.version = KC_STR(SCALE_VERSION);
        shown.set = only_path(scale->arena, &replicas);
        shown.set_of_text = NULL;
        shown.text = (kc_str){0};
        kc_vec_push(&scale->owners, shown);
    }
}

kc_object *kc__rest_own_scale(kc__rest_call *call, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) object = {.arena = &arena}, scale = {.arena = &arena};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_object) *plain = kc__rest_scale_of_current(call, false, err);
    if (!plain ||
        kc__fields_managed_read(&object, kc_object_managed_fields_json(call->current), err) < 0)
        return NULL;
    add_scale_owners(call, &object, &scale);
    if (!scale.owners.n)
        return kc_take(plain);
    kc__fields_managed_write(&text, &scale);
    return kc_object_with_managed_fields(plain, kc_buf_str(&text));
}

/* ---- from the Scale to the object ---- */

static kc__fields_owner *find_owner(kc__fields_managed *managed, kc_str id)
{
    kc_vec_each (&managed->owners, owner)
        if (kc_str_eq(owner->id, id))
            return owner;
    return NULL;
}

static void forget_owner(kc__fields_managed *managed, const kc__fields_owner *owner)
{
    kc_vec_remove(&managed->owners, (size_t)(owner - managed->owners.items));
}

/* Keeps the entries of the object, without the replicas where the Scale does not have the entry. */
static void keep_object_owners(kc__rest_call *call, const kc__fields_managed *object,
                               kc__fields_managed *scale, kc__fields_managed *ret)
{
    field_names names;
    kc_vec_each (&object->owners, owner) {
        if (!replicas_of(call, ret->arena, owner, &names))
            continue;
        kc__fields_owner kept = *owner;
        bool owns = names.n && owns_path(owner, &names);
        const kc__fields_owner *same = owns ? find_owner(scale, owner->id) : NULL;
        if (same)
            forget_owner(scale, same);
        else if (owns)
            kept.set =
                kc__fields_set_difference(ret->arena, kept.set, only_path(ret->arena, &names));
        if (!kc__fields_set_empty(kept.set))
            kc_vec_push(&ret->owners, kept);
    }
}

/* Adds the entries that only the Scale has, as entries of the object's version. An entry of the
 * object with the same identifier is replaced and keeps its time. */
static void add_object_owners(kc__rest_call *call, kc_str version, const kc__fields_managed *scale,
                              kc__fields_managed *ret)
{
    field_names replicas = names_of_path(ret->arena, KC_STR("spec.replicas")), names;
    kc_vec_each (&scale->owners, owner) {
        kc__fields_owner added = *owner;
        added.version = version;
        if (!owns_path(owner, &replicas) || !replicas_of(call, ret->arena, &added, &names))
            continue;
        kc__fields_owner *same = find_owner(ret, added.id);
        added.set = only_path(ret->arena, &names);
        added.set_of_text = NULL;
        added.text = (kc_str){0};
        added.time = same ? same->time : (kc_str){0};
        added.seconds = same ? same->seconds : 0;
        if (same)
            *same = added;
        else
            kc_vec_push(&ret->owners, added);
    }
}

int kc__rest_own_scaled_object(kc__rest_call *call, kc_str scale_fields)
{
    const kc__resource *r = call->resource;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) object = {.arena = &arena}, scale = {.arena = &arena},
                                  all = {.arena = &arena};
    kc_scoped(kc_buf) text = {0};
    kc_str version = kc__resource_api_version(r, &arena);
    if (kc__fields_managed_read(&object, kc_object_managed_fields_json(call->current),
                                &call->error) < 0 ||
        kc__fields_managed_read(&scale, scale_fields, &call->error) < 0)
        return kc_error_result(&call->error);
    keep_object_owners(call, &object, &scale, &all);
    add_object_owners(call, version, &scale, &all);
    if (all.owners.n)
        kc__fields_managed_write(&text, &all);
    kc_object *owned = kc_object_with_managed_fields(call->proposed, kc_buf_str(&text));
    kc_object_unref(call->proposed);
    call->proposed = owned;
    return 0;
}
