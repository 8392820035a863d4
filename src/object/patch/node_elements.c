/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_elements.c: finds and changes elements of an array of an edit by position without scanning
 * the whole array.
 *
 * yyjson keeps elements in a ring, so position i is i steps away. The first few lookups, and all in
 * a short array, scan. Then the elements' addresses are stored in runs of at most RUN_MOST, and a
 * position is found by adding the lengths of runs:
 *
 *     runs   [ 0 1 2 3 ] [ 4 5 ] [ 6 7 8 ]         5 is the second of the second
 *
 * Inserting moves addresses within one run only, which is split when it is full. For a million
 * elements that is a few hundred additions and a few KB moved, where one long vector would move
 * megabytes. Every change updates the ring, too, so the tree is always correct.
 */
#include "object/patch/patch_internal.h"

enum { RUN_MOST = 2048, RUN_AT_FIRST = 1024 };

kc__patch_elements kc__patch_elements_of(kc_node *array)
{
    return (kc__patch_elements){.array = array};
}

void kc__patch_elements_done(kc__patch_elements *elements)
{
    kc_vec_each (&elements->runs, run)
        kc_vec_done(run);
    kc_vec_done(&elements->runs);
}

static bool node_elements_use_index(kc__patch_elements *elements)
{
    if (elements->runs.n)
        return true;
    if (kc_node_len(elements->array) <= KC__NODE_SHORT_OBJECT ||
        ++elements->lookups < KC__NODE_INDEX_AFTER)
        return false;
    kc__patch_node_vec *run = kc_vec_add(&elements->runs);
    kc_node_each_item (elements->array, item) {
        if (run->n == RUN_AT_FIRST)
            run = kc_vec_add(&elements->runs);
        kc_vec_push(run, item);
    }
    return true;
}

/* The run that contains position *at, which becomes the position in it. The end is part of the last
 * run. */
static size_t run_of(const kc__patch_elements *elements, size_t *at)
{
    size_t i = 0;
    for (; i + 1 < elements->runs.n && *at >= elements->runs.items[i].n; i++)
        *at -= elements->runs.items[i].n;
    return i;
}

/* The element before a position, in the ring: the last is before the first. */
static kc_node *before(kc__patch_elements *elements, size_t at)
{
    return at ? kc__patch_elements_at(elements, at - 1) : elements->array->uni.ptr;
}

kc_node *kc__patch_elements_at(kc__patch_elements *elements, size_t at)
{
    if (!node_elements_use_index(elements))
        return kc_node_at(elements->array, at);
    const kc__patch_node_vec *run = &elements->runs.items[run_of(elements, &at)];
    return run->items[at];
}

static void node_elements_split(kc__patch_elements *elements, size_t at)
{
    kc_vec_add(&elements->runs);
    kc__patch_node_vec *run = &elements->runs.items[at];
    size_t after = elements->runs.n - at - 2, half = run->n / 2;
    memmove(run + 2, run + 1, after * sizeof(*run));
    run[1] = (kc__patch_node_vec){0};
    kc_vec_reserve(&run[1], run->n - half);
    memcpy(run[1].items, run->items + half, (run->n - half) * sizeof(*run->items));
    run[1].n = run->n - half;
    run->n = half;
}

static void insert_into_run(kc__patch_elements *elements, size_t at, kc_node *value)
{
    size_t i = run_of(elements, &at);
    kc__patch_node_vec *run = &elements->runs.items[i];
    kc_vec_reserve(run, 1);
    memmove(&run->items[at + 1], &run->items[at], (run->n - at) * sizeof(*run->items));
    run->items[at] = value;
    if (++run->n >= RUN_MOST)
        node_elements_split(elements, i);
}

void kc__patch_elements_insert(kc__patch_elements *elements, size_t at, kc_node *value)
{
    kc_node *array = elements->array;
    size_t n = kc_node_len(array);
    if (!node_elements_use_index(elements) || !n) {
        kc__patch_elements_done(elements);
        kc_node_insert(array, at, value);
        return;
    }
    kc_node *previous = before(elements, at);
    value->next = previous->next;
    previous->next = value;
    if (at == n)
        array->uni.ptr = value;
    unsafe_yyjson_set_len(array, n + 1);
    insert_into_run(elements, at, value);
}

static void remove_from_run(kc__patch_elements *elements, size_t at)
{
    size_t i = run_of(elements, &at);
    kc__patch_node_vec *run = &elements->runs.items[i];
    kc_vec_remove(run, at);
    if (run->n || elements->runs.n == 1)
        return;
    kc_vec_done(run);
    kc_vec_remove(&elements->runs, i);
}

void kc__patch_elements_remove(kc__patch_elements *elements, size_t at)
{
    kc_node *array = elements->array;
    size_t n = kc_node_len(array);
    if (!node_elements_use_index(elements)) {
        kc_node_remove_at(array, at);
        return;
    }
    kc_node *previous = before(elements, at);
    previous->next = previous->next->next;
    if (at == n - 1)
        array->uni.ptr = previous;
    unsafe_yyjson_set_len(array, n - 1);
    remove_from_run(elements, at);
}

void kc__patch_elements_replace(kc__patch_elements *elements, size_t at, kc_node *value)
{
    if (!node_elements_use_index(elements)) {
        kc_node_replace_at(elements->array, at, value);
        return;
    }
    kc_node *previous = before(elements, at), *old = previous->next;
    value->next = old == value ? value->next : old->next;
    previous->next = value;
    if (previous == old) /* The only element. */
        value->next = value;
    if (elements->array->uni.ptr == old)
        elements->array->uni.ptr = value;
    elements->runs.items[run_of(elements, &at)].items[at] = value;
}
