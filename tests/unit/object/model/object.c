/* SPDX-License-Identifier: Apache-2.0 */
/* object.c: parsing and writing objects: the parts found, the text written, what a splice keeps. */
#include "object/model/canonical.h"
#include "testing.h"

static kc_object *parse(const char *json, kc_error *err)
{
    return kc_object_parse(kc_cstr(json), NULL, err);
}

static void metadata_is_found_at_any_position(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of(
        " { 'spec': {'metadata': {'name': 'wrong'}}, 'kind' : 'Pod', 'apiVersion':'v1', 'metadata' "
        ": "
        "{'name':'web', 'namespace':'prod', 'uid': 'u-1', 'labels': {'app' : 'x'}, 'generation': 3,"
        "'annotations': {}, 'resourceVersion':'17', 'finalizers': ['a', 'b'], 'ownerReferences': [ "
        "{ } ],"
        "'creationTimestamp':'2026-01-02T03:04:05Z', 'managedFields': [ ]}, 'name': 'no' } ");
    assert_str(kc_object_api_version(pod), "v1");
    assert_str(kc_object_kind(pod), "Pod");
    assert_str(kc_object_name(pod), "web");
    assert_str(kc_object_namespace(pod), "prod");
    assert_str(kc_object_uid(pod), "u-1");
    assert_str(kc_object_labels_json(pod), "{\"app\":\"x\"}");
    assert_str(kc_object_annotations_json(pod), "{}");
    assert_str(kc_object_finalizers_json(pod), "[\"a\",\"b\"]");
    assert_str(kc_object_owners_json(pod), "[{}]");
    assert_str(kc_object_managed_fields_json(pod), "[]");
    assert_str(kc_object_creation_timestamp(pod), "2026-01-02T03:04:05Z");
    assert_str(kc_object_deletion_timestamp(pod), "");
    assert_int_equal(kc_object_generation(pod), 3);
    assert_int_equal(kc_object_revision(pod), 17);
}

static void mistyped_metadata_counts_as_absent(void **state)
{
    (void)state;
    kc_auto(kc_object) *o =
        object_of("{'kind':7,'metadata':{'name':null,'labels':[],'generation':'3',"
                  "'resourceVersion':12}}");
    assert_str(kc_object_kind(o), "");
    assert_str(kc_object_name(o), "");
    assert_str(kc_object_labels_json(o), "");
    assert_int_equal(kc_object_generation(o), 0);
    assert_int_equal(kc_object_revision(o), 0);
    kc_auto(kc_object) *list = object_of("{'metadata':[1]}");
    assert_str(kc_object_metadata_json(list), "");
}

static void escaped_name_is_returned_unescaped(void **state)
{
    (void)state;
    kc_auto(kc_object) *o =
        object_of("{'kind':'a\\\\b','metadata':{'name':'x\\ny','uid':'\\u0041\\u0000'}}");
    assert_str(kc_object_kind(o), "a\\b");
    assert_str(kc_object_name(o), "x\ny");
    assert_int_equal(kc_object_uid(o).n, 2);
    assert_memory_equal(kc_object_uid(o).p, "A\0", 2);
    assert_object_json(
        o, "{\"kind\":\"a\\\\b\",\"metadata\":{\"name\":\"x\\ny\",\"uid\":\"A\\u0000\"}}");
}

