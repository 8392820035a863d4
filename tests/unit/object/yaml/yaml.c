/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/codec.h"
#include "kc/yaml.h"

typedef struct seen {
    kc_buf text; /* Of all objects, each followed by a newline. */
    size_t n, stop_after;
} seen;

static int note(kc_object *object, void *user)
{
    seen *s = user;
    kc_buf_append(&s->text, kc_object_json(object));
    kc_buf_putc(&s->text, '\n');
    kc_object_unref(object);
    return ++s->n == s->stop_after ? -77 : 0;
}

static int decode(kc_str text, seen *s, kc_error *err)
{
    *s = (seen){.stop_after = s->stop_after};
    return kc_codec_yaml.decode(text, NULL, note, s, err);
}

static void assert_decodes(const char *text, const char *objects)
{
    seen s = {0};
    kc_scoped(kc_error) err = {0};
    if (decode(kc_cstr(text), &s, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    assert_string_equal(kc_buf_cstr(&s.text), objects);
    kc_buf_done(&s.text);
}

/* Decoding yields these objects and then this error. */
static void assert_stops(const char *text, const char *objects, const char *why)
{
    seen s = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(decode(kc_cstr(text), &s, &err), -KC_BAD_REQUEST);
    assert_error(&err, KC_BAD_REQUEST, why);
    assert_string_equal(kc_buf_cstr(&s.text), objects);
    kc_buf_done(&s.text);
}

static void codec_is_found_by_media_type_and_file_name(void **state)
{
    (void)state;
    assert_ptr_equal(kc_codec_for(KC_STR("application/yaml; charset=utf-8")), &kc_codec_yaml);
    assert_ptr_equal(kc_codec_for_file(KC_STR("a.yml")), &kc_codec_yaml);
    assert_true(kc_codec_yaml.streams);
}

static void stream_yields_objects_in_order(void **state)
{
    (void)state;
    assert_decodes("---\na: 1\n---\nb: 2\n...\n---\nc: 3\n", "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n");
}

static void empty_documents_are_skipped(void **state)
{
    (void)state;
    assert_decodes("", "");
    assert_decodes("# only a comment\n", "");
    assert_decodes("---\n---\n# x\n---\na: 1\n---\nnull\n---\n~\n---\n", "{\"a\":1}\n");
}

static void anchors_end_with_their_document(void **state)
{
    (void)state;
    assert_stops("a: &x 1\n---\nb: *x\n", "{\"a\":1}\n", "line 3, column 4: unknown anchor");
}

static void objects_before_invalid_one_are_passed_on(void **state)
{
    (void)state;
    assert_stops("a: 1\n---\nb: [\n", "{\"a\":1}\n", "line 4, column 1");
    assert_stops("a: 1\n---\n- x\n", "{\"a\":1}\n",
                 "line 3, column 1: a document must be an object; this is a list");
}

static void error_suggests_missing_space_after_colon(void **state)
{
    (void)state;
    assert_stops("apiVersion:v1\nkind:Pod\n", "",
                 "this is a string; did you mean 'key: value', with a space behind the colon?");
    assert_stops("12", "", "this is a number");
}

static void callback_may_stop_decoding(void **state)
{
    (void)state;
    const char *texts[] = {"a: 1\n---\nb: 2\n---\n[", "{\"a\":1}{\"b\":2}{"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        seen s = {.stop_after = 2};
        kc_scoped(kc_error) err = {0};
        assert_int_equal(decode(kc_cstr(texts[i]), &s, &err), -77);
        assert_int_equal(err.reason, KC_OK);
        assert_int_equal(s.n, 2);
        kc_buf_done(&s.text);
    }
}

static void json_is_parsed_as_by_json_codec(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"a\":\"\\ud83d\\ude00\\u0041\\/\\u0000\",\"b\":[1,2.50,1e2,-0,-0.0,1e20,true,null]}",
        " \n{\"a\" : \"x\\u2028y\",\t\"yes\":\"no\",\"<<\":{\"b\":1},\"1\":\"2001-01-01\"}\n",
        "{\"a\":1,\"a\":2}",
        "{\"a\":\"\x7f\"}",
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_auto(kc_object) *json = kc_object_parse(kc_cstr(texts[i]), NULL, NULL);
        kc_auto(kc_object) *yaml =
            kc_codec_decode_one(&kc_codec_yaml, kc_cstr(texts[i]), NULL, NULL);
        assert_non_null(yaml);
        assert_object_json(yaml, kc_object_json(json).p);
    }
}

static void json_keys_may_be_long(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "{\"%02000d\":1}", 1);
    kc_auto(kc_object) *object = kc_codec_decode_one(&kc_codec_yaml, kc_buf_str(&text), NULL, NULL);
    assert_non_null(object);
}

