/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_elements.c: the elements of an array of an edit, found and changed by position without
 * walking all of them.
 *
 * yyjson keeps elements in a ring, so position i is i steps away. The first few questions, and all
 * to a short array, are answered by walking. Then the elements' addresses are put into runs of at
 * most RUN_MOST, and a position is found by adding up the lengths of runs:
 *
 *     runs   [ 0 1 2 3 ] [ 4 5 ] [ 6 7 8 ]         5 is the second of the second
 *
 * Inserting moves addresses within one run only, which is split in two when it is full. For a
 * million elements that is a few hundred additions and a few KB moved, where one long vector would
 * move megabytes. The ring is changed along, so the tree is right at any time.
 */
#include "object/patch_internal.h"

enum { RUN_MOST = 2048, RUN_AT_FIRST = 1024 };

kc__elements kc__elements_of(kc_node *array)
{
    return (kc__elements){.array = array};
}

void kc__elements_done(kc__elements *elements)
{
    kc_vec_each (&elements->runs, run)
        kc_vec_done(run);
    kc_vec_done(&elements->runs);
}

static bool use_index(kc__elements *elements)
{
    if (elements->runs.n)
        return true;
    if (kc_node_len(elements->array) <= KC__SHORT || ++elements->asked < KC__ASKED_OFTEN)
        return false;
    kc__nodes *run = kc_vec_add(&elements->runs);
    kc_node_items (elements->array, item) {
        if (run->n == RUN_AT_FIRST)
            run = kc_vec_add(&elements->runs);
        kc_vec_push(run, item);
    }
    return true;
}

/* The run that holds position *at, which becomes the position in it. The end counts as part of the
 * last run. */
static size_t run_of(const kc__elements *elements, size_t *at)
{
    size_t i = 0;
    for (; i + 1 < elements->runs.n && *at >= elements->runs.items[i].n; i++)
        *at -= elements->runs.items[i].n;
    return i;
}

/* The element before a position, in the ring: before the first stands the last. */
static kc_node *before(kc__elements *elements, size_t at)
{
    return at ? kc__elements_at(elements, at - 1) : elements->array->uni.ptr;
}

kc_node *kc__elements_at(kc__elements *elements, size_t at)
{
    if (!use_index(elements))
        return kc_node_at(elements->array, at);
    const kc__nodes *run = &elements->runs.items[run_of(elements, &at)];
    return run->items[at];
}

static void split(kc__elements *elements, size_t at)
{
    kc_vec_add(&elements->runs);
    kc__nodes *run = &elements->runs.items[at];
    size_t after = elements->runs.n - at - 2, half = run->n / 2;
    memmove(run + 2, run + 1, after * sizeof(*run));
    run[1] = (kc__nodes){0};
    kc_vec_reserve(&run[1], run->n - half);
    memcpy(run[1].items, run->items + half, (run->n - half) * sizeof(*run->items));
    run[1].n = run->n - half;
    run->n = half;
}

static void insert_into_run(kc__elements *elements, size_t at, kc_node *value)
{
    size_t i = run_of(elements, &at);
    kc__nodes *run = &elements->runs.items[i];
    kc_vec_reserve(run, 1);
    memmove(&run->items[at + 1], &run->items[at], (run->n - at) * sizeof(*run->items));
    run->items[at] = value;
    if (++run->n >= RUN_MOST)
        split(elements, i);
}

void kc__elements_insert(kc__elements *elements, size_t at, kc_node *value)
{
    kc_node *array = elements->array;
    size_t n = kc_node_len(array);
    if (!use_index(elements) || !n) {
        kc__elements_done(elements);
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

static void remove_from_run(kc__elements *elements, size_t at)
{
    size_t i = run_of(elements, &at);
    kc__nodes *run = &elements->runs.items[i];
    kc_vec_remove(run, at);
    if (run->n || elements->runs.n == 1)
        return;
    kc_vec_done(run);
    kc_vec_remove(&elements->runs, i);
}

void kc__elements_remove(kc__elements *elements, size_t at)
{
    kc_node *array = elements->array;
    size_t n = kc_node_len(array);
    if (!use_index(elements)) {
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

void kc__elements_replace(kc__elements *elements, size_t at, kc_node *value)
{
    if (!use_index(elements)) {
        kc_node_replace_at(elements->array, at, value);
        return;
    }
    kc_node *previous = before(elements, at), *old = previous->next;
    value->next = old == value ? value->next : old->next;
    previous->next = value;
    if (previous == old) /* The only one. */
        value->next = value;
    if (elements->array->uni.ptr == old)
        elements->array->uni.ptr = value;
    elements->runs.items[run_of(elements, &at)].items[at] = value;
}