static void text_of_object_is_canonical(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"{ }", "{}"},
        {"\t{\"b\" : 1 ,\r\n\"a\" : [ true , false , null ] }\n",
         "{\"b\":1,\"a\":[true,false,null]}"},
        {"{\"a\":\"\\u0041\\/\\u00e9\"}", "{\"a\":\"A/\xC3\xA9\"}"},
        {"{\"a\":\"\\u001f\\b\\f\\n\\r\\t\\\"\\\\\"}",
         "{\"a\":\"\\u001f\\b\\f\\n\\r\\t\\\"\\\\\"}"},
        {"{\"a\":\"\\ud83d\\ude00 \x7f\"}", "{\"a\":\"\xF0\x9F\x98\x80 \x7f\"}"},
        {"{\"\\u0061\":1}", "{\"a\":1}"},
        {"{\"a\":[1.0,2.50,1e2,-0.0,0.1,1e-7,1E21,1e20,123456789012345678901e0,1e17]}",
         "{\"a\":[1,2.5,100,0,0.1,1e-7,1e+21,1e+20,1.2345678901234568e+20,100000000000000000]}"},
        {"{\"a\":[0.5,-0.25,10.125,-7.5,0.05,0.000001,0.0000001,1.10,3.00]}",
         "{\"a\":[0.5,-0.25,10.125,-7.5,0.05,0.000001,1e-7,1.1,3]}"},
        {"{\"a\":[123456789012.345,1234567890123.4567890,0.1234567890123456789,0.30000000000000004]}",
         "{\"a\":[123456789012.345,1234567890123.4568,0.12345678901234568,0.30000000000000004]}"},
        {"{\"a\":[9223372036854775807,-9223372036854775808,18446744073709551615,-0]}",
         "{\"a\":[9223372036854775807,-9223372036854775808,18446744073709551615,0]}"},
        {"{\"a b\":\"c  d\", \"e\\\" f\" : \" \" }", "{\"a b\":\"c  d\",\"e\\\" f\":\" \"}"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *o = parse(cases[i].in, &err);
        assert_string_equal(kc_error_text(&err), "no error");
        assert_object_json(o, cases[i].out);
        kc_auto(kc_object) *again = kc_object_parse(kc_object_json(o), NULL, NULL);
        assert_object_json(again, cases[i].out);
    }
}

