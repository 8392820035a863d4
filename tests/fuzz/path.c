/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An accepted path must parse from its canonical text as the same path, and a value set with it
 * must be found with it.
 */
#include "fuzzing.h"

#include "kc/path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_path) *path = kc_path_parse(kc_str_of((const char *)data, size), &err);
    if (!path) {
        assert(err.reason == KC_BAD_REQUEST);
        return 0;
    }
    kc_auto(kc_path) *again = kc_path_parse(kc_path_text(path), NULL);
    assert(again && kc_str_eq(kc_path_text(again), kc_path_text(path)));

    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *value = kc_node_i64(edit, 1);
    if (kc_path_set(path, edit, value, &(kc_path_set_opts){.create = true}, NULL) == 0) {
        assert(kc_path_find(path, kc_edit_root(edit)) == value);
        assert(kc_path_remove(path, edit));
        assert(!kc_path_find(path, kc_edit_root(edit)));
    }
    return 0;
}
