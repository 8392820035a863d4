/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.c: where two values differ, for tests and for people.
 *
 * One walk over both, with the path of the current place in a buffer that grows and shrinks on the
 * way. A change is as deep as it can be said: two objects or two arrays are compared inside,
 * anything else that differs is one change, so a whole new container is one line.
 *
 * Each change has a copy of its path. Names may be long and changes many, so their number and the
 * bytes of their paths are limited; what does not fit sets `more` and ends the walk.
 */
#include "kc/diff.h"

#include "kc/path.h"
#include "object/equal.h"
#include "object/members.h"

enum { DEFAULT_CHANGES = 1000, MOST_PATH_BYTES = 4 << 20 };

typedef struct walk {
    const kc_diff_opts *opts;
    kc_diff *diff;
    kc_buf path;
} walk;

static void compare(walk *w, const kc_value *before, const kc_value *after);

static void report(walk *w, const kc_value *before, const kc_value *after)
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

static void compare_member(walk *w, kc_str name, const kc_value *before, const kc_value *after)
{
    size_t here = w->path.n;
    kc_path_write_name(&w->path, name);
    compare(w, before, after);
    w->path.n = here;
}

static void compare_objects(walk *w, const kc_value *before, const kc_value *after)
{
    kc_scoped(kc__members) in_after = {.object = after};
    kc_scoped(kc__members) in_before = {.object = before};
    size_t common = 0;
    kc_members (before, name, value) {
        const kc_value *other = kc__members_find(&in_after, name);
        common += other != NULL;
        compare_member(w, name, value, other);
    }
    if (common == kc_len(after))
        return;
    kc_members (after, name, value)
        if (!kc__members_find(&in_before, name))
            compare_member(w, name, NULL, value);
}

static void compare_by_position(walk *w, const kc_value *before, const kc_value *after)
{
    kc_iter in_before = kc__iter(before, KC_ARRAY), in_after = kc__iter(after, KC_ARRAY);
    size_t n = KC_MAX(kc_len(before), kc_len(after)), here = w->path.n;
    for (size_t i = 0; i < n; i++) {
        kc_path_write_index(&w->path, i);
        compare(w, kc__iter_item(&in_before), kc__iter_item(&in_after));
        w->path.n = here;
    }
}

static kc_str key_of(const walk *w, const kc_value *item)
{
    return kc_as_str(kc_get(item, w->opts->list_key));
}

/* Items by their key. False when one has none or two have the same. */
static bool index_items(const walk *w, const kc_value *array, kc_map *by_key)
{
    kc_items (array, item) {
        kc_str key = key_of(w, item);
        if (!key.p || kc_map_put(by_key, key, (void *)item))
            return false;
    }
    return true;
}

/* The next item whose key is among `others`; NULL at the end. */
static const kc_value *next_common(const walk *w, kc_iter *iter, const kc_map *others)
{
    const kc_value *item;
    while ((item = kc__iter_item(iter)))
        if (kc_map_get(others, key_of(w, item)))
            break;
    return item;
}

static bool same_order(const walk *w, const kc_value *before, const kc_map *in_before,
                       const kc_value *after, const kc_map *in_after)
{
    kc_iter a = kc__iter(before, KC_ARRAY), b = kc__iter(after, KC_ARRAY);
    const kc_value *from_a, *from_b;
    do {
        from_a = next_common(w, &a, in_after);
        from_b = next_common(w, &b, in_before);
        if (from_a && from_b && !kc_str_eq(key_of(w, from_a), key_of(w, from_b)))
            return false;
    } while (from_a && from_b);
    return true;
}

static void compare_keyed_item(walk *w, kc_str key, const kc_value *before, const kc_value *after)
{
    size_t here = w->path.n;
    kc_buf_printf(&w->path, "[%s=", w->opts->list_key);
    kc_json_quote(&w->path, key);
    kc_buf_putc(&w->path, ']');
    compare(w, before, after);
    w->path.n = here;
}

/* False when the arrays are not keyed, or what they share was moved around: then nothing has been
 * compared. */
static bool compare_by_key(walk *w, const kc_value *before, const kc_value *after)
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

static bool leaves_equal(const walk *w, const kc_value *before, const kc_value *after)
{
    if (w->opts->empty_is_absent && kc__holds_nothing(before) && kc__holds_nothing(after))
        return true;
    kc_type type = kc_type_of(before);
    return type != KC_OBJECT && type != KC_ARRAY && kc__scalars_equal(before, after);
}

static void compare(walk *w, const kc_value *before, const kc_value *after)
{
    kc_type type = kc_type_of(before), other = kc_type_of(after);
    if (w->diff->more)
        return;
    if (type == KC_OBJECT && other == KC_OBJECT) {
        compare_objects(w, before, after);
    } else if (type == KC_ARRAY && other == KC_ARRAY) {
        if (!w->opts->list_key || !compare_by_key(w, before, after))
            compare_by_position(w, before, after);
    } else if (!leaves_equal(w, before, after)) {
        report(w, before, after);
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
    walk w = {.opts = opts ? opts : &(kc_diff_opts){0}, .diff = ret};
    compare(&w, before, after);
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
