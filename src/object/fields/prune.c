/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prune.c: removes the fields that an applier gave up.
 *
 * A field is removed when the manager applied it last time, did not apply it now, and no other
 * manager owns it. Fields without any owner (defaults, for example) stay, unless they are inside
 * what is removed. Upstream decides this in three steps, which this file follows because their
 * corner cases are behaviour:
 *
 *     merged ── without the fields applied last time ──▶ pruned
 *            ── pruned, and what managers own (in their versions) ──▶ pruned
 *            ── of what is missing in it, remove only what was applied last time ──▶ result
 *
 * Most applies give up nothing: the last set is within the new one. All steps are skipped then, if
 * the managers have one version and the merge was not `uncertain`. Others give up something in one
 * branch of the object, and prune_scope.c leaves out the rest. Why this is exact: let p be a
 * path of the last set that the merged object has. The new set has p, so step 2 keeps it, unless it
 * removes something that contains p. What contains p is in the configuration, too, hence in the new
 * set (or is a field of the type, which counts as owned when something in it is), hence kept. So
 * the third step finds nothing missing. Two cases break this argument, and are uncertain: a null or
 * {} of the configuration is a leaf of its set although the merged object has content there, which
 * step 2 may remove; and an item that loses an unowned key field may become a duplicate of an item
 * with p. And an object that step 1 leaves nothing of is an error, so one member must be no part of
 * the last set: apiVersion, which no set has.
 */
#include "object/fields/updater_internal.h"

#include "object/fields/fields_internal.h"

typedef struct prune_state {
    const kc__fields_pruning *p;
    kc__fields_typed merged, pruned;
    kc_error *err;
} prune_state;

static bool has_one_version(const kc__fields_pruning *p)
{
    for (size_t i = 0; i < p->managers->n; i++)
        if (!kc_str_eq(p->managers->items[i].version, p->version))
            return false;
    return kc_str_eq(p->last_version, p->version);
}

/* True when a branch whose last set is within the new one can be left out. */
static bool is_certain(const kc__fields_pruning *p, const kc__fields_typed *merged)
{
    const kc__fields_type *type = merged->type;
    return !p->uncertain && kc__fields_is_object(merged->value) && type->has_object &&
           type->object_relation != KC__FIELDS_ATOMIC && has_one_version(p);
}

static const kc__fields_set *named_set_of(kc_arena *arena, const kc__fields_type *type,
                                          const kc_value *value)
{
    const kc__fields_set *set = kc__fields_set_of_value(arena, type, value);
    return kc__fields_ensure_named(arena, type, set);
}

/* KC__FIELDS_NO_VERSION leaves *value as it is. */
static kc__fields_converted convert_state(const prune_state *s, kc__fields_typed *value,
                                          kc_str version)
{
    return kc__fields_convert_to(s->p->arena, s->p->updater, value, version, value, s->err);
}

static int keep_owned_in(prune_state *s, kc_str version, const kc__fields_set *owned)
{
    kc_arena *arena = s->p->arena;
    kc__fields_converted merged = convert_state(s, &s->merged, version);
    if (merged == KC__FIELDS_NO_VERSION)
        return 0;
    if (merged == KC__FIELDS_NOT_CONVERTED)
        return kc_error_wrap(s->err, "failed to convert merged object at version %.*s",
                             KC_ARG(version));
    kc__fields_converted pruned = convert_state(s, &s->pruned, version);
    if (pruned == KC__FIELDS_NO_VERSION)
        return 0;
    if (pruned == KC__FIELDS_NOT_CONVERTED)
        return kc_error_wrap(s->err, "failed to convert pruned object at version %.*s",
                             KC_ARG(version));
    const kc__fields_type *type = s->merged.type;
    const kc__fields_set *all = named_set_of(arena, type, s->merged.value);
    const kc__fields_set *left = named_set_of(arena, type, s->pruned.value);
    const kc__fields_set *keep =
        kc__fields_set_union(arena, left, kc__fields_ensure_named(arena, type, owned));
    const kc__fields_set *lost = kc__fields_set_difference(arena, all, keep);
    s->pruned = s->merged;
    s->pruned.value = kc__fields_remove(arena, type, s->merged.value, lost);
    return 0;
}

/* All that managers own in one version. */
static const kc__fields_set *owned_in(const kc__fields_pruning *p, kc_str version)
{
    const kc__fields_set **sets = kc_arena_alloc(p->arena, (p->managers->n + 1) * sizeof(*sets));
    size_t n = 0;
    for (size_t i = 0; i < p->managers->n; i++)
        if (kc_str_eq(p->managers->items[i].version, version))
            sets[n++] = p->managers->items[i].set;
    return kc__fields_set_union_all(p->arena, sets, n);
}

/* The versions of the managers, each once: as many as the kind has. The first is that of the pruned
 * object: a conversion may need fields that were pruned. Returns their number. */
static size_t versions_of(const kc__fields_pruning *p, kc_str *ret)
{
    size_t n = 0;
    ret[n++] = p->last_version;
    for (size_t i = 0; i < p->managers->n; i++) {
        size_t at = 0;
        while (at < n && !kc_str_eq(ret[at], p->managers->items[i].version))
            at++;
        if (at == n)
            ret[n++] = p->managers->items[i].version;
    }
    return n;
}

