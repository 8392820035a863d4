/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replies of a Redis server: for any chunking the result is the same, or the same error; a complete
 * reply can be built into a tree, and the bytes after it are untouched.
 */
#include "fuzzing.h"

#include "reconcilers/redismigration/resp.h"

static const resp_limits limits = {.max_bytes = 4096, .max_items = 256};

static void look_at(const resp_value *value, kc_str bytes)
{
    if (value->str.n)
        assert(value->str.p >= bytes.p && value->str.p + value->str.n <= bytes.p + bytes.n);
    assert(value->type == RESP_ARRAY || !value->n);
    for (size_t i = 0; i < value->n; i++)
        look_at(&value->items[i], bytes);
}

/* One answer, in pieces of `step` bytes; what the scan says at the end. */
static int scan_in_pieces(kc_str bytes, size_t step, resp_scan *scan, kc_error *err)
{
    int found = 0;
    for (size_t n = KC_MIN(step, bytes.n); !found; n = KC_MIN(n + step, bytes.n)) {
        found = resp_scan_more(scan, kc_str_sub(bytes, 0, n), &limits, err);
        if (n == bytes.n)
            break;
    }
    return found;
}

/* Length of the first answer; 0 when there is none. */
static size_t one_answer(kc_str bytes, size_t step)
{
    kc_scoped(kc_error) err = {0}, err_of_pieces = {0};
    kc_scoped(kc_arena) arena = {0};
    resp_scan whole = {0}, pieces = {0};
    const int found = scan_in_pieces(bytes, bytes.n, &whole, &err);
    assert(scan_in_pieces(bytes, step, &pieces, &err_of_pieces) == found);
    assert((found < 0) == (err.reason != KC_OK));
    if (found <= 0)
        return 0;
    assert(whole.at == pieces.at && whole.at > 0 && whole.at <= bytes.n);
    assert(whole.at <= limits.max_bytes + RESP_LINE + 16);
    const kc_str reply = kc_str_sub(bytes, 0, whole.at);
    const resp_value value = resp_build(reply, &arena), again = resp_build(reply, &arena);
    look_at(&value, reply);
    assert(resp_equal(&value, &again));
    return whole.at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str rest = {(const char *)data, size};
    const size_t step = size ? data[0] % 7 + 1 : 1;
    for (size_t n; rest.n && (n = one_answer(rest, step)) > 0;)
        rest = kc_str_sub(rest, n, rest.n);
    return 0;
}
