/* SPDX-License-Identifier: Apache-2.0 */
/* The typed decoder: objects as Go's typed decoder and encoder would return them. */
#include "testing.h"
#include "typed_testing.h"

static char *quoted(const char *json)
{
    char *text = kc_str_dup(kc_cstr(json));
    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    return text;
}

/* Decodes, compares, and decodes the result again, which must give the same object. */
static void expect(const char *given, const char *expected, int line)
{
    kc_auto(kc_object) *object = object_of(given);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(the_thing(), object, NULL, &err);
    kc_autofree char *text = quoted(expected);
    if (!typed)
        print_error("%s\n", kc_error_text(&err));
    assert_non_null(typed);
    kc__assert_str(kc_object_json(typed), text, __FILE__, line);
    kc_auto(kc_object) *more_writes = kc__typed_decode(the_thing(), typed, NULL, &err);
    assert_ptr_equal(more_writes, typed);
}
#define assert_decodes(given, expected) expect(given, expected, __LINE__)
#define assert_stays(given)             expect(given, given, __LINE__)
/* The same for what stands in the spec, between "containers":null and what else is required. */
#define SPEC(members)              "{'metadata':{},'spec':{" members "}}"
#define assert_spec(given, wanted) expect(SPEC(given), SPEC(wanted), __LINE__)

