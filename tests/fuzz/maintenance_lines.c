/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused with the number of a line, or is a sequence of objects; an object that has a
 * key is refused or has the same key in its stored form.
 */
#include "fuzzing.h"

#include "apiserver/maintenance/lines.h"
#include "apiserver/maintenance/stored_kinds.h"

static void check_object(kc__maintenance_kinds *kinds, const kc_object *object)
{
    kc_scoped(kc_buf) key = {0};
    const kc__maintenance_kind *kind = NULL;
    if (kc__maintenance_key_of(kinds, object, &key, &kind, NULL) < 0)
        return;
    assert(kc_str_starts(kc_buf_str(&key), kind->prefix));
    kc_auto(kc_object) *stored = kc__maintenance_stored_form(kind, object, NULL);
    if (!stored)
        return;
    assert(kc__maintenance_check_object(kinds, kc_buf_str(&key), stored, NULL) == 0);
    if (kind->is_definition)
        (void)kc__maintenance_kinds_add(kinds, stored, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    bool end = false;
    FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!in)
        return 0;
    kc_scoped(kc__maintenance_lines) lines = {.in = in};
    kc_scoped(kc__maintenance_kinds) kinds;
    kc__maintenance_kinds_init(&kinds);
    for (;;) {
        kc_auto(kc_object) *object = kc__maintenance_lines_next(&lines, &end, &err);
        if (!object)
            break;
        check_object(&kinds, object);
    }
    assert(end == !err.reason);
    fclose(in);
    return 0;
}
