/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type.c: the graph of types: construction, completion, lookups.
 *
 * While the graph is built, a type has a list of fields and types refer to each other by address,
 * so recursive types need nothing special. Completion makes a hash table of the fields of each
 * type, copies types that were asked for with another relation, and looks up the defaults of list
 * keys. Nothing is written after that.
 */
#include "object/fields/fields_internal.h"

#include "object/schema/schema_internal.h"

#include <sys/random.h>

/* Slots of a hash table: positions in fields plus one; they follow the fields in memory. */
struct kc__fields_table {
    uint32_t n, room, mask; /* Fields; their maximum; number of slots minus one. */
    uint64_t seed;
    kc__fields_field fields[];
};

typedef struct new_field {
    struct new_field *next;
    kc__fields_field field;
} new_field;

typedef struct new_key {
    struct new_key *next;
    kc_str name;
} new_key;

/* A type while the graph is built. */
typedef struct new_type {
    kc__fields_type type; /* First: a kc__fields_type is a new_type. */
    struct new_type *next;
    new_field *fields, **fields_end;
    new_key *keys, **keys_end;
    const struct new_type *target; /* Copy this type … */
    uint8_t relation;              /* … with this relation. */
} new_type;

struct kc__fields_types {
    kc_arena arena;
    kc_map names;
    new_type *all;
    uint64_t seed;
    bool finished;
    const kc__fields_type *scalars[KC__FIELDS_UNTYPED + 1];
    const kc__fields_type *deduced, *atomic;
};

static void add_untyped(kc__fields_types *types)
{
    kc__fields_type *atomic = kc__fields_type_new(types, KC_STR("__untyped_atomic_"));
    kc__fields_type *deduced = kc__fields_type_new(types, KC_STR("__untyped_deduced_"));
    atomic->scalar = deduced->scalar = KC__FIELDS_UNTYPED;
    kc__fields_type_set_list(atomic, atomic, KC__FIELDS_ATOMIC);
    kc__fields_type_set_object(atomic, atomic, KC__FIELDS_ATOMIC);
    kc__fields_type_set_list(deduced, atomic, KC__FIELDS_ATOMIC);
    kc__fields_type_set_object(deduced, deduced, KC__FIELDS_GRANULAR);
    types->atomic = atomic;
    types->deduced = deduced;
}

kc__fields_types *kc__fields_types_new(void)
{
    kc__fields_types *types = kc_new(kc__fields_types);
    if (getrandom(&types->seed, sizeof(types->seed), GRND_NONBLOCK) < 0)
        types->seed = (uintptr_t)types;
    add_untyped(types);
    return types;
}

kc__fields_types *kc__fields_types_free(kc__fields_types *types)
{
    if (!types)
        return NULL;
    kc_map_done(&types->names);
    kc_arena_done(&types->arena);
    free(types);
    return NULL;
}

const kc__fields_type *kc__fields_types_get(const kc__fields_types *types, kc_str name)
{
    return kc_map_get(&types->names, name);
}

size_t kc__fields_types_memory(const kc__fields_types *types)
{
    return sizeof(*types) + types->arena.used +
           types->names.cap * (sizeof(kc_map_entry) + sizeof(uint32_t));
}

const kc__fields_type *kc__fields_types_deduced(const kc__fields_types *types)
{
    return types->deduced;
}

const kc__fields_type *kc__fields_types_atomic(const kc__fields_types *types)
{
    return types->atomic;
}

/* ---- construction ---- */

static new_type *new_type_of(kc__fields_type *type)
{
    return kc_container_of(type, new_type, type);
}

kc__fields_type *kc__fields_type_new(kc__fields_types *types, kc_str name)
{
    kc__fields_type *existing = name.n ? kc_map_get(&types->names, name) : NULL;
    if (existing)
        return existing;
    new_type *made = kc_arena_new(&types->arena, new_type);
    made->fields_end = &made->fields;
    made->keys_end = &made->keys;
    made->next = types->all;
    types->all = made;
    if (name.n) {
        made->type.name = kc_arena_str(&types->arena, name);
        kc_map_put(&types->names, made->type.name, &made->type);
    }
    return &made->type;
}

const kc__fields_type *kc__fields_scalar_type(kc__fields_types *types, kc__fields_scalar scalar)
{
    if (!types->scalars[scalar]) {
        kc__fields_type *type = kc__fields_type_new(types, (kc_str){0});
        type->scalar = (uint8_t)scalar;
        types->scalars[scalar] = type;
    }
    return types->scalars[scalar];
}

void kc__fields_type_set_list(kc__fields_type *type, const kc__fields_type *items,
                              kc__fields_relation relation)
{
    type->has_list = true;
    type->items = items;
    type->list_relation = (uint8_t)relation;
}

void kc__fields_type_add_key(kc__fields_types *types, kc__fields_type *type, kc_str name)
{
    new_type *made = new_type_of(type);
    new_key *key = kc_arena_new(&types->arena, new_key);
    key->name = kc_arena_str(&types->arena, name);
    *made->keys_end = key;
    made->keys_end = &key->next;
    type->n_keys++;
}

void kc__fields_type_set_object(kc__fields_type *type, const kc__fields_type *rest,
                                kc__fields_relation relation)
{
    type->has_object = true;
    type->rest = rest;
    type->object_relation = (uint8_t)relation;
}

