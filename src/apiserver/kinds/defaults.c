/* SPDX-License-Identifier: Apache-2.0 */
/*
 * defaults.c: the walk that sets defaults. No state, any thread; time is linear in the object.
 *
 * Default values are scalars or {}, so they need no parser. The position of an added field does not
 * matter: the caller gives the object its type again, which sorts the fields.
 */
#include "apiserver/kinds/defaults.h"

static kc_node *scalar(kc_edit *edit, const char *json)
{
    size_t n = strlen(json);
    switch (*json) {
    case '"': return kc_node_str(edit, kc_str_of(json + 1, n - 2));
    case '{': return kc_node_object(edit);
    case 't': return kc_node_bool(edit, true);
    case 'f': return kc_node_bool(edit, false);
    default: return kc_node_i64(edit, strtoll(json, NULL, 10));
    }
}

static bool is_absent(const kc_node *node)
{
    return !node || kc_node_type(node) == KC_JSON_NULL;
}

bool kc__defaults_node_absent(const kc_node *object, const char *name)
{
    return is_absent(kc_node_get(object, kc_cstr(name)));
}

kc_str kc__defaults_node_text(const kc_node *object, const char *name)
{
    return kc_node_as_str(kc_node_get(object, kc_cstr(name)));
}

kc_node *kc__defaults_set(kc_edit *edit, kc_node *object, const char *name, const char *json)
{
    kc_node *there = kc_node_get(object, kc_cstr(name));
    if (!is_absent(there))
        return there;
    kc_node *value = scalar(edit, json);
    kc_node_set(edit, object, kc_cstr(name), value);
    return value;
}

static void apply_below(const kc__defaults *defaults, kc_edit *edit, kc_node *node)
{
    if (kc_node_type(node) == KC_JSON_OBJECT) {
        kc__defaults_apply(defaults, edit, node);
        return;
    }
    kc_node_each_item (node, item)
        kc__defaults_apply(defaults, edit, item);
}

void kc__defaults_apply(const kc__defaults *defaults, kc_edit *edit, kc_node *object)
{
    if (kc_node_type(object) != KC_JSON_OBJECT)
        return;
    if (defaults->code)
        defaults->code(edit, object);
    for (size_t i = 0; i < defaults->n; i++) {
        const kc__defaults_entry *line = &defaults->list[i];
        kc_node *value = line->json ? kc__defaults_set(edit, object, line->field, line->json)
                                    : kc_node_get(object, kc_cstr(line->field));
        if (line->of)
            apply_below(line->of, edit, value);
    }
}
