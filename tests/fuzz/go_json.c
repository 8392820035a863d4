/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes are one JSON value or are complained about, in words; what our own reader takes, which
 * is the stricter one, is never complained about.
 */
#include "fuzzing.h"

#include "apiserver/rest/go_json.h"
#include "kc/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size);
    kc_scoped(kc_buf) why = {0};
    bool wrong = kc__go_json_complaint(text, &why);
    assert(wrong == (why.n > 0));
    kc_auto(kc_view) *view = kc_view_parse(text, NULL, NULL);
    assert(!view || !wrong);
    return 0;
}