static void json_objects_may_follow_each_other(void **state)
{
    (void)state;
    assert_decodes("{\"a\":1}{\"b\":\"}\"}\n\n {\"c\":[{}]}",
                   "{\"a\":1}\n{\"b\":\"}\"}\n{\"c\":[{}]}\n");
    assert_stops("{\"a\":1}\n{\"b\":2}\n[] x", "{\"a\":1}\n{\"b\":2}\n", "line 3, column");
    assert_stops("{\"a\":1}\n{\"b\":2}\n{\"c\":,}\n", "{\"a\":1}\n{\"b\":2}\n", "line 3, column 6");
}

static void yaml_may_follow_one_json_object(void **state)
{
    (void)state;
    assert_decodes("{\"a\":1}\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}\n");
    assert_decodes("{\"a\":1} \n  b: 2\n  c: 3\n", "{\"a\":1}\n{\"b\":2,\"c\":3}\n");
    assert_stops("{\"a\":1}\n---\nb: [\n", "{\"a\":1}\n", "line 4, column 1");
}

static void flow_style_is_parsed_as_yaml(void **state)
{
    (void)state;
    assert_decodes("{a: 1, 'b': [x, y], }\n", "{\"a\":1,\"b\":[\"x\",true]}\n");
    assert_decodes("{\"a\": b, # comment\n \"c\": 'd'}\n", "{\"a\":\"b\",\"c\":\"d\"}\n");
}

static void invalid_json_fails_with_json_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) json = {0}, yaml = {0};
    kc_str text = KC_STR("{\n \"a\": [1,\n \"b\": \"\\ud800\"}");
    assert_null(kc_object_parse(text, NULL, &json));
    assert_null(kc_codec_decode_one(&kc_codec_yaml, text, NULL, &yaml));
    assert_string_equal(kc_error_text(&yaml), kc_error_text(&json));
    assert_stops("{a: [}", "", "line 1, column 6: expected a value");
}

static void duplicates_of_all_documents_are_reported_once(void **state)
{
    (void)state;
    kc_scoped(kc_paths) duplicates = {0};
    kc_decode_opts opts = {.json.duplicates = &duplicates};
    seen s = {0};
    /* The first is tried as JSON, but is not. */
    assert_int_equal(
        kc_codec_yaml.decode(KC_STR("{\"a\":1,\"a\":2,b: 1}\n---\nc:\n  d: 1\n  d: 2\n"), &opts,
                             note, &s, NULL),
        0);
    assert_string_equal(kc_buf_cstr(&s.text), "{\"a\":2,\"b\":1}\n{\"c\":{\"d\":2}}\n");
    assert_int_equal(duplicates.n, 2);
    assert_string_equal(duplicates.items[0], "a");
    assert_string_equal(duplicates.items[1], "c.d");
    kc_buf_done(&s.text);
}

