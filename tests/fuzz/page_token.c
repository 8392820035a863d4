/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused, or is a key below the prefix of the list: encoded as a token again it
 * decodes to the same key. The text is used as a token and as the content of a token.
 */
#include "fuzzing.h"

#include "apiserver/request/page_token.h"
#include "kc/base64.h"
#include "kc/buf.h"

static void check(kc_str text)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__rest_page_token token, again;
    if (kc__rest_page_token_parse(text, &arena, &token, &err) < 0) {
        assert(err.reason == KC_BAD_REQUEST);
        return;
    }
    assert(token.revision > 0 || token.revision == KC__REST_PAGE_TOKEN_NOW);
    assert(!kc_str_empty(token.start) && !kc_str_starts(token.start, KC_STR("../")));
    assert(!kc_str_contains(token.start, KC_STR("/../")));
    kc_str written = kc__rest_page_token_from(token.start, token.revision, &arena);
    assert(kc__rest_page_token_parse(written, &arena, &again, NULL) == 0);
    assert(again.revision == token.revision && kc_str_eq(again.start, token.start));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_buf) encoded = {0};
    kc_str text = kc_str_of((const char *)data, size);
    if (size > 8000)
        return 0;
    check(text);
    kc_base64_write(&encoded, text, KC_BASE64_URL);
    check(kc_buf_str(&encoded));
    return 0;
}
