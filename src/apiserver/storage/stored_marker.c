/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_marker.c: encodes and decodes the marker of an incomplete store: three lines, the last of
 * which is the rest of the value. Pure functions.
 */
#include "apiserver/storage/stored_marker.h"

bool kc__storage_marker_is_key(kc_str key)
{
    return kc_str_is(key, KC__STORAGE_MARKER_KEY);
}

void kc__storage_marker_write(kc_buf *out, const kc__storage_marker *marker)
{
    kc_buf_printf(out, "%.*s\n%llu\n", KC_ARG(marker->operation),
                  (unsigned long long)marker->revision);
    kc_buf_append(out, marker->after);
}

bool kc__storage_marker_read(kc_str value, kc__storage_marker *ret_marker)
{
    kc_str rest = value;
    kc__storage_marker marker = {.operation = kc_str_cut(&rest, '\n')};
    const kc_str number = kc_str_cut(&rest, '\n');
    marker.after = rest;
    if (!marker.operation.n || !kc_str_to_u64(number, &marker.revision) || !rest.p)
        return false;
    *ret_marker = marker;
    return true;
}

int kc__storage_marker_refuse(kc_str value, kc_error *err)
{
    kc__storage_marker marker = {.operation = KC_STR("…")};
    (void)kc__storage_marker_read(value, &marker);
    return kc_error_set(err, KC_STORE_READ_ERROR,
                        "the store is incomplete: 'kc store %.*s' was interrupted; run it again "
                        "with the same arguments",
                        KC_ARG(marker.operation));
}
