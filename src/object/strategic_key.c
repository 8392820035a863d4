/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_key.c: what makes two elements of a list the same, and fast ways to ask.
 *
 * A list of objects is merged by the value of one member, its merge key; a list of plain values by
 * the values. Both come down to a key, a short text made once for each element:
 *
 *     {"name": "web", …}    merged by name    "sweb"
 *     8080                                    "n8080"
 *     "8080"                                  "s8080"
 *
 * so that merging, ordering and comparing lists only handle keys, and long lists are indexed by
 * them. Numbers that are equal have equal keys.
 */
#include "object/strategic_internal.h"

enum { FEW = 8 };

int kc__smp_bad_type(kc__smp *s, kc_type wanted, kc_type got)
{
    bool none = got == KC_NULL || got == KC_ABSENT;
    return kc_error_set(s->err, KC_BAD_REQUEST, "expected a %s, but received a %s",
                        kc__go_type(wanted), none ? "%!s(<nil>)" : kc__go_type(got));
}

int kc__smp_no_merge_key(kc__smp *s, const kc_value *element, kc_str merge_key)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_text(&text, element);
    return kc_error_set(s->err, KC_BAD_REQUEST, "map: %s does not contain declared merge key: %.*s",
                        kc_buf_cstr(&text), KC_ARG(merge_key));
}

int kc__smp_bad_format(kc__smp *s, const char *of_what)
{
    return kc_error_set(s->err, KC_BAD_REQUEST, "invalid patch format of %s", of_what);
}

/* Types of elements that may stand in one list. */
static kc_type type_group(kc_type type)
{
    return type == KC_FLOAT ? KC_INT : type;
}

static int mixed_types(kc__smp *s, const kc_value *a, const kc_value *b)
{
    kc_scoped(kc_buf) text = {0};
    kc__go_text(&text, a);
    kc_buf_putc(&text, ' ');
    kc__go_text(&text, b);
    return kc_error_set(s->err, KC_BAD_REQUEST, "list element types are not identical: [%s]",
                        kc_buf_cstr(&text));
}

/* One more element: 0, negative when there may be none of its type, 1 when the types differ. */
static int add_type(kc__smp *s, kc_type *seen, kc_type type)
{
    if (*seen != KC_ABSENT)
        return *seen != type_group(type);
    *seen = type_group(type);
    if (type == KC_ARRAY)
        return kc_error_set(s->err, KC_INVALID, "lists of lists are not supported");
    return 0;
}

static int kind_of_type(kc_type seen, kc__smp_kind *ret)
{
    *ret = seen == KC_ABSENT ? KC__NO_ELEMENTS : seen == KC_OBJECT ? KC__OBJECTS : KC__VALUES;
    return 0;
}

int kc__smp_kind_of_values(kc__smp *s, const kc_value *a, const kc_value *b, kc__smp_kind *ret)
{
    kc_type seen = KC_ABSENT;
    const kc_value *lists[] = {a, b};
    for (size_t i = 0; i < KC_COUNT(lists); i++) {
        kc_items (lists[i], item) {
            int failed = add_type(s, &seen, kc_type_of(item));
            if (failed)
                return failed < 0 ? failed : mixed_types(s, a, b);
        }
    }
    return kind_of_type(seen, ret);
}

int kc__smp_kind_of(kc__smp *s, const kc_node *nodes, const kc_value *values, kc__smp_kind *ret)
{
    kc_type seen = KC_ABSENT;
    int failed = 0;
    kc_node_items (nodes, node)
        if ((failed = add_type(s, &seen, kc_node_type(node))))
            break;
    kc_items (values, value)
        if (failed || (failed = add_type(s, &seen, kc_type_of(value))))
            break;
    if (failed > 0) {
        kc_auto(kc_view) *view = kc__view_of_node(nodes);
        return mixed_types(s, kc_view_root(view), values);
    }
    return failed < 0 ? failed : kind_of_type(seen, ret);
}