static void expect_error(const char *given, const char *expected, int line)
{
    kc_auto(kc_object) *object = object_of(given);
    kc_scoped(kc_error) err = {0};
    assert_null(kc__typed_decode(the_thing(), object, NULL, &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    kc_autofree char *text = quoted(expected);
    kc__assert_str(kc_cstr(kc_error_text(&err)), text, __FILE__, line);
    assert_null(kc__typed_decode(the_thing(), object, NULL, NULL));
}
#define assert_refused(given, message) expect_error(given, message, __LINE__)
#define SPEC_ONLY(members)             "{'spec':{" members "}}"

static void canonical_object_is_returned_without_copy(void **state)
{
    (void)state;
    kc_auto(kc_object) *object =
        object_of("{'kind':'Thing','apiVersion':'v1','metadata':{'name':'a','labels':{'x':'1'}}}");
    kc_auto(kc_object) *typed = kc__typed_decode(the_thing(), object, NULL, NULL);
    assert_ptr_equal(typed, object);
}

/* Decodes the part of a text between the first { and the last }. */
static kc_str decode_part(const char *whole, kc_buf *out, kc_str *ret_part)
{
    const char *start = strchr(whole, '{'), *end = strrchr(whole, '}') + 1;
    kc_str typed = {0};
    *ret_part = kc_str_of(start, (size_t)(end - start));
    kc_buf_done(out);
    assert_int_equal(kc__typed_decode_text(the_thing(), *ret_part, NULL, out, &typed, NULL), 0);
    return typed;
}

static void part_of_a_text_is_decoded_in_its_place(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_str part;
    kc_autofree char *same = quoted("[{'kind':'Thing','metadata':{'name':'a'}}  ],'kind':null");
    kc_autofree char *reordered = quoted("[{'metadata':{'name':'a'},'kind':'Thing'},");
    kc_autofree char *wrong = quoted("[{'metadata':{'name':1}},");
    const kc_str kept = decode_part(same, &out, &part);
    assert_ptr_equal(kept.p, part.p);
    assert_int_equal(kept.n, part.n);
    const kc_str changed = decode_part(reordered, &out, &part);
    assert_ptr_equal(changed.p, out.p);
    kc_autofree char *expected = quoted("{'kind':'Thing','metadata':{'name':'a'}}");
    assert_str(changed, expected);
    kc_buf_done(&out);
    kc_scoped(kc_error) err = {0};
    kc_str typed = kc_cstr("untouched");
    part = kc_str_of(wrong + 1, strlen(wrong) - 2);
    assert_true(kc__typed_decode_text(the_thing(), part, NULL, &out, &typed, &err) < 0);
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_str(typed, "untouched");
}

static void fields_are_written_in_struct_order(void **state)
{
    (void)state;
    assert_decodes("{'apiVersion':'v1','kind':'Thing','metadata':{'labels':{},'generation':2,"
                   "'name':'a'}}",
                   "{'kind':'Thing','apiVersion':'v1','metadata':{'name':'a','generation':2}}");
}

static void fields_of_embedded_structs_are_inlined_in_order(void **state)
{
    (void)state;
    assert_spec("'selector':null,'containers':null,'volumes':[{'zone':'z','emptyDir':{},"
                "'hostPath':{},'name':'v'}],'due':null",
                "'selector':null,'containers':null,'volumes':[{'name':'v','hostPath':{'path':''},"
                "'emptyDir':{},'zone':'z'}],'due':null");
}

static void unknown_fields_are_dropped(void **state)
{
    (void)state;
    assert_decodes("{'foo':{'a':[1,{'b':'}'}]},'kind':'Thing','bar':'\\\\\\'','metadata':{'x':1},"
                   "'Spec':{}}",
                   "{'kind':'Thing','metadata':{}}");
    assert_decodes("{'':1}", "{'metadata':{}}");
    assert_decodes("{}", "{'metadata':{}}");
}

static void unknown_fields_are_reported_with_path(void **state)
{
    (void)state;
    kc_auto(kc_object) *object =
        object_of("{'b':1,'spec':{'Replicas':2,'containers':[{'name':'a'},{'foo':1,'ports':[{'x':1}"
                  "]}],'more':{'a.b':{'q':1}},'raw':{'free':1}},'a':{'inside':1}}");
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(the_thing(), object, &unknown, NULL);
    assert_non_null(typed);
    assert_int_equal(unknown.n, 6);
    assert_string_equal(unknown.items[0], "b");
    assert_string_equal(unknown.items[1], "spec.Replicas");
    assert_string_equal(unknown.items[2], "spec.containers[1].foo");
    assert_string_equal(unknown.items[3], "spec.containers[1].ports[0].x");
    assert_string_equal(unknown.items[4], "spec.more.a.b.q");
    assert_string_equal(unknown.items[5], "a");
}

static void at_most_100_unknown_fields_are_reported(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_putc(&text, '{');
    for (int i = 0; i < 150; i++)
        kc_buf_printf(&text, "%s'x%d':1", i ? "," : "", i);
    kc_buf_putc(&text, '}');
    kc_auto(kc_object) *object = object_of(kc_buf_cstr(&text));
    kc_scoped(kc_paths) unknown = {0};
    kc_auto(kc_object) *typed = kc__typed_decode(the_thing(), object, &unknown, NULL);
    assert_int_equal(unknown.n, KC__TYPED_MAX_STRICT_ERRORS);
    assert_object_json(typed, "{\"metadata\":{}}");
}

static void empty_optional_fields_are_omitted(void **state)
{
    (void)state;
    assert_decodes("{'kind':'','metadata':{'name':'','generation':0,'labels':{},'finalizers':[]}}",
                   "{'metadata':{}}");
    assert_decodes("{'metadata':{'name':'','generation':1,'labels':{},'finalizers':['a']}}",
                   "{'metadata':{'generation':1,'finalizers':['a']}}");
    assert_decodes("{'metadata':{'name':'n','generation':0,'finalizers':[]}}",
                   "{'metadata':{'name':'n'}}");
}

static void null_fields_are_omitted(void **state)
{
    (void)state;
    assert_decodes("{'kind':null,'metadata':null,'spec':null}", "{'metadata':{}}");
    assert_decodes("{'metadata':{'creationTimestamp':null,'deletionTimestamp':null,'labels':null}}",
                   "{'metadata':{}}");
}

static void nulls_in_lists_and_maps_become_zero_values(void **state)
{
    (void)state;
    assert_decodes("{'metadata':{'labels':{'a':null},'finalizers':[null,'b',null]}}",
                   "{'metadata':{'labels':{'a':''},'finalizers':['','b','']}}");
    assert_spec(
        "'selector':null,'containers':[null],'data':{'a':null},'due':null,'extra':{'a':null}",
        "'selector':null,'containers':[{'name':'','resources':{}}],'data':{'a':''},"
        "'due':null,'extra':{'a':[]}");
}

static void empty_value_of_a_pointer_is_kept(void **state)
{
    (void)state;
    assert_stays(SPEC("'replicas':0,'selector':{},'containers':null,'due':null"));
}

static void required_fields_are_added(void **state)
{
    (void)state;
    assert_spec("", "'selector':null,'containers':null,'due':null");
    assert_spec("'containers':[{},{'ports':[{}]}]",
                "'selector':null,'containers':[{'name':'','resources':{}},{'name':'','ports':["
                "{'containerPort':0,'target':0}],'resources':{}}],'due':null");
    assert_decodes("{'status':{}}", "{'metadata':{},'status':{'ready':false,'seen':null}}");
    assert_stays("{'metadata':{},'status':{'ready':false,'seen':null}}");
}

static void empty_required_list_is_null(void **state)
{
    (void)state;
    assert_spec("'containers':[]", "'selector':null,'containers':null,'due':null");
    assert_spec("'selector':null,'containers':null,'due':null,'verbs':[],'extra':{'a':[]}",
                "'selector':null,'containers':null,'due':null,'extra':{'a':[]}");
}

static void empty_required_list_of_a_body_stays_empty(void **state)
{
    (void)state;
    kc_auto(kc_object) *body = object_of(
        "{'metadata':{'labels':{}},'spec':{'containers':[],'verbs':[],'extra':{'a':[]}}}");
    kc_auto(kc_object) *typed = kc__typed_decode_body(the_thing(), body, NULL, NULL);
    assert_non_null(typed);
    assert_str(kc_object_json(typed), "{\"metadata\":{},\"spec\":{\"selector\":null,"
                                      "\"containers\":[],\"due\":null,\"extra\":{\"a\":[]}}}");
    kc_auto(kc_object) *stored = kc__typed_decode(the_thing(), typed, NULL, NULL);
    assert_non_null(strstr(kc_object_json(stored).p, "\"containers\":null"));
}

static void maps_are_sorted_by_key(void **state)
{
    (void)state;
    assert_decodes("{'metadata':{'labels':{'b':'1','a':'2','ab':'3','\xc3\xa4':'4','B':'5'}}}",
                   "{'metadata':{'labels':{'B':'5','a':'2','ab':'3','b':'1','\xc3\xa4':'4'}}}");
    /* By what the names stand for: a line break comes before a letter and before a backslash. */
    assert_decodes("{'metadata':{'labels':{'a\\\\b':'1','aB':'2','a\\n':'3'}}}",
                   "{'metadata':{'labels':{'a\\n':'3','aB':'2','a\\\\b':'1'}}}");
}

static void times_are_canonicalized(void **state)
{
    (void)state;
    assert_decodes("{'metadata':{'creationTimestamp':'2024-02-29T14:00:00.5+02:00'}}",
                   "{'metadata':{'creationTimestamp':'2024-02-29T12:00:00Z'}}");
    assert_decodes("{'metadata':{'creationTimestamp':'0001-01-01T00:00:00Z',"
                   "'deletionTimestamp':'0001-01-01T00:00:00Z'}}",
                   "{'metadata':{}}");
    assert_spec("'selector':null,'containers':null,'due':'0001-01-01T00:00:00Z',"
                "'renewed':'2024-02-29T14:00:00.123456+02:00'",
                "'selector':null,'containers':null,'due':null,'renewed':"
                "'2024-02-29T12:00:00.123456Z'");
}

static void invalid_times_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "2024-00-10T10:00:00Z", "2024-13-10T10:00:00Z", "2024-10-00T10:00:00Z",
        "2023-02-29T10:00:00Z", "2024-10-32T10:00:00Z", "2024-10-10T24:00:00Z",
        "2024-10-10T10:60:00Z", "2024-10-10T10:00:60Z", "2024-10-10T10:00:00z",
        "2024-10-10 10:00:00Z", "2024-1a-10T10:00:00Z", "",
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *given = kc_asprintf("{'spec':{'due':'%s'}}", cases[i]);
        kc_auto(kc_object) *object = object_of(given);
        kc_scoped(kc_error) err = {0};
        assert_null(kc__typed_decode(the_thing(), object, NULL, &err));
        assert_error(&err, KC_BAD_REQUEST, "parsing time ");
    }
}

