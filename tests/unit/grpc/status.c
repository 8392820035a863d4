/* SPDX-License-Identifier: Apache-2.0 */
/* Status codes and messages of gRPC. */
#include "testing.h"

#include "grpc/status.h"

#include <nghttp2/nghttp2.h>

static void numbers_of_codes_are_parsed_and_others_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(kc__grpc_code_parse(KC_STR("0")), KC__GRPC_OK);
    assert_int_equal(kc__grpc_code_parse(KC_STR("14")), KC__GRPC_UNAVAILABLE);
    assert_int_equal(kc__grpc_code_parse(KC_STR("16")), KC__GRPC_UNAUTHENTICATED);
    static const char *const invalid[] = {"17", "-1", "", "1x", "99999999999999999999", " 0"};
    for (size_t i = 0; i < KC_COUNT(invalid); i++)
        assert_int_equal(kc__grpc_code_parse(kc_cstr(invalid[i])), KC__GRPC_UNKNOWN);
}

static void codes_have_the_names_of_the_specification(void **state)
{
    (void)state;
    assert_string_equal(kc__grpc_code_text(KC__GRPC_OK), "OK");
    assert_string_equal(kc__grpc_code_text(KC__GRPC_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
    assert_string_equal(kc__grpc_code_text((kc__grpc_code)77), "UNKNOWN");
}

static void http_status_maps_as_the_specification_says(void **state)
{
    (void)state;
    static const struct {
        int http;
        kc__grpc_code code;
    } cases[] = {
        {400, KC__GRPC_INTERNAL},          {401, KC__GRPC_UNAUTHENTICATED},
        {403, KC__GRPC_PERMISSION_DENIED}, {404, KC__GRPC_UNIMPLEMENTED},
        {429, KC__GRPC_UNAVAILABLE},       {502, KC__GRPC_UNAVAILABLE},
        {503, KC__GRPC_UNAVAILABLE},       {504, KC__GRPC_UNAVAILABLE},
        {500, KC__GRPC_UNKNOWN},           {302, KC__GRPC_UNKNOWN},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_int_equal(kc__grpc_code_of_http(cases[i].http), cases[i].code);
}

static void http2_errors_map_as_the_specification_says(void **state)
{
    (void)state;
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_REFUSED_STREAM), KC__GRPC_UNAVAILABLE);
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_CANCEL), KC__GRPC_CANCELLED);
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_ENHANCE_YOUR_CALM), KC__GRPC_RESOURCE_EXHAUSTED);
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_INADEQUATE_SECURITY), KC__GRPC_PERMISSION_DENIED);
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_PROTOCOL_ERROR), KC__GRPC_INTERNAL);
    assert_int_equal(kc__grpc_code_of_h2(NGHTTP2_NO_ERROR), KC__GRPC_INTERNAL);
}

static void assert_decoded(const char *text, const char *expected)
{
    kc_autofree char *decoded = kc__grpc_status_decode(kc_cstr(text));
    assert_string_equal(decoded, expected);
}

static void message_is_percent_decoded_and_invalid_escapes_are_kept(void **state)
{
    (void)state;
    assert_decoded("etcdserver: no leader", "etcdserver: no leader");
    assert_decoded("100%25 %E2%82%AC%0a", "100% €\n");
    assert_decoded("%", "%");
    assert_decoded("%4", "%4");
    assert_decoded("%zz%41", "%zzA");
    assert_decoded("a%00b", "a%00b");
    assert_decoded("", "");
}

static void message_is_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < 2 * KC__GRPC_MAX_STATUS_MESSAGE; i++)
        kc_buf_putc(&text, 'a');
    kc_autofree char *decoded = kc__grpc_status_decode(kc_buf_str(&text));
    assert_int_equal(strlen(decoded), KC__GRPC_MAX_STATUS_MESSAGE);
}

static void status_may_be_set_from_its_own_message(void **state)
{
    (void)state;
    kc__grpc_status status = {.unsent = true};
    kc__grpc_status_set(&status, KC__GRPC_INTERNAL, "lost");
    kc__grpc_status_set(&status, KC__GRPC_UNAVAILABLE, "endpoint: %s", status.message);
    assert_string_equal(status.message, "endpoint: lost");
    assert_true(status.unsent);
    kc__grpc_status_done(&status);
    assert_null(status.message);
}

TESTS(numbers_of_codes_are_parsed_and_others_are_unknown, codes_have_the_names_of_the_specification,
      http_status_maps_as_the_specification_says, http2_errors_map_as_the_specification_says,
      message_is_percent_decoded_and_invalid_escapes_are_kept, message_is_bounded,
      status_may_be_set_from_its_own_message)
