/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c: an applied configuration merged into the live object.
 *
 * Where both have a value, granular objects and associative lists are merged part by part; of
 * scalars and atomic containers the configuration's wins. A null or an empty container of the
 * configuration removes nothing. The result is written cell after cell (value_out.c). Parts that
 * are the same on both sides are copied from the live object, so that a configuration that changes
 * nothing yields an object with the same text; the live object itself is then the result.
 *
 * Lists are merged in merge_list.c.
 */
#include "object/fields/merge_internal.h"

static void merge_leaf(kc__fields_merging *m, const kc_value *live, const kc_value *config)
{
    bool same = kc__fields_same(live, config);
    m->changed |= !same;
    kc__fields_out_copy(&m->out, same ? live : config);
}

static void merge_members(kc__fields_merging *m, const kc__fields_type *type, const kc_value *live,
                          const kc_value *config)
{
    kc_scoped(kc__fields_finder) in_config = kc__fields_finder_of(config);
    kc_scoped(kc__fields_finder) in_live = kc__fields_finder_of(live);
    size_t at = kc__fields_out_begin(&m->out, true), n = 0, matched = 0;
    if (live)
        kc__fields_each_member(live, key)
        {
            kc_str name = kc__fields_text(key);
            const kc_value *other = kc__fields_find(&in_config, name);
            matched += other != NULL;
            kc__fields_out_key(&m->out, key);
            kc__fields_merge_values(m, other ? kc__fields_type_member(type, name) : NULL, key + 1,
                                    other);
            n++;
        }
    if (matched < kc__fields_len(config))
        kc__fields_each_member(config, key) if (!kc__fields_find(&in_live, kc__fields_text(key)))
        {
            kc__fields_out_key(&m->out, key);
            kc__fields_out_copy(&m->out, key + 1);
            m->changed = true;
            n++;
        }
    kc__fields_out_end(&m->out, at, n);
}

static void merge_objects(kc__fields_merging *m, const kc__fields_type *type, const kc_value *live,
                          const kc_value *config)
{
    const kc_value *left = kc__fields_is_object(live) ? live : NULL;
    const kc_value *right = kc__fields_is_object(config) ? config : NULL;
    bool empty = !kc__fields_len(left) && !kc__fields_len(right);
    if (type->object_relation == KC__FIELDS_ATOMIC || empty) {
        merge_leaf(m, live, config);
        return;
    }
    m->notes.uncertain |= !kc__fields_len(right);
    /* A value that is no object gives way. */
    m->changed |= !left;
    merge_members(m, type, left, right);
}

static void merge_lists(kc__fields_merging *m, const kc__fields_type *type, const kc_value *live,
                        const kc_value *config)
{
    const kc_value *left = kc__fields_is_list(live) ? live : NULL;
    const kc_value *right = kc__fields_is_list(config) ? config : NULL;
    bool empty = !kc__fields_len(left) && !kc__fields_len(right);
    if (type->list_relation == KC__FIELDS_ATOMIC || empty) {
        merge_leaf(m, live, config);
        return;
    }
    m->notes.uncertain |= !kc__fields_len(right);
    m->changed |= !left;
    kc__fields_merge_lists(m, type, left, right);
}

void kc__fields_merge_values(kc__fields_merging *m, const kc__fields_type *type,
                             const kc_value *live, const kc_value *config)
{
    if (!live || !config) {
        m->changed |= !live;
        kc__fields_out_copy(&m->out, live ? live : config);
        return;
    }
    switch (type ? kc__fields_shape_of(kc__fields_shapes_of(type, config)) : 0) {
    case KC__FIELDS_SHAPE_OBJECT: merge_objects(m, type, live, config); break;
    case KC__FIELDS_SHAPE_LIST: merge_lists(m, type, live, config); break;
    default: merge_leaf(m, live, config); break;
    }
}

const kc_value *kc__fields_merge(kc_arena *arena, const kc__fields_type *type, const kc_value *live,
                                 const kc_value *config, kc__fields_merge_notes *ret_notes)
{
    size_t room = (size_t)(kc__fields_after(live) - live);
    room += (size_t)(kc__fields_after(config) - config);
    kc__fields_merging m = {.arena = arena, .out = kc__fields_out_of(arena, room)};
    kc__fields_merge_values(&m, type, live, config);
    if (ret_notes)
        *ret_notes = m.notes;
    return m.changed ? m.out.cells : live;
}
