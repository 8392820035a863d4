/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of messages, and the text of timeouts. */
#include "testing.h"

#include "grpc/frame.h"

/* Feeds the bytes in parts of `step` and joins the messages with '|'. */
static void deframe_all(kc__grpc_deframer *d, kc_str bytes, size_t step, kc_buf *out,
                        kc__grpc_status *failure)
{
    for (size_t at = 0; at < bytes.n; at += step) {
        kc_str part = kc_str_sub(bytes, at, at + step), message;
        kc__grpc_deframed found;
        while ((found = kc__grpc_deframe(d, &part, &message, failure)) ==
               KC__GRPC_DEFRAMED_MESSAGE) {
            kc_buf_append(out, message);
            kc_buf_putc(out, '|');
        }
        if (found == KC__GRPC_DEFRAMED_FAILED)
            return;
        assert_int_equal(part.n, 0);
    }
}

static void messages_are_the_same_however_they_are_split(void **state)
{
    (void)state;
    kc_scoped(kc_buf) bytes = {0};
    kc__grpc_frame_write(&bytes, KC_STR("first"));
    kc__grpc_frame_write(&bytes, KC_STR(""));
    kc__grpc_frame_write(&bytes, KC_STR("a longer third message"));
    for (size_t step = 1; step <= bytes.n; step++) {
        kc__grpc_deframer d = {.max = 100};
        kc__grpc_status failure = {0};
        kc_scoped(kc_buf) out = {0};
        deframe_all(&d, kc_buf_str(&bytes), step, &out, &failure);
        assert_str(kc_buf_str(&out), "first||a longer third message|");
        assert_false(kc__grpc_deframer_is_inside(&d));
        kc__grpc_deframer_clear(&d);
    }
}

static void message_in_one_part_is_not_copied(void **state)
{
    (void)state;
    kc__grpc_deframer d = {.max = 100};
    kc_str bytes = KC_STR("\0\0\0\0\3abc"), message;
    const char *at = bytes.p + KC__GRPC_PREFIX;
    kc__grpc_status failure = {0};
    assert_int_equal(kc__grpc_deframe(&d, &bytes, &message, &failure), KC__GRPC_DEFRAMED_MESSAGE);
    assert_ptr_equal(message.p, at);
    kc__grpc_deframer_clear(&d);
}

static void message_is_taken_whether_it_was_copied_or_not(void **state)
{
    (void)state;
    for (size_t split = 6; split <= 8; split++) {
        kc__grpc_deframer d = {.max = 100};
        const kc_str bytes = KC_STR("\0\0\0\0\3abc");
        kc_str part = kc_str_sub(bytes, 0, split), message;
        kc__grpc_status failure = {0};
        kc_scoped(kc_buf) taken = {0};
        if (kc__grpc_deframe(&d, &part, &message, &failure) == KC__GRPC_DEFRAMED_ALL) {
            assert_true(kc__grpc_deframer_is_inside(&d));
            part = kc_str_sub(bytes, split, bytes.n);
            assert_int_equal(kc__grpc_deframe(&d, &part, &message, &failure),
                             KC__GRPC_DEFRAMED_MESSAGE);
        }
        kc__grpc_deframer_take(&d, message, &taken);
        assert_str(kc_buf_str(&taken), "abc");
        part = KC_STR("\0\0\0\0\2de");
        assert_int_equal(kc__grpc_deframe(&d, &part, &message, &failure),
                         KC__GRPC_DEFRAMED_MESSAGE);
        assert_str(message, "de");
        kc__grpc_deframer_clear(&d);
    }
}

static void assert_refused(kc_str bytes, kc__grpc_code code, const char *text)
{
    for (size_t step = 1; step <= bytes.n; step++) {
        kc__grpc_deframer d = {.max = 4};
        kc__grpc_status failure = {0};
        kc_scoped(kc_buf) out = {0};
        deframe_all(&d, bytes, step, &out, &failure);
        assert_int_equal(failure.code, code);
        assert_contains(failure.message, text);
        kc__grpc_status_done(&failure);
        kc__grpc_deframer_clear(&d);
    }
}

static void large_compressed_and_invalid_messages_are_refused(void **state)
{
    (void)state;
    assert_refused(KC_STR("\0\0\0\0\5abcde"), KC__GRPC_RESOURCE_EXHAUSTED,
                   "5 bytes; the limit is 4");
    assert_refused(KC_STR("\0\xff\xff\xff\xff"), KC__GRPC_RESOURCE_EXHAUSTED, "4294967295 bytes");
    assert_refused(KC_STR("\1\0\0\0\1a"), KC__GRPC_UNIMPLEMENTED, "compressed");
    assert_refused(KC_STR("\2\0\0\0\1a"), KC__GRPC_INTERNAL, "invalid message frame");
}

static void assert_timeout(int64_t ns, const char *expected)
{
    char text[KC__GRPC_TIMEOUT_TEXT];
    assert_str(kc__grpc_timeout_write(ns, text), expected);
}

static void timeout_has_eight_digits_at_most_and_is_rounded_up(void **state)
{
    (void)state;
    assert_timeout(-5, "1n");
    assert_timeout(0, "1n");
    assert_timeout(99999999, "99999999n");
    assert_timeout(100000000, "100000u");
    assert_timeout(5 * KC_SECOND, "5000000u");
    assert_timeout(99999999 * KC_MICROSECOND + 1, "100000m");
    assert_timeout(48 * KC_HOUR, "172800S");
    assert_timeout(KC_FOREVER - 1, "2562048H");
}

TESTS(messages_are_the_same_however_they_are_split, message_in_one_part_is_not_copied,
      message_is_taken_whether_it_was_copied_or_not,
      large_compressed_and_invalid_messages_are_refused,
      timeout_has_eight_digits_at_most_and_is_rounded_up)
