/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch.c: fuzzes JSON patches. The input is a document on the first line and, after it, a
 * patch, which also serves as a second document.
 *
 * Properties: the result of a patch can be written and parsed again; a patch created from two
 * documents turns the first into the second.
 */
#include "fuzzing.h"

#include "kc/json_patch.h"

static kc_view *parse(kc_str text)
{
    return kc_view_parse(text, NULL, NULL);
}

static void apply(const kc_value *document, kc_str text)
{
    kc_scoped(kc_error) err = {0};
    kc_json_patch_opts opts = {.max_copy_bytes = 1 << 16};
    kc_auto(kc_json_patch) *patch = kc_json_patch_parse(text, &opts, &err);
    assert(!patch == !!err.reason);
    if (!patch)
        return;
    kc_auto(kc_edit) *edit = kc_edit_of_value(document);
    int failed = kc_json_patch_apply(patch, edit, &err);
    assert(failed == -(int)err.reason);
    kc_auto(kc_view) *after = kc_edit_view(edit, NULL);
    assert(after);
}

static void make(const kc_value *from, const kc_value *to)
{
    kc_auto(kc_edit) *made = kc_json_patch_make(from, to);
    kc_auto(kc_view) *ops = kc_edit_view(made, NULL);
    if (!ops) /* A value as deep as can be is too deep in an operation. */
        return;
    kc_auto(kc_json_patch) *patch =
        kc_json_patch_of(kc_view_root(ops), &(kc_json_patch_opts){.max_operations = 1 << 20}, NULL);
    assert(patch);
    kc_auto(kc_edit) *edit = kc_edit_of_value(from);
    assert(kc_json_patch_apply(patch, edit, NULL) == 0);
    kc_auto(kc_view) *result = kc_edit_view(edit, NULL);
    kc_auto(kc_edit) *rest = kc_json_patch_make(kc_view_root(result), to);
    assert(kc_node_len(kc_edit_root(rest)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = kc_str_of((const char *)data, size);
    kc_str first = kc_str_cut(&rest, '\n');
    kc_auto(kc_view) *document = parse(first);
    if (!document || !rest.p)
        return 0;
    apply(kc_view_root(document), rest);
    kc_auto(kc_view) *other = parse(rest);
    if (other)
        make(kc_view_root(document), kc_view_root(other));
    return 0;
}
