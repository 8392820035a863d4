/* SPDX-License-Identifier: Apache-2.0 */
/* members.c: looking up many members of one object; see members.h. */
#include "object/members.h"

/* Up to here a walk is cheaper than making a map. */
enum { SHORT_OBJECT = 16 };

static void make_map(kc__members *m)
{
    kc_members (m->object, name, value)
        kc_map_put(&m->map, name, (void *)value);
}

const kc_value *kc__members_find(kc__members *m, kc_str name)
{
    if (!m->started) {
        m->next = kc__iter(m->object, KC_OBJECT);
        m->started = true;
    }
    kc_iter at = m->next;
    const kc_value *value, *key = kc__iter_member(&at, &value);
    if (key && kc_str_eq(kc_as_str(key), name)) {
        m->next = at;
        return value;
    }
    if (kc_len(m->object) <= SHORT_OBJECT)
        return kc_get_str(m->object, name);
    if (!m->map.n)
        make_map(m);
    return kc_map_get(&m->map, name);
}

void kc__members_done(kc__members *m)
{
    kc_map_done(&m->map);
}
