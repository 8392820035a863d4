/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_apply.c: merges a strategic merge patch into an object.
 *
 *     object    {"spec": {"replicas": 1, "paused": true, "ports": [{"port": 80}]}}
 *     patch     {"spec": {"replicas": 2, "paused": null, "ports": [{"port": 443}]}}
 *     result    {"spec": {"replicas": 2, "ports": [{"port": 443}, {"port": 80}]}}
 *
 * One object is merged in five steps:
 *
 *   1. "$patch" overrides the rest: replace yields the patch without it, delete yields {};
 *   2. "$retainKeys" removes the members that it does not list;
 *   3. "$setElementOrder/…" lists are merged and ordered (strategic_order.c);
 *   4. every other member is removed (null), merged (both are objects, or both are lists that the
 *      schema merges), or replaced;
 *   5. "$deleteFromPrimitiveList/…" values are removed from their lists.
 *
 * The same code merges one patch into another, for three-way patches: directives are then copied
 * instead of executed, and null stays.
 *
 * The patch is read-only; parts of it are copied once, into the edit.
 */
#include "object/patch/strategic_internal.h"

bool kc__strategic_knows(kc__strategic_patcher *s, const void *node, kc_str name,
                         kc_patch_field *ret)
{
    *ret = (kc_patch_field){0};
    return node && s->schema->field(node, name, ret);
}

int kc__strategic_field(kc__strategic_patcher *s, const void *node, kc_str name,
                        kc_patch_field *ret)
{
    if (kc__strategic_knows(s, node, name, ret))
        return 0;
    return kc_error_set(s->err, KC_BAD_REQUEST, "unable to find api field \"%.*s\"", KC_ARG(name));
}

bool kc__strategic_directive_field(kc_str directive, const char *prefix, kc_str *ret)
{
    kc_str rest = directive;
    kc_str before = kc_str_cut(&rest, '/');
    if (!rest.p || !kc_str_is(before, prefix))
        return false;
    *ret = rest;
    return true;
}

kc_node *kc__strategic_adopt(kc__strategic_patcher *s, const kc_value *value)
{
    kc_json_type type = kc_value_type(value);
    if (type != KC_JSON_OBJECT && type != KC_JSON_ARRAY)
        return kc_node_from_value(s->edit, value);
    kc_node *copy = type == KC_JSON_ARRAY ? kc_node_array(s->edit) : kc_node_object(s->edit);
    kc_value_each_item (value, item) {
        kc_node *kept = kc__strategic_adopt(s, item);
        if (kept)
            kc_node_append(copy, kept);
    }
    kc_value_each_member (value, name, member) {
        if (kc_str_is(name, KC__STRATEGIC_PATCH))
            return NULL;
        bool dropped = kc_value_type(member) == KC_JSON_NULL && !s->of_patches;
        kc_node *kept = dropped ? NULL : kc__strategic_adopt(s, member);
        if (kept)
            kc_node_add(s->edit, copy, name, kept);
    }
    return copy;
}

/* Step 1: the result for an object whose patch has "$patch". */
static kc_node *strategic_apply_execute(kc__strategic_patcher *s, const kc_value *patch,
                                        const kc_value *directive)
{
    kc_str what = kc_value_as_str(directive);
    if (kc_str_is(what, "delete"))
        return kc_node_object(s->edit);
    if (kc_str_is(what, "replace")) {
        kc_node *copy = kc_node_from_value(s->edit, patch);
        kc_node_remove(copy, KC_STR(KC__STRATEGIC_PATCH));
        return copy;
    }
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) type = {0};
    kc__go_text(&text, patch);
    kc__go_text(&type, directive);
    kc_error_set(s->err, KC_BAD_REQUEST, "unknown patch type: %s in map: %s", kc_buf_cstr(&type),
                 kc_buf_cstr(&text));
    return NULL;
}

/* Step 2. */

