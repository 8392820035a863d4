/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_list.c: merging a list of a patch into a list of an object.
 *
 * A list of objects is merged by its merge key:
 *
 *     object    [{"name": "a", "v": 1}, {"name": "b"}, {"name": "c"}]
 *     patch     [{"name": "d"}, {"name": "a", "v": 2}, {"name": "b", "$patch": "delete"}]
 *     result    [{"name": "d"}, {"name": "a", "v": 2}, {"name": "c"}]
 *
 * First the patch is sorted into deletions, a possible replacement, and the rest. Then each of the
 * rest is merged into the element with its key or appended. At last the order is made
 * (strategic_order.c). A list of values becomes the union of both. All three steps go by keys
 * (strategic_key.c), so a list of thousands costs no more per element than a short one.
 */
#include "object/strategic_internal.h"

/* A patch's list, sorted out. */
typedef struct parts {
    KC_VEC(const kc_value *) plain;
    kc__keys plain_keys;
    kc__keys deleted;
    bool replace;
} parts;

static void parts_done(parts *p)
{
    kc_vec_done(&p->plain);
    kc_vec_done(&p->plain_keys);
    kc_vec_done(&p->deleted);
}

static int unknown_directive(kc__smp *s, const kc_value *element, const kc_value *directive)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) type = {0};
    kc__go_text(&text, element);
    kc__go_text(&type, directive);
    return kc_error_set(s->err, KC_BAD_REQUEST, "unknown patch type: %s in map: %s",
                        kc_buf_cstr(&type), kc_buf_cstr(&text));
}

static int sort_element(kc__smp *s, const kc_value *element, kc_str merge_key, parts *ret)
{
    const kc_value *directive = kc_get(element, KC__PATCH);
    kc_str what = kc_as_str(directive);
    if (!directive) {
        kc_vec_push(&ret->plain, element);
        return kc__smp_key(s, element, merge_key, kc_vec_add(&ret->plain_keys));
    }
    if (kc_str_is(what, "delete"))
        return kc__smp_key(s, element, merge_key, kc_vec_add(&ret->deleted));
    if (kc_str_is(what, "merge"))
        return kc_error_set(s->err, KC_BAD_REQUEST,
                            "merging lists cannot yet be specified in the patch");
    if (!kc_str_is(what, "replace"))
        return unknown_directive(s, element, directive);
    ret->replace = true;
    return 0;
}

static int sort_out(kc__smp *s, const kc_value *patch, kc_str merge_key, parts *ret)
{
    kc_items (patch, element) {
        int failed = sort_element(s, element, merge_key, ret);
        if (failed < 0)
            return failed;
    }
    return 0;
}

/* The merged list while it grows: nodes with their keys. */
typedef struct merging {
    kc__nodes nodes;
    kc__keys keys;
} merging;

static void merging_done(merging *m)
{
    kc_vec_done(&m->nodes);
    kc_vec_done(&m->keys);
}

static void merging_add(merging *m, kc_node *node, kc_str key)
{
    kc_vec_push(&m->nodes, node);
    kc_vec_push(&m->keys, key);
}

/* The old elements that are not deleted. */
static int keep_old(kc__smp *s, const kc_node *old, kc_str merge_key, const parts *patch,
                    merging *ret)
{
    kc__ranks deleted = kc__ranks_of(&patch->deleted);
    int failed = 0;
    kc_node_items (old, node) {
        kc_str key;
        failed = kc__smp_key_of_node(s, node, merge_key, &key);
        if (failed < 0)
            break;
        if (kc__rank(&deleted, key) == KC__NO_RANK)
            merging_add(ret, node, key);
    }
    kc__ranks_done(&deleted);
    return failed;
}

/* Merges one element of the patch into position `at`, or appends it. */
static int merge_element(kc__smp *s, merging *m, size_t at, const kc_value *element, kc_str key,
                         const void *node)
{
    if (at == KC__NO_RANK) {
        merging_add(m, kc_node_copy(s->edit, element), key);
        return 0;
    }
    kc_node *merged = kc__smp_object(s, m->nodes.items[at], element, node);
    if (!merged)
        return -(int)KC_BAD_REQUEST;
    m->nodes.items[at] = merged;
    return 0;
}

static int merge_elements(kc__smp *s, merging *m, const kc__keys *kept, const parts *patch,
                          const void *node)
{
    kc_scoped(kc_map) appended = {0}; /* To position + 1. */
    kc__ranks ranks = kc__ranks_of(kept);
    int failed = 0;
    for (size_t i = 0; i < patch->plain.n && failed == 0; i++) {
        kc_str key = patch->plain_keys.items[i];
        size_t at = kc__rank(&ranks, key);
        if (at == KC__NO_RANK) {
            uintptr_t found = (uintptr_t)kc_map_get(&appended, key);
            at = found ? found - 1 : KC__NO_RANK;
        }
        if (at == KC__NO_RANK)
            kc_map_put(&appended, key, (void *)(uintptr_t)(m->nodes.n + 1));
        failed = merge_element(s, m, at, patch->plain.items[i], key, node);
    }
    kc__ranks_done(&ranks);
    return failed;
}

