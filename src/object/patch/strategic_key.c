/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_key.c: keys that identify elements of a list, with fast lookup.
 *
 * A list of objects is merged by the value of one member, its merge key; a list of scalars by the
 * values. Both are reduced to a key, a short text built once for each element:
 *
 *     {"name": "web", …}    merged by name    "sweb"
 *     8080                                    "n8080"
 *     "8080"                                  "s8080"
 *
 * so that merging, ordering and comparing lists only handle keys, and long lists are indexed by
 * them. Equal numbers have equal keys.
 */
#include "object/patch/strategic_internal.h"

enum { FEW = 8 };

int kc__strategic_bad_type(kc__strategic_patcher *s, kc_json_type wanted, kc_json_type got)
{
    bool none = got == KC_JSON_NULL || got == KC_JSON_ABSENT;
    return kc_error_set(s->err, KC_BAD_REQUEST, "expected a %s, but received a %s",
                        kc__go_type(wanted), none ? "%!s(<nil>)" : kc__go_type(got));
}

int kc__strategic_no_merge_key(kc__strategic_patcher *s, const kc_value *element, kc_str merge_key)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_text(&text, element);
    return kc_error_set(s->err, KC_BAD_REQUEST, "map: %s does not contain declared merge key: %.*s",
                        kc_buf_cstr(&text), KC_ARG(merge_key));
}

int kc__strategic_bad_format(kc__strategic_patcher *s, const char *of_what)
{
    return kc_error_set(s->err, KC_BAD_REQUEST, "invalid patch format of %s", of_what);
}

/* Types of elements that may be in one list. */
static kc_json_type type_group(kc_json_type type)
{
    return type == KC_JSON_FLOAT ? KC_JSON_INT : type;
}

static int mixed_types(kc__strategic_patcher *s, const kc_value *a, const kc_value *b)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_text(&text, a);
    kc_buf_putc(&text, ' ');
    kc__go_text(&text, b);
    return kc_error_set(s->err, KC_BAD_REQUEST, "list element types are not identical: [%s]",
                        kc_buf_cstr(&text));
}

/* Adds an element: 0, negative when its type is not allowed, 1 when the types differ. */
static int add_type(kc__strategic_patcher *s, kc_json_type *seen, kc_json_type type)
{
    if (*seen != KC_JSON_ABSENT)
        return *seen != type_group(type);
    *seen = type_group(type);
    if (type == KC_JSON_ARRAY)
        return kc_error_set(s->err, KC_INVALID, "lists of lists are not supported");
    return 0;
}

static int kind_of_type(kc_json_type seen, kc__strategic_kind *ret)
{
    *ret = seen == KC_JSON_ABSENT   ? KC__STRATEGIC_NO_ELEMENTS
           : seen == KC_JSON_OBJECT ? KC__STRATEGIC_OBJECTS
                                    : KC__STRATEGIC_VALUES;
    return 0;
}

int kc__strategic_kind_of_values(kc__strategic_patcher *s, const kc_value *a, const kc_value *b,
                                 kc__strategic_kind *ret)
{
    kc_json_type seen = KC_JSON_ABSENT;
    const kc_value *lists[] = {a, b};
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_value_each_item (lists[i], item) {
            int failed = add_type(s, &seen, kc_value_type(item));
            if (failed)
                return failed < 0 ? failed : mixed_types(s, a, b);
        }
    }
    return kind_of_type(seen, ret);
}

int kc__strategic_kind_of(kc__strategic_patcher *s, const kc_node *nodes, const kc_value *values,
                          kc__strategic_kind *ret)
{
    kc_json_type seen = KC_JSON_ABSENT;
    int failed = 0;
    kc_node_each_item (nodes, node)
        if ((failed = add_type(s, &seen, kc_node_type(node))))
            break;
    kc_value_each_item (values, value)
        if (failed || (failed = add_type(s, &seen, kc_value_type(value))))
            break;
    if (failed > 0) {
        kc_auto(kc_view) *view = kc__patch_node_view(nodes);
        return mixed_types(s, kc_view_root(view), values);
    }
    return failed < 0 ? failed : kind_of_type(seen, ret);
}

