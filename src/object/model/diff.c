/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c: reports the differences of two values, for tests and for users.
 *
 * One traversal of both values, with the current path in a buffer that grows and shrinks. A change
 * is reported as deep as possible: two objects or two arrays are compared inside; any other
 * difference is one change, so a whole new container is one line.
 *
 * Each change has a copy of its path. Names may be long and changes many, so their number and the
 * bytes of their paths are limited; exceeding a limit sets `more` and ends the traversal.
 */
#include "kc/diff.h"

#include "kc/path.h"
#include "object/model/equal.h"
#include "object/model/value_members.h"

enum { DEFAULT_CHANGES = 1000, MOST_PATH_BYTES = 4 << 20 };

typedef struct diff_walk {
    const kc_diff_opts *opts;
    kc_diff *diff;
    kc_buf path;
} diff_walk;

static void diff_compare(diff_walk *w, const kc_value *before, const kc_value *after);

static void diff_report(diff_walk *w, const kc_value *before, const kc_value *after)
{
    kc_diff *diff = w->diff;
    size_t most = w->opts->max_changes ? w->opts->max_changes : DEFAULT_CHANGES;
    if (diff->changes.n >= most || diff->arena.used + w->path.n > MOST_PATH_BYTES) {
        diff->more = true;
        return;
    }
    kc_str path = kc_arena_str(&diff->arena, kc_buf_str(&w->path));
    kc_vec_push(&diff->changes, (kc_difference){path, before, after});
}

static void compare_member(diff_walk *w, kc_str name, const kc_value *before, const kc_value *after)
{
    size_t here = w->path.n;
    kc_path_write_name(&w->path, name);
    diff_compare(w, before, after);
    w->path.n = here;
}

static void compare_objects(diff_walk *w, const kc_value *before, const kc_value *after)
{
    kc_scoped(kc__value_members) in_after = {.object = after};
    kc_scoped(kc__value_members) in_before = {.object = before};
    size_t common = 0;
    kc_value_each_member (before, name, value) {
        const kc_value *other = kc__value_members_find(&in_after, name);
        common += other != NULL;
        compare_member(w, name, value, other);
    }
    if (common == kc_value_len(after))
        return;
    kc_value_each_member (after, name, value)
        if (!kc__value_members_find(&in_before, name))
            compare_member(w, name, NULL, value);
}

static void compare_by_position(diff_walk *w, const kc_value *before, const kc_value *after)
{
    kc_value_iter in_before = kc__value_iter(before, KC_JSON_ARRAY),
                  in_after = kc__value_iter(after, KC_JSON_ARRAY);
    size_t n = KC_MAX(kc_value_len(before), kc_value_len(after)), here = w->path.n;
    for (size_t i = 0; i < n; i++) {
        kc_path_write_index(&w->path, i);
        diff_compare(w, kc__value_iter_item(&in_before), kc__value_iter_item(&in_after));
        w->path.n = here;
    }
}

static kc_str diff_key_of(const diff_walk *w, const kc_value *item)
{
    return kc_value_as_str(kc_value_get(item, w->opts->list_key));
}

/* Indexes items by their key. False when one has none or two have the same. */
static bool index_items(const diff_walk *w, const kc_value *array, kc_map *by_key)
{
    kc_value_each_item (array, item) {
        kc_str key = diff_key_of(w, item);
        if (!key.p || kc_map_put(by_key, key, (void *)item))
            return false;
    }
    return true;
}

/* The next item whose key is among `others`; NULL at the end. */
static const kc_value *next_common(const diff_walk *w, kc_value_iter *iter, const kc_map *others)
{
    const kc_value *item;
    while ((item = kc__value_iter_item(iter)))
        if (kc_map_get(others, diff_key_of(w, item)))
            break;
    return item;
}

