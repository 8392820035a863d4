/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.c: maps and objects.
 *
 * A map that an expression makes keeps the order of insertion, and has a hash index once it is
 * larger than SMALL. Its keys are those of a Go map:
 *
 *     1, 1u and 1.0              three keys; a lookup that does not find one finds another
 *     lists, maps, optionals     equal only themselves: cel-go compares their addresses
 *     bytes, versions, formats   cannot be hashed: the evaluation fails
 *
 * A set of values (kc__cel_values_new) compares them as == does instead.
 *
 * An object is JSON with declared fields: other members do not exist for it, and a member that is
 * null counts as absent.
 */
#include "cel/eval/eval_internal.h"

enum { SMALL = 8 };

size_t kc__cel_map_len(kc_cel_value map)
{
    if (map.form == KC__CEL_LOOKUP)
        return map.lookup->n_fields;
    return map.form == KC__CEL_JSON ? kc_value_len(map.json.json) : map.map->n;
}

static bool find_by_lookup(kc__cel_eval *ev, const kc_cel_lookup *lookup, kc_cel_value key,
                           kc_cel_value *ret)
{
    bool found = false;
    if (key.kind != KC_CEL_STRING)
        return false;
    *ret = lookup->get(key.text, &found, lookup->user);
    if (!found || ret->kind != KC_CEL_DYN)
        return found;
    *ret = kc__cel_read_json(ev, ret->json.json, ret->json.type);
    if (kc__cel_is_json_container(*ret))
        ret->reading = UINT32_MAX; /* The field is computed once. */
    return true;
}

/* ---- maps over JSON ---- */

static bool find_field(kc__cel_eval *ev, kc_cel_value object, kc_str name, kc_cel_value *ret)
{
    const kc__cel_field *field = kc__cel_type_field(object.json.type, name);
    if (!field)
        return false;
    const kc_value *json = kc__cel_json_get(ev, object.json.json, field->json);
    if (!json || kc_value_type(json) == KC_JSON_NULL)
        return false;
    *ret = kc__cel_read_json(ev, json, field->type);
    return true;
}

static bool find_member(kc__cel_eval *ev, kc_cel_value map, kc_cel_value key, kc_cel_value *ret)
{
    if (key.kind != KC_CEL_STRING) {
        *ret = kc__cel_no_such_overload();
        return map.json.type->declared;
    }
    if (map.kind == KC_CEL_OBJECT)
        return find_field(ev, map, key.text, ret);
    const kc_value *json = kc__cel_json_get(ev, map.json.json, key.text);
    if (!json)
        return false;
    const kc_cel_type *type = map.json.type;
    *ret = kc__cel_read_json(ev, json, type->n_params > 1 ? type->params[1] : &kc__cel_type_dyn);
    return true;
}

/* ---- keys ---- */

/* What stands for a list, map or optional in a hash. */
static uintptr_t key_address(kc_cel_value v)
{
    if (v.kind == KC_CEL_OPTIONAL)
        return (uintptr_t)v.inner;
    if (v.kind == KC_CEL_OPAQUE)
        return (uintptr_t)v.opaque.data;
    return v.form == KC__CEL_JSON ? (uintptr_t)v.json.json ^ v.reading : (uintptr_t)v.list;
}

static bool same_container(kc_cel_value a, kc_cel_value b)
{
    if (a.form != b.form)
        return false;
    return a.form == KC__CEL_JSON ? a.json.json == b.json.json && a.reading == b.reading
                                  : a.list == b.list;
}

/* An address of the network is its bits; other opaque values are compared by address, too. */
static bool same_opaque(kc_cel_value a, kc_cel_value b)
{
    if (a.opaque.type != b.opaque.type)
        return false;
    bool by_value = a.opaque.type == &kc__cel_type_ip || a.opaque.type == &kc__cel_type_cidr;
    return by_value ? a.opaque.type->equal(a.opaque.data, b.opaque.data) == KC__CEL_EQUAL
                    : a.opaque.data == b.opaque.data;
}

