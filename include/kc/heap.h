/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h: a priority queue whose elements know their position in it, so that any element can be
 * removed or moved, not only the first.
 *
 *     struct timer { kc_heap_node node; int64_t deadline; … };
 *     bool earlier(const kc_heap_node *a, const kc_heap_node *b, void *user);
 *
 *     struct timer *t = kc_new(struct timer);
 *     kc_scoped(kc_heap) timers = {.less = earlier};
 *     kc_heap_push(&timers, &t->node);
 *     t->deadline += KC_SECOND;
 *     kc_heap_fix(&timers, &t->node);
 *     struct timer *next = kc_container_of(kc_heap_pop(&timers), struct timer, node);
 *
 * A zeroed heap with `less` set is ready, and so is a zeroed node. Each operation is O(log n); only
 * kc_heap_push allocates, for the array of pointers. The order of equal elements is not defined:
 * where it matters, let `less` compare a sequence number, too. Not thread-safe.
 */
#ifndef KC_HEAP_H
#define KC_HEAP_H

#include "kc/mem.h"

/* Embedded in an element, which is in one heap at most. */
typedef struct kc_heap_node {
    size_t place; /* Index in the array, plus one; 0: in no heap. */
} kc_heap_node;

/* True when a comes before b. */
typedef bool kc_heap_less(const kc_heap_node *a, const kc_heap_node *b, void *user);

typedef struct kc_heap {
    kc_heap_less *less;
    void *user; /* Passed to less. */
    kc_heap_node **nodes;
    size_t n, cap;
} kc_heap;

/* Frees the array. Does not access the elements, which may already be freed. */
void kc_heap_done(kc_heap *heap);
/* Removes all elements and keeps the memory. */
void kc_heap_clear(kc_heap *heap);

static inline bool kc_heap_has(const kc_heap_node *node)
{
    return node->place != 0;
}

/* The element must not be in a heap. */
void kc_heap_push(kc_heap *heap, kc_heap_node *node);
/* The first element, removed; NULL when empty. */
kc_heap_node *kc_heap_pop(kc_heap *heap);
/* The first element, still in the heap; NULL when empty. */
kc_heap_node *kc_heap_peek(const kc_heap *heap);
/* No effect on an element that is in no heap. */
void kc_heap_remove(kc_heap *heap, kc_heap_node *node);
/* Restores the order after the key of an element in the heap has changed. */
void kc_heap_fix(kc_heap *heap, kc_heap_node *node);

#endif