/* The key of a value that is no container. */
static kc_str key_of_scalar(kc__smp *s, const kc_value *value)
{
    static const char letters[] = {
        [KC_NULL] = '0', [KC_BOOL] = 'b', [KC_INT] = 'n', [KC_FLOAT] = 'n', [KC_STRING] = 's'};
    kc_type type = kc_type_of(value);
    kc_scoped(kc_buf) number = {0};
    kc_str text = kc_as_str(value);
    if (type != KC_STRING) {
        kc_json_write(&number, value);
        text = kc_buf_str(&number);
    }
    char *key = kc_arena_alloc(&s->scratch, text.n + 1);
    key[0] = letters[type];
    if (text.n)
        memcpy(key + 1, text.p, text.n);
    return kc_str_of(key, text.n + 1);
}

static int no_scalar(kc__smp *s, kc_type type)
{
    return kc_error_set(s->err, KC_BAD_REQUEST,
                        "elements of a list cannot be told apart by a value of type %s",
                        kc_type_name(type));
}

int kc__smp_key(kc__smp *s, const kc_value *element, kc_str merge_key, kc_str *ret)
{
    const kc_value *value = element;
    if (merge_key.n) {
        if (kc_type_of(element) != KC_OBJECT)
            return kc__smp_bad_type(s, KC_OBJECT, kc_type_of(element));
        value = kc_get_str(element, merge_key);
        if (!value)
            return kc__smp_no_merge_key(s, element, merge_key);
    }
    kc_type type = kc_type_of(value);
    if (type == KC_OBJECT || type == KC_ARRAY)
        return no_scalar(s, type);
    *ret = key_of_scalar(s, value);
    return 0;
}

int kc__smp_key_of_node(kc__smp *s, const kc_node *element, kc_str merge_key, kc_str *ret)
{
    const kc_node *value = element;
    if (merge_key.n) {
        if (kc_node_type(element) != KC_OBJECT)
            return kc__smp_bad_type(s, KC_OBJECT, kc_node_type(element));
        value = kc_node_get(element, merge_key);
        if (!value) {
            kc_auto(kc_view) *view = kc__view_of_node(element);
            return kc__smp_no_merge_key(s, kc_view_root(view), merge_key);
        }
    }
    kc_type type = kc_node_type(value);
    if (type == KC_OBJECT || type == KC_ARRAY)
        return no_scalar(s, type);
    *ret = key_of_scalar(s, kc__scalar(value));
    return 0;
}

int kc__smp_keys(kc__smp *s, const kc_value *list, kc_str merge_key, kc__keys *ret)
{
    kc_items (list, element) {
        int failed = kc__smp_key(s, element, merge_key, kc_vec_add(ret));
        if (failed < 0)
            return failed;
    }
    return 0;
}

int kc__smp_keys_of_nodes(kc__smp *s, const kc__nodes *nodes, kc_str merge_key, kc__keys *ret)
{
    kc_vec_each (nodes, node) {
        int failed = kc__smp_key_of_node(s, *node, merge_key, kc_vec_add(ret));
        if (failed < 0)
            return failed;
    }
    return 0;
}

kc__ranks kc__ranks_of(const kc__keys *keys)
{
    kc__ranks ranks = {0};
    if (keys->n <= FEW) {
        ranks.few.items = keys->items;
        ranks.few.n = keys->n;
        return ranks;
    }
    for (size_t i = keys->n; i > 0; i--)
        kc_map_put(&ranks.many, keys->items[i - 1], (void *)(uintptr_t)i);
    return ranks;
}

size_t kc__rank(const kc__ranks *ranks, kc_str key)
{
    for (size_t i = 0; i < ranks->few.n; i++)
        if (kc_str_eq(ranks->few.items[i], key))
            return i;
    uintptr_t found = (uintptr_t)kc_map_get(&ranks->many, key);
    return found ? found - 1 : KC__NO_RANK;
}

void kc__ranks_done(kc__ranks *ranks)
{
    kc_map_done(&ranks->many);
}
