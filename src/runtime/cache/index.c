/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c: maps a value to the set of ids of the objects that have it.
 *
 * A set is a hash table of ids with linear probing, at most seven eighths full; a removal moves the
 * following ids up. Adding and removing are O(1) regardless of the set's size, at about six bytes
 * per object. A set is created with its first id and freed with its last.
 *
 * The values of an object are not stored: on removal the index function computes them again. An
 * index function that returns different values for the same object leaves stale ids behind. A
 * reader that meets a stale id gets whichever object has that id by then, so such a function causes
 * wrong results and nothing worse.
 */
#include "runtime/cache/index.h"

#include "kc/view.h"

#include <assert.h>

typedef struct id_set {
    uint32_t n, mask;
    uint32_t *slots; /* Ids plus one; 0: free. */
    size_t value_n;
    char value[];
} id_set;

static void index_namespace_of(const kc_object *object, kc_index_emit *emit, void *to, void *user)
{
    (void)user;
    emit(kc_object_namespace(object), to);
}

const kc__index_def kc__index_namespace = {.name = "metadata.namespace", .fn = index_namespace_of};

/* ---- sets ---- */

static uint32_t home(const id_set *set, uint32_t id)
{
    return (id * UINT32_C(2654435769)) & set->mask; /* Fibonacci hashing. */
}

static id_set *set_new(kc_str value)
{
    id_set *set = kc_calloc(1, sizeof(id_set) + value.n);
    set->mask = 3;
    set->slots = kc_calloc(4, sizeof(uint32_t));
    set->value_n = value.n;
    if (value.n)
        memcpy(set->value, value.p, value.n);
    return set;
}

static void set_free(id_set *set)
{
    free(set->slots);
    free(set);
}

/* The slot of the id, or the free slot where it belongs. */
static uint32_t index_slot_of(const id_set *set, uint32_t id)
{
    uint32_t at = home(set, id);
    while (set->slots[at] && set->slots[at] != id + 1)
        at = (at + 1) & set->mask;
    return at;
}

static void set_grow(id_set *set)
{
    uint32_t *old = set->slots, n_old = set->mask + 1;
    set->mask = n_old * 2 - 1;
    set->slots = kc_calloc((size_t)n_old * 2, sizeof(uint32_t));
    for (uint32_t i = 0; i < n_old; i++)
        if (old[i])
            set->slots[index_slot_of(set, old[i] - 1)] = old[i];
    free(old);
}

static void set_add(id_set *set, uint32_t id)
{
    uint32_t at = index_slot_of(set, id);
    if (set->slots[at])
        return;
    if (((uint64_t)set->n + 1) * 8 > ((uint64_t)set->mask + 1) * 7) {
        set_grow(set);
        at = index_slot_of(set, id);
    }
    set->slots[at] = id + 1;
    set->n++;
}

/* True when the id at `at` must not move to `hole`, because `hole` is before its home slot. */
static bool must_stay(const id_set *set, uint32_t hole, uint32_t at)
{
    uint32_t from_home = (at - home(set, set->slots[at] - 1)) & set->mask;
    return from_home < ((at - hole) & set->mask);
}

static void set_remove(id_set *set, uint32_t id)
{
    uint32_t hole = index_slot_of(set, id);
    if (!set->slots[hole])
        return;
    for (uint32_t at = (hole + 1) & set->mask; set->slots[at]; at = (at + 1) & set->mask) {
        if (must_stay(set, hole, at))
            continue;
        set->slots[hole] = set->slots[at];
        hole = at;
    }
    set->slots[hole] = 0;
    set->n--;
}

/* ---- values ---- */

static void emit_at_path(const kc_path *path, const kc_object *object, kc_index_emit *emit,
                         void *to)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *value = kc_path_get(path, kc_view_root(view));
    kc_scoped(kc_buf) text = {0};
    switch (kc_value_type(value)) {
    case KC_JSON_STRING: emit(kc_value_as_str(value), to); break;
    case KC_JSON_BOOL:
    case KC_JSON_INT:
    case KC_JSON_FLOAT:
        kc_json_write(&text, value);
        emit(kc_buf_str(&text), to);
        break;
    default: break;
    }
}

typedef struct collector {
    kc__index_values *values;
    uint32_t index;
} collector;

static void index_collect(kc_str value, void *to)
{
    const collector *c = to;
    kc__index_value *added = kc_vec_add(&c->values->list);
    *added = (kc__index_value){c->index, (uint32_t)c->values->text.n, (uint32_t)value.n};
    kc_buf_append(&c->values->text, value);
}

void kc__index_values_collect(kc__index_values *values, uint32_t index, const kc__index_def *def,
                              const kc_object *object)
{
    collector to = {values, index};
    if (def->fn)
        def->fn(object, index_collect, &to, def->user);
    else
        emit_at_path(def->path, object, index_collect, &to);
}

void kc__index_values_done(kc__index_values *values)
{
    kc_buf_done(&values->text);
    kc_vec_done(&values->list);
}

void kc__index_values_clear(kc__index_values *values)
{
    kc_buf_clear(&values->text);
    kc_vec_clear(&values->list);
}

bool kc__index_values_eq(const kc__index_values *a, const kc__index_values *b)
{
    return a->list.n == b->list.n && kc_str_eq(kc_buf_str(&a->text), kc_buf_str(&b->text)) &&
           (!a->list.n ||
            memcmp(a->list.items, b->list.items, a->list.n * sizeof(kc__index_value)) == 0);
}

bool kc__index_values_have(const kc__index_values *values, uint32_t index, kc_str value)
{
    kc_vec_each (&values->list, it)
        if (it->index == index && kc_str_eq(kc__index_value_text(values, it), value))
            return true;
    return false;
}

/* ---- the index ---- */

void kc__index_add(kc__index *index, kc_str value, uint32_t id)
{
    id_set *set = kc_map_get(&index->by_value, value);
    if (!set) {
        set = set_new(value);
        kc_map_put(&index->by_value, kc_str_of(set->value, set->value_n), set);
    }
    set_add(set, id);
}

void kc__index_remove(kc__index *index, kc_str value, uint32_t id)
{
    id_set *set = kc_map_get(&index->by_value, value);
    if (!set)
        return;
    set_remove(set, id);
    if (!set->n) {
        kc_map_remove(&index->by_value, value);
        set_free(set);
    }
}

void kc__index_done(kc__index *index)
{
    kc_map_each (&index->by_value, entry)
        set_free(entry->value);
    kc_map_done(&index->by_value);
}

void kc__index_ids(const kc__index *index, kc_str value, kc__index_id_vec *ret)
{
    const id_set *set = kc_map_get(&index->by_value, value);
    if (!set)
        return;
    kc_vec_reserve(ret, set->n);
    for (uint32_t i = 0; i <= set->mask; i++)
        if (set->slots[i])
            ret->items[ret->n++] = set->slots[i] - 1;
}