/* True if two keys are one to a Go map. */
static bool same_key(kc_cel_value a, kc_cel_value b)
{
    if (a.kind != b.kind)
        return false;
    switch ((kc_cel_kind)a.kind) {
    case KC_CEL_NULL: return true;
    case KC_CEL_TYPE: return strcmp(a.type->name, b.type->name) == 0;
    case KC_CEL_TIMESTAMP: return kc__cel_compare(a, b) == KC__CEL_SAME && a.zone == b.zone;
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return same_container(a, b);
    case KC_CEL_OPTIONAL: return a.inner == b.inner;
    case KC_CEL_OPAQUE: return same_opaque(a, b);
    default: return kc__cel_compare(a, b) == KC__CEL_SAME;
    }
}

/* A value that Go cannot hash. */
static bool is_unhashable(kc_cel_value key)
{
    return key.kind == KC_CEL_BYTES ||
           (key.kind == KC_CEL_OPAQUE &&
            (key.opaque.type == &kc__cel_type_semver || key.opaque.type == &kc__cel_type_format));
}

static uint64_t hash_key(kc__cel_eval *ev, const kc__cel_map *map, kc_cel_value key)
{
    if (map->by_value)
        return kc__cel_hash(ev, key, map->seed);
    switch ((kc_cel_kind)key.kind) {
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT:
    case KC_CEL_OPTIONAL: return kc__cel_hash(ev, kc__cel_uint(key_address(key)), map->seed);
    default: return kc__cel_hash(ev, key, map->seed);
    }
}

/* ---- maps of an expression ---- */

static bool is_entry(kc__cel_eval *ev, const kc__cel_map *map, const kc__cel_map_entry *entry,
                     kc_cel_value key, uint64_t hash)
{
    if (entry->hash != hash)
        return false;
    return map->by_value ? kc__cel_equal(ev, entry->key, key) : same_key(entry->key, key);
}

static kc__cel_map_entry *find_entry(kc__cel_eval *ev, const kc__cel_map *map, kc_cel_value key,
                                     uint64_t hash)
{
    if (!map->slots) {
        for (size_t i = 0; i < map->n; i++)
            if (is_entry(ev, map, &map->entries[i], key, hash))
                return &map->entries[i];
        return NULL;
    }
    for (size_t slot = hash & (map->n_slots - 1); map->slots[slot];
         slot = (slot + 1) & (map->n_slots - 1)) {
        kc__cel_map_entry *entry = &map->entries[map->slots[slot] - 1];
        if (is_entry(ev, map, entry, key, hash))
            return entry;
    }
    return NULL;
}

static const kc__cel_map_entry *find_key(kc__cel_eval *ev, const kc__cel_map *map, kc_cel_value key)
{
    return find_entry(ev, map, key, hash_key(ev, map, key));
}

/* The entry of a number with the same value: an int for a double, then a uint; a uint for an int.
 */
static const kc__cel_map_entry *find_number(kc__cel_eval *ev, const kc__cel_map *map,
                                            kc_cel_value key)
{
    const kc__cel_map_entry *entry = NULL;
    int64_t i = key.integer;
    uint64_t u = key.natural;
    const bool is_double = key.kind == KC_CEL_DOUBLE;
    const bool as_int = is_double ? kc__cel_double_to_int(key.number, &i) && (double)i == key.number
                                  : key.kind == KC_CEL_UINT && u <= INT64_MAX;
    const bool as_uint = is_double
                             ? kc__cel_double_to_uint(key.number, &u) && (double)u == key.number
                             : key.kind == KC_CEL_INT && i >= 0;
    if (as_int)
        entry = find_key(ev, map, kc__cel_int(is_double ? i : (int64_t)u));
    if (!entry && as_uint)
        entry = find_key(ev, map, kc__cel_uint(is_double ? u : (uint64_t)i));
    return entry;
}

static bool find_own(kc__cel_eval *ev, const kc__cel_map *map, kc_cel_value key, kc_cel_value *ret)
{
    if (!map->n)
        return false;
    if (!map->by_value && is_unhashable(key)) {
        *ret = kc__cel_panic(ev, "runtime error: hash of unhashable type %s", kc__cel_go_type(key));
        return true;
    }
    const kc__cel_map_entry *entry = find_key(ev, map, key);
    if (!entry && !map->by_value && key.kind >= KC_CEL_INT && key.kind <= KC_CEL_DOUBLE)
        entry = find_number(ev, map, key);
    if (entry)
        *ret = entry->value;
    return entry != NULL;
}

