/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.c: looking up many members of one object; see members.h.
 *
 * Where the last member was found is remembered, which makes the usual case, the same order on both
 * sides, a parallel walk. A short object is searched; of a long one that was searched a few times a
 * map is made. So all look-ups together cost about as much as a walk.
 */
#include "object/members.h"

enum { SHORT_OBJECT = 16, ASKED_OFTEN = 8 };

static void make_map(kc__members *m)
{
    kc_members (m->object, name, value)
        kc_map_put(&m->map, name, (void *)value);
}

/* The member, or NULL; the iterator is left behind it. */
static const kc_value *walk_to(kc_iter *at, kc_str name)
{
    const kc_value *key, *value;
    while ((key = kc__iter_member(at, &value)))
        if (kc_str_eq(kc_as_str(key), name))
            return value;
    return NULL;
}

static const kc_value *search(kc__members *m, kc_str name)
{
    if (kc_len(m->object) > SHORT_OBJECT && ++m->asked == ASKED_OFTEN)
        make_map(m);
    if (m->map.n)
        return kc_map_get(&m->map, name);
    kc_iter at = kc__iter(m->object, KC_OBJECT);
    const kc_value *value = walk_to(&at, name);
    if (value)
        m->next = at;
    return value;
}

const kc_value *kc__members_find(kc__members *m, kc_str name)
{
    if (!m->started) {
        m->next = kc__iter(m->object, KC_OBJECT);
        m->started = true;
    }
    kc_iter at = m->next;
    const kc_value *value, *key = kc__iter_member(&at, &value);
    if (!key || !kc_str_eq(kc_as_str(key), name))
        return search(m, name);
    m->next = at;
    return value;
}

void kc__members_done(kc__members *m)
{
    kc_map_done(&m->map);
}

static int by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const kc__member *)a)->name, ((const kc__member *)b)->name);
}

void kc__members_sorted(const kc_value *object, kc__member_list *list)
{
    kc_members (object, name, value)
        kc_vec_push(list, (kc__member){name, value});
    kc_vec_sort(list, by_name);
}
