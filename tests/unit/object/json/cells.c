/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c: canonical text is read as the full parser reads it. Texts use ' for ". */
#include "object/model/object_internal.h"
#include "testing.h"

#include <inttypes.h>

static bool is_same_cell(const kc_value *a, const kc_value *b)
{
    if (a->tag != b->tag)
        return false;
    switch (unsafe_yyjson_get_type((kc_value *)a)) {
    case YYJSON_TYPE_STR: {
        const size_t n = unsafe_yyjson_get_len((kc_value *)a);
        return memcmp(a->uni.str, b->uni.str, n + 1) == 0 && a->uni.str[n] == '\0';
    }
    case YYJSON_TYPE_NUM: return a->uni.u64 == b->uni.u64;
    case YYJSON_TYPE_OBJ:
    case YYJSON_TYPE_ARR: return a->uni.ofs == b->uni.ofs;
    default: return true;
    }
}

/* The view of an object with this text, after a comparison of its cells with those of the full
 * parser. */
static kc_view *agreed_view(kc_str json)
{
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, NULL);
    assert_non_null(object);
    kc_auto(kc_view) *parsed = kc_view_parse(kc_object_json(object), NULL, NULL);
    kc_view *view = kc_view_of(object);
    const kc_value *cells = kc_view_root(view), *others = kc_view_root(parsed);
    const size_t n = kc_value_count(cells);
    assert_int_equal(n, kc_value_count(others));
    for (size_t i = 0; i < n; i++)
        if (!is_same_cell(&cells[i], &others[i]))
            fail_msg("cell %zu of %.*s differs", i, KC_ARG(json));
    return view;
}

/* Whether cells.c reads the text, and does not leave it to the full parser. */
static bool is_read(const char *quoted)
{
    kc_auto(kc_object) *object = object_of(quoted);
    kc_auto(kc_view) *view = agreed_view(kc_object_json(object));
    return view->root != NULL;
}

static void values_of_all_types_are_read(void **state)
{
    (void)state;
    assert_true(is_read("{}"));
    assert_true(is_read("{'':''}"));
    assert_true(is_read("{'a':[],'b':{},'c':[[],{},[{}]],'d':{'e':{'f':[]}}}"));
    assert_true(is_read("{'a':true,'b':false,'c':null,'d':[null,true,false]}"));
    assert_true(is_read("{'a':0,'b':-1,'c':7,'d':999999999999999999,'e':-999999999999999999}"));
    assert_true(is_read("{'a':0.5,'b':-2.25,'c':0.1,'d':123456789.012345,'e':-99999999999999.9}"));
    kc_view_free(agreed_view(KC_STR("{\"a\":-0,\"b\":-0.0,\"c\":0.0,\"d\":-0e3}")));
    assert_true(is_read("{'a':'\xC3\xA9','\xE2\x82\xAC':'b'}"));
}

static void strings_of_every_length_end_at_their_quote(void **state)
{
    (void)state;
    for (int n = 0; n < 70; n++) {
        char text[256];
        snprintf(text, sizeof(text), "{'%.*s':'%.*s','z':'%.*s'}", n, "", n, "", n, "");
        assert_true(is_read(text));
        char letters[80];
        memset(letters, 'x', sizeof(letters));
        snprintf(text, sizeof(text), "{'%.*s':'%.*s','z':'%.*s'}", n, letters, n, letters, n,
                 letters);
        assert_true(is_read(text));
    }
}

static void escapes_are_left_to_the_full_parser(void **state)
{
    (void)state;
    assert_false(is_read("{'a':'x','b':'\\n','c':'\\\\','d':['e']}"));
    assert_false(is_read("{'a\\tb':1}"));
}

static void other_numbers_are_left_to_the_full_parser(void **state)
{
    (void)state;
    static const char *const numbers[] = {"1000000000000000000",
                                          "-1000000000000000000",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "18446744073709551615",
                                          "1e+21",
                                          "1e-07",
                                          "-1.5e+300",
                                          "0.1234567890123456",
                                          "1234567890123456.5"};
    for (size_t i = 0; i < KC_COUNT(numbers); i++) {
        char text[128];
        snprintf(text, sizeof(text), "{'a':'b','c':{'d':['e',%s,'f'],'g':{}}}", numbers[i]);
        assert_false(is_read(text));
    }
}

static void fractions_are_rounded_as_by_the_full_parser(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        char text[64];
        const unsigned decimals = (unsigned)(random >> 60) % 15;
        const uint64_t digits = random >> 14 & UINT64_C(0xffffffffffff); /* 15 digits. */
        uint64_t power = 10;
        for (unsigned j = 0; j < decimals; j++)
            power *= 10;
        snprintf(text, sizeof(text), "{\"x\":%s%" PRIu64 ".%0*" PRIu64 "}", i & 1 ? "-" : "",
                 digits / power, (int)decimals + 1, digits % power);
        kc_view_free(agreed_view(kc_cstr(text)));
    }
}

static void short_values_need_more_cells_than_reserved(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"x\":[{\"a\":[0");
    for (int i = 0; i < 5000; i++)
        kc_buf_puts(&text, i % 50 ? ",0" : "]},{\"a\":[0");
    kc_buf_puts(&text, "]}]}");
    kc_auto(kc_view) *view = agreed_view(kc_buf_str(&text));
    assert_non_null(view->root);
}

TESTS(values_of_all_types_are_read, strings_of_every_length_end_at_their_quote,
      escapes_are_left_to_the_full_parser, other_numbers_are_left_to_the_full_parser,
      fractions_are_rounded_as_by_the_full_parser, short_values_need_more_cells_than_reserved)