static void quantities_and_durations_are_canonicalized(void **state)
{
    (void)state;
    assert_spec("'selector':null,'containers':[{'name':'a','resources':{'limits':{'memory':'1024Mi'"
                ",'cpu':0.5,'z':'1','p':7,'n':null}}}],'due':null,'wait':'90s','size':'0.5'",
                "'selector':null,'containers':[{'name':'a','resources':{'limits':{'cpu':'500m',"
                "'memory':'1Gi','n':'0','p':'7','z':'1'}}}],'due':null,'wait':'1m30s','size':"
                "'500m'");
}

static void int_or_string_keeps_its_type(void **state)
{
    (void)state;
    assert_stays(SPEC("'selector':null,'containers':[{'name':'a','ports':[{'containerPort':1,"
                      "'target':'http'},{'containerPort':2,'target':80}],'resources':{}}],"
                      "'due':null"));
}

static void raw_values_are_unchanged(void **state)
{
    (void)state;
    assert_stays(SPEC("'selector':null,'containers':null,'due':null,'raw':{'z':null,'a':[{}]},"
                      "'any':[1,{'b':''}]"));
    assert_stays("{'metadata':{'managedFields':[{'manager':'k','fieldsV1':{'f:z':{},'f:a':{}}}]}}");
}

static void base64_is_canonicalized(void **state)
{
    (void)state;
    assert_spec("'selector':null,'containers':null,'data':{'a':'YQ==','b':'','c':'YW\\nI=\\r\\n',"
                "'d':'YR==','e':'YWJj'},'bundle':'','due':null",
                "'selector':null,'containers':null,'data':{'a':'YQ==','b':'','c':'YWI=',"
                "'d':'YQ==','e':'YWJj'},'due':null");
}

