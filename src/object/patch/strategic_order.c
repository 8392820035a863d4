/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_order.c: orders the elements of a merged list.
 *
 * The patch defines the order of its elements, the live object that of the others. Both orders are
 * kept, and the two sequences are interleaved by the live order: an element that only the server
 * has goes before the first patch element that it precedes in the live list.
 *
 *     live      a b c x       x and b are only on the server
 *     wanted    c a
 *     others    b x
 *     result    b c a x       b preceded c; x did not precede a
 *
 * A patch's order is that of its list or, if given, of "$setElementOrder/list", which lists every
 * element that the patch's author knows, also unchanged ones. Elements that are deletions
 * ("$patch": "delete", when patches are merged) go after the others of their sequence.
 */
#include "object/patch/strategic_internal.h"

typedef struct strategic_order_item {
    kc_node *node;
    size_t at;   /* Its old position. */
    size_t rank; /* In the order of its sequence. */
    size_t live; /* In the live list. */
    bool deletes;
} strategic_order_item;

typedef KC_VEC(strategic_order_item) items;

static int by_rank(const void *a, const void *b)
{
    const strategic_order_item *x = a, *y = b;
    if (x->deletes != y->deletes)
        return x->deletes - y->deletes;
    if (!x->deletes && x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool deletes(const kc_node *node)
{
    return kc_str_is(kc_node_as_str(kc_node_get(node, KC_STR(KC__STRATEGIC_PATCH))), "delete");
}

/* Splits elements into those of the patch and others, each sorted. */
static void strategic_order_split(const kc__patch_node_vec *nodes,
                                  const kc__strategic_key_vec *keys,
                                  const kc__strategic_key_vec *wanted,
                                  const kc__strategic_key_vec *live, items *of_patch, items *others)
{
    kc__strategic_ranks wanted_ranks = kc__strategic_ranks_of(wanted),
                        live_ranks = kc__strategic_ranks_of(live);
    for (size_t i = 0; i < nodes->n; i++) {
        strategic_order_item it = {
            .node = nodes->items[i], .at = i, .deletes = deletes(nodes->items[i])};
        it.live = it.rank = kc__strategic_rank(&live_ranks, keys->items[i]);
        size_t rank = kc__strategic_rank(&wanted_ranks, keys->items[i]);
        if (rank != KC__STRATEGIC_NO_RANK)
            it.rank = rank;
        kc_vec_push(rank != KC__STRATEGIC_NO_RANK ? of_patch : others, it);
    }
    kc_vec_sort(of_patch, by_rank);
    kc_vec_sort(others, by_rank);
    kc__strategic_ranks_done(&wanted_ranks);
    kc__strategic_ranks_done(&live_ranks);
}

static bool precedes(const strategic_order_item *a, const strategic_order_item *b)
{
    return a->live != KC__STRATEGIC_NO_RANK && b->live != KC__STRATEGIC_NO_RANK &&
           a->live < b->live;
}

void kc__strategic_arrange(kc__patch_node_vec *nodes, const kc__strategic_key_vec *keys,
                           const kc__strategic_key_vec *wanted, const kc__strategic_key_vec *live)
{
    items of_patch = {0}, others = {0};
    strategic_order_split(nodes, keys, wanted, live, &of_patch, &others);
    size_t p = 0, o = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        bool other =
            p == of_patch.n || (o < others.n && precedes(&others.items[o], &of_patch.items[p]));
        nodes->items[i] = other ? others.items[o++].node : of_patch.items[p++].node;
    }
    kc_vec_done(&of_patch);
    kc_vec_done(&others);
}

kc__patch_node_vec kc__strategic_nodes_of(const kc_node *list)
{
    kc__patch_node_vec nodes = {0};
    kc_vec_reserve(&nodes, kc_node_len(list));
    kc_node_each_item (list, node)
        kc_vec_push(&nodes, node);
    return nodes;
}

void kc__strategic_list_fill(kc_node *list, const kc__patch_node_vec *nodes)
{
    yyjson_mut_arr_clear(list);
    kc_vec_each (nodes, node)
        kc_node_append(list, *node);
}

/* The state of one $setElementOrder. */
typedef struct ordering {
    const kc_value *order; /* The directive's list. */
    kc_node *old;          /* The list in the object, or NULL, */
    const kc_value *patch; /* and in the patch, or NULL. */
    kc_str name;
    kc_patch_field field;
    kc__strategic_key_vec wanted, live;
} ordering;

static int out_of_order(kc__strategic_patcher *s, const ordering *o)
{
    kc_scoped(kc_buf) patch = {0};
    kc_scoped(kc_buf) order = {0};
    kc__go_text(&patch, o->patch);
    kc__go_text(&order, o->order);
    return kc_error_set(s->err, KC_BAD_REQUEST,
                        "The order in patch list:\n%s\n doesn't match " KC__STRATEGIC_SET_ORDER
                        " list:\n%s\n",
                        kc_buf_cstr(&patch), kc_buf_cstr(&order));
}

/* The elements of the patch must be in the order list, in the same order. */
static int strategic_order_check_order(kc__strategic_patcher *s, const ordering *o)
{
    size_t at = 0;
    if (!o->wanted.n)
        return 0;
    kc_value_each_item (o->patch, element) {
        kc_str key;
        if (kc_value_get(element, KC__STRATEGIC_PATCH))
            continue; /* Deletions are not part of the order. */
        int failed = kc__strategic_key(s, element, o->field.merge_key, &key);
        if (failed < 0)
            return failed;
        while (at < o->wanted.n && !kc_str_eq(o->wanted.items[at], key))
            at++;
        if (at++ >= o->wanted.n)
            return out_of_order(s, o);
    }
    return 0;
}

/* The list with the patch merged in, unordered. NULL on error. */
static kc_node *merge_contents(kc__strategic_patcher *s, ordering *o)
{
    if (!o->patch)
        return o->old;
    if (!o->old)
        return kc__strategic_adopt(s, o->patch);
    return kc__strategic_list(s, o->old, o->patch, o->name, &o->field, &o->live);
}

static int find_keys(kc__strategic_patcher *s, ordering *o)
{
    int failed = kc__strategic_keys(s, o->order, o->field.merge_key, &o->wanted);
    if (failed == 0)
        failed = strategic_order_check_order(s, o);
    if (failed < 0)
        return failed;
    kc__patch_node_vec nodes = kc__strategic_nodes_of(o->old);
    failed = kc__strategic_keys_of_nodes(s, &nodes, o->field.merge_key, &o->live);
    kc_vec_done(&nodes);
    return failed;
}

static int arrange_list(kc__strategic_patcher *s, kc_node *list, const ordering *o)
{
    kc__patch_node_vec nodes = kc__strategic_nodes_of(list);
    kc__strategic_key_vec keys = {0};
    int failed = kc__strategic_keys_of_nodes(s, &nodes, o->field.merge_key, &keys);
    if (failed == 0) {
        kc__strategic_arrange(&nodes, &keys, &o->wanted, &o->live);
        kc__strategic_list_fill(list, &nodes);
    }
    kc_vec_done(&keys);
    kc_vec_done(&nodes);
    return failed;
}

static int merge_in_order(kc__strategic_patcher *s, kc__node_fields *old, ordering *o)
{
    int failed = find_keys(s, o);
    if (failed < 0)
        return failed;
    kc_node *list = merge_contents(s, o);
    if (!list)
        return kc_error_result(s->err);
    failed = arrange_list(s, list, o);
    if (failed == 0)
        kc__node_fields_set(old, o->name, list);
    return failed;
}

/* When patches are merged, both must set the same order, and the result sets it, too. */
static int keep_directive(kc__strategic_patcher *s, kc__node_fields *old, kc_str directive,
                          const kc_value *order)
{
    const kc_node *earlier = kc__node_fields_get(old, directive);
    if (!earlier)
        kc__node_fields_set(old, directive, kc_node_from_value(s->edit, order));
    else if (!kc__patch_node_equals(earlier, order))
        return kc__strategic_bad_format(s, "setElementOrder list");
    return 0;
}

static int find_lists(kc__strategic_patcher *s, kc__node_fields *old, kc__value_members *in_patch,
                      const void *node, ordering *o)
{
    o->old = kc__node_fields_get(old, o->name);
    o->patch = kc__value_members_find(in_patch, o->name);
    if (kc_value_type(o->order) != KC_JSON_ARRAY)
        return kc__strategic_bad_type(s, KC_JSON_ARRAY, kc_value_type(o->order));
    if (o->old && kc_node_type(o->old) != KC_JSON_ARRAY)
        return kc__strategic_bad_type(s, KC_JSON_ARRAY, kc_node_type(o->old));
    if (o->patch && kc_value_type(o->patch) != KC_JSON_ARRAY)
        return kc__strategic_bad_type(s, KC_JSON_ARRAY, kc_value_type(o->patch));
    return kc__strategic_field(s, node, o->name, &o->field);
}

static int set_order(kc__strategic_patcher *s, kc__node_fields *old, kc__value_members *in_patch,
                     const void *node, kc_str directive, const kc_value *order)
{
    ordering o = {.order = order};
    if (!kc__strategic_directive_field(directive, KC__STRATEGIC_SET_ORDER, &o.name))
        return kc__strategic_bad_format(s, "setElementOrder list");
    int failed = s->of_patches ? keep_directive(s, old, directive, order) : 0;
    if (failed == 0)
        failed = find_lists(s, old, in_patch, node, &o);
    if (failed == 0 && (o.old || o.patch))
        failed = merge_in_order(s, old, &o);
    kc_vec_done(&o.wanted);
    kc_vec_done(&o.live);
    return failed;
}

int kc__strategic_set_orders(kc__strategic_patcher *s, kc__node_fields *old, const kc_value *patch,
                             kc__value_members *in_patch, const void *node, bool *ret_any)
{
    kc_value_each_member (patch, name, value) {
        if (!kc_str_starts(name, KC_STR(KC__STRATEGIC_SET_ORDER)))
            continue;
        *ret_any = true;
        int failed = set_order(s, old, in_patch, node, name, value);
        if (failed < 0)
            return failed;
    }
    return 0;
}
