/* SPDX-License-Identifier: Apache-2.0 */
/* gnostic.c: OpenAPI of version 2 as protobuf. */
#include "apiserver/openapi/gnostic.h"
#include "testing.h"

static void document_is_encoded_as_gnostic_protobuf(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(
        kc__openapi_gnostic_v2(KC_STR("{\"swagger\":\"2.0\",\"definitions\":{\"A\":{\"type\":"
                                      "\"object\",\"required\":[\"b\"],\"x-k\":[1]}}}"),
                               &out, NULL),
        0);
    static const char expected[] = "\x0a\x03"
                                   "2.0"      /* swagger = 1 */
                                   "\x4a\x25" /* definitions = 9 */
                                   "\x0a\x23" /* a pair */
                                   "\x0a\x01"
                                   "A"            /* name */
                                   "\x12\x1e"     /* its schema */
                                   "\xb2\x01\x08" /* type = 22, a list of one */
                                   "\x0a\x06"
                                   "object"
                                   "\x9a\x01\x01"
                                   "b"            /* required = 19 */
                                   "\xfa\x01\x0c" /* extensions = 31 */
                                   "\x0a\x03"
                                   "x-k"
                                   "\x12\x05"
                                   "\x12\x03"
                                   "[1]";
    assert_int_equal(out.n, sizeof(expected) - 1);
    assert_memory_equal(out.p, expected, out.n);
}

static void invalid_json_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    assert_true(kc__openapi_gnostic_v2(KC_STR("{"), &out, NULL) < 0);
}

TESTS(document_is_encoded_as_gnostic_protobuf, invalid_json_is_an_error)
