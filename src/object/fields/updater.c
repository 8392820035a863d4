/* SPDX-License-Identifier: Apache-2.0 */
/*
 * updater.c: ownership of fields after an update or an apply.
 *
 * Both compare the object before and after, in the version of each manager. Each manager but the
 * writer loses what was removed, and what was added or changed: that is a conflict for an apply
 * without force. An update adds what it changed to the set of its manager; the set of an applier is
 * that of its configuration.
 *
 * Entries of updates are capped, so managers are an array without an index; versions are as many as
 * the kind has, since managers of other versions are dropped first. Appliers may be many: the loops
 * over managers end with the CPU time of the request (base/work.h).
 */
#include "object/fields/updater_internal.h"

#include "base/work.h"
#include "object/fields/fields_internal.h"
#include "object/gofmt/go_text.h"

kc__fields_converted kc__fields_convert_to(kc_arena *arena, const kc__fields_updater *updater,
                                           const kc__fields_typed *from, kc_str version,
                                           kc__fields_typed *ret, kc_error *err)
{
    kc__fields_typed converted;
    if (!kc__fields_is_object(from->value)) {
        kc_error_set(err, KC_INTERNAL, "failed to convert value to unstructured for type %s",
                     kc__go_type(kc_value_type(from->value)));
        return KC__FIELDS_NOT_CONVERTED;
    }
    if (kc_str_eq(from->version, version)) {
        *ret = *from;
        return KC__FIELDS_CONVERTED;
    }
    if (!updater->convert)
        return KC__FIELDS_NO_VERSION;
    kc__fields_converted result =
        updater->convert(arena, from, version, &converted, err, updater->user);
    if (result != KC__FIELDS_CONVERTED)
        return result;
    if (kc__fields_validate(converted.type, converted.value, false, err) < 0)
        return KC__FIELDS_NOT_CONVERTED;
    *ret = converted;
    return KC__FIELDS_CONVERTED;
}

/* ---- managers ---- */

static kc__fields_manager *manager_of(const kc__fields_managers *managers, kc_str id)
{
    for (size_t i = 0; i < managers->n; i++)
        if (kc_str_eq(managers->items[i].id, id))
            return &managers->items[i];
    return NULL;
}

/* The manager `id`, added if it is absent. There is room for one more. */
static kc__fields_manager *ensure_manager(kc__fields_managers *managers, kc_str id)
{
    kc__fields_manager *manager = manager_of(managers, id);
    if (manager)
        return manager;
    manager = &managers->items[managers->n++];
    *manager = (kc__fields_manager){.id = id};
    return manager;
}

static void drop_empty(kc__fields_managers *managers)
{
    size_t kept = 0;
    for (size_t i = 0; i < managers->n; i++)
        if (!kc__fields_set_empty(managers->items[i].set))
            managers->items[kept++] = managers->items[i];
    managers->n = kept;
}

/* The type of the live object in the version of a manager; *last is that of the manager before. */
static kc__fields_converted live_in(kc_arena *arena, const kc__fields_updater *updater,
                                    const kc__fields_typed *live, kc_str version,
                                    kc__fields_typed *last, kc_error *err)
{
    if (kc_str_eq(last->version, version))
        return KC__FIELDS_CONVERTED;
    return kc__fields_convert_to(arena, updater, live, version, last, err);
}

/* A copy, with room for one more, reconciled with the schema; without managers of versions that do
 * not exist. */
static int reconcile_managers(kc_arena *arena, const kc__fields_updater *updater,
                              const kc__fields_typed *live, const kc__fields_managers *managers,
                              kc__fields_managers *ret, kc_error *err)
{
    kc__fields_typed at = *live;
    ret->items = kc_arena_alloc(arena, (managers->n + 1) * sizeof(*ret->items));
    ret->n = 0;
    for (size_t i = 0; i < managers->n; i++) {
        kc__fields_manager manager = managers->items[i];
        if (kc__work_is_over_now())
            return kc__work_fail(err);
        kc__fields_converted converted = live_in(arena, updater, live, manager.version, &at, err);
        if (converted == KC__FIELDS_NOT_CONVERTED)
            return kc_error_result(err);
        if (converted == KC__FIELDS_NO_VERSION)
            continue;
        manager.set = kc__fields_reconcile(arena, at.type, manager.set);
        ret->items[ret->n++] = manager;
    }
    return 0;
}