static bool is_version_owned(const kc__fields_managers *managers, kc_str version)
{
    for (size_t i = 0; i < managers->n; i++)
        if (kc_str_eq(managers->items[i].version, version))
            return true;
    return false;
}

static int keep_owned(prune_state *s)
{
    const kc__fields_pruning *p = s->p;
    kc_str *versions = kc_arena_alloc(p->arena, (p->managers->n + 1) * sizeof(*versions));
    size_t n = versions_of(p, versions);
    for (size_t i = 0; i < n; i++)
        if (is_version_owned(p->managers, versions[i]) &&
            keep_owned_in(s, versions[i], owned_in(p, versions[i])) < 0)
            return -1;
    return 0;
}

/* Of what `pruned` lacks, removes from `merged` what was applied last time. */
static int remove_applied_last(prune_state *s, const kc__fields_typed *merged)
{
    kc_arena *arena = s->p->arena;
    kc__fields_converted converted = convert_state(s, &s->pruned, s->p->last_version);
    if (converted == KC__FIELDS_NOT_CONVERTED)
        return kc_error_wrap(s->err, "failed to convert pruned object to last applied version");
    if (converted == KC__FIELDS_NO_VERSION) {
        s->pruned = *merged;
        return 0;
    }
    const kc__fields_type *type = merged->type;
    const kc__fields_set *left = named_set_of(arena, type, s->pruned.value);
    const kc__fields_set *all = named_set_of(arena, type, merged->value);
    const kc__fields_set *last = kc__fields_ensure_named(arena, type, s->p->last);
    const kc__fields_set *lost =
        kc__fields_set_intersection(arena, kc__fields_set_difference(arena, all, left), last);
    s->pruned = *merged;
    s->pruned.value = kc__fields_remove(arena, type, merged->value, lost);
    return 0;
}

/* All that managers own in a scope. */
static const kc__fields_set *owned_in_scope(const kc__fields_pruning *p,
                                            const kc__fields_set *scope)
{
    const kc__fields_set **sets = kc_arena_alloc(p->arena, (p->managers->n + 1) * sizeof(*sets));
    for (size_t i = 0; i < p->managers->n; i++)
        sets[i] = kc__fields_set_in_scope(p->arena, p->managers->items[i].set, scope);
    return kc__fields_set_union_all(p->arena, sets, p->managers->n);
}

/* The three steps for managers of one version, on the part of the object in a scope. */
static const kc_value *prune_in_scope(const kc__fields_pruning *p, const kc__fields_typed *merged,
                                      const kc_value *part, const kc__fields_set *scope)
{
    kc_arena *arena = p->arena;
    const kc__fields_type *type = merged->type;
    const kc__fields_set *last =
        kc__fields_ensure_named(arena, type, kc__fields_set_in_scope(arena, p->last, scope));
    const kc__fields_set *owned = kc__fields_ensure_named(arena, type, owned_in_scope(p, scope));
    const kc__fields_set *all = named_set_of(arena, type, part);
    const kc_value *pruned = kc__fields_remove(arena, type, part, last);
    const kc__fields_set *keep =
        kc__fields_set_union(arena, named_set_of(arena, type, pruned), owned);
    pruned = kc__fields_remove(arena, type, part, kc__fields_set_difference(arena, all, keep));
    const kc__fields_set *lost =
        kc__fields_set_difference(arena, all, named_set_of(arena, type, pruned));
    return kc__fields_remove(arena, type, merged->value,
                             kc__fields_set_intersection(arena, lost, last));
}

int kc__fields_prune(const kc__fields_pruning *p, kc__fields_typed *merged, kc_error *err)
{
    const kc_value *part;
    const kc__fields_set *scope;
    if (kc__fields_set_empty(p->last))
        return 0;
    if (is_certain(p, merged) && kc__fields_prune_scope(p, merged, &part, &scope)) {
        if (scope)
            merged->value = prune_in_scope(p, merged, part, scope);
        return 0;
    }
    kc_arena *arena = p->arena;
    prune_state s = {.p = p, .merged = *merged, .err = err};
    kc__fields_converted converted = convert_state(&s, &s.merged, p->last_version);
    if (converted == KC__FIELDS_NO_VERSION)
        return 0;
    if (converted == KC__FIELDS_NOT_CONVERTED)
        return kc_error_wrap(err, "failed to convert merged object to last applied version");
    kc__fields_typed merged_last = s.merged;
    s.pruned = s.merged;
    s.pruned.value = kc__fields_remove(arena, s.merged.type, s.merged.value,
                                       kc__fields_ensure_named(arena, s.merged.type, p->last));
    if (keep_owned(&s) < 0)
        return kc_error_wrap(err, "failed add back owned items");
    if (remove_applied_last(&s, &merged_last) < 0)
        return kc_error_wrap(err, "failed add back dangling items");
    if (convert_state(&s, &s.pruned, p->version) != KC__FIELDS_CONVERTED)
        return kc_error_result(err);
    *merged = s.pruned;
    return 0;
}
