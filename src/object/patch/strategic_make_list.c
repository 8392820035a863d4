/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_make_list.c: the difference of two lists, for a strategic merge patch.
 *
 * For a list of objects that is merged by key, the patch contains the new and changed elements (of
 * the latter only the changes and the key), in the order of the new list, then the removed
 * elements, as deletions:
 *
 *     from    [{"name": "a"}, {"name": "b", "v": 1}]
 *     to      [{"name": "b", "v": 2}, {"name": "c"}]
 *     patch   "l": [{"v": 2, "name": "b"}, {"name": "c"}, {"name": "a", "$patch": "delete"}]
 *             "$setElementOrder/l": [{"name": "b"}, {"name": "c"}]
 *
 * For a list of values that is merged, the list contains the new values and
 * "$deleteFromPrimitiveList/l" the removed ones. Any other list is replaced. Elements with equal
 * keys, which such a list should not have, are matched in their order, the first with the first.
 */
#include "object/patch/strategic_internal.h"

typedef struct listdiff {
    const kc_value *from, *to;
    const kc_patch_field *field;
    unsigned want;
    kc__strategic_key_vec from_keys, to_keys;
    kc_node *changes, *gone, *order; /* Lists of the patch. */
} listdiff;

static void listdiff_done(listdiff *d)
{
    kc_vec_done(&d->from_keys);
    kc_vec_done(&d->to_keys);
}

/* Old elements by key; several with one key are found in order. */
typedef struct matcher {
    KC_VEC(const kc_value *) elements;
    KC_VEC(size_t) next; /* Position + 1 of the next with the same key; 0 for none. */
    kc_map first;        /* Position + 1. */
} matcher;

static matcher matcher_of(const listdiff *d)
{
    matcher m = {0};
    kc_value_each_item (d->from, element)
        kc_vec_push(&m.elements, element);
    kc_vec_reserve(&m.next, m.elements.n);
    for (size_t i = m.elements.n; i > 0; i--) {
        kc_str key = d->from_keys.items[i - 1];
        m.next.items[i - 1] = (uintptr_t)kc_map_put(&m.first, key, (void *)(uintptr_t)i);
    }
    return m;
}

static const kc_value *match(matcher *m, kc_str key)
{
    uintptr_t found = (uintptr_t)kc_map_get(&m->first, key);
    if (!found)
        return NULL;
    size_t next = m->next.items[found - 1];
    if (next)
        kc_map_put(&m->first, key, (void *)(uintptr_t)next);
    return m->elements.items[found - 1];
}

static void matcher_done(matcher *m)
{
    kc_vec_done(&m->elements);
    kc_vec_done(&m->next);
    kc_map_done(&m->first);
}

/* {"name": "web"} for the element web. */
static kc_node *key_only(kc__strategic_patcher *s, const listdiff *d, const kc_value *element)
{
    kc_node *only = kc_node_object(s->edit);
    kc_node_add(s->edit, only, d->field->merge_key,
                kc_node_from_value(s->edit, kc_value_get_str(element, d->field->merge_key)));
    return only;
}

static int add_changes(kc__strategic_patcher *s, listdiff *d, const kc_value *old,
                       const kc_value *new)
{
    if (!old) {
        if (d->want & KC__STRATEGIC_WANT_CHANGES)
            kc_node_append(d->changes, kc_node_from_value(s->edit, new));
        return 0;
    }
    unsigned want = d->field->retain_keys ? d->want | KC__STRATEGIC_WANT_KEYS
                                          : d->want & ~(unsigned)KC__STRATEGIC_WANT_KEYS;
    kc_node *part = kc__strategic_diff(s, old, new, d->field->element, want);
    if (!part)
        return kc_error_result(s->err);
    if (kc_node_len(part)) {
        kc_node_set(s->edit, part, d->field->merge_key,
                    kc_node_from_value(s->edit, kc_value_get_str(new, d->field->merge_key)));
        kc_node_append(d->changes, part);
    }
    return 0;
}

static int diff_elements(kc__strategic_patcher *s, listdiff *d)
{
    matcher m = matcher_of(d);
    size_t at = 0;
    int failed = 0;
    kc_value_each_item (d->to, element) {
        failed = add_changes(s, d, match(&m, d->to_keys.items[at++]), element);
        if (failed < 0)
            break;
    }
    matcher_done(&m);
    return failed;
}

/* Removed elements, each key once, sorted by key as text. */
typedef struct strategic_make_list_lost {
    kc_str key;
    const kc_value *element;
} strategic_make_list_lost;

static int strategic_make_list_by_key(const void *a, const void *b)
{
    /* Without the letter of the type. */
    kc_str x = ((const strategic_make_list_lost *)a)->key,
           y = ((const strategic_make_list_lost *)b)->key;
    return kc_str_cmp(kc_str_sub(x, 1, x.n), kc_str_sub(y, 1, y.n));
}

typedef KC_VEC(strategic_make_list_lost) all_lost;

static all_lost find_lost(const listdiff *d)
{
    all_lost found = {0};
    kc_scoped(kc_map) known = {0};
    kc_vec_each (&d->to_keys, key)
        kc_map_put(&known, *key, key);
    size_t at = 0;
    kc_value_each_item (d->from, element) {
        kc_str *key = &d->from_keys.items[at++];
        if (!kc_map_put(&known, *key, key))
            kc_vec_push(&found, (strategic_make_list_lost){*key, element});
    }
    kc_vec_sort(&found, strategic_make_list_by_key);
    return found;
}