/* ---- what changed, by version ---- */

typedef struct change {
    kc_str version;
    kc__fields_comparison comparison;
    const kc__fields_set *taken; /* Added or modified. */
} change;

typedef struct changes {
    kc_arena *arena;
    const kc__fields_updater *updater;
    const kc__fields_typed *from, *to;
    KC_VEC(change) known;
    kc_error *err;
} changes;

static const kc__fields_set *filter_ignored(kc_arena *arena, const kc__fields_updater *updater,
                                            kc_str version, const kc__fields_set *set)
{
    for (size_t i = 0; i < updater->n_ignored; i++) {
        const kc__fields_ignored *ignored = &updater->ignored[i];
        if (!kc_str_eq(ignored->version, version))
            continue;
        return ignored->only ? kc__fields_set_only(arena, set, ignored->only, ignored->n_only)
                             : kc__fields_set_difference_below(arena, set, ignored->set);
    }
    return set;
}

static int add_change(changes *c, const kc__fields_typed *from, const kc__fields_typed *to)
{
    change made = {.version = to->version};
    kc__fields_comparison *all = &made.comparison;
    if (to->unchecked) {
        if (kc__fields_compare_new(c->arena, to->type, from->value, to->value, all, c->err) < 0)
            return kc_error_wrap(c->err, "new object");
    } else if (kc__fields_compare(c->arena, to->type, from->value, to->value, all, c->err) < 0) {
        return kc_error_wrap(c->err, "failed to compare objects");
    }
    all->added = filter_ignored(c->arena, c->updater, to->version, all->added);
    all->removed = filter_ignored(c->arena, c->updater, to->version, all->removed);
    all->modified = filter_ignored(c->arena, c->updater, to->version, all->modified);
    made.taken = kc__fields_set_union(c->arena, all->modified, all->added);
    kc_vec_push(&c->known, made);
    return 0;
}

/* The changes in the version of a manager, or NULL. Valid until the next call. */
static const change *change_in(changes *c, kc_str version)
{
    kc__fields_typed from, to;
    kc_vec_each (&c->known, known)
        if (kc_str_eq(known->version, version))
            return known;
    /* Reconciling has converted the live object already: the version exists. */
    if (kc__fields_convert_to(c->arena, c->updater, c->from, version, &from, c->err) !=
        KC__FIELDS_CONVERTED) {
        kc_error_wrap(c->err, "failed to convert old object");
        return NULL;
    }
    if (kc__fields_convert_to(c->arena, c->updater, c->to, version, &to, c->err) !=
        KC__FIELDS_CONVERTED) {
        kc_error_wrap(c->err, "failed to convert new object");
        return NULL;
    }
    return add_change(c, &from, &to) < 0 ? NULL : kc_vec_last(&c->known);
}

/* ---- other managers ---- */

static int conflicts_cmp(const void *a, const void *b)
{
    return kc_str_cmp(((const kc__fields_conflict *)a)->manager,
                      ((const kc__fields_conflict *)b)->manager);
}

/*
 * Takes from all managers but the writer what was changed or removed. Without force and with
 * conflicts: sets the conflicts instead.
 */
static int take_from_others(changes *c, kc__fields_managers *managers, kc_str writer, bool force,
                            kc__fields_result *ret)
{
    kc__fields_conflict *conflicts = kc_arena_alloc(c->arena, managers->n * sizeof(*conflicts) + 1);
    size_t n = 0;
    for (size_t i = 0; i < managers->n; i++) {
        kc__fields_manager *manager = &managers->items[i];
        if (kc_str_eq(manager->id, writer))
            continue;
        if (kc__work_is_over_now())
            return kc__work_fail(c->err);
        const change *changed = change_in(c, manager->version);
        if (!changed)
            return -1;
        const kc__fields_set *taken =
            kc__fields_set_intersection(c->arena, manager->set, changed->taken);
        if (!kc__fields_set_empty(taken))
            conflicts[n++] = (kc__fields_conflict){manager->id, taken};
        manager->set = kc__fields_set_difference(c->arena, manager->set, taken);
        manager->set =
            kc__fields_set_difference(c->arena, manager->set, changed->comparison.removed);
    }
    if (!force && n) {
        qsort(conflicts, n, sizeof(*conflicts), conflicts_cmp);
        ret->conflicts = conflicts;
        ret->n_conflicts = n;
        return 0;
    }
    drop_empty(managers);
    return 0;
}

