/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dlist.h: an intrusive doubly linked list. The links live in the elements, so adding and removing
 * allocate nothing and cannot fail.
 *
 *     struct waiter { kc_dlist_link link; … };
 *     kc_dlist waiters;
 *     kc_dlist_init(&waiters);
 *     struct waiter *one = kc_new(struct waiter);
 *     kc_dlist_push(&waiters, &one->link);
 *     kc_dlist_each(&waiters, struct waiter, link, w)
 *         wake(w);                             w may be removed and freed here
 *
 * A ring with the head as sentinel: no NULL checks, and an element is removed without knowing its
 * list.
 */
#ifndef KC_DLIST_H
#define KC_DLIST_H

#include "kc/mem.h"

typedef struct kc_dlist_link {
    struct kc_dlist_link *prev, *next;
} kc_dlist_link;

typedef struct kc_dlist {
    kc_dlist_link head;
} kc_dlist;

static inline void kc_dlist_init(kc_dlist *list)
{
    list->head.prev = list->head.next = &list->head;
}

static inline bool kc_dlist_empty(const kc_dlist *list)
{
    return list->head.next == &list->head;
}

/* True between kc_dlist_push and kc_dlist_remove, for a link that was zeroed at first. */
static inline bool kc_dlist_is_linked(const kc_dlist_link *link)
{
    return link->next != NULL;
}

static inline void kc__dlist_insert_between(kc_dlist_link *prev, kc_dlist_link *link,
                                            kc_dlist_link *next)
{
    link->prev = prev;
    link->next = next;
    prev->next = next->prev = link;
}

/* Adds at the end. */
static inline void kc_dlist_push(kc_dlist *list, kc_dlist_link *link)
{
    kc__dlist_insert_between(list->head.prev, link, &list->head);
}

/* Adds at the front. */
static inline void kc_dlist_push_front(kc_dlist *list, kc_dlist_link *link)
{
    kc__dlist_insert_between(&list->head, link, list->head.next);
}

/* No effect on a link that is in no list. */
static inline void kc_dlist_remove(kc_dlist_link *link)
{
    if (!kc_dlist_is_linked(link))
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

/* The first link, still in the list; NULL when empty. */
static inline kc_dlist_link *kc_dlist_first(const kc_dlist *list)
{
    return kc_dlist_empty(list) ? NULL : list->head.next;
}

/* The first link, removed; NULL when empty. */
static inline kc_dlist_link *kc_dlist_pop(kc_dlist *list)
{
    kc_dlist_link *first = kc_dlist_first(list);
    if (first)
        kc_dlist_remove(first);
    return first;
}

/* Moves all elements of `from` to the end of `to`. */
static inline void kc_dlist_splice(kc_dlist *to, kc_dlist *from)
{
    if (kc_dlist_empty(from))
        return;
    from->head.next->prev = to->head.prev;
    to->head.prev->next = from->head.next;
    from->head.prev->next = &to->head;
    to->head.prev = from->head.prev;
    kc_dlist_init(from);
}

/*
 * Runs the block for each element. The block may remove the current element and may use break and
 * continue. it##_next_ is set only while a block runs, so a break leaves it set and ends both
 * loops.
 */
#define kc_dlist_each(list, type, member, it)                                                \
    for (kc_dlist_link *it##_link_ = (list)->head.next, *it##_next_ = NULL;                  \
         it##_link_ != &(list)->head && !it##_next_;)                                        \
        for (type *it =                                                                      \
                 (it##_next_ = it##_link_->next, kc_container_of(it##_link_, type, member)); \
             it && it##_next_; it##_link_ = it##_next_, it##_next_ = NULL)

#endif