static void bytes_may_be_an_array_of_numbers(void **state)
{
    (void)state;
    assert_spec("'selector':null,'containers':null,'data':{'a':[97],'b':[],'c':[97,98,99,255],"
                "'d':[null,0]},'bundle':[],'due':null",
                "'selector':null,'containers':null,'data':{'a':'YQ==','b':'','c':'YWJj/w==',"
                "'d':'AAA='},'due':null");
}

static void invalid_base64_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int at;
    } cases[] = {
        {"!", 0},  {"YQ", 0},   {"YQ=", 3},   {"Y", 0},     {"YWJjYQ", 4}, {"=", 0},
        {"Y=", 1}, {"YQ=a", 2}, {"YQ==a", 4}, {"YWI=a", 4}, {"YWJj-w", 4}, {"YWJjZA==\\nA", 9},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *given = kc_asprintf("{'spec':{'data':{'a':'%s'}}}", cases[i].text);
        kc_autofree char *message =
            kc_asprintf("illegal base64 data at input byte %d", cases[i].at);
        assert_refused(given, message);
    }
}

static void wrong_type_is_refused_with_message_of_go(void **state)
{
    (void)state;
#define CANNOT(what, where, type) \
    "json: cannot unmarshal " what " into Go struct field " where " of type " type
    static const char *const cases[][2] = {
        {"{'kind':5}", CANNOT("number", "Thing.kind", "string")},
        {"{'metadata':[]}", CANNOT("array", "Thing.metadata", "v1.ObjectMeta")},
        {"{'metadata':{'name':{}}}", CANNOT("object", "ObjectMeta.metadata.name", "string")},
        {"{'metadata':{'labels':'x'}}",
         CANNOT("string", "ObjectMeta.metadata.labels", "map[string]string")},
        {"{'metadata':{'labels':{'a':true}}}",
         CANNOT("bool", "ObjectMeta.metadata.labels", "string")},
        {"{'metadata':{'finalizers':[1]}}",
         CANNOT("number", "ObjectMeta.metadata.finalizers", "string")},
        {"{'spec':{'replicas':'3'}}", CANNOT("string", "ThingSpec.spec.replicas", "int32")},
        {"{'spec':{'replicas':3.5}}", CANNOT("number 3.5", "ThingSpec.spec.replicas", "int32")},
        {"{'spec':{'replicas':2147483648}}",
         CANNOT("number 2147483648", "ThingSpec.spec.replicas", "int32")},
        {"{'spec':{'count':-1}}", CANNOT("number -1", "ThingSpec.spec.count", "uint32")},
        {"{'spec':{'rate':1e39}}", CANNOT("number 1e+39", "ThingSpec.spec.rate", "float32")},
        {"{'spec':{'paused':'true'}}", CANNOT("string", "ThingSpec.spec.paused", "bool")},
        {"{'spec':{'containers':{}}}",
         CANNOT("object", "ThingSpec.spec.containers", "[]v1.Container")},
        {"{'spec':{'containers':['x']}}",
         CANNOT("string", "ThingSpec.spec.containers", "v1.Container")},
        {"{'spec':{'containers':[{'imagePullPolicy':1}]}}",
         CANNOT("number", "Container.spec.containers.imagePullPolicy", "v1.PullPolicy")},
        {"{'spec':{'volumes':[{'hostPath':1}]}}",
         CANNOT("number", "Volume.spec.volumes.hostPath", "v1.HostPathVolumeSource")},
        {"{'spec':{'containers':[{'resources':{'limits':[]}}]}}",
         CANNOT("array", "ResourceRequirements.spec.containers.resources.limits",
                "v1.ResourceList")},
        {"{'spec':{'more':{'a':{'paused':1}}}}",
         CANNOT("number", "ThingSpec.spec.more.paused", "bool")},
        {"{'spec':{'verbs':[1]}}", CANNOT("number", "ThingSpec.spec.verbs", "string")},
        {"{'spec':{'extra':{'a':1}}}", CANNOT("number", "ThingSpec.spec.extra", "v1.ExtraValue")},
        {"{'spec':{'extra':{'a':[{}]}}}", CANNOT("object", "ThingSpec.spec.extra", "string")},
        {"{'spec':{'bundle':5}}", CANNOT("number", "ThingSpec.spec.bundle", "[]uint8")},
        {"{'spec':{'bundle':['a']}}", CANNOT("string", "ThingSpec.spec.bundle", "uint8")},
        {"{'spec':{'bundle':[1,256]}}", CANNOT("number 256", "ThingSpec.spec.bundle", "uint8")},
        {"{'spec':{'verbs':'get'}}", CANNOT("string", "ThingSpec.spec.verbs", "v1.Verbs")},
        {"{'spec':{'due':5}}", CANNOT("number", "ThingSpec.spec.due", "string")},
        {"{'spec':{'wait':{}}}", CANNOT("object", "ThingSpec.spec.wait", "string")},
        {"{'spec':{'containers':[{'ports':[{'target':1.5}]}]}}",
         CANNOT("number 1.5", "ContainerPort.spec.containers.ports.target", "int32")},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_refused(cases[i][0], cases[i][1]);
}

static void custom_unmarshalers_report_their_own_errors(void **state)
{
    (void)state;
    assert_refused(SPEC_ONLY("'due':'today'"),
                   "parsing time 'today' as '2006-01-02T15:04:05Z07:00': cannot parse 'today' as "
                   "'2006'");
    assert_refused(SPEC_ONLY("'wait':'soon'"), "time: invalid duration 'soon'");
    assert_refused(SPEC_ONLY("'pause':[null]"), "time: invalid duration ''");
    kc_auto(kc_object) *object = object_of(SPEC_ONLY("'size':'much'"));
    kc_scoped(kc_error) err = {0};
    assert_null(kc__typed_decode(the_thing(), object, NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "quantities must match the regular expression");
}

static void first_type_mismatch_is_reported_unless_a_fatal_error_follows(void **state)
{
    (void)state;
    assert_refused("{'kind':5,'metadata':{'name':6}}", CANNOT("number", "Thing.kind", "string"));
    assert_refused("{'kind':5,'spec':{'wait':'soon','due':'today'}}",
                   "time: invalid duration 'soon'");
}

static void object_that_grows_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "{'spec':{'containers':[{}");
    for (size_t i = 0; i < 1000000; i++)
        kc_buf_puts(&text, ",{}");
    kc_buf_puts(&text, "]}}");
    kc_auto(kc_object) *object = object_of(kc_buf_cstr(&text));
    kc_scoped(kc_error) err = {0};
    assert_null(kc__typed_decode(the_thing(), object, NULL, &err));
    assert_error(&err, KC_TOO_LARGE, "larger than");
}