/* The key of a scalar. */
static kc_str key_of_scalar(kc__strategic_patcher *s, const kc_value *value)
{
    static const char letters[] = {[KC_JSON_NULL] = '0',
                                   [KC_JSON_BOOL] = 'b',
                                   [KC_JSON_INT] = 'n',
                                   [KC_JSON_FLOAT] = 'n',
                                   [KC_JSON_STRING] = 's'};
    kc_json_type type = kc_value_type(value);
    kc_scoped(kc_buf) number = {0};
    kc_str text = kc_value_as_str(value);
    if (type != KC_JSON_STRING) {
        kc_json_write(&number, value);
        text = kc_buf_str(&number);
    }
    char *key = kc_arena_alloc(&s->scratch, text.n + 1);
    key[0] = letters[type];
    if (text.n)
        memcpy(key + 1, text.p, text.n);
    return kc_str_of(key, text.n + 1);
}

static int no_scalar(kc__strategic_patcher *s, kc_json_type type)
{
    return kc_error_set(s->err, KC_BAD_REQUEST, "a value of type %s cannot identify a list element",
                        kc_json_type_name(type));
}

int kc__strategic_key(kc__strategic_patcher *s, const kc_value *element, kc_str merge_key,
                      kc_str *ret)
{
    const kc_value *value = element;
    if (merge_key.n) {
        if (kc_value_type(element) != KC_JSON_OBJECT)
            return kc__strategic_bad_type(s, KC_JSON_OBJECT, kc_value_type(element));
        value = kc_value_get_str(element, merge_key);
        if (!value)
            return kc__strategic_no_merge_key(s, element, merge_key);
    }
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_OBJECT || type == KC_JSON_ARRAY)
        return no_scalar(s, type);
    *ret = key_of_scalar(s, value);
    return 0;
}

int kc__strategic_key_of_node(kc__strategic_patcher *s, const kc_node *element, kc_str merge_key,
                              kc_str *ret)
{
    const kc_node *value = element;
    if (merge_key.n) {
        if (kc_node_type(element) != KC_JSON_OBJECT)
            return kc__strategic_bad_type(s, KC_JSON_OBJECT, kc_node_type(element));
        value = kc_node_get(element, merge_key);
        if (!value) {
            kc_auto(kc_view) *view = kc__patch_node_view(element);
            return kc__strategic_no_merge_key(s, kc_view_root(view), merge_key);
        }
    }
    kc_json_type type = kc_node_type(value);
    if (type == KC_JSON_OBJECT || type == KC_JSON_ARRAY)
        return no_scalar(s, type);
    *ret = key_of_scalar(s, kc__patch_node_as_value(value));
    return 0;
}

int kc__strategic_keys(kc__strategic_patcher *s, const kc_value *list, kc_str merge_key,
                       kc__strategic_key_vec *ret)
{
    kc_value_each_item (list, element) {
        int failed = kc__strategic_key(s, element, merge_key, kc_vec_add(ret));
        if (failed < 0)
            return failed;
    }
    return 0;
}

int kc__strategic_keys_of_nodes(kc__strategic_patcher *s, const kc__patch_node_vec *nodes,
                                kc_str merge_key, kc__strategic_key_vec *ret)
{
    kc_vec_each (nodes, node) {
        int failed = kc__strategic_key_of_node(s, *node, merge_key, kc_vec_add(ret));
        if (failed < 0)
            return failed;
    }
    return 0;
}

kc__strategic_ranks kc__strategic_ranks_of(const kc__strategic_key_vec *keys)
{
    kc__strategic_ranks ranks = {0};
    if (keys->n <= FEW) {
        ranks.few.items = keys->items;
        ranks.few.n = keys->n;
        return ranks;
    }
    for (size_t i = keys->n; i > 0; i--)
        kc_map_put(&ranks.many, keys->items[i - 1], (void *)(uintptr_t)i);
    return ranks;
}

size_t kc__strategic_rank(const kc__strategic_ranks *ranks, kc_str key)
{
    for (size_t i = 0; i < ranks->few.n; i++)
        if (kc_str_eq(ranks->few.items[i], key))
            return i;
    uintptr_t found = (uintptr_t)kc_map_get(&ranks->many, key);
    return found ? found - 1 : KC__STRATEGIC_NO_RANK;
}

void kc__strategic_ranks_done(kc__strategic_ranks *ranks)
{
    kc_map_done(&ranks->many);
}
