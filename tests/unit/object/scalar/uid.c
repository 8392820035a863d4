/* SPDX-License-Identifier: Apache-2.0 */
#include "kc/uid.h"
#include "testing.h"

static void uid_contains_version_and_variant(void **state)
{
    (void)state;
    uint8_t zeros[16] = {0}, ones[16], mixed[16];
    char out[KC_UID_TEXT];
    memset(ones, 0xFF, sizeof(ones));
    for (size_t i = 0; i < sizeof(mixed); i++)
        mixed[i] = (uint8_t)(i * 17);
    assert_str(kc_uid_of(zeros, out), "00000000-0000-4000-8000-000000000000");
    assert_str(kc_uid_of(ones, out), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_str(kc_uid_of(mixed, out), "00112233-4455-4677-8899-aabbccddeeff");
    assert_int_equal(strlen(out), 36);
    assert_true(kc_uid_valid(kc_cstr(out)));
}

static void malformed_uid_is_invalid(void **state)
{
    (void)state;
    assert_true(kc_uid_valid(KC_STR("6F1ED002-ab2a-12f4-90fc-d2d1a5c3a0b7")));
    static const char *const wrong[] = {
        "",
        "6f1ed002ab2a42f490fcd2d1a5c3a0b7",
        "6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b",
        "6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b77",
        "6f1ed002-ab2a-42f4-90fcd-2d1a5c3a0b7",
        "6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0bg",
        "{f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b7",
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++)
        assert_false(kc_uid_valid(kc_cstr(wrong[i])));
}

TESTS(uid_contains_version_and_variant, malformed_uid_is_invalid)
