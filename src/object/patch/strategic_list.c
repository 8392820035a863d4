/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_list.c: merges a list of a patch into a list of an object.
 *
 * A list of objects is merged by its merge key:
 *
 *     object    [{"name": "a", "v": 1}, {"name": "b"}, {"name": "c"}]
 *     patch     [{"name": "d"}, {"name": "a", "v": 2}, {"name": "b", "$patch": "delete"}]
 *     result    [{"name": "d"}, {"name": "a", "v": 2}, {"name": "c"}]
 *
 * First the elements of the patch are divided into deletions, a possible replacement, and the rest.
 * Then each of the rest is merged into the element with its key or appended. Finally the list is
 * ordered (strategic_order.c). A list of values becomes the union of both. All three steps use keys
 * (strategic_key.c), so the cost per element does not grow with the length of the list.
 */
#include "base/work.h"
#include "object/patch/strategic_internal.h"

/* A patch's list, by kind of element. */
typedef struct strategic_list_parts {
    KC_VEC(const kc_value *) plain;
    kc__strategic_key_vec plain_keys;
    kc__strategic_key_vec deleted;
    bool replace;
} strategic_list_parts;

static void strategic_list_parts_done(strategic_list_parts *p)
{
    kc_vec_done(&p->plain);
    kc_vec_done(&p->plain_keys);
    kc_vec_done(&p->deleted);
}

static int unknown_directive(kc__strategic_patcher *s, const kc_value *element,
                             const kc_value *directive)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) type = {0};
    kc__go_text(&text, element);
    kc__go_text(&type, directive);
    return kc_error_set(s->err, KC_BAD_REQUEST, "unknown patch type: %s in map: %s",
                        kc_buf_cstr(&type), kc_buf_cstr(&text));
}

static int sort_element(kc__strategic_patcher *s, const kc_value *element, kc_str merge_key,
                        strategic_list_parts *ret)
{
    const kc_value *directive = kc_value_get(element, KC__STRATEGIC_PATCH);
    kc_str what = kc_value_as_str(directive);
    if (!directive) {
        kc_vec_push(&ret->plain, element);
        return kc__strategic_key(s, element, merge_key, kc_vec_add(&ret->plain_keys));
    }
    if (kc_str_is(what, "delete"))
        return kc__strategic_key(s, element, merge_key, kc_vec_add(&ret->deleted));
    if (kc_str_is(what, "merge"))
        return kc_error_set(s->err, KC_BAD_REQUEST,
                            "merging lists cannot yet be specified in the patch");
    if (!kc_str_is(what, "replace"))
        return unknown_directive(s, element, directive);
    ret->replace = true;
    return 0;
}

static int sort_out(kc__strategic_patcher *s, const kc_value *patch, kc_str merge_key,
                    strategic_list_parts *ret)
{
    kc_value_each_item (patch, element) {
        if (kc__work_is_over())
            return kc__work_fail(s->err);
        int failed = sort_element(s, element, merge_key, ret);
        if (failed < 0)
            return failed;
    }
    return 0;
}

/* The merged list under construction: nodes with their keys. */
typedef struct strategic_list_merging {
    kc__patch_node_vec nodes;
    kc__strategic_key_vec keys;
} strategic_list_merging;

static void strategic_list_merging_done(strategic_list_merging *m)
{
    kc_vec_done(&m->nodes);
    kc_vec_done(&m->keys);
}

static void merging_add(strategic_list_merging *m, kc_node *node, kc_str key)
{
    kc_vec_push(&m->nodes, node);
    kc_vec_push(&m->keys, key);
}