static void add_deletions(kc__strategic_patcher *s, listdiff *d)
{
    all_lost found = {0};
    if (d->want & KC__STRATEGIC_WANT_REMOVALS)
        found = find_lost(d);
    kc_vec_each (&found, it) {
        kc_node *deletion = key_only(s, d, it->element);
        kc_node_add(s->edit, deletion, KC_STR(KC__STRATEGIC_PATCH),
                    kc_node_str(s->edit, KC_STR("delete")));
        kc_node_append(d->changes, deletion);
    }
    kc_vec_done(&found);
}

static bool same_keys(const kc__strategic_key_vec *a, const kc__strategic_key_vec *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; i < a->n && same; i++)
        same = kc_str_eq(a->items[i], b->items[i]);
    return same;
}

static int strategic_make_list_diff_objects(kc__strategic_patcher *s, listdiff *d)
{
    int failed = diff_elements(s, d);
    if (failed < 0)
        return failed;
    add_deletions(s, d);
    bool moved = (d->want & KC__STRATEGIC_WANT_CHANGES) && !same_keys(&d->from_keys, &d->to_keys);
    if ((d->want & KC__STRATEGIC_WANT_ORDER) && (kc_node_len(d->changes) || moved))
        kc_value_each_item (d->to, element)
            kc_node_append(d->order, key_only(s, d, element));
    return 0;
}

static void diff_values(kc__strategic_patcher *s, listdiff *d)
{
    kc__strategic_ranks old = kc__strategic_ranks_of(&d->from_keys);
    size_t at = 0;
    kc_value_each_item (d->to, value)
        if (kc__strategic_rank(&old, d->to_keys.items[at++]) == KC__STRATEGIC_NO_RANK &&
            (d->want & KC__STRATEGIC_WANT_CHANGES))
            kc_node_append(d->changes, kc_node_from_value(s->edit, value));
    kc__strategic_ranks_done(&old);

    all_lost found = {0};
    if (d->want & KC__STRATEGIC_WANT_REMOVALS)
        found = find_lost(d);
    kc_vec_each (&found, it)
        kc_node_append(d->gone, kc_node_from_value(s->edit, it->element));
    bool changed = (d->want & KC__STRATEGIC_WANT_CHANGES) && !same_keys(&d->from_keys, &d->to_keys);
    if ((d->want & KC__STRATEGIC_WANT_ORDER) && (found.n || changed))
        kc_value_each_item (d->to, value)
            kc_node_append(d->order, kc_node_from_value(s->edit, value));
    kc_vec_done(&found);
}

static int diff_kind(kc__strategic_patcher *s, listdiff *d)
{
    kc__strategic_kind kind;
    int failed = kc__strategic_kind_of_values(s, d->from, d->to, &kind);
    if (failed < 0)
        return failed;
    kc_str merge_key = kind == KC__STRATEGIC_OBJECTS ? d->field->merge_key : (kc_str){0};
    if (kind == KC__STRATEGIC_OBJECTS && !merge_key.n)
        return kc__strategic_no_merge_key(s, kc_value_at(d->from, 0), merge_key);
    failed = kc__strategic_keys(s, d->from, merge_key, &d->from_keys);
    if (failed == 0)
        failed = kc__strategic_keys(s, d->to, merge_key, &d->to_keys);
    if (failed < 0)
        return failed;
    if (kind == KC__STRATEGIC_OBJECTS)
        return strategic_make_list_diff_objects(s, d);
    diff_values(s, d);
    return 0;
}

/* Adds a list that is not empty, under a directive's name if there is one. */
static void add_list(kc__strategic_patcher *s, kc_node *patch, const char *directive, kc_str name,
                     kc_node *list)
{
    if (!kc_node_len(list))
        return;
    kc_scoped(kc_buf) full = {0};
    if (directive)
        kc_buf_printf(&full, "%s/", directive);
    kc_buf_append(&full, name);
    kc_node_add(s->edit, patch, kc_buf_str(&full), list);
}

int kc__strategic_diff_list(kc__strategic_patcher *s, kc_node *patch, kc_str name,
                            const kc_value *from, const kc_value *to, const kc_patch_field *field,
                            unsigned want)
{
    bool changes = want & KC__STRATEGIC_WANT_CHANGES;
    if (!field->merge || !kc_value_len(from)) {
        if (changes && (field->merge ? kc_value_len(to) > 0 : !kc_value_equal(from, to, NULL)))
            kc_node_add(s->edit, patch, name, kc_node_from_value(s->edit, to));
        return 0;
    }
    listdiff d = {.from = from, .to = to, .field = field, .want = want};
    d.changes = kc_node_array(s->edit);
    d.gone = kc_node_array(s->edit);
    d.order = kc_node_array(s->edit);
    int failed = diff_kind(s, &d);
    if (failed == 0) {
        add_list(s, patch, KC__STRATEGIC_SET_ORDER, name, d.order);
        add_list(s, patch, NULL, name, d.changes);
        add_list(s, patch, KC__STRATEGIC_DELETE_VALUES, name, d.gone);
    }
    listdiff_done(&d);
    return failed;
}
