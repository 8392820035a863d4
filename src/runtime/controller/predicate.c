/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate.c: predicates, which decide which changes pass. A predicate is a function and its data:
 * a user's function, a comparison of two states, a selector, or other predicates.
 *
 * To add one that compares: a `differs` function and its constructor.
 */
#include "kc/predicate.h"

#include "kc/map.h"
#include "kc/selector.h"

typedef bool differs_fn(const kc_object *a, const kc_object *b);

struct kc_predicate {
    bool (*passes)(const kc_predicate *self, kc_change_type type, const kc_change *change);
    kc_predicate_fn *fn;
    void *user;
    differs_fn *differs;
    kc_selector *selector;
    kc_predicate **list; /* Owned. */
    size_t n;
};

static kc_predicate *predicate_new(kc_predicate from)
{
    kc_predicate *predicate = kc_new(kc_predicate);
    *predicate = from;
    return predicate;
}

bool kc_predicate_matches(const kc_predicate *predicate, kc_change_type type,
                          const kc_change *change)
{
    return !predicate || predicate->passes(predicate, type, change);
}

kc_predicate *kc_predicate_free(kc_predicate *predicate)
{
    if (!predicate)
        return NULL;
    for (size_t i = 0; i < predicate->n; i++)
        kc_predicate_free(predicate->list[i]);
    free(predicate->list);
    kc_selector_free(predicate->selector);
    free(predicate);
    return NULL;
}

/* ---- functions ---- */

static bool fn_passes(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    return self->fn(type, change, self->user);
}

kc_predicate *kc_predicate_new(kc_predicate_fn *fn, void *user)
{
    return predicate_new((kc_predicate){.passes = fn_passes, .fn = fn, .user = user});
}

/* ---- comparisons ---- */

static bool change_passes(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    if (type != KC_CHANGE_UPDATE)
        return true;
    return change->old && change->object && self->differs(change->old, change->object);
}

static kc_predicate *differing(differs_fn *differs)
{
    return predicate_new((kc_predicate){.passes = change_passes, .differs = differs});
}

static bool generation_differs(const kc_object *a, const kc_object *b)
{
    return kc_object_generation(a) != kc_object_generation(b);
}

static bool resource_version_differs(const kc_object *a, const kc_object *b)
{
    return !kc_str_eq(kc_object_resource_version(a), kc_object_resource_version(b));
}

/* Whether two string maps differ, ignoring order. */
static bool pairs_differ(kc_meta_iter a, kc_meta_iter b)
{
    kc_scoped(kc_map) values = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_str key, value;
    while (kc_meta_next_pair(&a, &key, &value)) {
        kc_str *kept = kc_arena_new(&arena, kc_str);
        *kept = value;
        kc_map_put(&values, key, kept);
    }
    while (kc_meta_next_pair(&b, &key, &value)) {
        const kc_str *other = kc_map_remove(&values, key);
        if (!other || !kc_str_eq(*other, value))
            return true;
    }
    return values.n > 0;
}

static bool labels_differ(const kc_object *a, const kc_object *b)
{
    if (kc_str_eq(kc_object_labels_json(a), kc_object_labels_json(b)))
        return false;
    kc_scoped(kc_arena) arena = {0};
    return pairs_differ(kc_object_labels(a, &arena), kc_object_labels(b, &arena));
}

static bool annotations_differ(const kc_object *a, const kc_object *b)
{
    if (kc_str_eq(kc_object_annotations_json(a), kc_object_annotations_json(b)))
        return false;
    kc_scoped(kc_arena) arena = {0};
    return pairs_differ(kc_object_annotations(a, &arena), kc_object_annotations(b, &arena));
}

kc_predicate *kc_predicate_generation_changed(void)
{
    return differing(generation_differs);
}

kc_predicate *kc_predicate_version_changed(void)
{
    return differing(resource_version_differs);
}

kc_predicate *kc_predicate_labels_changed(void)
{
    return differing(labels_differ);
}

kc_predicate *kc_predicate_annotations_changed(void)
{
    return differing(annotations_differ);
}

/* ---- selectors ---- */

static bool selector_passes(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    (void)type;
    return change->object && kc_selector_match(self->selector, change->object);
}

kc_predicate *kc_predicate_label_selector(const char *selector, kc_error *err)
{
    kc_selector *parsed = kc_selector_parse(kc_cstr(selector), err);
    return parsed ? predicate_new((kc_predicate){.passes = selector_passes, .selector = parsed})
                  : NULL;
}

/* ---- composed ---- */

static bool all_pass(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    for (size_t i = 0; i < self->n; i++)
        if (!kc_predicate_matches(self->list[i], type, change))
            return false;
    return true;
}

static bool any_passes(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    for (size_t i = 0; i < self->n; i++)
        if (kc_predicate_matches(self->list[i], type, change))
            return true;
    return false;
}

static bool does_not_pass(const kc_predicate *self, kc_change_type type, const kc_change *change)
{
    return !kc_predicate_matches(self->list[0], type, change);
}

static kc_predicate *of_list(kc_predicate **list, size_t n,
                             bool (*passes)(const kc_predicate *, kc_change_type,
                                            const kc_change *))
{
    kc_predicate *made = predicate_new((kc_predicate){.passes = passes});
    made->list = kc_calloc(n, sizeof(*list));
    for (size_t i = 0; i < n; i++)
        if (list[i])
            made->list[made->n++] = list[i];
    return made->n ? made : kc_predicate_free(made);
}

kc_predicate *kc__predicate_all(kc_predicate **list, size_t n)
{
    return of_list(list, n, all_pass);
}

kc_predicate *kc__predicate_any(kc_predicate **list, size_t n)
{
    return of_list(list, n, any_passes);
}

kc_predicate *kc_predicate_not(kc_predicate *predicate)
{
    return of_list(&predicate, 1, does_not_pass);
}
