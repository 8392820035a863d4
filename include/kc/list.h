/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h: an intrusive doubly linked list. The links live in the elements, so adding and removing
 * allocate nothing and cannot fail.
 *
 *     struct waiter { kc_link link; … };
 *     kc_list waiters;
 *     kc_list_init(&waiters);
 *     kc_list_push(&waiters, &w->link);
 *     kc_list_each(&waiters, struct waiter, link, w)
 *         wake(w);                             w may be removed and freed here
 *
 * A ring with the head as sentinel: no NULL checks, and an element is removed without knowing its
 * list.
 */
#ifndef KC_LIST_H
#define KC_LIST_H

#include "kc/mem.h"

typedef struct kc_link {
    struct kc_link *prev, *next;
} kc_link;

typedef struct kc_list {
    kc_link head;
} kc_list;

static inline void kc_list_init(kc_list *list)
{
    list->head.prev = list->head.next = &list->head;
}

static inline bool kc_list_empty(const kc_list *list)
{
    return list->head.next == &list->head;
}

/* True between kc_list_push and kc_list_remove, for a link that was zeroed at first. */
static inline bool kc_link_in_list(const kc_link *link)
{
    return link->next != NULL;
}

static inline void kc__list_between(kc_link *prev, kc_link *link, kc_link *next)
{
    link->prev = prev;
    link->next = next;
    prev->next = next->prev = link;
}

/* At the end. */
static inline void kc_list_push(kc_list *list, kc_link *link)
{
    kc__list_between(list->head.prev, link, &list->head);
}

/* At the front. */
static inline void kc_list_push_front(kc_list *list, kc_link *link)
{
    kc__list_between(&list->head, link, list->head.next);
}

/* Does nothing to a link that is in no list. */
static inline void kc_list_remove(kc_link *link)
{
    if (!kc_link_in_list(link))
        return;
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link->prev = link->next = NULL;
}

/* The first link, still in the list; NULL when empty. */
static inline kc_link *kc_list_first(const kc_list *list)
{
    return kc_list_empty(list) ? NULL : list->head.next;
}

/* The first link, removed; NULL when empty. */
static inline kc_link *kc_list_pop(kc_list *list)
{
    kc_link *first = kc_list_first(list);
    if (first)
        kc_list_remove(first);
    return first;
}

/* Moves everything of `from` to the end of `to`. */
static inline void kc_list_splice(kc_list *to, kc_list *from)
{
    if (kc_list_empty(from))
        return;
    from->head.next->prev = to->head.prev;
    to->head.prev->next = from->head.next;
    from->head.prev->next = &to->head;
    to->head.prev = from->head.prev;
    kc_list_init(from);
}

/*
 * Runs the block for each element; the current one may be removed, and break and continue do what
 * they say. it##_next_ is set only while a block runs, so a break leaves it set and ends both
 * loops.
 */
#define kc_list_each(list, type, member, it)                                                 \
    for (kc_link *it##_link_ = (list)->head.next, *it##_next_ = NULL;                        \
         it##_link_ != &(list)->head && !it##_next_;)                                        \
        for (type *it =                                                                      \
                 (it##_next_ = it##_link_->next, kc_container_of(it##_link_, type, member)); \
             it && it##_next_; it##_link_ = it##_next_, it##_next_ = NULL)

#endif
