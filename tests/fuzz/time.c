/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused or is a time whose text parses to the same second. */
#include "fuzzing.h"

#include "kc/time.h"

static void check(kc_time time)
{
    char out[KC_TIME_TEXT];
    kc_time back = 0, micro_back = 0;
    /* The first second that can be written whole. */
    if (time < INT64_MIN + 1000000000)
        return;
    assert(kc_time_parse(kc_time_print(time, out), &back, NULL) == 0);
    assert(back <= time && time - back < 1000000000);
    assert(kc_time_parse_micro(kc_time_print_micro(time, out), &micro_back, NULL) == 0);
    assert(micro_back <= time && time - micro_back < 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size), rewritten;
    char out[KC_TIME_TEXT], again[KC_TIME_TEXT];
    kc_time time;
    if (kc_time_parse(text, &time, NULL) == 0)
        check(time);
    if (kc_time_parse_micro(text, &time, NULL) == 0)
        check(time);
    if (kc_time_rewrite(text, out, &rewritten, NULL) == 0 && rewritten.n) {
        kc_str same;
        assert(kc_time_rewrite(rewritten, again, &same, NULL) == 0);
        assert(kc_str_eq(rewritten, same));
    }
    kc_time_rewrite_micro(text, out, &rewritten, NULL);
    kc_time_age(text, 0, again);
    return 0;
}