static void invalid_text_fails_with_position(void **state)
{
    (void)state;
    static const struct {
        const char *in, *message;
    } cases[] = {
        {"", "line 1, column 1: the text is empty"},
        {"[]", "line 1, column 1: an object is needed, not a value of type array"},
        {"\"x\"", "an object is needed, not a value of type string"},
        {"{\"a\":1,\n \"b\" 2}", "line 2, column 6"},
        {"{\"a\":1} x", "line 1, column 9"},
        {"{\"a\":01}", "line 1, column 6: number with leading zero"},
        {"{\"a\":01.5}", "line 1, column 6: number with leading zero"},
        {"{\"a\":1.}", "line 1, column"},
        {"{\"a\":.5}", "line 1, column 6"},
        {"{\"a\":-.5}", "line 1, column"},
        {"{\"a\":\"\\ud800\"}", "line 1, column"},
        {"{\"a\":\"\\ud800\\u0041\"}", "surrogate"},
        {"{\"a\":\"\\udc00\"}", "surrogate"},
        {"{\"a\":\"\xff\"}", "line 1, column 7"},
        {"{\"a\":\"\xed\xa0\x80\"}", "line 1, column 7"},
        {"{\"a\":\"\x01\"}", "line 1, column 7"},
        {"{\"a\":18446744073709551616}", "line 1, column 6: the number does not fit 64 bits"},
        {"{\"a\":[0,\n-9223372036854775809]}", "line 2, column 1: the number does not fit 64 bits"},
        {"{\"a\":1e400}", "line 1, column 6: the number does not fit 64 bits"},
        {"{\"a\":NaN}", "line 1, column 6"},
        {"{\"a\":1,}", "line 1, column 7: trailing comma"},
        {"{\"a\":[1,]}", "line 1, column 8: trailing comma"},
        {"{'a':1}", "line 1, column 2"},
        {"{\"a\":1", "line 1, column 7"},
        {"{\"a\":tru}", "line 1, column 6"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(parse(cases[i].in, &err));
        assert_error(&err, KC_BAD_REQUEST, cases[i].message);
    }
}

static void nul_byte_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_object_parse(kc_str_of("{\"a\":\"x\0y\"}", 11), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1, column 8");
    assert_null(kc_object_parse(kc_str_of("{}\0", 3), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1, column 3");
}

static kc_str nested(kc_buf *out, size_t depth, const char *open, const char *core,
                     const char *close)
{
    for (size_t i = 0; i < depth; i++)
        kc_buf_puts(out, open);
    kc_buf_puts(out, core);
    for (size_t i = 0; i < depth; i++)
        kc_buf_puts(out, close);
    return kc_buf_str(out);
}

static void nesting_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) deepest = {0};
    kc_auto(kc_object) *ok =
        kc_object_parse(nested(&deepest, KC_JSON_MAX_DEPTH - 1, "{\"a\":", "{}", "}"), NULL, &err);
    assert_non_null(ok);

    kc_scoped(kc_buf) deeper = {0};
    assert_null(
        kc_object_parse(nested(&deeper, KC_JSON_MAX_DEPTH, "{\"a\":", "{}", "}"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");

    kc_scoped(kc_buf) bomb = {0};
    kc_buf_puts(&bomb, "{\"a\":");
    assert_null(kc_object_parse(nested(&bomb, 1000000, "[", "", ""), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 1, column");

    kc_json_opts shallow = {.max_depth = 2};
    assert_null(kc_object_parse(KC_STR("{\"a\":[[]]}"), &shallow, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "line 1, column 3: objects and arrays are nested too deeply");
}

static void size_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_json_opts small = {.max_bytes = 10};
    kc_auto(kc_object) *ok = kc_object_parse(KC_STR("{\"a\":\"12\"}"), &small, &err);
    assert_non_null(ok);
    assert_null(kc_object_parse(KC_STR("{\"a\":\"123\"}"), &small, &err));
    assert_error(&err, KC_TOO_LARGE, "the text has 11 bytes: limit is 10");
}

static void last_of_duplicate_members_counts(void **state)
{
    (void)state;
    kc_paths duplicates = {0};
    kc_json_opts opts = {.duplicates = &duplicates};
    kc_auto(kc_object) *o =
        kc_object_parse(KC_STR("{\"spec\":{\"replicas\":1,\"x\":[{\"n\":1,\"\\u006e\":2}],"
                               "\"replicas\":3},\"metadata\":{\"name\":\"a\"},"
                               "\"metadata\":{\"name\":\"b\"}}"),
                        &opts, NULL);
    assert_object_json(
        o, "{\"spec\":{\"x\":[{\"n\":2}],\"replicas\":3},\"metadata\":{\"name\":\"b\"}}");
    assert_str(kc_object_name(o), "b");
    assert_int_equal(duplicates.n, 3);
    assert_string_equal(duplicates.items[0], "metadata");
    assert_string_equal(duplicates.items[1], "spec.replicas");
    assert_string_equal(duplicates.items[2], "spec.x[0].n");
    kc_paths_done(&duplicates);
}

static void duplicates_are_found_in_long_objects(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_paths duplicates = {0};
    kc_json_opts opts = {.duplicates = &duplicates};
    kc_buf_puts(&text, "{\"data\":{");
    for (int i = 0; i < 100000; i++)
        kc_buf_printf(&text, "\"key-%d\":%d,", i, i);
    kc_buf_puts(&text, "\"key-77\":\"last\"}}");
    kc_auto(kc_object) *o = kc_object_parse(kc_buf_str(&text), &opts, NULL);
    kc_auto(kc_view) *view = kc_view_of(o);
    const kc_value *data = kc_value_get(kc_view_root(view), "data");
    assert_int_equal(kc_value_len(data), 100000);
    assert_str(kc_value_as_str(kc_value_get(data, "key-77")), "last");
    assert_int_equal(duplicates.n, 1);
    assert_string_equal(duplicates.items[0], "data.key-77");
    kc_paths_done(&duplicates);
}

static void reported_duplicates_are_bounded(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_paths duplicates = {0};
    kc_json_opts opts = {.duplicates = &duplicates};
    kc_buf_puts(&text, "{\"a\":0");
    for (int i = 0; i < 5000; i++)
        kc_buf_puts(&text, ",\"a\":1");
    kc_buf_putc(&text, '}');
    kc_auto(kc_object) *o = kc_object_parse(kc_buf_str(&text), &opts, NULL);
    assert_object_json(o, "{\"a\":1}");
    assert_int_equal(duplicates.n, 100);
    kc_paths_done(&duplicates);
}

static void object_overhead_is_small(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{\"metadata\":{\"name\":\"a\"},\"data\":\"");
    for (int i = 0; i < 2000; i++) {
        kc_buf_putc(&text, 'x');
        size_t n = text.n;
        kc_buf_puts(&text, "\"}          ");
        kc_auto(kc_object) *o = kc_object_parse(kc_buf_str(&text), NULL, NULL);
        assert_true(kc_object_size(o) <= kc_object_json(o).n + 160);
        text.n = n;
    }
}

static void references_keep_an_object_alive(void **state)
{
    (void)state;
    kc_object *first = object_of("{'metadata':{'name':'a'}}");
    kc_object *second = kc_object_ref(first);
    assert_ptr_equal(first, second);
    assert_null(kc_object_unref(first));
    assert_str(kc_object_name(second), "a");
    kc_object_unref(second);
    assert_null(kc_object_unref(NULL));
    assert_null(kc_object_ref(NULL));
}

static void assert_same_as_reparsed(const kc_object *o)
{
    kc_auto(kc_object) *again = kc_object_parse(kc_object_json(o), NULL, NULL);
    assert_non_null(again);
#define SAME(part) assert_true(kc_str_eq(kc_object_##part(o), kc_object_##part(again)))
    SAME(json);
    SAME(api_version);
    SAME(kind);
    SAME(name);
    SAME(namespace);
    SAME(uid);
    SAME(resource_version);
    SAME(metadata_json);
    SAME(labels_json);
    SAME(annotations_json);
    SAME(owners_json);
    SAME(finalizers_json);
    SAME(managed_fields_json);
    SAME(creation_timestamp);
    SAME(deletion_timestamp);
#undef SAME
    assert_int_equal(kc_object_generation(o), kc_object_generation(again));
    assert_int_equal(kc_object_revision(o), kc_object_revision(again));
}

/* More members than the scanner can check for duplicates. */
static void canonical_text_becomes_the_object_that_parsing_makes(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_error) err = {0};
    kc_buf_puts(&json, "{\"kind\":\"A\",\"metadata\":{\"name\":\"\\tb\",\"labels\":{\"l\":\"1\"}}");
    for (int i = 0; i < 2000; i++)
        kc_buf_printf(&json, ",\"k%d\":[%d.5,\"\\u0001\"]", i, i);
    kc_buf_puts(&json, "}");
    kc_auto(kc_object) *object = kc__object_of_canonical(kc_buf_str(&json), &err);
    assert_non_null(object);
    assert_str(kc_object_name(object), "\tb");
    assert_same_as_reparsed(object);
    kc_scoped(kc_buf) deeper = {0};
    assert_null(
        kc__object_of_canonical(nested(&deeper, KC_JSON_MAX_DEPTH, "{\"a\":", "{}", "}"), &err));
    assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
}

static void revision_is_replaced_by_splice(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{'kind':'Pod','metadata':{'name':'a','resourceVersion':'1','labels':{'a':'b'}},'spec':{}}",
        "{'kind':'Pod','metadata':{'name':'a','labels':{'a':'b'},'generation':4},'apiVersion':'v1'}",
        "{'metadata':{},'apiVersion':'v1'}",
        "{'kind':'Pod'}",
        "{}",
        "{'metadata':null}",
        "{'metadata':{'resourceVersion':7,'uid':'x'}}",
        "{'metadata':{'resourceVersion':'','uid':'x'}}",
        "{'metadata':{'resourceVersion':'1\\n','uid':'x\\ny','name':'\\u0000'}}",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc_object) *before = object_of(cases[i]);
        kc_auto(kc_object) *after = kc_object_with_revision(before, 1234567890123u);
        assert_str(kc_object_resource_version(after), "1234567890123");
        assert_same_as_reparsed(after);
        kc_auto(kc_object) *later = kc_object_with_revision(after, 5);
        assert_int_equal(kc_object_revision(later), 5);
        assert_same_as_reparsed(later);
        assert_true(kc_str_eq(kc_object_uid(later), kc_object_uid(before)));
        assert_true(kc_str_eq(kc_object_name(later), kc_object_name(before)));
    }
}

static void resource_version_is_added_behind_the_uid(void **state)
{
    (void)state;
    kc_auto(kc_object) *before =
        object_of("{'metadata':{'name':'a','uid':'b','generation':4},'kind':'Pod'}");
    kc_auto(kc_object) *after = kc_object_with_revision(before, 12);
    assert_str(kc_object_json(after),
               "{\"metadata\":{\"name\":\"a\",\"uid\":\"b\",\"resourceVersion\":\"12\","
               "\"generation\":4},\"kind\":\"Pod\"}");
    assert_same_as_reparsed(after);
}

static void api_version_is_replaced_by_splice(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{'apiVersion':'example.io/v1','kind':'A','metadata':{'name':'a','resourceVersion':'1'}}",
        "{'kind':'A','metadata':{'name':'a','uid':'b\\nc'},'apiVersion':''}",
        "{'kind':'A'}",
        "{'apiVersion':'a\\nb','metadata':{'name':'x'}}",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_auto(kc_object) *before = object_of(cases[i]);
        kc_auto(kc_object) *after =
            kc_object_with_api_version(before, KC_STR("example.io/v2beta1"));
        assert_str(kc_object_api_version(after), "example.io/v2beta1");
        assert_same_as_reparsed(after);
        kc_auto(kc_object) *odd = kc_object_with_api_version(before, KC_STR("\"\n"));
        assert_str(kc_object_api_version(odd), "\"\n");
        assert_same_as_reparsed(odd);
    }
}

/* A name with an escape and a namespace, after `bytes` bytes of data. */
static kc_object *object_behind(size_t bytes)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"data\":{\"text\":\"");
    for (size_t i = 0; i < bytes; i++)
        kc_buf_putc(&json, 'x');
    kc_buf_puts(&json, "\"},\"metadata\":{\"name\":\"a\\tb\",\"namespace\":\"prod\"}}");
    return kc_object_parse(kc_buf_str(&json), NULL, NULL);
}

