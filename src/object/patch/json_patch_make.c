/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch_make.c: creates the operations that turn one document into another.
 *
 *     {"a": 1, "l": [1, 2, 3]}
 *     {"l": [1, 3], "b": 2}        remove /a, remove /l/1, add /b 2
 *
 * One traversal of both; `path` is the current pointer. Members are matched by name. In arrays of
 * different lengths, equal elements at both ends are skipped; the rest in the middle is matched by
 * position, and the surplus of the longer side is removed or added after it.
 *
 * Every operation repeats its path, so a patch can be much longer than both documents. The bytes of
 * paths are counted, and beyond MOST_PATH_BYTES one operation replaces the whole document.
 */
#include "object/patch/patch_internal.h"

#include "kc/json_patch.h"

#define MOST_PATH_BYTES ((size_t)16 << 20)

typedef struct json_patch_make_maker {
    kc_edit *edit;
    kc_node *ops;
    kc_buf path;
    size_t path_bytes;
} json_patch_make_maker;

static bool is_full(const json_patch_make_maker *m)
{
    return m->path_bytes > MOST_PATH_BYTES;
}

static void emit(json_patch_make_maker *m, const char *op, const kc_value *value)
{
    m->path_bytes += m->path.n;
    if (is_full(m))
        return;
    kc_node *operation = kc_node_object(m->edit);
    kc_node_add(m->edit, operation, KC_STR("op"), kc_node_str(m->edit, kc_cstr(op)));
    kc_node_add(m->edit, operation, KC_STR("path"), kc_node_str(m->edit, kc_buf_str(&m->path)));
    if (value)
        kc_node_add(m->edit, operation, KC_STR("value"), kc_node_from_value(m->edit, value));
    kc_node_append(m->ops, operation);
}

/* Each returns the length to restore with leave(). */
static size_t enter_member(json_patch_make_maker *m, kc_str name)
{
    size_t before = m->path.n;
    kc_buf_putc(&m->path, '/');
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '~' || name.p[i] == '/')
            kc_buf_puts(&m->path, name.p[i] == '~' ? "~0" : "~1");
        else
            kc_buf_putc(&m->path, name.p[i]);
    }
    return before;
}

static size_t enter_element(json_patch_make_maker *m, size_t at)
{
    size_t before = m->path.n;
    kc_buf_printf(&m->path, "/%zu", at);
    return before;
}

static void json_patch_make_leave(json_patch_make_maker *m, size_t before)
{
    m->path.n = before;
}

static void diff(json_patch_make_maker *m, const kc_value *from, const kc_value *to);

static void remove_members(json_patch_make_maker *m, const kc_value *from, const kc_value *to)
{
    kc__value_members in_to = {.object = to};
    kc_value_each_member (from, name, value) {
        (void)value;
        if (is_full(m))
            break;
        if (kc__value_members_find(&in_to, name))
            continue;
        size_t before = enter_member(m, name);
        emit(m, "remove", NULL);
        json_patch_make_leave(m, before);
    }
    kc__value_members_done(&in_to);
}

static void json_patch_make_diff_objects(json_patch_make_maker *m, const kc_value *from,
                                         const kc_value *to)
{
    remove_members(m, from, to);
    kc__value_members in_from = {.object = from};
    kc_value_each_member (to, name, value) {
        if (is_full(m))
            break;
        const kc_value *old = kc__value_members_find(&in_from, name);
        size_t before = enter_member(m, name);
        if (old)
            diff(m, old, value);
        else
            emit(m, "add", value);
        json_patch_make_leave(m, before);
    }
    kc__value_members_done(&in_from);
}

typedef KC_VEC(const kc_value *) values;

static values elements_of(const kc_value *array)
{
    values all = {0};
    kc_vec_reserve(&all, kc_value_len(array));
    kc_value_each_item (array, item)
        kc_vec_push(&all, item);
    return all;
}

static size_t equal_at_start(const values *a, const values *b)
{
    size_t n = 0;
    while (n < a->n && n < b->n && kc_value_equal(a->items[n], b->items[n], NULL))
        n++;
    return n;
}

static size_t equal_at_end(const values *a, const values *b, size_t start)
{
    size_t n = 0;
    while (start + n < a->n && start + n < b->n &&
           kc_value_equal(a->items[a->n - 1 - n], b->items[b->n - 1 - n], NULL))
        n++;
    return n;
}

/* Turns positions start to end of `from` into positions start to to_end of `to`. */
static void diff_middle(json_patch_make_maker *m, const values *from, size_t end, const values *to,
                        size_t to_end, size_t start)
{
    size_t at = start;
    for (; at < end && at < to_end; at++) {
        size_t before = enter_element(m, at);
        diff(m, from->items[at], to->items[at]);
        json_patch_make_leave(m, before);
    }
    for (size_t last = end; last > at && !is_full(m); last--) {
        size_t before = enter_element(m, last - 1);
        emit(m, "remove", NULL);
        json_patch_make_leave(m, before);
    }
    for (; at < to_end && !is_full(m); at++) {
        size_t before = enter_element(m, at);
        emit(m, "add", to->items[at]);
        json_patch_make_leave(m, before);
    }
}

static void diff_arrays(json_patch_make_maker *m, const kc_value *from, const kc_value *to)
{
    values a = elements_of(from), b = elements_of(to);
    size_t start = 0, behind = 0;
    if (a.n != b.n) {
        start = equal_at_start(&a, &b);
        behind = equal_at_end(&a, &b, start);
    }
    diff_middle(m, &a, a.n - behind, &b, b.n - behind, start);
    kc_vec_done(&a);
    kc_vec_done(&b);
}

static void diff(json_patch_make_maker *m, const kc_value *from, const kc_value *to)
{
    kc_json_type type = kc_value_type(to);
    if (is_full(m))
        return;
    if (type == KC_JSON_OBJECT && kc_value_type(from) == KC_JSON_OBJECT)
        json_patch_make_diff_objects(m, from, to);
    else if (type == KC_JSON_ARRAY && kc_value_type(from) == KC_JSON_ARRAY)
        diff_arrays(m, from, to);
    else if (!kc_value_equal(from, to, NULL))
        emit(m, "replace", to);
}

kc_edit *kc_json_patch_make(const kc_value *from, const kc_value *to)
{
    kc_auto(kc_view) *null = kc_view_parse(KC_STR("null"), NULL, NULL);
    from = from ? from : kc_view_root(null);
    to = to ? to : kc_view_root(null);
    json_patch_make_maker m = {.edit = kc_edit_new()};
    m.ops = kc_node_array(m.edit);
    diff(&m, from, to);
    if (is_full(&m)) {
        m.path_bytes = 0;
        kc_buf_clear(&m.path);
        m.ops = kc_node_array(m.edit);
        emit(&m, "replace", to);
    }
    kc_edit_set_root(m.edit, m.ops);
    kc_buf_done(&m.path);
    return m.edit;
}