static bool is_parallel_list(kc_str name)
{
    return kc_str_starts(name, KC_STR(KC__STRATEGIC_DELETE_VALUES)) ||
           kc_str_starts(name, KC_STR(KC__STRATEGIC_SET_ORDER));
}

/* Every member that the patch sets must be among the retained ones. */
static int check_retained(kc__strategic_patcher *s, const kc_value *patch, const kc_map *retained)
{
    kc_value_each_member (patch, name, value)
        if (kc_value_type(value) != KC_JSON_NULL && !kc_str_is(name, KC__STRATEGIC_RETAIN_KEYS) &&
            !is_parallel_list(name) && !kc_map_get(retained, name))
            return kc__strategic_bad_format(s, "retainKeys");
    return 0;
}

static void remove_others(kc_node *object, const kc_map *retained)
{
    yyjson_mut_obj_iter iter = yyjson_mut_obj_iter_with(object);
    for (kc_node *key; (key = yyjson_mut_obj_iter_next(&iter));)
        if (!kc_map_get(retained, kc_node_as_str(key)))
            yyjson_mut_obj_iter_remove(&iter);
}

/* When patches are merged, both must retain the same keys. */
static int keep_retain_keys(kc__strategic_patcher *s, kc_node *old, const kc_value *keys)
{
    const kc_node *earlier = kc_node_get(old, KC_STR(KC__STRATEGIC_RETAIN_KEYS));
    if (!earlier) {
        kc_node_add(s->edit, old, KC_STR(KC__STRATEGIC_RETAIN_KEYS),
                    kc_node_from_value(s->edit, keys));
        return 0;
    }
    if (kc__patch_node_equals(earlier, keys))
        return 0;
    kc_scoped(kc_buf) a = {0};
    kc_scoped(kc_buf) b = {0};
    kc__go_text_node(&a, earlier);
    kc__go_text(&b, keys);
    return kc_error_set(s->err, KC_BAD_REQUEST,
                        "%s and %s are not deep equal: this may happen when calculating the 3-way "
                        "diff patch",
                        kc_buf_cstr(&a), kc_buf_cstr(&b));
}

static int retain_keys(kc__strategic_patcher *s, kc_node *old, const kc_value *patch)
{
    const kc_value *keys = kc_value_get(patch, KC__STRATEGIC_RETAIN_KEYS);
    kc_scoped(kc_map) retained = {0};
    if (!keys)
        return 0;
    if (s->of_patches)
        return keep_retain_keys(s, old, keys);
    if (kc_value_type(keys) != KC_JSON_ARRAY)
        return kc__strategic_bad_format(s, "retainKeys");
    kc_value_each_item (keys, key)
        if (kc_value_type(key) == KC_JSON_STRING)
            kc_map_put(&retained, kc_value_as_str(key), (void *)key);
    int failed = check_retained(s, patch, &retained);
    if (failed == 0)
        remove_others(old, &retained);
    return failed;
}

/* Step 4. */

/* The merged value of a member that is an object on both sides or a list on both sides. */
static kc_node *merge_containers(kc__strategic_patcher *s, kc_node *old, const kc_value *value,
                                 kc_str name, const void *node)
{
    kc_patch_field field;
    if (kc__strategic_field(s, node, name, &field) < 0)
        return NULL;
    if (kc_value_type(value) == KC_JSON_ARRAY)
        return kc__strategic_list(s, old, value, name, &field, NULL);
    if (field.replace)
        return kc_node_from_value(s->edit, value);
    return kc__strategic_object(s, old, value, field.object);
}

static int merge_member(kc__strategic_patcher *s, kc__node_fields *fields, kc_str name,
                        const kc_value *value, const void *node)
{
    kc_json_type type = kc_value_type(value);
    kc_node *old = kc__node_fields_get(fields, name), *new;
    if (type == KC_JSON_NULL && !s->of_patches) {
        new = NULL;
    } else if ((type == KC_JSON_OBJECT || type == KC_JSON_ARRAY) && kc_node_type(old) == type) {
        new = merge_containers(s, old, value, name, node);
        if (!new)
            return kc_error_result(s->err);
    } else {
        new = kc__strategic_adopt(s, value);
    }
    if (new && new != old)
        kc__node_fields_set(fields, name, new);
    else if (!new && old)
        kc__node_fields_remove(fields, name);
    return 0;
}

