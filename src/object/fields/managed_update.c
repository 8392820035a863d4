/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_update.c: what a write does to the entries of metadata.managedFields.
 *
 * The updater knows managers by identifier. An update runs as a manager of its own: if that one
 * owns anything afterwards, the write changed something, and only then is the entry of the real
 * manager extended and its time set. An apply sets the time if the object changes.
 *
 * Some metadata never has an owner: what the server sets, and what identifies the object.
 */
#include "object/fields/managed_internal.h"

#define CURRENT_OPERATION "current-operation"

/* ---- fields without an owner ---- */

/* A set without the fields that have no owner. Their names are sorted, as those of a set are. */
static const kc__fields_set *without_unowned(kc_arena *arena, const kc__fields_set *set)
{
    static const char *const in_metadata[] = {
        "clusterName",     "creationTimestamp", "generation", "managedFields", "name", "namespace",
        "resourceVersion", "selfLink",          "uid"};
    static const char *const in_object[] = {"apiVersion", "kind", "metadata"};
    kc__fields_entry metadata_entries[KC_COUNT(in_metadata)], entries[KC_COUNT(in_object)];
    const kc__fields_set metadata = {KC_COUNT(in_metadata), metadata_entries};
    const kc__fields_set unowned = {KC_COUNT(in_object), entries};
    for (size_t i = 0; i < KC_COUNT(in_metadata); i++)
        metadata_entries[i] =
            (kc__fields_entry){kc__fields_name(kc_cstr(in_metadata[i])), NULL, true};
    for (size_t i = 0; i < KC_COUNT(in_object); i++)
        entries[i] = (kc__fields_entry){kc__fields_name(kc_cstr(in_object[i])), NULL, true};
    entries[KC_COUNT(in_object) - 1].child = &metadata;
    return kc__fields_set_difference(arena, set, &unowned);
}

/* ---- owners and managers ---- */

static kc__fields_managers managers_of(const kc__fields_managed *managed)
{
    kc__fields_managers managers = {
        .items = kc_arena_alloc(managed->arena, (managed->owners.n + 1) * sizeof(*managers.items)),
        .n = managed->owners.n};
    for (size_t i = 0; i < managers.n; i++) {
        const kc__fields_owner *owner = &managed->owners.items[i];
        managers.items[i] = (kc__fields_manager){.id = owner->id,
                                                 .version = owner->version,
                                                 .set = owner->set,
                                                 .applied = owner->applied};
    }
    return managers;
}

/* Keeps the owners that are still managers, with their sets. Both have the same order. Returns the
 * manager that is no owner, or NULL. */
static const kc__fields_manager *take_managers(kc__fields_managed *managed,
                                               const kc__fields_managers *managers)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < managed->owners.n && at < managers->n; i++) {
        kc__fields_owner *owner = &managed->owners.items[i];
        const kc__fields_manager *manager = &managers->items[at];
        if (!kc_str_eq(owner->id, manager->id))
            continue;
        owner->set = manager->set;
        owner->version = manager->version;
        managed->owners.items[kept++] = *owner;
        at++;
    }
    managed->owners.n = kept;
    return at < managers->n ? &managers->items[at] : NULL;
}

static kc__fields_owner *owner_of(kc__fields_managed *managed, kc_str id)
{
    kc_vec_each (&managed->owners, owner)
        if (kc_str_eq(owner->id, id))
            return owner;
    return NULL;
}

/* The entry of the request's manager, without a set. */
static kc__fields_owner requesting_owner(const kc__fields_managed *managed,
                                         const kc__fields_request *request, bool applied)
{
    kc__fields_owner owner = {.manager = request->manager.n ? request->manager : KC_STR("unknown"),
                              .subresource = request->subresource,
                              .version = request->object.version,
                              .applied = applied};
    owner.id = kc__fields_owner_id(managed->arena, &owner);
    return owner;
}

static kc__fields_owner *ensure_owner(kc__fields_managed *managed, const kc__fields_owner *owner)
{
    kc__fields_owner *existing = owner_of(managed, owner->id);
    if (existing)
        return existing;
    kc_vec_push(&managed->owners, *owner);
    return kc_vec_last(&managed->owners);
}

/* Sets the set of an owner: the one that its text parsed to, if they are equal. */
static void set_fields(kc__fields_owner *owner, const kc__fields_set *set)
{
    bool same = owner->text.n && kc__fields_set_same_text(set, owner->set_of_text);
    owner->set = same ? owner->set_of_text : set;
}

/* ---- update ---- */