/* "$patch": "replace" in a list: the other elements of the patch are the list. */
static void take_plain(kc__smp *s, const parts *patch, merging *ret)
{
    for (size_t i = 0; i < patch->plain.n; i++)
        merging_add(ret, kc_node_copy(s->edit, patch->plain.items[i]), patch->plain_keys.items[i]);
}

/* The list as it is before elements of the patch are merged into it. */
static int start(kc__smp *s, const kc_node *old, kc_str merge_key, parts *patch, merging *ret)
{
    if (!patch->replace)
        return keep_old(s, old, merge_key, patch, ret);
    take_plain(s, patch, ret);
    kc_vec_clear(&patch->plain);
    kc_vec_clear(&patch->plain_keys);
    return 0;
}

/*
 * The live order for a $setElementOrder: that of the old elements which are left; where some were
 * deleted, as many of the appended ones count as standing behind them. (Kubernetes' code gets there
 * by writing new elements over the old list's end; its tests expect the result.)
 */
static void note_live(const merging *m, kc__keys *live)
{
    size_t n = KC_MIN(live->n, m->keys.n);
    kc_vec_clear(live);
    for (size_t i = 0; i < n; i++)
        kc_vec_push(live, m->keys.items[i]);
}

static int merge_objects(kc__smp *s, kc_node *old, const kc_value *patch,
                         const kc_patch_field *field, kc__keys *live)
{
    parts sorted = {0};
    merging m = {0};
    kc__keys kept = {0};
    int failed = sort_out(s, patch, field->merge_key, &sorted);
    if (failed == 0)
        failed = start(s, old, field->merge_key, &sorted, &m);
    kc_vec_each (&m.keys, key)
        kc_vec_push(&kept, *key);
    if (failed == 0)
        failed = merge_elements(s, &m, &kept, &sorted, field->element);
    if (failed == 0) {
        if (live && !sorted.replace)
            note_live(&m, live);
        kc__smp_arrange(&m.nodes, &m.keys, &sorted.plain_keys, &kept);
        kc__list_fill(old, &m.nodes);
    }
    kc_vec_done(&kept);
    merging_done(&m);
    parts_done(&sorted);
    return failed;
}

/* The union of both, every value once. */
static int merge_values(kc__smp *s, kc_node *old, const kc_value *patch)
{
    kc_scoped(kc_map) seen = {0};
    kc__keys live = {0}, wanted = {0};
    merging m = {0};
    kc__nodes nodes = kc__nodes_of(old);
    int failed = kc__smp_keys_of_nodes(s, &nodes, (kc_str){0}, &live);
    if (failed == 0)
        failed = kc__smp_keys(s, patch, (kc_str){0}, &wanted);
    if (failed == 0) {
        kc_items (patch, value)
            kc_vec_push(&nodes, kc_node_copy(s->edit, value));
        for (size_t i = 0; i < nodes.n; i++) {
            kc_str key = i < live.n ? live.items[i] : wanted.items[i - live.n];
            if (!kc_map_put(&seen, key, nodes.items[i]))
                merging_add(&m, nodes.items[i], key);
        }
        kc__smp_arrange(&m.nodes, &m.keys, &wanted, &live);
        kc__list_fill(old, &m.nodes);
    }
    merging_done(&m);
    kc_vec_done(&nodes);
    kc_vec_done(&live);
    kc_vec_done(&wanted);
    return failed;
}

kc_node *kc__smp_list(kc__smp *s, kc_node *old, const kc_value *patch, kc_str name,
                      const kc_patch_field *field, kc__keys *live)
{
    kc__smp_kind kind;
    if (!field->merge)
        return kc_node_copy(s->edit, patch);
    if (kc__smp_kind_of(s, old, patch, &kind) < 0)
        return NULL;
    if (kind == KC__NO_ELEMENTS)
        return old;
    if (kind == KC__VALUES)
        return merge_values(s, old, patch) < 0 ? NULL : old;
    if (!field->merge_key.n) {
        kc_error_set(s->err, KC_BAD_REQUEST, "cannot merge lists without merge key for %.*s",
                     KC_ARG(name));
        return NULL;
    }
    return merge_objects(s, old, patch, field, live) < 0 ? NULL : old;
}

int kc__smp_delete_values(kc__smp *s, kc_node *list, const kc_value *values)
{
    kc__keys gone = {0};
    kc__nodes kept = {0};
    int failed = kc__smp_keys(s, values, (kc_str){0}, &gone);
    kc__ranks ranks = kc__ranks_of(&gone);
    kc_node_items (list, node) {
        kc_str key;
        if (failed == 0)
            failed = kc__smp_key_of_node(s, node, (kc_str){0}, &key);
        if (failed < 0)
            break;
        if (kc__rank(&ranks, key) == KC__NO_RANK)
            kc_vec_push(&kept, node);
    }
    if (failed == 0)
        kc__list_fill(list, &kept);
    kc__ranks_done(&ranks);
    kc_vec_done(&kept);
    kc_vec_done(&gone);
    return failed < 0 ? kc__smp_bad_format(s, "primitive list") : 0;
}
