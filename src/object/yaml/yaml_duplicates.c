/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_duplicates.c: lists duplicate keys with their lines, in the words and the order of Go's YAML
 * decoder: each is reported at the line of its value, after those inside the value. Views have no
 * lines, so the text is parsed again, which is cheap enough for an error.
 *
 * A merge key (<<) sets the keys of its objects, the last of a list first. A key that such an
 * object has set already is a duplicate, too, whichever comes first. So the keys of each mapping
 * with an anchor are kept, with the lines of their values; all of them together are limited,
 * because merges of merges copy them.
 */
#include "object/yaml/yaml_duplicates.h"

#include "kc/arena.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/vec.h"
#include "object/gofmt/go_quote.h"
#include "object/yaml/yaml_internal.h"

/* Keys that merges may set in one text. */
enum { MAX_MERGED_KEYS = 100000 };

typedef struct set_key {
    kc_str key;
    size_t line; /* Of its value. */
} set_key;

/* The keys of a mapping, in the order in which they were set. */
typedef struct key_list {
    KC_VEC(set_key) keys;
    kc_map seen;
} key_list;

typedef struct duplicate_walk {
    kc__yaml_source *source;
    kc__yaml_event event;
    kc_buf *out;
    unsigned depth;
    size_t merged;
    kc_arena arena; /* Of names and keys. */
    kc_map anchors; /* Name to key_list; NULL for values that are no mappings. */
    KC_VEC(key_list *) lists;
} duplicate_walk;

static bool next_event(duplicate_walk *w)
{
    return kc__yaml_next(w->source, &w->event, NULL) >= 0 && w->event.type != KC__YAML_STREAM_END;
}

static bool walk_node(duplicate_walk *w);
static bool walk_mapping(duplicate_walk *w, key_list *keys);

/* ---- keys ---- */

static key_list *new_key_list(duplicate_walk *w)
{
    key_list *keys = kc_arena_new(&w->arena, key_list);
    kc_vec_push(&w->lists, keys);
    return keys;
}

static void report_duplicate(duplicate_walk *w, kc_str key, size_t line)
{
    kc_buf_printf(w->out, "\n  line %zu: key ", line);
    kc__go_quote(w->out, key);
    kc_buf_puts(w->out, " already set in map");
}

static void add_key(duplicate_walk *w, key_list *keys, kc_str key, size_t line)
{
    if (kc_map_put(&keys->seen, key, w))
        report_duplicate(w, key, line);
    else
        kc_vec_push(&keys->keys, (set_key){key, line});
}

/* ---- merges ---- */

static bool is_merge(const kc__yaml_event *event)
{
    return event->type == KC__YAML_SCALAR && event->implicit && kc_str_is(event->value, "<<");
}

/* False: too many. */
static bool merge_keys(duplicate_walk *w, key_list *into, const key_list *from)
{
    if (!from)
        return true;
    w->merged += from->keys.n;
    if (w->merged > MAX_MERGED_KEYS)
        return false;
    for (size_t i = 0; i < from->keys.n; i++)
        add_key(w, into, from->keys.items[i].key, from->keys.items[i].line);
    return true;
}

/* The mapping of a merge, or that of its alias; *ret is NULL for other values. */
static bool walk_merged(duplicate_walk *w, key_list **ret)
{
    *ret = NULL;
    if (w->event.type == KC__YAML_ALIAS) {
        *ret = kc_map_get(&w->anchors, w->event.anchor);
        return true;
    }
    if (w->event.type != KC__YAML_MAPPING)
        return walk_node(w);
    *ret = new_key_list(w);
    return walk_mapping(w, *ret);
}

static bool walk_merge_list(duplicate_walk *w, key_list *into)
{
    KC_VEC(key_list *) all = {0};
    bool walked = false;
    while (next_event(w)) {
        key_list *one;
        walked = w->event.type == KC__YAML_SEQUENCE_END;
        if (walked || !walk_merged(w, &one))
            break;
        kc_vec_push(&all, one);
    }
    while (walked && all.n)
        walked = merge_keys(w, into, kc_vec_pop(&all));
    kc_vec_done(&all);
    return walked;
}

/* The current event is the value of a merge key. */
static bool walk_merge(duplicate_walk *w, key_list *into)
{
    key_list *one;
    if (w->event.type == KC__YAML_SEQUENCE)
        return walk_merge_list(w, into);
    return walk_merged(w, &one) && merge_keys(w, into, one);
}

/* ---- nodes ---- */

static bool walk_sequence(duplicate_walk *w)
{
    while (next_event(w)) {
        if (w->event.type == KC__YAML_SEQUENCE_END)
            return true;
        if (!walk_node(w))
            return false;
    }
    return false;
}

static bool walk_member(duplicate_walk *w, key_list *keys)
{
    const bool scalar = w->event.type == KC__YAML_SCALAR, merges = is_merge(&w->event);
    const kc_str key = scalar ? kc_arena_str(&w->arena, w->event.value) : (kc_str){0};
    if (!walk_node(w) || !next_event(w))
        return false;
    if (merges)
        return walk_merge(w, keys);
    const size_t line = w->event.mark.line;
    if (!walk_node(w))
        return false;
    if (scalar)
        add_key(w, keys, key, line);
    return true;
}

/* Adds the keys of a mapping to a list, which is that of its anchor. */
static bool walk_mapping(duplicate_walk *w, key_list *keys)
{
    const kc_str anchor = kc_arena_str(&w->arena, w->event.anchor);
    if (++w->depth > KC_JSON_MAX_DEPTH)
        return false;
    if (anchor.n)
        kc_map_put(&w->anchors, anchor, keys);
    while (next_event(w)) {
        if (w->event.type == KC__YAML_MAPPING_END) {
            w->depth--;
            return true;
        }
        if (!walk_member(w, keys))
            return false;
    }
    return false;
}

/* The current event is the first of a node; afterwards it is its last. */
static bool walk_node(duplicate_walk *w)
{
    bool walked = true;
    if (w->event.type == KC__YAML_MAPPING)
        return walk_mapping(w, new_key_list(w));
    if (w->event.type != KC__YAML_SEQUENCE)
        return true;
    if (++w->depth > KC_JSON_MAX_DEPTH)
        return false;
    walked = walk_sequence(w);
    w->depth--;
    return walked;
}

static void duplicate_walk_done(duplicate_walk *w)
{
    kc_vec_each (&w->lists, list) {
        kc_vec_done(&(*list)->keys);
        kc_map_done(&(*list)->seen);
    }
    kc_vec_done(&w->lists);
    kc_map_done(&w->anchors);
    kc_arena_done(&w->arena);
}

void kc__yaml_list_duplicates(kc_buf *out, kc_str yaml)
{
    kc_auto(kc__yaml_source) *source = kc__yaml_source_new(yaml, 0, NULL);
    duplicate_walk w = {.source = source, .out = out};
    if (source && next_event(&w) && w.event.type == KC__YAML_DOCUMENT && next_event(&w))
        walk_node(&w);
    duplicate_walk_done(&w);
}