/* Keeps the old elements that are not deleted. */
static int keep_old(kc__strategic_patcher *s, const kc_node *old, kc_str merge_key,
                    const strategic_list_parts *patch, strategic_list_merging *ret)
{
    kc__strategic_ranks deleted = kc__strategic_ranks_of(&patch->deleted);
    int failed = 0;
    kc_node_each_item (old, node) {
        kc_str key;
        failed = kc__strategic_key_of_node(s, node, merge_key, &key);
        if (failed < 0)
            break;
        if (kc__strategic_rank(&deleted, key) == KC__STRATEGIC_NO_RANK)
            merging_add(ret, node, key);
    }
    kc__strategic_ranks_done(&deleted);
    return failed;
}

/* Merges one element of the patch into position `at`, or appends it. */
static int merge_element(kc__strategic_patcher *s, strategic_list_merging *m, size_t at,
                         const kc_value *element, kc_str key, const void *node)
{
    if (at == KC__STRATEGIC_NO_RANK) {
        merging_add(m, kc_node_from_value(s->edit, element), key);
        return 0;
    }
    kc_node *merged = kc__strategic_object(s, m->nodes.items[at], element, node);
    if (!merged)
        return kc_error_result(s->err);
    m->nodes.items[at] = merged;
    return 0;
}

static int merge_elements(kc__strategic_patcher *s, strategic_list_merging *m,
                          const kc__strategic_key_vec *kept, const strategic_list_parts *patch,
                          const void *node)
{
    kc_scoped(kc_map) appended = {0}; /* To position + 1. */
    kc__strategic_ranks ranks = kc__strategic_ranks_of(kept);
    int failed = 0;
    for (size_t i = 0; i < patch->plain.n && failed == 0; i++) {
        kc_str key = patch->plain_keys.items[i];
        size_t at = kc__strategic_rank(&ranks, key);
        if (at == KC__STRATEGIC_NO_RANK) {
            uintptr_t found = (uintptr_t)kc_map_get(&appended, key);
            at = found ? found - 1 : KC__STRATEGIC_NO_RANK;
        }
        if (at == KC__STRATEGIC_NO_RANK)
            kc_map_put(&appended, key, (void *)(uintptr_t)(m->nodes.n + 1));
        failed = merge_element(s, m, at, patch->plain.items[i], key, node);
    }
    kc__strategic_ranks_done(&ranks);
    return failed;
}

/* "$patch": "replace" in a list: the other elements of the patch are the list. */
static void take_plain(kc__strategic_patcher *s, const strategic_list_parts *patch,
                       strategic_list_merging *ret)
{
    for (size_t i = 0; i < patch->plain.n; i++)
        merging_add(ret, kc_node_from_value(s->edit, patch->plain.items[i]),
                    patch->plain_keys.items[i]);
}

/* The list before elements of the patch are merged into it. */
static int strategic_list_start(kc__strategic_patcher *s, const kc_node *old, kc_str merge_key,
                                strategic_list_parts *patch, strategic_list_merging *ret)
{
    if (!patch->replace)
        return keep_old(s, old, merge_key, patch, ret);
    take_plain(s, patch, ret);
    kc_vec_clear(&patch->plain);
    kc_vec_clear(&patch->plain_keys);
    return 0;
}

/*
 * The live order for a $setElementOrder: that of the remaining old elements; for each deleted one,
 * an appended element counts as positioned after them. (Kubernetes' code has this effect because it
 * writes new elements over the old list's end; its tests expect the result.)
 */
static void note_live(const strategic_list_merging *m, kc__strategic_key_vec *live)
{
    size_t n = KC_MIN(live->n, m->keys.n);
    kc_vec_clear(live);
    for (size_t i = 0; i < n; i++)
        kc_vec_push(live, m->keys.items[i]);
}