/* ---- the two operations ---- */

static int update_owners(changes *c, kc__fields_managers *managers, kc_str writer,
                         kc__fields_result *ret)
{
    kc_arena *arena = c->arena;
    if (add_change(c, c->from, c->to) < 0 || take_from_others(c, managers, writer, true, ret) < 0)
        return -1;
    kc__fields_comparison changed = c->known.items[0].comparison;
    kc_str version = c->to->version;
    kc__fields_manager *own = ensure_manager(managers, writer);
    const kc__fields_set *set = kc__fields_set_difference(arena, own->set, changed.removed);
    set = kc__fields_set_union(arena, set, c->known.items[0].taken);
    own->set = filter_ignored(arena, c->updater, version, set);
    own->version = version;
    own->applied = false;
    drop_empty(managers);
    ret->managers = *managers;
    return 0;
}

int kc__fields_update(kc_arena *arena, const kc__fields_updater *updater,
                      const kc__fields_typed *live, const kc__fields_typed *object,
                      const kc__fields_managers *managers, kc_str manager, kc__fields_result *ret,
                      kc_error *err)
{
    kc__fields_managers left;
    kc__fields_result result = {0};
    changes c = {.arena = arena, .updater = updater, .from = live, .to = object, .err = err};
    int failed = reconcile_managers(arena, updater, live, managers, &left, err);
    if (failed == 0)
        failed = update_owners(&c, &left, manager, &result);
    kc_vec_done(&c.known);
    if (failed < 0)
        return kc_error_result(err);
    *ret = result;
    return 0;
}

/* The new object: merged and pruned; `own` has the set of the configuration. */
static int apply_config(kc_arena *arena, const kc__fields_updater *updater,
                        const kc__fields_typed *live, const kc__fields_typed *config,
                        kc__fields_managers *managers, kc_str manager, kc__fields_typed *ret,
                        kc_error *err)
{
    kc__fields_merge_notes notes;
    kc__fields_typed merged = *live;
    merged.value = kc__fields_merge(arena, live->type, live->value, config->value, &notes);
    const kc__fields_set *set = kc__fields_set_of_value(arena, config->type, config->value);
    kc__fields_manager *own = ensure_manager(managers, manager);
    kc__fields_manager last = *own;
    own->set = filter_ignored(arena, updater, config->version, set);
    own->version = config->version;
    own->applied = true;
    kc__fields_pruning pruning = {.arena = arena,
                                  .updater = updater,
                                  .managers = managers,
                                  .last = last.set,
                                  .last_version = last.version,
                                  .set = own->set,
                                  .version = config->version,
                                  .uncertain = notes.uncertain};
    if (kc__fields_prune(&pruning, &merged, err) < 0)
        return kc_error_wrap(err, "failed to prune fields");
    *ret = merged;
    return 0;
}

int kc__fields_apply(kc_arena *arena, const kc__fields_updater *updater,
                     const kc__fields_typed *live, const kc__fields_typed *config,
                     const kc__fields_managers *managers, kc_str manager, bool force,
                     kc__fields_result *ret, kc_error *err)
{
    kc__fields_managers left;
    kc__fields_typed object;
    kc__fields_result result = {0};
    changes c = {.arena = arena, .updater = updater, .from = live, .to = &object, .err = err};
    if (reconcile_managers(arena, updater, live, managers, &left, err) < 0 ||
        apply_config(arena, updater, live, config, &left, manager, &object, err) < 0)
        return kc_error_result(err);
    int failed = add_change(&c, live, &object);
    if (failed == 0)
        failed = take_from_others(&c, &left, manager, force, &result);
    kc_vec_done(&c.known);
    if (failed < 0)
        return kc_error_result(err);
    if (!result.n_conflicts) {
        result.managers = left;
        result.value = kc__fields_equal(live->value, object.value) ? NULL : object.value;
    }
    *ret = result;
    return 0;
}