bool kc__cel_map_find(kc__cel_eval *ev, kc_cel_value map, kc_cel_value key, kc_cel_value *ret)
{
    if (map.form == KC__CEL_LOOKUP)
        return find_by_lookup(ev, map.lookup, key, ret);
    if (map.form == KC__CEL_JSON)
        return find_member(ev, map, key, ret);
    return find_own(ev, map.map, key, ret);
}

kc__cel_map *kc__cel_map_new(kc__cel_eval *ev, size_t room)
{
    kc__cel_map *map = kc__cel_alloc(ev, sizeof(*map));
    if (!map)
        return NULL;
    *map = (kc__cel_map){.cap = room, .seed = ev->seed};
    if (room && !(map->entries = kc__cel_alloc(ev, room * sizeof(*map->entries))))
        return NULL;
    return map;
}

kc__cel_map *kc__cel_values_new(kc__cel_eval *ev, size_t room)
{
    kc__cel_map *set = kc__cel_map_new(ev, room);
    if (set)
        set->by_value = true;
    return set;
}

static void fill_slot(kc__cel_map *map, size_t i)
{
    size_t slot = map->entries[i].hash & (map->n_slots - 1);
    while (map->slots[slot])
        slot = (slot + 1) & (map->n_slots - 1);
    map->slots[slot] = (uint32_t)(i + 1);
}

static bool rebuild_index(kc__cel_eval *ev, kc__cel_map *map)
{
    map->slots = NULL;
    if (map->n <= SMALL)
        return true;
    for (map->n_slots = 32; map->n_slots < 4 * map->n;)
        map->n_slots *= 2;
    map->slots = kc__cel_alloc(ev, map->n_slots * sizeof(*map->slots));
    if (!map->slots)
        return false;
    memset(map->slots, 0, map->n_slots * sizeof(*map->slots));
    for (size_t i = 0; i < map->n; i++)
        fill_slot(map, i);
    return true;
}

static bool grow_entries(kc__cel_eval *ev, kc__cel_map *map)
{
    size_t cap = map->cap ? map->cap * 2 : 4;
    kc__cel_map_entry *entries = kc__cel_alloc(ev, cap * sizeof(*entries));
    if (!entries)
        return false;
    if (map->n)
        memcpy(entries, map->entries, map->n * sizeof(*entries));
    map->entries = entries;
    map->cap = cap;
    return true;
}

bool kc__cel_map_put(kc__cel_eval *ev, kc__cel_map *map, kc_cel_value key, kc_cel_value value)
{
    if (!map->by_value && is_unhashable(key)) {
        kc__cel_panic(ev, "runtime error: hash of unhashable type %s", kc__cel_go_type(key));
        return false;
    }
    uint64_t hash = hash_key(ev, map, key);
    kc__cel_map_entry *entry = find_entry(ev, map, key, hash);
    if (entry) {
        entry->value = value;
        return true;
    }
    if (map->n == map->cap && !grow_entries(ev, map))
        return false;
    map->entries[map->n++] = (kc__cel_map_entry){key, value, hash};
    if (!map->slots || 2 * map->n > map->n_slots)
        return rebuild_index(ev, map);
    fill_slot(map, map->n - 1);
    return true;
}

void kc__cel_map_remove(kc__cel_eval *ev, kc__cel_map *map, kc_cel_value key)
{
    if (is_unhashable(key)) {
        kc__cel_panic(ev, "runtime error: hash of unhashable type %s", kc__cel_go_type(key));
        return;
    }
    kc__cel_map_entry *entry = find_entry(ev, map, key, hash_key(ev, map, key));
    if (!entry)
        return;
    size_t at = (size_t)(entry - map->entries);
    memmove(entry, entry + 1, (map->n - at - 1) * sizeof(*entry));
    map->n--;
    rebuild_index(ev, map);
}