static void assert_complaints(const char *json, const char *expected)
{
    kc_autofree char *given = quoted(json);
    kc_autofree char *wanted = quoted(expected);
    kc_scoped(kc_paths) strict_errors = {0};
    kc_scoped(kc_buf) all = {0};
    kc__typed_strict_errors(the_thing(), kc_cstr(given), &strict_errors);
    kc_vec_each (&strict_errors, complaint)
        kc_buf_printf(&all, "%s%s", all.n ? ", " : "", *complaint);
    assert_string_equal(kc_buf_cstr(&all), wanted);
}

static void strict_errors_are_in_order_of_the_text(void **state)
{
    (void)state;
    assert_complaints("{'kind':'Thing'}", "");
    assert_complaints(
        " { 'spec' : { 'paused' : true , 'paused' : false ,\n 'foo' : [ { } , 'x' ] } "
        ", 'bar' : 1 , 'metadata':{'labels':{'a':'1','b':'2','a':'3'}}} ",
        "duplicate field 'spec.paused', unknown field 'spec.foo', unknown field "
        "'bar', duplicate field 'metadata.labels.a'");
    assert_complaints("{'spec':{'containers':[{'name':'a'},{'x':1,'ports':[{'y':{}}]}]},'spec':{}}",
                      "unknown field 'spec.containers[1].x', unknown field "
                      "'spec.containers[1].ports[0].y', duplicate field 'spec'");
}

