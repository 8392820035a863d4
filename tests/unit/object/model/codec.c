/* SPDX-License-Identifier: Apache-2.0 */
/* codec.c: finding a codec, and decoding one object of a text. */
#include "testing.h"

#include "kc/codec.h"

static void codec_is_found_by_media_type(void **state)
{
    (void)state;
    assert_ptr_equal(kc_codec_for(KC_STR("application/json")), &kc_codec_json);
    assert_ptr_equal(kc_codec_for(KC_STR("Application/JSON; charset=utf-8")), &kc_codec_json);
    assert_ptr_equal(kc_codec_for(KC_STR(" application/yaml ;q=1")), &kc_codec_yaml);
    assert_null(kc_codec_for(KC_STR("application/cbor")));
    assert_null(kc_codec_for(KC_STR("")));
}

static void codec_is_found_by_file_name(void **state)
{
    (void)state;
    assert_ptr_equal(kc_codec_for_file(KC_STR("a/b.json")), &kc_codec_json);
    assert_ptr_equal(kc_codec_for_file(KC_STR("b.yaml")), &kc_codec_yaml);
    assert_ptr_equal(kc_codec_for_file(KC_STR("b.yml")), &kc_codec_yaml);
    assert_null(kc_codec_for_file(KC_STR("json")));
}

static void both_codecs_decode_one_object(void **state)
{
    (void)state;
    kc_auto(kc_object) *json =
        kc_codec_decode_one(&kc_codec_json, KC_STR("{\"kind\":\"A\"}"), NULL, NULL);
    kc_auto(kc_object) *yaml = kc_codec_decode_one(&kc_codec_yaml, KC_STR("kind: A\n"), NULL, NULL);
    assert_true(kc_str_eq(kc_object_json(json), kc_object_json(yaml)));
}

static void decode_one_of_none_or_several_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_codec_decode_one(&kc_codec_yaml, KC_STR("# nothing\n"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected one object, found none");
    assert_null(kc_codec_decode_one(&kc_codec_yaml, KC_STR("a: 1\n---\nb: 2\n"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected one object, found more");
    assert_null(kc_codec_decode_one(&kc_codec_json, KC_STR("{"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1, column 2");
}

static void limits_and_duplicates_are_passed_to_reader(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_paths duplicates = {0};
    kc_decode_opts opts = {.json = {.max_depth = 3, .duplicates = &duplicates}};
    assert_null(kc_codec_decode_one(&kc_codec_json, KC_STR("{\"a\":[[{}]]}"), &opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
    kc_auto(kc_object) *o =
        kc_codec_decode_one(&kc_codec_yaml, KC_STR("a: {b: 1, b: 2}\n"), &opts, NULL);
    assert_object_json(o, "{\"a\":{\"b\":2}}");
    assert_int_equal(duplicates.n, 1);
    assert_string_equal(duplicates.items[0], "a.b");
    kc_paths_done(&duplicates);
}

static void encoded_object_round_trips(void **state)
{
    (void)state;
    static const kc_codec *const codecs[] = {&kc_codec_json, &kc_codec_yaml};
    kc_auto(kc_object) *before = object_of("{'a':['x',1,null,{'b':'yes'}],'c':'line\\nline\\n'}");
    for (size_t i = 0; i < KC_COUNT(codecs); i++) {
        kc_scoped(kc_buf) text = {0};
        assert_int_equal(codecs[i]->encode(before, &text, NULL), 0);
        kc_auto(kc_object) *after = kc_codec_decode_one(codecs[i], kc_buf_str(&text), NULL, NULL);
        assert_str(kc_object_json(after), kc_object_json(before).p);
    }
}

TESTS(codec_is_found_by_media_type, codec_is_found_by_file_name, both_codecs_decode_one_object,
      decode_one_of_none_or_several_fails, limits_and_duplicates_are_passed_to_reader,
      encoded_object_round_trips)
