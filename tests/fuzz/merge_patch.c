/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch.c: fuzzes JSON merge patches. The input is up to three documents, one a line.
 *
 * Properties: applying a patch a third time changes nothing; a patch created from two documents
 * without null turns the first into the second, and so does a three-way patch without other
 * changes.
 */
#include "fuzzing.h"

#include "kc/json_patch.h"
#include "kc/merge_patch.h"

static bool has_null(const kc_value *value)
{
    kc_value_each_item (value, item)
        if (has_null(item))
            return true;
    kc_value_each_member (value, name, member) {
        (void)name;
        if (has_null(member))
            return true;
    }
    return kc_value_type(value) == KC_JSON_NULL;
}

static bool equal(const kc_value *a, const kc_value *b)
{
    kc_auto(kc_edit) *difference = kc_json_patch_make(a, b);
    return kc_node_len(kc_edit_root(difference)) == 0;
}

/* The document after the patch was applied a number of times. */
static kc_view *applied(const kc_value *document, const kc_value *patch, int times)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(document);
    for (int i = 0; i < times; i++)
        kc_merge_patch_apply(edit, patch);
    kc_view *view = kc_edit_view(edit, NULL);
    assert(view);
    return view;
}

static void apply(const kc_value *document, const kc_value *patch)
{
    kc_auto(kc_view) *twice = applied(document, patch, 2), *thrice = applied(document, patch, 3);
    assert(equal(kc_view_root(twice), kc_view_root(thrice)));
}

static void check_made(kc_edit *made, const kc_value *from, const kc_value *to)
{
    kc_auto(kc_edit) *edit = made;
    if (!edit)
        return;
    kc_auto(kc_view) *patch = kc_edit_view(edit, NULL);
    kc_auto(kc_view) *result = applied(from, kc_view_root(patch), 1);
    if (!has_null(to))
        assert(equal(kc_view_root(result), to));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    kc_auto(kc_view) *first = kc_view_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
    kc_auto(kc_view) *second = kc_view_parse(kc_str_cut(&rest, '\n'), NULL, NULL);
    if (!first || !second)
        return 0;
    const kc_value *a = kc_view_root(first), *b = kc_view_root(second);
    apply(a, b);
    check_made(kc_merge_patch_make(a, b, NULL, NULL), a, b);
    check_made(kc_merge_patch_make3(a, b, a, NULL, NULL), a, b);
    kc_auto(kc_view) *third = kc_view_parse(rest, NULL, NULL);
    if (third) {
        kc_merge_patch_opts opts = {.unchanged = KC_UNCHANGED_IDENTITY};
        kc_edit_free(kc_merge_patch_make3(a, b, kc_view_root(third), &opts, NULL));
    }
    return 0;
}