static void parts_are_found_on_both_sides_of_64_kb(void **state)
{
    (void)state;
    for (size_t bytes = 65200; bytes < 65700; bytes++) {
        kc_auto(kc_object) *object = object_behind(bytes);
        kc_auto(kc_object) *stored = kc_object_with_revision(object, 1234567890123456789u);
        kc_auto(kc_object) *again = kc_object_with_revision(stored, 7);
        const kc_object *all[] = {object, stored, again};
        for (size_t i = 0; i < KC_COUNT(all); i++) {
            assert_str(kc_object_name(all[i]), "a\tb");
            assert_str(kc_object_namespace(all[i]), "prod");
            assert_str(kc_object_kind(all[i]), "");
        }
        assert_int_equal(kc_object_revision(stored), 1234567890123456789u);
        assert_int_equal(kc_object_revision(again), 7);
    }
}

static void absent_part_costs_nothing(void **state)
{
    (void)state;
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"data\":\"");
    for (size_t i = 0; i < 1000; i++)
        kc_buf_putc(&json, 'x');
    kc_buf_puts(&json, "\"}");
    kc_auto(kc_object) *object = kc_object_parse(kc_buf_str(&json), NULL, NULL);
    assert_in_range(kc_object_size(object), json.n, json.n + 48);
}

