/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.c: a binary heap in an array of pointers.
 *
 *              [0]                 children of i: 2i+1 and 2i+2
 *          [1]     [2]             parent of i: (i-1)/2
 *        [3] [4] [5]
 *
 * Invariants: no element comes before its parent, and nodes[i]->place == i + 1 for each. A moving
 * element is held aside while others shift along its path, and is stored once, at the end.
 */
#include "kc/heap.h"

#include <assert.h>

void kc_heap_done(kc_heap *heap)
{
    if (!heap)
        return;
    free(heap->nodes);
    heap->nodes = NULL;
    heap->n = heap->cap = 0;
}

void kc_heap_clear(kc_heap *heap)
{
    for (size_t i = 0; i < heap->n; i++)
        heap->nodes[i]->place = 0;
    heap->n = 0;
}

static void put(kc_heap *heap, size_t at, kc_heap_node *node)
{
    heap->nodes[at] = node;
    node->place = at + 1;
}

static bool before(const kc_heap *heap, const kc_heap_node *a, const kc_heap_node *b)
{
    return heap->less(a, b, heap->user);
}

/* The position of `node` at or above `at`; moves the elements in between down. */
static size_t rise(kc_heap *heap, size_t at, const kc_heap_node *node)
{
    while (at > 0) {
        size_t parent = (at - 1) / 2;
        if (!before(heap, node, heap->nodes[parent]))
            break;
        put(heap, at, heap->nodes[parent]);
        at = parent;
    }
    return at;
}

/* The position of `node` at or below `at`; moves the elements in between up. */
static size_t sink(kc_heap *heap, size_t at, const kc_heap_node *node)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= heap->n)
            return at;
        if (child + 1 < heap->n && before(heap, heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!before(heap, heap->nodes[child], node))
            return at;
        put(heap, at, heap->nodes[child]);
        at = child;
    }
}

/* Stores `node` at its position, which is `at` or on a path from there. */
static void settle_heap_node(kc_heap *heap, size_t at, kc_heap_node *node)
{
    size_t up = rise(heap, at, node);
    put(heap, up == at ? sink(heap, at, node) : up, node);
}

void kc_heap_push(kc_heap *heap, kc_heap_node *node)
{
    assert(!kc_heap_has(node));
    if (heap->n == heap->cap) {
        heap->cap = KC_MAX(heap->cap * 2, (size_t)16);
        heap->nodes = kc_reallocarray(heap->nodes, heap->cap, sizeof(*heap->nodes));
    }
    size_t at = heap->n++;
    put(heap, rise(heap, at, node), node);
}

kc_heap_node *kc_heap_peek(const kc_heap *heap)
{
    return heap->n ? heap->nodes[0] : NULL;
}

kc_heap_node *kc_heap_pop(kc_heap *heap)
{
    kc_heap_node *first = kc_heap_peek(heap);
    if (first)
        kc_heap_remove(heap, first);
    return first;
}

void kc_heap_remove(kc_heap *heap, kc_heap_node *node)
{
    if (!kc_heap_has(node))
        return;
    size_t at = node->place - 1;
    assert(at < heap->n && heap->nodes[at] == node);
    node->place = 0;
    kc_heap_node *last = heap->nodes[--heap->n];
    if (last != node)
        settle_heap_node(heap, at, last);
}

void kc_heap_fix(kc_heap *heap, kc_heap_node *node)
{
    assert(kc_heap_has(node) && heap->nodes[node->place - 1] == node);
    settle_heap_node(heap, node->place - 1, node);
}
