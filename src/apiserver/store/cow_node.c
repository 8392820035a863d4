/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cow_node.c: one node of the copy-on-write tree: its references, its packed keys, searching,
 * splitting and merging. cow_tree.c defines how nodes form a tree.
 *
 * Copying a node takes a reference to each element of its slots. Those reference counts are
 * scattered in memory, so the copy prefetches all of them before it increments the first: the cache
 * misses overlap.
 *
 * Threads: kc__cow_own tests whether the writer holds the only reference. No other thread can add
 * one concurrently: a reader reaches a node only through a snapshot, which has counted the root,
 * and only the writer creates snapshots and copies. In the other direction, a reader that drops its
 * reference at the same moment can cause at most one unnecessary copy. The count is read with
 * acquire semantics, so that the reader's last access to the node happens before the writer's
 * change.
 */
#include "apiserver/store/cow_internal.h"

static size_t size_of_node(unsigned height)
{
    return sizeof(kc__cow_node) + (height ? KC__COW_MAX * sizeof(uint32_t) : 0);
}

static uint32_t text_used(const kc__cow_node *node)
{
    return node->n ? node->ends[node->n - 1] : 0;
}

size_t kc__cow_count(const kc__cow_node *node)
{
    if (!node || node->height == 0)
        return node ? node->n : 0;
    size_t count = 0;
    for (size_t i = 0; i < node->n; i++)
        count += node->counts[i];
    return count;
}

/* ---- references ---- */

kc__cow_node *kc__cow_node_new(unsigned height)
{
    kc__cow_node *node = kc_calloc(1, size_of_node(height));
    kc_ref_init(&node->refs);
    node->height = (uint16_t)height;
    return node;
}

kc__cow_node *kc__cow_node_ref(kc__cow_node *node)
{
    if (node)
        kc_ref_add(&node->refs);
    return node;
}

static void free_shell(kc__cow_node *node)
{
    free(node->text);
    free(node);
}

kc__cow_node *kc__cow_node_unref(kc__cow_node *node)
{
    if (!node || !kc_ref_drop(&node->refs))
        return NULL;
    for (size_t i = 0; i < node->n; i++) {
        if (node->height)
            kc__cow_node_unref(node->slots[i].child);
        else
            kc_object_unref(node->slots[i].object);
    }
    free_shell(node);
    return NULL;
}

static void ref_slots(const kc__cow_node *node)
{
    for (size_t i = 0; i < node->n; i++)
        __builtin_prefetch(node->slots[i].object, 1);
    for (size_t i = 0; i < node->n; i++) {
        if (node->height)
            kc__cow_node_ref(node->slots[i].child);
        else
            kc_object_ref(node->slots[i].object);
    }
}

static kc__cow_node *copy_of(const kc__cow_node *node)
{
    kc__cow_node *copy = kc__cow_node_new(node->height);
    copy->n = node->n;
    memcpy(copy->ends, node->ends, sizeof(node->ends));
    memcpy(copy->slots, node->slots, sizeof(node->slots));
    if (node->height)
        memcpy(copy->counts, node->counts, KC__COW_MAX * sizeof(uint32_t));
    copy->text_cap = text_used(node);
    copy->text = kc_alloc(copy->text_cap);
    memcpy(copy->text, node->text, copy->text_cap);
    ref_slots(copy);
    return copy;
}

kc__cow_node *kc__cow_own(kc__cow_node **place)
{
    if (kc_ref_count(&(*place)->refs) > 1) {
        kc__cow_node *shared = *place;
        *place = copy_of(shared);
        kc__cow_node_unref(shared);
    }
    return *place;
}

/* ---- searching ---- */

static bool precedes_place(kc_str key, kc_str place, kc__cow_side side)
{
    if (side == KC__COW_PAST_PREFIX)
        return kc_str_cmp(kc_str_sub(key, 0, place.n), place) <= 0;
    int order = kc_str_cmp(key, place);
    return side == KC__COW_BEFORE ? order < 0 : order <= 0;
}