static void strict_errors_are_reported_once(void **state)
{
    (void)state;
    assert_complaints("{'kind':'a','kind':'b','kind':'c','x':{'y':1,'y':2},'x':1}",
                      "duplicate field 'kind', unknown field 'x'");
}

static void strict_decoding_skips_raw_values(void **state)
{
    (void)state;
    assert_complaints("{'spec':{'raw':{'a':1,'a':2},'any':[{'b':1,'b':2}]},'metadata':{"
                      "'managedFields':[{'fieldsV1':{'f:a':{},'f:a':{}}}]}}",
                      "");
}

static void strict_decoding_unescapes_field_names(void **state)
{
    (void)state;
    assert_complaints("{'k\\u0069nd':'a','kind':'b','ta\\tb':1}",
                      "duplicate field 'kind', unknown field 'ta\\tb'");
}

TESTS(canonical_object_is_returned_without_copy, part_of_a_text_is_decoded_in_its_place,
      fields_are_written_in_struct_order, fields_of_embedded_structs_are_inlined_in_order,
      unknown_fields_are_dropped, unknown_fields_are_reported_with_path,
      at_most_100_unknown_fields_are_reported, empty_optional_fields_are_omitted,
      null_fields_are_omitted, nulls_in_lists_and_maps_become_zero_values,
      empty_value_of_a_pointer_is_kept, required_fields_are_added, empty_required_list_is_null,
      empty_required_list_of_a_body_stays_empty, maps_are_sorted_by_key, times_are_canonicalized,
      invalid_times_are_refused, quantities_and_durations_are_canonicalized,
      int_or_string_keeps_its_type, raw_values_are_unchanged, base64_is_canonicalized,
      bytes_may_be_an_array_of_numbers, invalid_base64_is_refused,
      wrong_type_is_refused_with_message_of_go, custom_unmarshalers_report_their_own_errors,
      first_type_mismatch_is_reported_unless_a_fatal_error_follows,
      object_that_grows_beyond_limit_is_refused, strict_errors_are_in_order_of_the_text,
      strict_errors_are_reported_once, strict_decoding_skips_raw_values,
      strict_decoding_unescapes_field_names)
