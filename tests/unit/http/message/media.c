/* SPDX-License-Identifier: Apache-2.0 */
#include "http/message/media.h"
#include "testing.h"

static void put_params(kc_buf *out, const kc__media_type *media)
{
    for (size_t i = 0; i < media->n_params; i++)
        kc_buf_printf(out, "; %.*s=<%.*s>", KC_ARG(media->params[i].name),
                      KC_ARG(media->params[i].value));
}

static void assert_media(const char *text, const char *expected)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc__media_type media;
    if (kc__media_type_parse(kc_cstr(text), &arena, &media, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    kc_buf_printf(&out, "%.*s/%.*s", KC_ARG(media.type), KC_ARG(media.subtype));
    put_params(&out, &media);
    assert_str(kc_buf_str(&out), expected);
}

static void media_type_has_type_subtype_and_parameters(void **state)
{
    (void)state;
    assert_media("application/json", "application/json");
    assert_media("application/apply-patch+yaml", "application/apply-patch+yaml");
    assert_media("application/vnd.kubernetes.protobuf;stream=watch",
                 "application/vnd.kubernetes.protobuf; stream=<watch>");
    assert_media("text/plain; charset=utf-8 ; format=flowed",
                 "text/plain; charset=<utf-8>; format=<flowed>");
    assert_media(" application/json ; charset = UTF-8", "application/json; charset=<UTF-8>");
    assert_media("application/json;", "application/json");
    assert_media("application/json;charset=utf-8 ; ", "application/json; charset=<utf-8>");
}

static void names_are_lower_cased_and_values_kept(void **state)
{
    (void)state;
    assert_media("Application/JSON;Charset=UTF-8", "application/json; charset=<UTF-8>");
}

static void quoted_values_are_unquoted(void **state)
{
    (void)state;
    assert_media("a/b;c=\"d;e=f, g\";h=i", "a/b; c=<d;e=f, g>; h=<i>");
    assert_media("a/b;c=\"\"", "a/b; c=<>");
    assert_media("a/b;c=\"x\\\"y\\\\z\"", "a/b; c=<x\"y\\z>");
    assert_media("a/b;c=\"C:\\dev\\go\"", "a/b; c=<C:\\dev\\go>");
}

static void repeated_parameter_must_have_the_same_value(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc__media_type media;
    assert_media("a/b;c=d;C=d", "a/b; c=<d>");
    assert_int_equal(kc__media_type_parse(KC_STR("a/b;c=d;c=e"), &arena, &media, &err),
                     -KC_UNSUPPORTED_MEDIA_TYPE);
    assert_error(&err, KC_UNSUPPORTED_MEDIA_TYPE, "duplicate");
}

static void invalid_media_type_is_unsupported(void **state)
{
    (void)state;
    static const char *const table[] = {
        "",         "json",         "/",         "a/",           "/b",      "a/b/c",
        "a b/c",    "a/b c",        "a/b;;",     "a/b;c",        "a/b;c=",  "a/b;=d",
        "a/b;c=\"", "a/b;c=\"d",    "a/b;c=d e", "a/b;c=\"d\"e", "a/b,c/d", "a/b; ;c=d",
        "a\n/b",    "a/b;c=\"\n\"", "a/b;c=(d)", "a /b",         "a/ b",    "a/b;c=\"d\\\"",
    };
    for (size_t i = 0; i < KC_COUNT(table); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc__media_type media = {.n_params = 7};
        assert_int_equal(kc__media_type_parse(kc_cstr(table[i]), &arena, &media, NULL),
                         -KC_UNSUPPORTED_MEDIA_TYPE);
        assert_int_equal(media.n_params, 7);
    }
}

static void name_and_parameters_can_be_queried(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__media_type media;
    kc_str value = KC_STR("untouched");
    assert_int_equal(
        kc__media_type_parse(KC_STR("application/json;charset=utf-8"), &arena, &media, NULL), 0);
    assert_true(kc__media_type_is(&media, "application/json"));
    assert_false(kc__media_type_is(&media, "application/yaml"));
    assert_false(kc__media_type_is(&media, "text/json"));
    assert_false(kc__media_param_get(&media, KC_STR("stream"), &value));
    assert_str(value, "untouched");
    assert_true(kc__media_param_get(&media, KC_STR("charset"), &value));
    assert_str(value, "utf-8");
}

static void too_many_parameters_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    kc__media_type media;
    kc__media_accept accept;
    kc_buf_puts(&text, "a/b");
    for (int i = 0; i < KC__MEDIA_MAX_PARAMS; i++)
        kc_buf_printf(&text, ";p%d=1", i);
    assert_int_equal(kc__media_type_parse(kc_buf_str(&text), &arena, &media, &err), 0);
    assert_int_equal(kc__media_accept_parse(kc_buf_str(&text), &arena, &accept, &err), 0);
    assert_int_equal(accept.clauses[0].media.n_params, KC__MEDIA_MAX_PARAMS);
    kc_buf_puts(&text, ";p=1");
    assert_int_equal(kc__media_type_parse(kc_buf_str(&text), &arena, &media, &err),
                     -KC_UNSUPPORTED_MEDIA_TYPE);
    assert_int_equal(kc__media_accept_parse(kc_buf_str(&text), &arena, &accept, &err),
                     -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, "33 parameters: the limit is 32");
}

TESTS(media_type_has_type_subtype_and_parameters, names_are_lower_cased_and_values_kept,
      quoted_values_are_unquoted, repeated_parameter_must_have_the_same_value,
      invalid_media_type_is_unsupported, name_and_parameters_can_be_queried,
      too_many_parameters_are_refused)