static const kc_value *copy_default(kc_arena *arena, const kc_value *value)
{
    if (!value || kc__fields_is_null(value))
        return NULL;
    size_t n = (size_t)(kc__fields_after(value) - value);
    yyjson_val *cells = kc_arena_alloc(arena, n * sizeof(*cells));
    memcpy(cells, value, n * sizeof(*cells));
    for (size_t i = 0; i < n; i++)
        if (yyjson_is_str(&cells[i]))
            cells[i].uni.str = kc_arena_str(arena, kc__fields_text(&cells[i])).p;
    return cells;
}

void kc__fields_type_add_field(kc__fields_types *types, kc__fields_type *type, kc_str name,
                               const kc__fields_type *field, const kc_value *default_value)
{
    new_type *made = new_type_of(type);
    new_field *added = kc_arena_new(&types->arena, new_field);
    added->field = (kc__fields_field){.name = kc_arena_str(&types->arena, name),
                                      .type = field,
                                      .default_value = copy_default(&types->arena, default_value)};
    *made->fields_end = added;
    made->fields_end = &added->next;
}

const kc__fields_type *kc__fields_type_with_relation(kc__fields_types *types,
                                                     const kc__fields_type *target,
                                                     kc__fields_relation relation)
{
    new_type *made = new_type_of(kc__fields_type_new(types, (kc_str){0}));
    made->target = new_type_of((kc__fields_type *)target);
    made->relation = (uint8_t)relation;
    return &made->type;
}

/* ---- completion ---- */

static uint32_t *slots_of(const kc__fields_table *table)
{
    return (uint32_t *)(table->fields + table->room);
}

static const kc__fields_field *table_find(const kc__fields_table *table, kc_str name)
{
    const uint32_t *slots = slots_of(table);
    uint32_t hash = kc__schema_name_hash(name.p, name.n, table->seed);
    for (uint32_t at = hash & table->mask; slots[at]; at = (at + 1) & table->mask) {
        const kc__fields_field *field = &table->fields[slots[at] - 1];
        if (field->hash == hash && kc__fields_same_text(field->name, name))
            return field;
    }
    return NULL;
}

static void table_put(kc__fields_table *table, const kc__fields_field *field)
{
    kc__fields_field *same = (kc__fields_field *)table_find(table, field->name);
    uint32_t *slots = slots_of(table);
    uint32_t hash = kc__schema_name_hash(field->name.p, field->name.n, table->seed);
    if (same) {
        *same = *field;
        same->hash = hash;
        return;
    }
    uint32_t at = hash & table->mask, n = table->n++;
    while (slots[at])
        at = (at + 1) & table->mask;
    table->fields[n] = *field;
    table->fields[n].hash = hash;
    slots[at] = n + 1;
}

static void make_table(kc__fields_types *types, new_type *made)
{
    size_t n = 0, n_slots = 2;
    for (const new_field *field = made->fields; field; field = field->next)
        n++;
    if (!n)
        return;
    while (n_slots < 2 * n)
        n_slots *= 2;
    kc__fields_table *table =
        kc_arena_calloc(&types->arena, 1,
                        sizeof(*table) + n * sizeof(kc__fields_field) + n_slots * sizeof(uint32_t));
    table->room = (uint32_t)n;
    table->mask = (uint32_t)n_slots - 1;
    table->seed = types->seed;
    for (const new_field *field = made->fields; field; field = field->next)
        table_put(table, &field->field);
    made->type.table = table;
}

/* Follows chains of copies. */
static void copy_target(new_type *made)
{
    const new_type *target = made->target;
    unsigned steps = 0;
    while (target && target->target && ++steps < 100)
        target = target->target;
    if (!target || target == made || target->target)
        return;
    kc_str name = made->type.name;
    made->type = target->type;
    made->type.name = name;
    if (made->type.has_object)
        made->type.object_relation = made->relation;
    else
        made->type.list_relation = made->relation;
    made->keys = target->keys;
}

static void make_keys(kc__fields_types *types, new_type *made)
{
    if (!made->type.n_keys)
        return;
    kc__fields_list_key *keys = kc_arena_calloc(&types->arena, made->type.n_keys, sizeof(*keys));
    size_t n = 0;
    for (const new_key *key = made->keys; key; key = key->next, n++) {
        const kc__fields_field *field = kc__fields_type_field(made->type.items, key->name);
        keys[n] = (kc__fields_list_key){key->name, field ? field->default_value : NULL};
    }
    made->type.keys = keys;
}

void kc__fields_types_finish(kc__fields_types *types)
{
    assert(!types->finished);
    for (new_type *made = types->all; made; made = made->next)
        make_table(types, made);
    for (new_type *made = types->all; made; made = made->next)
        copy_target(made);
    for (new_type *made = types->all; made; made = made->next) {
        const kc__fields_type *rest = made->type.rest;
        make_keys(types, made);
        made->type.shapes = (uint8_t)((made->type.scalar ? KC__FIELDS_SHAPE_SCALAR : 0) |
                                      (made->type.has_list ? KC__FIELDS_SHAPE_LIST : 0) |
                                      (made->type.has_object ? KC__FIELDS_SHAPE_OBJECT : 0));
        made->type.untyped_members =
            !made->type.table && rest &&
            (rest == types->deduced || (!rest->name.n && rest->scalar == KC__FIELDS_UNTYPED));
    }
    types->finished = true;
}

/* ---- lookups ---- */

const kc__fields_field *kc__fields_type_field(const kc__fields_type *type, kc_str name)
{
    return type && type->table ? table_find(type->table, name) : NULL;
}

const kc__fields_type *kc__fields_type_member(const kc__fields_type *type, kc_str name)
{
    const kc__fields_field *field = kc__fields_type_field(type, name);
    return field ? field->type : type ? type->rest : NULL;
}
