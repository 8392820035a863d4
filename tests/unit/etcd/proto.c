/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "etcd/messages.h"

/* Asserts the encoding of a struct; bytes as hexadecimal digits. */
static void assert_encoded(const kc__etcd_proto_message *table, const void *message,
                           const char *expected)
{
    kc_scoped(kc_buf) out = {0}, hex = {0};
    kc__etcd_proto_encode(table, message, &out);
    for (size_t i = 0; i < out.n; i++)
        kc_buf_printf(&hex, "%02x", (unsigned char)out.p[i]);
    assert_string_equal(kc_buf_cstr(&hex), expected);
}

static kc_str from_hex(kc_arena *arena, const char *hex)
{
    const size_t n = strlen(hex) / 2;
    char *bytes = kc_arena_alloc(arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        const char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        bytes[i] = (char)strtoul(digits, NULL, 16);
    }
    return kc_str_of(bytes, n);
}

static int decode_hex(const kc__etcd_proto_message *table, const char *hex, kc_arena *arena,
                      void *ret, kc_error *err)
{
    return kc__etcd_proto_decode(table, from_hex(arena, hex), NULL, arena, ret, err);
}

static void range_request_has_the_encoding_of_protobuf(void **state)
{
    (void)state;
    assert_encoded(&kc__etcd_range_request_table,
                   &(kc__etcd_range_request){.key = KC_STR("a"),
                                             .range_end = KC_STR("b"),
                                             .limit = 300,
                                             .sort_order = KC__ETCD_SORT_DESCEND,
                                             .serializable = true},
                   "0a0161" /* key */ "120162" /* range_end */ "18ac02"
                   "2802"
                   "3801");
}

static void zero_values_are_not_encoded(void **state)
{
    (void)state;
    assert_encoded(&kc__etcd_put_request_table, &(kc__etcd_put_request){0}, "");
    assert_encoded(&kc__etcd_txn_request_table, &(kc__etcd_txn_request){0}, "");
}

static void negative_number_has_ten_bytes(void **state)
{
    (void)state;
    assert_encoded(&kc__etcd_lease_request_table, &(kc__etcd_lease_request){.id = -1},
                   "08ffffffffffffffffff01");
}

static void empty_value_of_a_comparison_is_encoded(void **state)
{
    (void)state;
    assert_encoded(&kc__etcd_compare_table,
                   &(kc__etcd_compare){
                       .target = KC__ETCD_COMPARE_VALUE, .key = KC_STR("k"), .value = KC_STR("")},
                   "1003"
                   "1a016b"
                   "3a00");
    assert_encoded(&kc__etcd_compare_table,
                   &(kc__etcd_compare){.target = KC__ETCD_COMPARE_MOD,
                                       .key = KC_STR("k"),
                                       .range_end = KC_STR("l"),
                                       .mod_revision = 7},
                   "1002"
                   "1a016b"
                   "3007"
                   "8204016c");
}

static void nested_messages_are_encoded_with_their_lengths(void **state)
{
    (void)state;
    const kc__etcd_put_request put = {.key = KC_STR("k"), .value = KC_STR("v")};
    const kc__etcd_range_request range = {.key = KC_STR("k")};
    const kc__etcd_compare compare = {.target = KC__ETCD_COMPARE_MOD, .key = KC_STR("k")};
    const kc__etcd_request_op success = {.put = &put}, failure = {.range = &range};
    assert_encoded(&kc__etcd_txn_request_table,
                   &(kc__etcd_txn_request){.compare = {&compare, 1},
                                           .success = {&success, 1},
                                           .failure = {&failure, 1}},
                   "0a05"
                   "10021a016b"
                   "1208"
                   "1206"
                   "0a016b120176"
                   "1a05"
                   "0a03"
                   "0a016b");
}

static void empty_nested_message_is_present(void **state)
{
    (void)state;
    assert_encoded(&kc__etcd_watch_request_table,
                   &(kc__etcd_watch_request){.progress = &(kc__etcd_empty){0}}, "1a00");
}

static void list_of_strings_is_encoded_one_by_one(void **state)
{
    (void)state;
    const kc_str urls[] = {KC_STR_INIT("a"), KC_STR_INIT(""), KC_STR_INIT("b")};
    assert_encoded(&kc__etcd_member_table, &(kc__etcd_member){.id = 1, .client_urls = {urls, 3}},
                   "0801"
                   "220161"
                   "2200"
                   "220162");
}

static void range_response_is_decoded_into_the_message(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__etcd_range_response r;
    const kc_str bytes = from_hex(&arena, "0a04"
                                          "08011807"
                                          "120a"
                                          "0a0161"
                                          "1802"
                                          "2a03787978"
                                          "1205"
                                          "0a0162"
                                          "1803"
                                          "1801"
                                          "2005");
    assert_int_equal(
        kc__etcd_proto_decode(&kc__etcd_range_response_table, bytes, NULL, &arena, &r, &err), 0);
    assert_int_equal(r.header->cluster_id, 1);
    assert_int_equal(r.header->revision, 7);
    assert_int_equal(r.kvs.n, 2);
    assert_str(r.kvs.items[0].key, "a");
    assert_str(r.kvs.items[0].value, "xyx");
    assert_int_equal(r.kvs.items[1].mod_revision, 3);
    assert_true(r.more);
    assert_int_equal(r.count, 5);
    /* Slices are part of the message. */
    assert_true(r.kvs.items[0].key.p > bytes.p && r.kvs.items[0].key.p < bytes.p + bytes.n);
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__etcd_header h;
    /* Varint, fixed64, bytes and fixed32 of unknown numbers; the revision among them. */
    assert_int_equal(decode_hex(&kc__etcd_header_table,
                                "7801"
                                "790102030405060708"
                                "1809"
                                "7a03616263"
                                "7d01020304",
                                &arena, &h, NULL),
                     0);
    assert_int_equal(h.revision, 9);
}