/* Index of the first key from `low` on that is not before the position. */
static size_t first_not_before(const kc__cow_node *node, size_t low, kc_str place,
                               kc__cow_side side)
{
    size_t high = node->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (precedes_place(kc__cow_key(node, middle), place, side))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t kc__cow_leaf_find(const kc__cow_node *leaf, kc_str key, kc__cow_side side)
{
    return first_not_before(leaf, 0, key, side);
}

size_t kc__cow_child_find(const kc__cow_node *inner, kc_str key, kc__cow_side side)
{
    return first_not_before(inner, 1, key, side) - 1;
}

const kc_object *kc__cow_get(const kc__cow_node *node, kc_str key)
{
    if (!node)
        return NULL;
    while (node->height)
        node = node->slots[kc__cow_child_find(node, key, KC__COW_AFTER)].child;
    size_t at = kc__cow_leaf_find(node, key, KC__COW_BEFORE);
    bool found = at < node->n && kc_str_eq(kc__cow_key(node, at), key);
    return found ? node->slots[at].object : NULL;
}

/* ---- changing an owned node ---- */

/* Reserves `more` bytes for keys (the buffer is never NULL afterwards), plus an eighth for later
 * ones. */
static void reserve_text(kc__cow_node *node, size_t more)
{
    size_t need = text_used(node) + more;
    if (node->text && need <= node->text_cap)
        return;
    node->text_cap = (uint32_t)(need + need / 8);
    node->text = kc_realloc(node->text, node->text_cap);
}

static void trim_text(kc__cow_node *node)
{
    node->text_cap = text_used(node);
    node->text = kc_realloc(node->text, node->text_cap);
}

/* Moves the entries from index `from` on to index `to` within the node; their keys stay in
 * place. */
static void shift_entries(kc__cow_node *node, size_t from, size_t to)
{
    size_t n = node->n - from;
    memmove(&node->ends[to], &node->ends[from], n * sizeof(node->ends[0]));
    memmove(&node->slots[to], &node->slots[from], n * sizeof(node->slots[0]));
    if (node->height)
        memmove(&node->counts[to], &node->counts[from], n * sizeof(node->counts[0]));
}

void kc__cow_insert_at(kc__cow_node *node, size_t at, kc_str key, kc__cow_slot slot)
{
    reserve_text(node, key.n);
    uint32_t start = at ? node->ends[at - 1] : 0;
    memmove(node->text + start + key.n, node->text + start, text_used(node) - start);
    memcpy(node->text + start, key.p, key.n);
    shift_entries(node, at, at + 1);
    node->n++;
    node->ends[at] = start;
    for (size_t i = at; i < node->n; i++)
        node->ends[i] += (uint32_t)key.n;
    node->slots[at] = slot;
    if (node->height)
        node->counts[at] = (uint32_t)kc__cow_count(slot.child);
}

void kc__cow_remove_at(kc__cow_node *node, size_t at)
{
    uint32_t start = at ? node->ends[at - 1] : 0, end = node->ends[at];
    memmove(node->text + start, node->text + end, text_used(node) - end);
    for (size_t i = at; i < node->n; i++)
        node->ends[i] -= end - start;
    shift_entries(node, at + 1, at);
    node->n--;
}

/* Appends copies of the entries from index `from` on, with their keys, to another node of the same
 * height. */
static void copy_tail(kc__cow_node *to, const kc__cow_node *node, size_t from)
{
    uint32_t start = from ? node->ends[from - 1] : 0, bytes = text_used(node) - start;
    size_t n = node->n - from;
    if (n == 0)
        return;
    reserve_text(to, bytes);
    uint32_t used = text_used(to);
    memcpy(to->text + used, node->text + start, bytes);
    memcpy(&to->slots[to->n], &node->slots[from], n * sizeof(node->slots[0]));
    if (node->height)
        memcpy(&to->counts[to->n], &node->counts[from], n * sizeof(node->counts[0]));
    for (size_t i = 0; i < n; i++)
        to->ends[to->n + i] = used + node->ends[from + i] - start;
    to->n += (uint16_t)n;
}

kc__cow_node *kc__cow_split(kc__cow_node *node, size_t cut)
{
    kc__cow_node *right = kc__cow_node_new(node->height);
    copy_tail(right, node, cut);
    node->n = (uint16_t)cut;
    trim_text(node);
    return right;
}

void kc__cow_append(kc__cow_node *node, kc__cow_node *right, kc_str separator)
{
    if (node->height) {
        kc__cow_insert_at(node, node->n, separator, right->slots[0]);
        copy_tail(node, right, 1);
    } else {
        copy_tail(node, right, 0);
    }
    free_shell(right);
}
