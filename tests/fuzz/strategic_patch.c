/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_patch.c: fuzzes strategic merge patches. The input is up to three documents, one a
 * line. The schema depends on the first letter of a field's name, so that any document has one.
 *
 * Properties: the result of a patch can be written and parsed again; a patch created from two
 * documents that a patch can distinguish (no nulls, no directives, no duplicate key in a list, a
 * matching schema) turns the first into the second, and so does a three-way patch without other
 * changes.
 */
#include "fuzzing.h"

#include "kc/json_patch.h"
#include "kc/strategic_patch.h"

static bool field(const void *node, kc_str name, kc_patch_field *ret)
{
    char letter = name.n ? name.p[0] : ' ';
    ret->object = ret->element = node;
    ret->merge = letter == 'm' || letter == 'v' || letter == 'q';
    ret->merge_key = letter == 'm' || letter == 'q' ? KC_STR("n") : (kc_str){0};
    ret->replace = letter == 'r';
    ret->retain_keys = letter == 'k' || letter == 'q';
    return letter != 'u';
}

static const kc_patch_schema schema = {field, &schema};

static bool equal(const kc_value *a, const kc_value *b)
{
    kc_auto(kc_edit) *difference = kc_json_patch_make(a, b);
    return kc_node_len(kc_edit_root(difference)) == 0;
}

/* The value that an element is known by, whatever the list's strategy; NULL when there is none. */
static const kc_value *key_of(const kc_value *element)
{
    const kc_value *key =
        kc_value_type(element) == KC_JSON_OBJECT ? kc_value_get(element, "n") : element;
    return kc_value_type(key) < KC_JSON_ARRAY ? key : NULL;
}

/* Elements of one type, each with a key of its own. (Floats count as another type: it is enough.)
 */
static bool can_be_merged(const kc_value *list)
{
    for (size_t i = 0; i < kc_value_len(list); i++) {
        const kc_value *element = kc_value_at(list, i), *key = key_of(element);
        if (!key || kc_value_type(element) != kc_value_type(kc_value_at(list, 0)) || i > 100)
            return false;
        for (size_t j = 0; j < i; j++)
            if (equal(key, key_of(kc_value_at(list, j))))
                return false;
    }
    return true;
}

/* Objects in a list that is merged, but has no merge key: the schema does not fit the document. */
static bool lacks_merge_key(kc_str name, const kc_value *list)
{
    kc_patch_field of = {0};
    return field(&schema, name, &of) && of.merge && !of.merge_key.n &&
           kc_value_type(kc_value_at(list, 0)) == KC_JSON_OBJECT;
}

static bool is_plain(const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_NULL ||
        (kc_value_type(value) == KC_JSON_ARRAY && !can_be_merged(value)))
        return false;
    kc_value_each_item (value, item)
        if (!is_plain(item))
            return false;
    kc_value_each_member (value, name, member)
        if ((name.n && name.p[0] == '$') || lacks_merge_key(name, member) || !is_plain(member))
            return false;
    return true;
}

/* The document with a patch applied; NULL when that fails. */
static kc_view *applied(const kc_value *document, const kc_value *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_edit) *edit = kc_edit_of_value(document);
    int failed = kc_strategic_patch_apply(edit, patch, &schema, &err);
    assert(failed == -(int)err.reason);
    kc_view *view = kc_edit_view(edit, NULL);
    assert(view);
    return failed ? kc_view_free(view) : view;
}

static void check_made(kc_edit *made, const kc_value *from, const kc_value *to)
{
    kc_auto(kc_edit) *edit = made;
    if (!edit || !is_plain(from) || !is_plain(to))
        return;
    kc_auto(kc_view) *patch = kc_edit_view(edit, NULL);
    kc_auto(kc_view) *result = applied(from, kc_view_root(patch));
    assert(result && equal(kc_view_root(result), to));
}

static void make3(const kc_value *original, const kc_value *modified, const kc_value *current)
{
    kc_scoped(kc_error) err = {0};
    kc_strategic_patch_opts opts = {.refuse_conflicts = true};
    kc_auto(kc_edit) *made =
        kc_strategic_patch_make3(original, modified, current, &schema, NULL, &err);
    assert(!made == !!err.reason);
    kc_auto(kc_edit) *careful =
        kc_strategic_patch_make3(original, modified, current, &schema, &opts, &err);
    assert(!careful == !!err.reason);
    if (!made)
        return;
    kc_auto(kc_view) *patch = kc_edit_view(made, NULL);
    kc_view_free(applied(current, kc_view_root(patch)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    kc_auto(kc_view) *first = kc_view_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
    kc_auto(kc_view) *second = kc_view_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
    if (!first || !second)
        return 0;
    const kc_value *a = kc_view_root(first), *b = kc_view_root(second);
    kc_view_free(applied(a, b));
    check_made(kc_strategic_patch_make(a, b, &schema, NULL, NULL), a, b);
    check_made(kc_strategic_patch_make3(a, b, a, &schema, NULL, NULL), a, b);
    kc_auto(kc_view) *third = kc_view_parse(rest, NULL, NULL);
    if (third)
        make3(a, b, kc_view_root(third));
    return 0;
}