static void managed_fields_are_removed(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"{'metadata':{'name':'a','managedFields':[{'x':1}],'uid':'u'},'z':1}",
         "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"},\"z\":1}"},
        {"{'metadata':{'managedFields':[],'name':'a','uid':'u'}}",
         "{\"metadata\":{\"name\":\"a\",\"uid\":\"u\"}}"},
        {"{'metadata':{'uid':'u','name':'a','managedFields':[]}}",
         "{\"metadata\":{\"uid\":\"u\",\"name\":\"a\"}}"},
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_auto(kc_object) *before = object_of(texts[i][0]);
        kc_auto(kc_object) *after = kc_object_without_managed_fields(before);
        assert_object_json(after, texts[i][1]);
        assert_str(kc_object_name(after), "a");
        assert_str(kc_object_uid(after), "u");
        assert_same_as_reparsed(after);
    }
    kc_auto(kc_object) *only = object_of("{'metadata':{'managedFields':[{}]}}");
    kc_auto(kc_object) *empty = kc_object_without_managed_fields(only);
    assert_object_json(empty, "{\"metadata\":{}}");
    kc_auto(kc_object) *none = kc_object_without_managed_fields(empty);
    assert_ptr_equal(none, empty);
}

static void managed_fields_are_replaced(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {"{'metadata':{'name':'a','labels':{'l':'m'}},'z':1}",
         "{\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"m\"},\"managedFields\":[1]},\"z\":1}"},
        {"{'metadata':{'name':'a','managedFields':[{'manager':'m'}],'labels':{'l':'m'}}}",
         "{\"metadata\":{\"name\":\"a\",\"managedFields\":[1],\"labels\":{\"l\":\"m\"}}}"},
        {"{'metadata':{'name':'a','labels':{'l':'m'},'managedFields':null}}",
         "{\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"m\"},\"managedFields\":[1]}}"},
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_auto(kc_object) *before = object_of(texts[i][0]);
        kc_auto(kc_object) *after = kc_object_with_managed_fields(before, KC_STR("[1]"));
        assert_object_json(after, texts[i][1]);
        assert_str(kc_object_name(after), "a");
        assert_str(kc_object_labels_json(after), "{\"l\":\"m\"}");
        assert_same_as_reparsed(after);
        kc_auto(kc_object) *none = kc_object_with_managed_fields(after, KC_STR(""));
        assert_int_equal(kc_object_managed_fields_json(none).n, 0);
        assert_same_as_reparsed(none);
    }
    kc_auto(kc_object) *bare = object_of("{'kind':'A'}"), *empty = object_of("{'metadata':{}}");
    kc_auto(kc_object) *owned = kc_object_with_managed_fields(bare, KC_STR("[1]"));
    assert_object_json(owned, "{\"kind\":\"A\",\"metadata\":{\"managedFields\":[1]}}");
    kc_auto(kc_object) *first = kc_object_with_managed_fields(empty, KC_STR("[1]"));
    assert_object_json(first, "{\"metadata\":{\"managedFields\":[1]}}");
}