static bool same_order(const diff_walk *w, const kc_value *before, const kc_map *in_before,
                       const kc_value *after, const kc_map *in_after)
{
    kc_value_iter a = kc__value_iter(before, KC_JSON_ARRAY),
                  b = kc__value_iter(after, KC_JSON_ARRAY);
    const kc_value *from_a, *from_b;
    do {
        from_a = next_common(w, &a, in_after);
        from_b = next_common(w, &b, in_before);
        if (from_a && from_b && !kc_str_eq(diff_key_of(w, from_a), diff_key_of(w, from_b)))
            return false;
    } while (from_a && from_b);
    return true;
}

static void compare_keyed_item(diff_walk *w, kc_str key, const kc_value *before,
                               const kc_value *after)
{
    size_t here = w->path.n;
    kc_buf_printf(&w->path, "[%s=", w->opts->list_key);
    kc_json_quote(&w->path, key);
    kc_buf_putc(&w->path, ']');
    diff_compare(w, before, after);
    w->path.n = here;
}

/* False, without having compared anything, when the arrays are not keyed or their common items are
 * in a different order. */
static bool compare_by_key(diff_walk *w, const kc_value *before, const kc_value *after)
{
    kc_scoped(kc_map) in_before = {0};
    kc_scoped(kc_map) in_after = {0};
    if (!index_items(w, before, &in_before) || !index_items(w, after, &in_after) ||
        !same_order(w, before, &in_before, after, &in_after))
        return false;
    kc_map_each (&in_before, entry)
        compare_keyed_item(w, entry->key, entry->value, kc_map_get(&in_after, entry->key));
    kc_map_each (&in_after, entry)
        if (!kc_map_get(&in_before, entry->key))
            compare_keyed_item(w, entry->key, NULL, entry->value);
    return true;
}

static bool leaves_equal(const diff_walk *w, const kc_value *before, const kc_value *after)
{
    if (w->opts->empty_is_absent && kc__value_is_empty(before) && kc__value_is_empty(after))
        return true;
    kc_json_type type = kc_value_type(before);
    return type != KC_JSON_OBJECT && type != KC_JSON_ARRAY &&
           kc__value_scalars_equal(before, after);
}

static void diff_compare(diff_walk *w, const kc_value *before, const kc_value *after)
{
    kc_json_type type = kc_value_type(before), other = kc_value_type(after);
    if (w->diff->more)
        return;
    if (type == KC_JSON_OBJECT && other == KC_JSON_OBJECT) {
        compare_objects(w, before, after);
    } else if (type == KC_JSON_ARRAY && other == KC_JSON_ARRAY) {
        if (!w->opts->list_key || !compare_by_key(w, before, after))
            compare_by_position(w, before, after);
    } else if (!leaves_equal(w, before, after)) {
        diff_report(w, before, after);
    }
}

void kc_diff_done(kc_diff *diff)
{
    if (!diff)
        return;
    kc_vec_done(&diff->changes);
    kc_arena_done(&diff->arena);
    diff->more = false;
}

bool kc_diff_values(const kc_value *before, const kc_value *after, const kc_diff_opts *opts,
                    kc_diff *ret)
{
    diff_walk w = {.opts = opts ? opts : &(kc_diff_opts){0}, .diff = ret};
    diff_compare(&w, before, after);
    kc_buf_done(&w.path);
    return !ret->changes.n && !ret->more;
}

static void write_line(kc_buf *out, char sign, const kc_difference *change, bool colour)
{
    const kc_value *value = sign == '-' ? change->before : change->after;
    if (!value)
        return;
    if (colour)
        kc_buf_puts(out, sign == '-' ? "\x1b[31m" : "\x1b[32m");
    kc_buf_printf(out, "%c %.*s: ", sign, KC_ARG(change->path.n ? change->path : KC_STR(".")));
    kc_json_write(out, value);
    kc_buf_puts(out, colour ? "\x1b[0m\n" : "\n");
}

void kc_diff_write(kc_buf *out, const kc_diff *diff, const kc_diff_write_opts *opts)
{
    bool colour = opts && opts->colour;
    kc_vec_each (&diff->changes, change) {
        write_line(out, '-', change, colour);
        write_line(out, '+', change, colour);
    }
    if (diff->more)
        kc_buf_puts(out, "… and more\n");
}
