/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.c: resolves merge keys, on the JSON text of the object that contains them.
 *
 *     {"a":1,"<<":{"a":2,"b":3},"b":4   ──▶   {"a":2,"b":4}
 *
 * The object's members are put in one list, with the members of the merged objects at the position
 * of the merge key; of several merged objects the first comes last, because it has precedence. Then
 * the last member of each name counts: kubectl's YAML library sets keys in the same order, so a
 * merge key below a key overrides it. Members that a merge adds or removes are not reported. Two
 * explicit members of one name both stay: they are duplicates, which the JSON reader reports and
 * drops.
 */
#include "object/yaml/yaml_internal.h"

#include "kc/map.h"

typedef struct yaml_merge_member {
    kc_str key, value; /* JSON text. */
    bool merged;
} yaml_merge_member;

typedef KC_VEC(yaml_merge_member) yaml_merge_members;

static size_t string_end(kc_str json, size_t at)
{
    for (at++; json.p[at] != '"'; at++)
        at += json.p[at] == '\\';
    return at + 1;
}

/* The end of the value at `at`. */
static size_t value_end(kc_str json, size_t at)
{
    size_t depth = 0;
    while (at < json.n) {
        char c = json.p[at];
        if ((c == ',' || c == '}' || c == ']') && !depth)
            break;
        if (c == '"') {
            at = string_end(json, at);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
    }
    return at;
}

/* The member whose key is at *at; moves *at to the next key, or the end. */
static yaml_merge_member yaml_merge_next_member(kc_str json, size_t *at)
{
    size_t key_end = string_end(json, *at), end = value_end(json, key_end + 1);
    yaml_merge_member m = {kc_str_sub(json, *at, key_end), kc_str_sub(json, key_end + 1, end),
                           false};
    *at = end + 1;
    return m;
}

static bool more(kc_str json, size_t at)
{
    return at < json.n && json.p[at] == '"';
}

static void add_object(yaml_merge_members *list, kc_str object)
{
    for (size_t at = 1; more(object, at);) {
        yaml_merge_member m = yaml_merge_next_member(object, &at);
        m.merged = true;
        kc_vec_push(list, m);
    }
}

static void add_merged(yaml_merge_members *list, kc_str value)
{
    KC_VEC(kc_str) objects = {0};
    if (value.p[0] == '{') {
        add_object(list, value);
        return;
    }
    for (size_t at = 1; at < value.n && value.p[at] == '{';) {
        size_t end = value_end(value, at);
        kc_vec_push(&objects, kc_str_sub(value, at, end));
        at = end + 1;
    }
    while (objects.n)
        add_object(list, kc_vec_pop(&objects));
    kc_vec_done(&objects);
}

static void yaml_merge_write_members(const yaml_merge_members *list, const kc_map *last,
                                     kc_buf *out)
{
    bool first = true;
    kc_buf_putc(out, '{');
    kc_vec_each (list, m) {
        const yaml_merge_member *winner = kc_map_get(last, m->key);
        if (m->merged ? winner != m : winner->merged)
            continue;
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        kc_buf_append(out, m->key);
        kc_buf_putc(out, ':');
        kc_buf_append(out, m->value);
    }
    kc_buf_putc(out, '}');
}

void kc__yaml_merge(kc_str object, const size_t *merges, size_t n_merges, kc_buf *out)
{
    kc_scoped(kc_map) last = {0};
    yaml_merge_members list = {0};
    size_t merge = 0;
    for (size_t at = 1; more(object, at);) {
        bool merges_here = merge < n_merges && merges[merge] == at;
        yaml_merge_member m = yaml_merge_next_member(object, &at);
        merge += merges_here;
        if (merges_here)
            add_merged(&list, m.value);
        else
            kc_vec_push(&list, m);
    }
    kc_vec_each (&list, m)
        kc_map_put(&last, m->key, m);
    yaml_merge_write_members(&list, &last, out);
    kc_vec_done(&list);
}