static void limits_apply_to_json(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_decode_opts opts = {.json.max_depth = 2};
    assert_null(kc_codec_decode_one(&kc_codec_yaml, KC_STR("{\"a\":[[]]}"), &opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
    opts = (kc_decode_opts){.json.max_bytes = 4};
    assert_null(kc_codec_decode_one(&kc_codec_yaml, KC_STR("{    }"), &opts, &err));
    assert_error(&err, KC_TOO_LARGE, "the text has 6 bytes: limit is 4");
}

static void object_is_encoded_as_a_document(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of("{'kind':'Pod','apiVersion':'v1','metadata':{'name':'web',"
                                        "'creationTimestamp':'2024-01-01T00:00:00Z'}}");
    kc_scoped(kc_buf) out = {0};
    assert_int_equal(kc_codec_yaml.encode(pod, &out, NULL), 0);
    assert_string_equal(kc_buf_cstr(&out), "apiVersion: v1\n"
                                           "kind: Pod\n"
                                           "metadata:\n"
                                           "  creationTimestamp: \"2024-01-01T00:00:00Z\"\n"
                                           "  name: web\n");
}

static void one_document_may_be_of_any_type(void **state)
{
    (void)state;
    kc_auto(kc_view) *list = kc_yaml_parse(KC_STR("- 1\n- x\n"), NULL, NULL);
    assert_value_json(kc_view_root(list), "[1,\"x\"]");
    kc_auto(kc_view) *nothing = kc_yaml_parse((kc_str){0}, NULL, NULL);
    assert_int_equal(kc_value_type(kc_view_root(nothing)), KC_JSON_NULL);
}

static void second_document_fails_where_one_is_expected(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_yaml_parse(KC_STR("a: 1\n---\nb: 1\n"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected one document, found more");
    assert_null(kc_codec_decode_one(&kc_codec_yaml, KC_STR("a: 1\n---\nb: 1\n"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected one object, found more");
}

static void parse_first_ignores_later_documents(void **state)
{
    (void)state;
    kc_auto(kc_view) *first = kc_yaml_parse_first(KC_STR("a: 1\n---\n}: ]\n"), NULL, NULL);
    assert_value_json(kc_view_root(first), "{\"a\":1}");
    kc_auto(kc_view) *json = kc_yaml_parse_first(KC_STR("{\"a\":1}{\"b\":2}"), NULL, NULL);
    assert_value_json(kc_view_root(json), "{\"a\":1}");
    kc_auto(kc_view) *empty = kc_yaml_parse_first(KC_STR("---\n---\na: 1\n"), NULL, NULL);
    assert_int_equal(kc_value_type(kc_view_root(empty)), KC_JSON_NULL);
    kc_scoped(kc_error) err = {0};
    assert_null(kc_yaml_parse_first(KC_STR("}: ]\n---\na: 1\n"), NULL, &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
}

static int count(kc_view *view, void *user)
{
    kc_view_free(view);
    return ++*(int *)user == 2 ? -5 : 0;
}

static void documents_are_passed_one_by_one(void **state)
{
    (void)state;
    int n = 0;
    assert_int_equal(kc_yaml_each(KC_STR("1\n---\n2\n---\n3\n"), NULL, count, &n, NULL), -5);
    assert_int_equal(n, 2);
}

static int note_line(kc_view *view, size_t line, void *user)
{
    kc_view_free(view);
    kc_buf_printf(user, "%zu ", line);
    return 0;
}

static void assert_lines(const char *text, const char *lines)
{
    kc_scoped(kc_buf) found = {0};
    assert_int_equal(kc_yaml_each_line(kc_cstr(text), NULL, note_line, &found, NULL), 0);
    assert_string_equal(kc_buf_cstr(&found), lines);
}

static void documents_have_the_line_of_their_content(void **state)
{
    (void)state;
    assert_lines("a: 1\n", "1 ");
    assert_lines("# c\n\n---\n# c\na: 1\n---\n---\n\nb: 2\n", "5 9 ");
    assert_lines("- a\n---\nb\n", "1 3 ");
    assert_lines("\n{\"a\":1}\n\n{\"b\":\n2}\n{\"c\":3}{\"d\":4}", "2 4 6 6 ");
    assert_lines("{\"a\":1}\n---\nb: 2\n", "1 3 ");
    assert_lines("", "");
}

TESTS(documents_have_the_line_of_their_content, codec_is_found_by_media_type_and_file_name,
      stream_yields_objects_in_order, empty_documents_are_skipped, anchors_end_with_their_document,
      objects_before_invalid_one_are_passed_on, error_suggests_missing_space_after_colon,
      callback_may_stop_decoding, json_is_parsed_as_by_json_codec, json_keys_may_be_long,
      json_objects_may_follow_each_other, yaml_may_follow_one_json_object,
      flow_style_is_parsed_as_yaml, invalid_json_fails_with_json_error,
      duplicates_of_all_documents_are_reported_once, limits_apply_to_json,
      object_is_encoded_as_a_document, one_document_may_be_of_any_type,
      second_document_fails_where_one_is_expected, parse_first_ignores_later_documents,
      documents_are_passed_one_by_one)