/* Positions become four bytes wide, and two again. */
static void managed_fields_of_100_kb_are_added_and_removed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) owners = {0};
    kc_auto(kc_object) *small =
        object_of("{'kind':'A','metadata':{'name':'\\tb','finalizers':['f']},'z':1}");
    kc_buf_puts(&owners, "[\"");
    for (int i = 0; i < 100000; i++)
        kc_buf_putc(&owners, 'x');
    kc_buf_puts(&owners, "\"]");
    kc_auto(kc_object) *large = kc_object_with_managed_fields(small, kc_buf_str(&owners));
    assert_same_as_reparsed(large);
    assert_int_equal(kc_object_managed_fields_json(large).n, owners.n);
    kc_auto(kc_object) *again = kc_object_without_managed_fields(large);
    assert_same_as_reparsed(again);
    assert_str(kc_object_name(again), "\tb");
    assert_true(kc_str_eq(kc_object_json(again), kc_object_json(small)));
}

static void managed_fields_that_are_no_array_count_as_absent(void **state)
{
    (void)state;
    static const char *const texts[] = {"{'metadata':{'name':'a','managedFields':null}}",
                                        "{'metadata':{'name':'a','managedFields':{}}}",
                                        "{'managedFields':[1]}", "{'metadata':[]}"};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_auto(kc_object) *object = object_of(texts[i]);
        assert_int_equal(kc_object_managed_fields_json(object).n, 0);
    }
}

static void cached_copy_uses_minimal_memory(void **state)
{
    (void)state;
    kc_auto(kc_object) *read = object_of("{'metadata':{'name':'\\u0061b','namespace':'c'}}");
    kc_auto(kc_object) *kept = kc_object_without_managed_fields(read);
    assert_true(kc_object_size(kept) <= kc_object_size(read));
    assert_object_json(kept, "{\"metadata\":{\"name\":\"ab\",\"namespace\":\"c\"}}");
    assert_str(kc_object_name(kept), "ab");
    assert_str(kc_object_namespace(kept), "c");
}

TESTS(metadata_is_found_at_any_position, mistyped_metadata_counts_as_absent,
      escaped_name_is_returned_unescaped, text_of_object_is_canonical,
      invalid_text_fails_with_position, nul_byte_fails, nesting_beyond_limit_fails,
      size_beyond_limit_fails, last_of_duplicate_members_counts,
      duplicates_are_found_in_long_objects, reported_duplicates_are_bounded,
      object_overhead_is_small, references_keep_an_object_alive,
      parts_are_found_on_both_sides_of_64_kb, absent_part_costs_nothing,
      canonical_text_becomes_the_object_that_parsing_makes, revision_is_replaced_by_splice,
      resource_version_is_added_behind_the_uid, api_version_is_replaced_by_splice,
      managed_fields_are_removed, managed_fields_are_replaced,
      managed_fields_of_100_kb_are_added_and_removed,
      managed_fields_that_are_no_array_count_as_absent, cached_copy_uses_minimal_memory)
