/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_order.c: in which order the elements of a merged list stand.
 *
 * The patch knows the order of the elements it speaks of, the live object that of the others. Both
 * orders are kept, and the two sequences are woven together by the live order as far as it says
 * anything: an element that only the server has goes before the first patch element that it stands
 * before in the live list.
 *
 *     live      a b c x       x and b are only on the server
 *     wanted    c a
 *     others    b x
 *     result    b c a x       b stood before c; x did not stand before a
 *
 * A patch's order is that of its list or, where given, of "$setElementOrder/list", which names
 * every element the patch's author knows of, also those he does not change. Elements that are
 * themselves deletions ("$patch": "delete", when patches are merged) go behind the others of their
 * sequence.
 */
#include "object/strategic_internal.h"

typedef struct item {
    kc_node *node;
    size_t at;   /* Where it stood. */
    size_t rank; /* In the order of its sequence. */
    size_t live; /* In the live list. */
    bool deletes;
} item;

typedef KC_VEC(item) items;

static int by_rank(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->deletes != y->deletes)
        return x->deletes - y->deletes;
    if (!x->deletes && x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool deletes(const kc_node *node)
{
    return kc_str_is(kc_node_as_str(kc_node_get(node, KC_STR(KC__PATCH))), "delete");
}

/* Splits into elements of the patch and others, each sorted. */
static void split(const kc__nodes *nodes, const kc__keys *keys, const kc__keys *wanted,
                  const kc__keys *live, items *of_patch, items *others)
{
    kc__ranks wanted_ranks = kc__ranks_of(wanted), live_ranks = kc__ranks_of(live);
    for (size_t i = 0; i < nodes->n; i++) {
        item it = {.node = nodes->items[i], .at = i, .deletes = deletes(nodes->items[i])};
        it.live = it.rank = kc__rank(&live_ranks, keys->items[i]);
        size_t rank = kc__rank(&wanted_ranks, keys->items[i]);
        if (rank != KC__NO_RANK)
            it.rank = rank;
        kc_vec_push(rank != KC__NO_RANK ? of_patch : others, it);
    }
    kc_vec_sort(of_patch, by_rank);
    kc_vec_sort(others, by_rank);
    kc__ranks_done(&wanted_ranks);
    kc__ranks_done(&live_ranks);
}

static bool stood_before(const item *a, const item *b)
{
    return a->live != KC__NO_RANK && b->live != KC__NO_RANK && a->live < b->live;
}

void kc__smp_arrange(kc__nodes *nodes, const kc__keys *keys, const kc__keys *wanted,
                     const kc__keys *live)
{
    items of_patch = {0}, others = {0};
    split(nodes, keys, wanted, live, &of_patch, &others);
    size_t p = 0, o = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        bool other =
            p == of_patch.n || (o < others.n && stood_before(&others.items[o], &of_patch.items[p]));
        nodes->items[i] = other ? others.items[o++].node : of_patch.items[p++].node;
    }
    kc_vec_done(&of_patch);
    kc_vec_done(&others);
}

kc__nodes kc__nodes_of(const kc_node *list)
{
    kc__nodes nodes = {0};
    kc_vec_reserve(&nodes, kc_node_len(list));
    kc_node_items (list, node)
        kc_vec_push(&nodes, node);
    return nodes;
}

void kc__list_fill(kc_node *list, const kc__nodes *nodes)
{
    yyjson_mut_arr_clear(list);
    kc_vec_each (nodes, node)
        kc_node_append(list, *node);
}

/* What one $setElementOrder works with. */
typedef struct ordering {
    const kc_value *order; /* The directive's list. */
    kc_node *old;          /* The list, each NULL if it is not there: in the object, */
    const kc_value *patch; /* in the patch. */
    kc_str name;
    kc_patch_field field;
    kc__keys wanted, live;
} ordering;

static int out_of_order(kc__smp *s, const ordering *o)
{
    kc_scoped(kc_buf) patch = {0};
    kc_scoped(kc_buf) order = {0};
    kc__go_text(&patch, o->patch);
    kc__go_text(&order, o->order);
    return kc_error_set(s->err, KC_BAD_REQUEST,
                        "The order in patch list:\n%s\n doesn't match " KC__SET_ORDER
                        " list:\n%s\n",
                        kc_buf_cstr(&patch), kc_buf_cstr(&order));
}