/* True when step 3 has merged this member. */
static bool is_ordered(kc__value_members *in_patch, kc_str name)
{
    kc_scoped(kc_buf) directive = {0};
    kc_buf_puts(&directive, KC__STRATEGIC_SET_ORDER "/");
    kc_buf_append(&directive, name);
    return kc__value_members_find(in_patch, kc_buf_str(&directive));
}

static int merge_members(kc__strategic_patcher *s, kc__node_fields *fields, const kc_value *patch,
                         kc__value_members *in_patch, bool any_ordered, const void *node)
{
    kc_value_each_member (patch, name, value) {
        if (kc_str_is(name, KC__STRATEGIC_RETAIN_KEYS) || is_parallel_list(name) ||
            (any_ordered && is_ordered(in_patch, name)))
            continue;
        int failed = merge_member(s, fields, name, value, node);
        if (failed < 0)
            return failed;
    }
    return 0;
}

/* Step 5. */

static int delete_values(kc__strategic_patcher *s, kc__node_fields *fields, kc_str directive,
                         const kc_value *values)
{
    kc_str name;
    if (s->of_patches) {
        kc__node_fields_set(fields, directive, kc_node_from_value(s->edit, values));
        return 0;
    }
    if (!kc__strategic_directive_field(directive, KC__STRATEGIC_DELETE_VALUES, &name) ||
        kc_value_type(values) != KC_JSON_ARRAY)
        return kc__strategic_bad_format(s, "primitive list");
    kc_node *list = kc__node_fields_get(fields, name);
    return kc_node_type(list) == KC_JSON_ARRAY ? kc__strategic_delete_values(s, list, values) : 0;
}

static int delete_all_values(kc__strategic_patcher *s, kc__node_fields *fields,
                             const kc_value *patch)
{
    kc_value_each_member (patch, name, value) {
        if (!kc_str_starts(name, KC_STR(KC__STRATEGIC_DELETE_VALUES)))
            continue;
        int failed = delete_values(s, fields, name, value);
        if (failed < 0)
            return failed;
    }
    return 0;
}

kc_node *kc__strategic_object(kc__strategic_patcher *s, kc_node *old, const kc_value *patch,
                              const void *node)
{
    const kc_value *directive = kc_value_get(patch, KC__STRATEGIC_PATCH);
    if (directive)
        return strategic_apply_execute(s, patch, directive);
    if (retain_keys(s, old, patch) < 0)
        return NULL;
    kc__node_fields fields = kc__node_fields_of(s->edit, old);
    kc__value_members in_patch = {.object = patch};
    bool any_ordered = false;
    int failed = kc__strategic_set_orders(s, &fields, patch, &in_patch, node, &any_ordered);
    if (failed == 0)
        failed = merge_members(s, &fields, patch, &in_patch, any_ordered, node);
    if (failed == 0)
        failed = delete_all_values(s, &fields, patch);
    kc__value_members_done(&in_patch);
    kc__node_fields_done(&fields);
    return failed < 0 ? NULL : old;
}

int kc_strategic_patch_apply(kc_edit *edit, const kc_value *patch, const kc_patch_schema *schema,
                             kc_error *err)
{
    kc__strategic_patcher s = {.edit = edit, .schema = schema, .err = err};
    kc_node *root = kc_edit_root(edit);
    if (kc_node_type(root) != KC_JSON_OBJECT || kc_value_type(patch) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "invalid JSON document");
    kc_scoped(kc_error) why = {0};
    s.err = &why;
    root = kc__strategic_object(&s, root, patch, schema->root);
    kc_arena_done(&s.scratch);
    if (!root)
        return kc_error_move(err, &why);
    kc_edit_set_root(edit, root);
    return 0;
}
