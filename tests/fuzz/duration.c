/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused or is a duration whose text parses to the same number. */
#include "fuzzing.h"

#include "kc/duration.h"

static void check(int64_t ns)
{
    char out[KC_DURATION_TEXT];
    int64_t back = 0;
    kc_scoped(kc_buf) written = {0};
    kc_duration_write(&written, ns);
    kc_str text = kc_buf_str(&written);
    assert(kc_duration_parse(text, &back, NULL) == 0);
    assert(back == ns);
    assert(kc_duration_human(ns, out).n < KC_DURATION_TEXT);
    assert(kc_duration_human_short(ns, out).n < KC_DURATION_TEXT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t ns;
    if (kc_duration_parse(kc_str_of((const char *)data, size), &ns, NULL) == 0)
        check(ns);
    if (size >= sizeof(ns)) {
        memcpy(&ns, data, sizeof(ns));
        check(ns);
    }
    return 0;
}
