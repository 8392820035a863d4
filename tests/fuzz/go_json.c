/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are one JSON value or are refused with a message; what the project's own, stricter
 * parser accepts is never refused.
 */
#include "fuzzing.h"

#include "apiserver/call/go_json.h"
#include "kc/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    kc_scoped(kc_buf) why = {0};
    bool wrong = kc__rest_go_json_error(text, &why);
    assert(wrong == (why.n > 0));
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, NULL);
    assert(!view || !wrong);
    return 0;
}
