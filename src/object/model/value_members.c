/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_members.c: many lookups in one object; see value_members.h.
 *
 * The position of the last match is kept, which makes the usual case, the same order on both sides,
 * a parallel iteration. A short object is searched; a long one gets a map after a few searches. So
 * all lookups together cost about as much as one traversal.
 */
#include "object/model/value_members.h"

enum { SHORT_OBJECT = 16, MANY_MISSES = 8 };

static void make_map(kc__value_members *m)
{
    kc_value_each_member (m->object, name, value)
        kc_map_put(&m->map, name, (void *)value);
}

/* The member, or NULL; the iterator is then after it. */
static const kc_value *walk_to(kc_value_iter *at, kc_str name)
{
    const kc_value *key, *value;
    while ((key = kc__value_iter_member(at, &value)))
        if (kc_str_eq(kc_value_as_str(key), name))
            return value;
    return NULL;
}

static const kc_value *search(kc__value_members *m, kc_str name)
{
    if (kc_value_len(m->object) > SHORT_OBJECT && ++m->misses == MANY_MISSES)
        make_map(m);
    if (m->map.n)
        return kc_map_get(&m->map, name);
    kc_value_iter at = kc__value_iter(m->object, KC_JSON_OBJECT);
    const kc_value *value = walk_to(&at, name);
    if (value)
        m->next = at;
    return value;
}

const kc_value *kc__value_members_find(kc__value_members *m, kc_str name)
{
    if (!m->started) {
        m->next = kc__value_iter(m->object, KC_JSON_OBJECT);
        m->started = true;
    }
    kc_value_iter at = m->next;
    const kc_value *value, *key = kc__value_iter_member(&at, &value);
    if (!key || !kc_str_eq(kc_value_as_str(key), name))
        return search(m, name);
    m->next = at;
    return value;
}

void kc__value_members_done(kc__value_members *m)
{
    kc_map_done(&m->map);
}

static int value_members_by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const kc__value_named *)a)->name, ((const kc__value_named *)b)->name);
}

void kc__value_members_sorted(const kc_value *object, kc__value_named_vec *list)
{
    kc_value_each_member (object, name, value)
        kc_vec_push(list, (kc__value_named){name, value});
    kc_vec_sort(list, value_members_by_name);
}