static int update_as(kc__fields_managed *managed, const kc__fields_request *request, kc_error *err)
{
    kc_arena *arena = managed->arena;
    kc__fields_owner owner = requesting_owner(managed, request, false);
    kc__fields_managers managers = managers_of(managed);
    kc__fields_result result;
    int failed = kc__fields_update(arena, request->updater, &request->live, &request->object,
                                   &managers, KC_STR(CURRENT_OPERATION), &result, err);
    if (failed < 0)
        return failed;
    const kc__fields_manager *current = take_managers(managed, &result.managers);
    const kc__fields_set *set = current ? without_unowned(arena, current->set) : NULL;
    if (kc__fields_set_empty(set))
        return 0;
    kc__fields_owner *own = ensure_owner(managed, &owner);
    set_fields(own, kc__fields_set_union(arena, set, own->set));
    own->version = request->object.version;
    kc__fields_owner_set_time(arena, own, request->now);
    return 0;
}

int kc__fields_managed_update(kc__fields_managed *managed, const kc__fields_request *request,
                              kc_error *err)
{
    int failed = update_as(managed, request, err);
    if (failed == 0)
        kc__fields_managed_cap(managed);
    return failed;
}

int kc__fields_managed_begin(kc__fields_managed *managed, const kc__fields_request *request,
                             const kc_value *empty, kc_error *err)
{
    kc__fields_request all = *request;
    all.object = request->live;
    all.live.value = empty;
    all.manager = KC_STR("before-first-apply");
    return kc__fields_managed_update(managed, &all, err);
}

/* ---- apply ---- */

static void drop_owner(kc__fields_managed *managed, const kc__fields_owner *owner)
{
    size_t at = (size_t)(owner - managed->owners.items);
    kc_vec_remove(&managed->owners, at);
}

/* The conflicts that are not about allowed fields, in the arena. */
static kc__fields_conflict *forbidden_conflicts(kc_arena *arena, const kc__fields_result *result,
                                                const kc__fields_set *allowed, size_t *ret_n)
{
    size_t n = 0;
    kc__fields_conflict *left = kc_arena_alloc(arena, result->n_conflicts * sizeof(*left));
    for (size_t i = 0; i < result->n_conflicts; i++) {
        left[n] = result->conflicts[i];
        left[n].set = kc__fields_set_difference(arena, left[n].set, allowed);
        n += !kc__fields_set_empty(left[n].set);
    }
    *ret_n = n;
    return left;
}

static int apply_as(const kc__fields_managed *managed, const kc__fields_request *request, kc_str id,
                    bool force, kc__fields_result *ret, kc_error *err)
{
    kc__fields_managers managers = managers_of(managed);
    return kc__fields_apply(managed->arena, request->updater, &request->live, &request->object,
                            &managers, id, force, ret, err);
}

/* Applies with force if all conflicts are allowed; reports the others. */
static int resolve_conflicts(const kc__fields_managed *managed, const kc__fields_request *request,
                             kc_str id, kc__fields_result *result, kc_error *err)
{
    size_t n = result->n_conflicts;
    const kc__fields_conflict *left = result->conflicts;
    if (request->allowed)
        left = forbidden_conflicts(managed->arena, result,
                                   request->allowed(managed->arena, request->user), &n);
    if (n)
        return kc__fields_conflict_error(managed, left, n, err);
    return apply_as(managed, request, id, true, result, err);
}

int kc__fields_managed_apply(kc__fields_managed *managed, const kc__fields_request *request,
                             const kc_value **ret_value, kc_error *err)
{
    kc_arena *arena = managed->arena;
    kc__fields_owner owner = requesting_owner(managed, request, true);
    kc__fields_result result;
    int failed = apply_as(managed, request, owner.id, request->force, &result, err);
    if (failed == 0 && result.n_conflicts)
        failed = resolve_conflicts(managed, request, owner.id, &result, err);
    if (failed < 0)
        return failed;
    const kc__fields_owner *last = owner_of(managed, owner.id);
    if (last) {
        /* For an entry of a version that does not exist any more, which is made anew. */
        owner.time = last->time;
        owner.seconds = last->seconds;
    }
    const kc__fields_manager *added = take_managers(managed, &result.managers);
    if (added) {
        owner.set = added->set;
        ensure_owner(managed, &owner);
    }
    kc__fields_owner *own = owner_of(managed, owner.id);
    *ret_value = result.value;
    if (!own)
        return 0;
    set_fields(own, without_unowned(arena, own->set));
    own->version = request->object.version;
    if (result.value)
        kc__fields_owner_set_time(arena, own, request->now);
    if (kc__fields_set_empty(own->set))
        drop_owner(managed, own);
    return 0;
}