static void last_occurrence_of_a_field_counts(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__etcd_header h;
    assert_int_equal(decode_hex(&kc__etcd_header_table, "18091805", &arena, &h, NULL), 0);
    assert_int_equal(h.revision, 5);
}

static void every_truncation_is_refused_or_a_prefix(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    const kc_str whole = from_hex(&arena, "0a0408011807"
                                          "120a"
                                          "0a0161"
                                          "1802"
                                          "2a03787978");
    size_t accepted = 0;
    for (size_t n = 0; n < whole.n; n++) {
        kc_scoped(kc_error) err = {0};
        kc__etcd_range_response r;
        const int got = kc__etcd_proto_decode(&kc__etcd_range_response_table,
                                              kc_str_sub(whole, 0, n), NULL, &arena, &r, &err);
        accepted += got == 0;
        if (got < 0)
            assert_error(&err, KC_BAD_REQUEST, "malformed RangeResponse at byte");
    }
    assert_int_equal(accepted, 2); /* Nothing, and the header alone. */
}

static void assert_refused(const kc__etcd_proto_message *table, const char *hex, kc_reason reason,
                           const char *why)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    void *message = kc_arena_calloc(&arena, 1, table->size);
    assert_true(decode_hex(table, hex, &arena, message, &err) < 0);
    assert_error(&err, reason, why);
}

static void malformed_fields_are_refused(void **state)
{
    (void)state;
    const kc__etcd_proto_message *header = &kc__etcd_header_table;
    assert_refused(header, "00", KC_BAD_REQUEST, "invalid field number");
    assert_refused(header, "1affffffff0f", KC_BAD_REQUEST, "at byte 0: truncated");
    assert_refused(header,
                   "1801"
                   "1b",
                   KC_BAD_REQUEST, "at byte 2: truncated field, or unsupp");
    assert_refused(header, "1a0161", KC_BAD_REQUEST, "wrong wire type");
    assert_refused(header, "18ffffffffffffffffff02", KC_BAD_REQUEST, "truncated");
    assert_refused(header, "18ffffffffffffffffffff01", KC_BAD_REQUEST, "truncated");
    assert_refused(header, "80", KC_BAD_REQUEST, "invalid tag");
    assert_refused(&kc__etcd_range_response_table, "120208", KC_BAD_REQUEST, "RangeResponse");
    assert_refused(&kc__etcd_range_response_table, "120108", KC_BAD_REQUEST,
                   "malformed KeyValue at byte 2");
}

static void depth_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_buf) bytes = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__etcd_txn_response r;
    /* A response within a response, 40 times; lengths below 128. */
    for (int i = 0; i < 20; i++) {
        kc_scoped(kc_buf) outer = {0};
        kc_buf_printf(&outer, "\x1a%c\x22%c", (char)(bytes.n + 2), (char)bytes.n);
        kc_buf_append(&outer, kc_buf_str(&bytes));
        kc_buf_clear(&bytes);
        kc_buf_append(&bytes, kc_buf_str(&outer));
    }
    assert_true(bytes.n < 128);
    assert_true(kc__etcd_proto_decode(&kc__etcd_txn_response_table, kc_buf_str(&bytes), NULL,
                                      &arena, &r, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "nested too deeply");
}

static void number_of_elements_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0}, small = {.limit = 64};
    kc_scoped(kc_error) err = {0};
    kc__etcd_range_response r;
    const kc_str bytes = from_hex(&arena, "120012001200");
    const kc__etcd_proto_limits three = {.max_elements = 3}, two = {.max_elements = 2};
    const kc__etcd_proto_message *table = &kc__etcd_range_response_table;
    assert_int_equal(kc__etcd_proto_decode(table, bytes, &three, &arena, &r, &err), 0);
    assert_int_equal(r.kvs.n, 3);
    assert_true(kc__etcd_proto_decode(table, bytes, &two, &arena, &r, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "too many elements");
    assert_true(kc__etcd_proto_decode(table, bytes, NULL, &small, &r, &err) < 0);
    assert_error(&err, KC_TOO_LARGE, "too many elements");
}

static void decoded_message_is_encoded_the_same(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__etcd_watch_response r;
    const char *hex = "0a021807"
                      "1003"
                      "2801"
                      "320178"
                      "3801"
                      "5a0e"
                      "0801"
                      "12050a016b1807"
                      "1a030a016b";
    assert_int_equal(decode_hex(&kc__etcd_watch_response_table, hex, &arena, &r, NULL), 0);
    assert_int_equal(r.events.items[0].type, KC__ETCD_DELETE_EVENT);
    assert_str(r.events.items[0].prev_kv->key, "k");
    assert_encoded(&kc__etcd_watch_response_table, &r, hex);
}

TESTS(range_request_has_the_encoding_of_protobuf, zero_values_are_not_encoded,
      negative_number_has_ten_bytes, empty_value_of_a_comparison_is_encoded,
      nested_messages_are_encoded_with_their_lengths, empty_nested_message_is_present,
      list_of_strings_is_encoded_one_by_one, range_response_is_decoded_into_the_message,
      unknown_fields_are_skipped, last_occurrence_of_a_field_counts,
      every_truncation_is_refused_or_a_prefix, malformed_fields_are_refused, depth_is_limited,
      number_of_elements_is_limited, decoded_message_is_encoded_the_same)
