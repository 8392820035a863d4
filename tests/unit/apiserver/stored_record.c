/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/stored_record.h"

#include "testing.h"

static const kc__record update = {.verb = KC_STORAGE_PUT,
                                  .previous = 7,
                                  .wall = 1763368200 * KC_SECOND,
                                  .key = KC_STR_INIT("pods/default/web"),
                                  .value = KC_STR_INIT("{\"kind\":\"Pod\"}")};

static kc_str written(const kc__record *record, uint64_t revision, char out[256])
{
    assert_true(kc__record_size(record) <= 256);
    kc__record_write(record, revision, out);
    return kc_str_of(out, kc__record_size(record));
}

static void a_record_reads_back(void **state)
{
    (void)state;
    char bytes[256];
    kc__record back;
    assert_true(kc__record_read(written(&update, 9, bytes), 9, &back));
    assert_int_equal(back.verb, KC_STORAGE_PUT);
    assert_int_equal(back.previous, 7);
    assert_int_equal(back.wall, 1763368200 * KC_SECOND);
    assert_str(back.key, "pods/default/web");
    assert_str(back.value, "{\"kind\":\"Pod\"}");
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    char bytes[256];
    kc__record back;
    const kc_str record = written(&update, 9, bytes);
    for (size_t bit = 0; bit < record.n * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_false(kc__record_read(record, 9, &back));
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(kc__record_read(record, 9, &back));
}

static void a_record_in_another_place_is_noticed(void **state)
{
    (void)state;
    char bytes[256];
    kc__record back;
    assert_false(kc__record_read(written(&update, 9, bytes), 10, &back));
}

static void a_record_cut_anywhere_is_noticed(void **state)
{
    (void)state;
    char bytes[256];
    kc__record back;
    const kc_str record = written(&update, 9, bytes);
    for (size_t n = 0; n < record.n; n++)
        assert_false(kc__record_read(kc_str_sub(record, 0, n), 9, &back));
}

static void a_record_must_make_sense(void **state)
{
    (void)state;
    char bytes[256];
    kc__record back, bad = update;
    bad.previous = 9; /* Its own. */
    assert_false(kc__record_read(written(&bad, 9, bytes), 9, &back));
    bad.previous = 7;
    bad.verb = KC_STORAGE_DELETE; /* With a value. */
    assert_false(kc__record_read(written(&bad, 9, bytes), 9, &back));
    bad.value = (kc_str){0};
    assert_true(kc__record_read(written(&bad, 9, bytes), 9, &back));
    bad.previous = 0; /* Of nothing. */
    assert_false(kc__record_read(written(&bad, 9, bytes), 9, &back));
}

static void a_state_reads_back(void **state)
{
    (void)state;
    char bytes[KC__STATE_SIZE];
    kc__state back = {0};
    const kc__state now = {.version = KC__LAYOUT_VERSION,
                           .revision = UINT64_C(0x123456789abcdef),
                           .compacted = 5,
                           .history_bytes = 77};
    kc__state_write(&now, bytes);
    assert_true(kc__state_read(kc_str_of(bytes, sizeof(bytes)), &back));
    assert_int_equal(back.version, now.version);
    assert_int_equal(back.revision, now.revision);
    assert_int_equal(back.compacted, now.compacted);
    assert_int_equal(back.history_bytes, now.history_bytes);
    assert_false(kc__state_read(kc_str_of(bytes, sizeof(bytes) - 1), &back));
}

static void of_a_newer_state_only_the_version_is_read(void **state)
{
    (void)state;
    kc__state back = {0};
    assert_true(kc__state_read(kc_str_of("KCST\0\0\1\0", 8), &back));
    assert_int_equal(back.version, 256);
}

TESTS(a_record_reads_back, every_flipped_bit_is_noticed, a_record_in_another_place_is_noticed,
      a_record_cut_anywhere_is_noticed, a_record_must_make_sense, a_state_reads_back,
      of_a_newer_state_only_the_version_is_read)
