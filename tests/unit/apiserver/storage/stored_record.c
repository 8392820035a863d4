/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/stored_record.h"

#include "testing.h"

static const kc__storage_record update = {.verb = KC__STORAGE_PUT,
                                          .previous = 7,
                                          .wall = 1763368200 * KC_SECOND,
                                          .key = KC_STR_INIT("pods/default/web"),
                                          .value = KC_STR_INIT("{\"kind\":\"Pod\"}")};

static kc_str written(const kc__storage_record *record, uint64_t revision, char out[256])
{
    assert_true(kc__storage_record_size(record) <= 256);
    kc__storage_record_write(record, revision, out);
    return kc_str_of(out, kc__storage_record_size(record));
}

static void record_round_trips(void **state)
{
    (void)state;
    char bytes[256];
    kc__storage_record back;
    assert_true(kc__storage_record_read(written(&update, 9, bytes), 9, &back));
    assert_int_equal(back.verb, KC__STORAGE_PUT);
    assert_int_equal(back.previous, 7);
    assert_int_equal(back.wall, 1763368200 * KC_SECOND);
    assert_str(back.key, "pods/default/web");
    assert_str(back.value, "{\"kind\":\"Pod\"}");
}

static void every_flipped_bit_is_detected(void **state)
{
    (void)state;
    char bytes[256];
    kc__storage_record back;
    const kc_str record = written(&update, 9, bytes);
    for (size_t bit = 0; bit < record.n * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(kc__storage_record_read(record, 9, &back));
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(kc__storage_record_read(record, 9, &back));
}

static void record_of_another_revision_is_detected(void **state)
{
    (void)state;
    char bytes[256];
    kc__storage_record back;
    assert_false(kc__storage_record_read(written(&update, 9, bytes), 10, &back));
}

static void truncated_record_is_detected(void **state)
{
    (void)state;
    char bytes[256];
    kc__storage_record back;
    const kc_str record = written(&update, 9, bytes);
    for (size_t n = 0; n < record.n; n++)
        assert_false(kc__storage_record_read(kc_str_sub(record, 0, n), 9, &back));
}

static void inconsistent_record_is_refused(void **state)
{
    (void)state;
    char bytes[256];
    kc__storage_record back, bad = update;
    bad.previous = 9; /* Its own. */
    assert_false(kc__storage_record_read(written(&bad, 9, bytes), 9, &back));
    bad.previous = 7;
    bad.verb = KC__STORAGE_DELETE; /* With a value. */
    assert_false(kc__storage_record_read(written(&bad, 9, bytes), 9, &back));
    bad.value = (kc_str){0};
    assert_true(kc__storage_record_read(written(&bad, 9, bytes), 9, &back));
    bad.previous = 0; /* Of nothing. */
    assert_false(kc__storage_record_read(written(&bad, 9, bytes), 9, &back));
}

static void state_round_trips(void **state)
{
    (void)state;
    char bytes[KC__STORAGE_FILE_STATE_SIZE];
    kc__storage_file_state back = {0};
    const kc__storage_file_state now = {.version = KC__STORAGE_LAYOUT_VERSION,
                                        .revision = UINT64_C(0x123456789abcdef),
                                        .compacted = 5,
                                        .history_bytes = 77};
    kc__storage_file_state_write(&now, bytes);
    assert_true(kc__storage_file_state_read(kc_str_of(bytes, sizeof(bytes)), &back));
    assert_int_equal(back.version, now.version);
    assert_int_equal(back.revision, now.revision);
    assert_int_equal(back.compacted, now.compacted);
    assert_int_equal(back.history_bytes, now.history_bytes);
    assert_false(kc__storage_file_state_read(kc_str_of(bytes, sizeof(bytes) - 1), &back));
}

static void newer_state_has_only_its_version_read(void **state)
{
    (void)state;
    kc__storage_file_state back = {0};
    assert_true(kc__storage_file_state_read(kc_str_of("KCST\0\0\1\0", 8), &back));
    assert_int_equal(back.version, 256);
}

TESTS(record_round_trips, every_flipped_bit_is_detected, record_of_another_revision_is_detected,
      truncated_record_is_detected, inconsistent_record_is_refused, state_round_trips,
      newer_state_has_only_its_version_read)