static int merge_objects(kc__strategic_patcher *s, kc_node *old, const kc_value *patch,
                         const kc_patch_field *field, kc__strategic_key_vec *live)
{
    strategic_list_parts sorted = {0};
    strategic_list_merging m = {0};
    kc__strategic_key_vec kept = {0};
    int failed = sort_out(s, patch, field->merge_key, &sorted);
    if (failed == 0)
        failed = strategic_list_start(s, old, field->merge_key, &sorted, &m);
    kc_vec_each (&m.keys, key)
        kc_vec_push(&kept, *key);
    if (failed == 0)
        failed = merge_elements(s, &m, &kept, &sorted, field->element);
    if (failed == 0) {
        if (live && !sorted.replace)
            note_live(&m, live);
        kc__strategic_arrange(&m.nodes, &m.keys, &sorted.plain_keys, &kept);
        kc__strategic_list_fill(old, &m.nodes);
    }
    kc_vec_done(&kept);
    strategic_list_merging_done(&m);
    strategic_list_parts_done(&sorted);
    return failed;
}

/* The union of both, each value once. */
static int merge_values(kc__strategic_patcher *s, kc_node *old, const kc_value *patch)
{
    kc_scoped(kc_map) seen = {0};
    kc__strategic_key_vec live = {0}, wanted = {0};
    strategic_list_merging m = {0};
    kc__patch_node_vec nodes = kc__strategic_nodes_of(old);
    int failed = kc__strategic_keys_of_nodes(s, &nodes, (kc_str){0}, &live);
    if (failed == 0)
        failed = kc__strategic_keys(s, patch, (kc_str){0}, &wanted);
    if (failed == 0) {
        kc_value_each_item (patch, value)
            kc_vec_push(&nodes, kc_node_from_value(s->edit, value));
        for (size_t i = 0; i < nodes.n; i++) {
            kc_str key = i < live.n ? live.items[i] : wanted.items[i - live.n];
            if (!kc_map_put(&seen, key, nodes.items[i]))
                merging_add(&m, nodes.items[i], key);
        }
        kc__strategic_arrange(&m.nodes, &m.keys, &wanted, &live);
        kc__strategic_list_fill(old, &m.nodes);
    }
    strategic_list_merging_done(&m);
    kc_vec_done(&nodes);
    kc_vec_done(&live);
    kc_vec_done(&wanted);
    return failed;
}

kc_node *kc__strategic_list(kc__strategic_patcher *s, kc_node *old, const kc_value *patch,
                            kc_str name, const kc_patch_field *field, kc__strategic_key_vec *live)
{
    kc__strategic_kind kind;
    if (!field->merge)
        return kc_node_from_value(s->edit, patch);
    if (kc__strategic_kind_of(s, old, patch, &kind) < 0)
        return NULL;
    if (kind == KC__STRATEGIC_NO_ELEMENTS)
        return old;
    if (kind == KC__STRATEGIC_VALUES)
        return merge_values(s, old, patch) < 0 ? NULL : old;
    if (!field->merge_key.n) {
        kc_error_set(s->err, KC_BAD_REQUEST, "cannot merge lists without merge key for %.*s",
                     KC_ARG(name));
        return NULL;
    }
    return merge_objects(s, old, patch, field, live) < 0 ? NULL : old;
}

int kc__strategic_delete_values(kc__strategic_patcher *s, kc_node *list, const kc_value *values)
{
    kc__strategic_key_vec gone = {0};
    kc__patch_node_vec kept = {0};
    int failed = kc__strategic_keys(s, values, (kc_str){0}, &gone);
    kc__strategic_ranks ranks = kc__strategic_ranks_of(&gone);
    kc_node_each_item (list, node) {
        kc_str key;
        if (failed == 0)
            failed = kc__strategic_key_of_node(s, node, (kc_str){0}, &key);
        if (failed < 0)
            break;
        if (kc__strategic_rank(&ranks, key) == KC__STRATEGIC_NO_RANK)
            kc_vec_push(&kept, node);
    }
    if (failed == 0)
        kc__strategic_list_fill(list, &kept);
    kc__strategic_ranks_done(&ranks);
    kc_vec_done(&kept);
    kc_vec_done(&gone);
    return failed < 0 ? kc__strategic_bad_format(s, "primitive list") : 0;
}