/* The elements of the patch must be in the order list, in the same order. */
static int check_order(kc__smp *s, const ordering *o)
{
    size_t at = 0;
    if (!o->wanted.n)
        return 0;
    kc_items (o->patch, element) {
        kc_str key;
        if (kc_get(element, KC__PATCH))
            continue; /* Deletions have no place in the order. */
        int failed = kc__smp_key(s, element, o->field.merge_key, &key);
        if (failed < 0)
            return failed;
        while (at < o->wanted.n && !kc_str_eq(o->wanted.items[at], key))
            at++;
        if (at++ >= o->wanted.n)
            return out_of_order(s, o);
    }
    return 0;
}

/* The list with the patch merged in, in whatever order. NULL on error. */
static kc_node *merge_contents(kc__smp *s, ordering *o)
{
    if (!o->patch)
        return o->old;
    if (!o->old)
        return kc__smp_adopt(s, o->patch);
    return kc__smp_list(s, o->old, o->patch, o->name, &o->field, &o->live);
}

static int find_keys(kc__smp *s, ordering *o)
{
    int failed = kc__smp_keys(s, o->order, o->field.merge_key, &o->wanted);
    if (failed == 0)
        failed = check_order(s, o);
    if (failed < 0)
        return failed;
    kc__nodes nodes = kc__nodes_of(o->old);
    failed = kc__smp_keys_of_nodes(s, &nodes, o->field.merge_key, &o->live);
    kc_vec_done(&nodes);
    return failed;
}

static int arrange_list(kc__smp *s, kc_node *list, const ordering *o)
{
    kc__nodes nodes = kc__nodes_of(list);
    kc__keys keys = {0};
    int failed = kc__smp_keys_of_nodes(s, &nodes, o->field.merge_key, &keys);
    if (failed == 0) {
        kc__smp_arrange(&nodes, &keys, &o->wanted, &o->live);
        kc__list_fill(list, &nodes);
    }
    kc_vec_done(&keys);
    kc_vec_done(&nodes);
    return failed;
}

static int merge_in_order(kc__smp *s, kc__fields *old, ordering *o)
{
    int failed = find_keys(s, o);
    if (failed < 0)
        return failed;
    kc_node *list = merge_contents(s, o);
    if (!list)
        return -(int)KC_BAD_REQUEST;
    failed = arrange_list(s, list, o);
    if (failed == 0)
        kc__fields_set(old, o->name, list);
    return failed;
}

/* When patches are merged, both must give the same order, and the result gives it too. */
static int keep_directive(kc__smp *s, kc__fields *old, kc_str directive, const kc_value *order)
{
    const kc_node *earlier = kc__fields_get(old, directive);
    if (!earlier)
        kc__fields_set(old, directive, kc_node_copy(s->edit, order));
    else if (!kc__same_node(earlier, order))
        return kc__smp_bad_format(s, "setElementOrder list");
    return 0;
}

static int find_lists(kc__smp *s, kc__fields *old, kc__members *in_patch, const void *node,
                      ordering *o)
{
    o->old = kc__fields_get(old, o->name);
    o->patch = kc__members_find(in_patch, o->name);
    if (kc_type_of(o->order) != KC_ARRAY)
        return kc__smp_bad_type(s, KC_ARRAY, kc_type_of(o->order));
    if (o->old && kc_node_type(o->old) != KC_ARRAY)
        return kc__smp_bad_type(s, KC_ARRAY, kc_node_type(o->old));
    if (o->patch && kc_type_of(o->patch) != KC_ARRAY)
        return kc__smp_bad_type(s, KC_ARRAY, kc_type_of(o->patch));
    return kc__smp_field(s, node, o->name, &o->field);
}

static int set_order(kc__smp *s, kc__fields *old, kc__members *in_patch, const void *node,
                     kc_str directive, const kc_value *order)
{
    ordering o = {.order = order};
    if (!kc__smp_directive_field(directive, KC__SET_ORDER, &o.name))
        return kc__smp_bad_format(s, "setElementOrder list");
    int failed = s->of_patches ? keep_directive(s, old, directive, order) : 0;
    if (failed == 0)
        failed = find_lists(s, old, in_patch, node, &o);
    if (failed == 0 && (o.old || o.patch))
        failed = merge_in_order(s, old, &o);
    kc_vec_done(&o.wanted);
    kc_vec_done(&o.live);
    return failed;
}

int kc__smp_set_orders(kc__smp *s, kc__fields *old, const kc_value *patch, kc__members *in_patch,
                       const void *node, bool *ret_any)
{
    kc_members (patch, name, value) {
        if (!kc_str_starts(name, KC_STR(KC__SET_ORDER)))
            continue;
        *ret_any = true;
        int failed = set_order(s, old, in_patch, node, name, value);
        if (failed < 0)
            return failed;
    }
    return 0;
}
