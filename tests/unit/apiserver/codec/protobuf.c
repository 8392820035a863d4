/* SPDX-License-Identifier: Apache-2.0 */
/* Protobuf bodies: the rules of proto2, the JSON they become, and what is refused. */
#include "apiserver/codec/protobuf.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "kc/buf.h"
#include "testing.h"

#include <stdio.h>

/*
 * Bodies are written as text: "1:abc" is field 1 with the bytes abc, "2=7" a varint, "3{…}" an
 * embedded message, "4#xx" 32 bits and "4##xx" 64 bits from hexadecimal digits, "!xx" raw bytes. A
 * space ends a value, so bytes in text hold none.
 */
static void put_varint(kc_buf *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        kc_buf_putc(out, (char)(value | 0x80));
    kc_buf_putc(out, (char)value);
}

static void put_hex(kc_buf *out, const char **p)
{
    for (unsigned byte; sscanf(*p, "%2x", &byte) == 1 && **p != ' '; *p += 2)
        kc_buf_putc(out, (char)byte);
}

static const char *put_fields(kc_buf *out, const char *p);

static void put_value(kc_buf *out, unsigned long number, const char **p)
{
    kc_scoped(kc_buf) inner = {0};
    char c = *(*p)++;
    if (c == '=') {
        put_varint(out, number << 3);
        put_varint(out, (uint64_t)strtoll(*p, (char **)(uintptr_t)p, 10));
        return;
    }
    if (c == '#') {
        bool wide = **p == '#';
        put_varint(out, number << 3 | (wide ? 1 : 5));
        *p += wide;
        put_hex(out, p);
        return;
    }
    if (c == '{')
        *p = put_fields(&inner, *p);
    else
        for (; **p && **p != ' ' && **p != '}'; (*p)++)
            kc_buf_putc(&inner, **p);
    put_varint(out, number << 3 | 2);
    put_varint(out, inner.n);
    kc_buf_append(out, kc_buf_str(&inner));
}

static const char *put_fields(kc_buf *out, const char *p)
{
    while (*p && *p != '}') {
        if (*p == ' ') {
            p++;
        } else if (*p == '!') {
            p++;
            put_hex(out, &p);
        } else {
            char *end;
            unsigned long number = strtoul(p, &end, 10);
            assert_true(end > p);
            p = end;
            put_value(out, number, &p);
        }
    }
    return *p ? p + 1 : p;
}

static void put_envelope(kc_buf *out, const char *api_version, const char *kind, const char *body)
{
    kc_autofree char *text = kc_asprintf("1{1:%s 2:%s} 2{%s}", api_version, kind, body);
    kc_buf_append(out, kc_str_of("k8s\0", 4));
    put_fields(out, text);
}

static const kc__type_message *type_of(kc_str api_version, kc_str kind, void *user)
{
    (void)user;
    return kc__crd_type_of_kind(api_version, kind);
}

static kc_object *decode(const char *api_version, const char *kind, const char *body, kc_error *err)
{
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, api_version, kind, body);
    return kc__protobuf_decode(kc_buf_str(&bytes), &(kc__protobuf_opts){.type_of = type_of}, err);
}

/* The members behind kind and apiVersion; quotes may be written as '. */
static void assert_decoded(const char *api_version, const char *kind, const char *body,
                           const char *members)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = decode(api_version, kind, body, &err);
    if (!object)
        fail_msg("%s: %s", body, kc_error_text(&err));
    kc_autofree char *text = kc_asprintf("{'kind':'%s','apiVersion':'%s'%s%s}", kind, api_version,
                                         *members ? "," : "", members);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    assert_str(kc_object_json(object), text);
}

static void assert_refused(const char *api_version, const char *kind, const char *body,
                           const char *part)
{
    kc_scoped(kc_error) err = {0};
    assert_null(decode(api_version, kind, body, &err));
    assert_error(&err, KC_BAD_REQUEST, part);
}

/* ---- the envelope ---- */

static void kind_and_api_version_come_from_the_envelope(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "", "'metadata':{}");
    assert_decoded("apps/v1", "DeleteOptions", "", "");
    assert_decoded("v1", "DeleteOptions", "1=30 4:Background",
                   "'gracePeriodSeconds':30,'propagationPolicy':'Background'");
    assert_decoded("autoscaling/v1", "Scale", "1{1:web} 2{1=3}",
                   "'metadata':{'name':'web'},'spec':{'replicas':3},'status':{'replicas':0}");
    assert_decoded("policy/v1", "Eviction", "1{1:web} 2{1=0}",
                   "'metadata':{'name':'web'},'deleteOptions':{'gracePeriodSeconds':0}");
}

static void envelope_without_kind_uses_kind_of_request(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, "", "", "1{1:web}");
    kc__protobuf_opts opts = {.api_version = KC_STR("v1"), .kind = KC_STR("ConfigMap")};
    kc_auto(kc_object) *object = kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err);
    assert_object_json(
        object, "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\"}}");
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:\"\", Kind:\"\"}'");
    opts.api_version = KC_STR("");
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "Object 'apiVersion' is missing");
}

static void repeated_envelope_fields_are_merged(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    kc_buf_append(&bytes, kc_str_of("k8s\0", 4));
    put_fields(&bytes, "9:unknown 1{1:v1} 2{1{1:old}} 1{2:ConfigMap} 2{1{1:web}}");
    kc_auto(kc_object) *object = kc__protobuf_decode(kc_buf_str(&bytes), NULL, &err);
    assert_non_null(object);
    assert_str(kc_object_kind(object), "ConfigMap");
    assert_str(kc_object_api_version(object), "v1");
    assert_str(kc_object_name(object), "web");
}

static void unknown_kind_is_refused(void **state)
{
    (void)state;
    assert_refused("v1", "Robot", "", "no kind \"Robot\" is registered for version \"v1\"");
    assert_refused("v1", "PodSpec", "", "no kind \"PodSpec\"");
}

static void body_without_magic_prefix_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__protobuf_decode(KC_STR(""), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "empty data");
    assert_null(kc__protobuf_decode(KC_STR("{\"kind\":\"Pod\"}"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected prefix [107 56 115 0]");
    assert_null(kc__protobuf_decode(kc_str_of("k8s\0", 4), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "empty body");
    assert_true(kc__protobuf_recognizes(kc_str_of("k8s\0x", 5)));
    assert_false(kc__protobuf_recognizes(KC_STR("k8s")));
}

static void other_content_encoding_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, "v1", "Pod", "");
    size_t n = bytes.n;
    put_fields(&bytes, "4:application/vnd.kubernetes.protobuf");
    kc_auto(kc_object) *pod = kc__protobuf_decode(kc_buf_str(&bytes), NULL, &err);
    assert_non_null(pod);
    bytes.n = n;
    put_fields(&bytes, "4:application/json");
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "the content type 'application/json' is not supported");
    bytes.n = n;
    put_fields(&bytes, "3:gzip");
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "the content encoding 'gzip' is not supported");
}

static void encoding_is_not_acceptable(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, "v1", "Pod", "");
    kc_auto(kc_object) *pod =
        kc_codec_decode_one(&kc__protobuf_codec, kc_buf_str(&bytes), NULL, &err);
    assert_str(kc_object_kind(pod), "Pod");
    assert_null(kc_codec_decode_one(&kc__protobuf_codec, KC_STR("x"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "expected prefix");
    assert_true(kc__protobuf_codec.encode(pod, &bytes, &err) < 0);
    assert_int_equal(err.reason, KC_NOT_ACCEPTABLE);
}

/* ---- proto2 ---- */

static void fields_in_any_order_are_written_in_struct_order(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "2{1:b 2:2} 1{3:ns 1:web} 2{2:1 1:a}",
                   "'metadata':{'name':'web','namespace':'ns'},'data':{'a':'1','b':'2'}");
}

static void last_value_of_a_scalar_wins(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "1{1:old 1:new}", "'metadata':{'name':'new'}");
    assert_decoded("v1", "ConfigMap", "1{1:old 1:}", "'metadata':{}");
}

static void embedded_messages_are_merged(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "1{1:web 3:old} 1{3:new 11{1:a 2:1}} 1{11{1:b 2:2}}",
                   "'metadata':{'name':'web','namespace':'new','labels':{'a':'1','b':'2'}}");
    assert_decoded("v1", "Service", "2{1{4{1=1 3:http}} 1{4{2=7}}}",
                   "'metadata':{},'spec':{'ports':[{'port':0,'targetPort':'http'},"
                   "{'port':0,'targetPort':7}]},'status':{'loadBalancer':{}}");
    assert_decoded("v1", "Service", "2{1{4{1=1 3:http} 4{3:web}}}",
                   "'metadata':{},'spec':{'ports':[{'port':0,'targetPort':'web'}]},"
                   "'status':{'loadBalancer':{}}");
}

static void unknown_fields_are_skipped(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "99:what 1{77=5 1:web 78#00000000 79##0000000000000000}",
                   "'metadata':{'name':'web'}");
}

static void packed_and_unpacked_numbers_are_accepted(void **state)
{
    (void)state;
    assert_decoded("v1", "Pod", "2{14{4=1 4=300 4=2}}",
                   "'metadata':{},'spec':{'containers':null,'securityContext':"
                   "{'supplementalGroups':[1,300,2]}},'status':{}");
    assert_decoded("v1", "Pod", "2{14{!220101 4=300 !220102}}",
                   "'metadata':{},'spec':{'containers':null,'securityContext':"
                   "{'supplementalGroups':[1,300,2]}},'status':{}");
    assert_decoded("v1", "Pod", "2{14{!2200}}",
                   "'metadata':{},'spec':{'containers':null,'securityContext':{}},'status':{}");
    assert_refused("v1", "Pod", "2{14{!220180}}",
                   "spec.securityContext.supplementalGroups: a value is truncated");
}

static void numbers_keep_their_sign_and_width(void **state)
{
    (void)state;
    assert_decoded("autoscaling/v1", "Scale", "2{1=-1}",
                   "'metadata':{},'spec':{'replicas':-1},'status':{'replicas':0}");
    assert_decoded("autoscaling/v1", "Scale", "2{1=4294967298}",
                   "'metadata':{},'spec':{'replicas':2},'status':{'replicas':0}");
    assert_decoded("v1", "ConfigMap", "1{7=-9223372036854775808}",
                   "'metadata':{'generation':-9223372036854775808}");
}

static void maps_are_sorted_and_last_value_of_a_key_wins(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "2{1:b 2:1} 2{1:a 2:2} 2{1:b 2:3} 2{1:B 2:4}",
                   "'metadata':{},'data':{'B':'4','a':'2','b':'3'}");
}

static void map_entry_without_key_or_value_has_zero_values(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "2{1:a} 2{2:1} 3{1:c}",
                   "'metadata':{},'data':{'':'1','a':''},'binaryData':{'c':''}");
    assert_decoded("v1", "ResourceQuota", "2{1{1:cpu}}",
                   "'metadata':{},'spec':{'hard':{'cpu':'0'}},'status':{}");
}

/* ---- Go's JSON ---- */

static void empty_values_are_omitted_but_empty_pointers_are_kept(void **state)
{
    (void)state;
    assert_decoded("apps/v1", "Deployment", "2{1=0 5=0 7=0}",
                   "'metadata':{},'spec':{'replicas':0,'selector':null,'template':"
                   "{'metadata':{},'spec':{'containers':null}},'strategy':{}},'status':{}");
    assert_decoded("v1", "Secret", "5=0", "'metadata':{},'immutable':false");
    assert_decoded("v1", "PodList", "", "'metadata':{},'items':null");
}

static void list_elements_without_fields_are_empty_objects(void **state)
{
    (void)state;
    assert_decoded("v1", "Pod", "2{2{} 2{1:b}}",
                   "'metadata':{},'spec':{'containers':[{'name':'','resources':{}},"
                   "{'name':'b','resources':{}}]},'status':{}");
}

static void inline_structs_are_fields_of_their_parent(void **state)
{
    (void)state;
    assert_decoded("v1", "Pod", "2{1{2{2{1:Memory}} 1:tmp} 1{1:none}}",
                   "'metadata':{},'spec':{'volumes':[{'name':'tmp','emptyDir':{'medium':'Memory'}},"
                   "{'name':'none'}],'containers':null},'status':{}");
}

static void bytes_are_encoded_as_base64(void **state)
{
    (void)state;
    assert_decoded("v1", "Secret", "2{1:a 2:M} 2{1:b 2:Ma} 2{1:c 2:Man} 2{1:d 2{!fffefd}}",
                   "'metadata':{},'data':{'a':'TQ==','b':'TWE=','c':'TWFu','d':'//79'}");
}

static void times_are_whole_seconds_in_utc(void **state)
{
    (void)state;
    assert_decoded("v1", "ConfigMap", "1{8{1=1199149261 2=999}}",
                   "'metadata':{'creationTimestamp':'2008-01-01T01:01:01Z'}");
    assert_decoded("v1", "ConfigMap", "1{8{}}", "'metadata':{}");
    assert_decoded("v1", "ConfigMap", "1{8{1=-62135596800}}", "'metadata':{}");
    assert_decoded("v1", "ConfigMap", "1{9{}}", "'metadata':{'deletionTimestamp':null}");
    assert_decoded("v1", "ConfigMap", "1{8{2=5}}",
                   "'metadata':{'creationTimestamp':'1970-01-01T00:00:00Z'}");
    assert_decoded("v1", "ConfigMap", "1{8{1=-1}}",
                   "'metadata':{'creationTimestamp':'1969-12-31T23:59:59Z'}");
    assert_refused("v1", "ConfigMap", "1{8{1=253402300800}}",
                   "metadata.creationTimestamp: the time is not within the years");
    assert_refused("v1", "ConfigMap", "1{8{1=-9223372036854775808}}", "the time is not within");
}

static void micro_times_have_six_digits(void **state)
{
    (void)state;
    assert_decoded("coordination.k8s.io/v1", "Lease", "2{4{1=1199149261 2=123456789}}",
                   "'metadata':{},'spec':{'renewTime':'2008-01-01T01:01:01.123456Z'}");
    assert_decoded("coordination.k8s.io/v1", "Lease", "2{4{1=1 2=-1000}}",
                   "'metadata':{},'spec':{'renewTime':'1970-01-01T00:00:00.999999Z'}");
    assert_decoded("coordination.k8s.io/v1", "Lease", "2{4{}}",
                   "'metadata':{},'spec':{'renewTime':null}");
}

static void quantities_are_validated_and_canonicalized(void **state)
{
    (void)state;
    assert_decoded("v1", "ResourceQuota", "2{1{1:cpu 2{1:1000m}} 1{1:mem 2{1:1024Mi}}}",
                   "'metadata':{},'spec':{'hard':{'cpu':'1','mem':'1Gi'}},'status':{}");
    assert_refused("v1", "ResourceQuota", "2{1{1:cpu 2{1:lots}}}",
                   "spec.hard: quantities must match");
    assert_refused("v1", "ResourceQuota", "2{1{1:cpu 2{1:}}}", "spec.hard: ");
}

static void invalid_int_or_string_type_is_refused(void **state)
{
    (void)state;
    assert_refused("v1", "Service", "2{1{4{1=2}}}",
                   "spec.ports[0].targetPort: the type of an int-or-string is 0 or 1, not 2");
}

static void raw_json_is_validated_and_compacted(void **state)
{
    (void)state;
    assert_decoded("apps/v1", "ControllerRevision", "2{1{!7b2261223a205b312c20322e305d7d}} 3=7",
                   "'metadata':{},'data':{'a':[1,2]},'revision':7");
    assert_decoded("apps/v1", "ControllerRevision", "", "'metadata':{},'data':null,'revision':0");
    assert_decoded("apps/v1", "ControllerRevision", "2{1:}",
                   "'metadata':{},'data':null,'revision':0");
    assert_refused("apps/v1", "ControllerRevision", "2{1:[1}", "data: ");
    assert_refused("apps/v1", "ControllerRevision", "2{1{!6b38730012}}", "data: ");
}

static void list_messages_are_arrays(void **state)
{
    (void)state;
    assert_decoded("authentication.k8s.io/v1", "TokenReview",
                   "3{2{4{1:k 2{1:a 1:b}} 4{1:none 2{}}}}",
                   "'metadata':{},'spec':{},'status':{'user':{'extra':{'k':['a','b'],'none':[]}}}");
    assert_decoded("v1", "APIResourceList", "2{1:pods 4{}} 2{1:nodes}",
                   "'groupVersion':'','resources':[{'name':'pods','singularName':'',"
                   "'namespaced':false,'kind':'','verbs':[]},{'name':'nodes','singularName':'',"
                   "'namespaced':false,'kind':'','verbs':null}]");
}

static void schema_alternatives_are_decoded(void **state)
{
    (void)state;
    assert_decoded(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition",
        "2{7{4{1{5:object 8{1:7} 20{1:true} 29{1:a 2{24{1{5:string}}}} 29{1:b 2{24{2{5:string} "
        "2{5:number}}}} 29{1:c 2{30{1=0}}} 29{1:d 2{30{1=1}}} 29{1:e 2{30{1=1 2{5:string}}}} "
        "29{1:f 2{32{1:k 2{2:x 2:y}} 32{1:l 2{1{5:string}}}}}}}}}",
        "'metadata':{},'spec':{'group':'','names':{'plural':'','kind':''},'scope':'','versions':"
        "[{'name':'','served':false,'storage':false,'schema':{'openAPIV3Schema':{'type':'object',"
        "'default':7,'enum':[true],'properties':{'a':{'items':{'type':'string'}},'b':{'items':"
        "[{'type':'string'},{'type':'number'}]},'c':{'additionalProperties':false},'d':"
        "{'additionalProperties':true},'e':{'additionalProperties':{'type':'string'}},'f':"
        "{'dependencies':{'k':['x','y'],'l':{'type':'string'}}}}}}}]},'status':{'conditions':null,"
        "'acceptedNames':{'plural':'','kind':''},'storedVersions':null}");
    assert_refused("apiextensions.k8s.io/v1", "CustomResourceDefinition", "2{7{4{1{30{1:x}}}}}",
                   "spec.versions");
}

static void text_is_escaped(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *object = decode("v1", "ConfigMap", "2{1:a 2{!225c0ac3a900}}", &err);
    kc_auto(kc_view) *view = kc_view_of(object);
    assert_value_json(kc_value_get(kc_view_root(view), "data"),
                      "{\"a\":\"\\\"\\\\\\n\xC3\xA9\\u0000\"}");
}

/* ---- refused input ---- */

static void text_that_is_not_utf8_is_refused(void **state)
{
    (void)state;
    assert_refused("v1", "ConfigMap", "1{1{!ff}}", "metadata.name: the text is not UTF-8");
    assert_refused("v1", "ConfigMap", "2{1{!c0af} 2:x}", "data: the text is not UTF-8");
    assert_refused("v1", "Pod", "2{2{} 2{3{!eda080}}}",
                   "spec.containers[1].command[0]: the text is not UTF-8");
}

static void truncated_values_are_refused(void **state)
{
    (void)state;
    assert_refused("v1", "Pod", "!0a", "a value is truncated");
    assert_refused("v1", "Pod", "!0a05616263", "a value is truncated");
    assert_refused("v1", "Pod", "!0affffffffffffffffff01", "a value is truncated");
    assert_refused("v1", "Pod", "!80", "a field number is truncated");
    assert_refused("v1", "Pod", "!0d0000", "a value is truncated");
    assert_refused("v1", "ConfigMap", "!08ffffffffffffffffff02", "too large");
    assert_refused("v1", "ConfigMap", "!08ffffffffffffffffffff01", "too large");
}

static void invalid_field_numbers_are_refused(void **state)
{
    (void)state;
    assert_refused("v1", "Pod", "!0000", "invalid field number 0");
    assert_refused("v1", "Pod", "!80808080800100", "invalid field number");
}

static void wrong_wire_types_are_refused(void **state)
{
    (void)state;
    assert_refused("v1", "Pod", "1{1=5}", "metadata.name: the wire type is 0, not 2");
    assert_refused("v1", "Pod", "1{7:x}", "metadata.generation: the wire type is 2, not 0");
    assert_refused("v1", "Pod", "2{8#00000000}", "spec.serviceAccountName: the wire type is 5");
    assert_refused("v1", "ConfigMap", "2{1=5}", "data: the wire type is 0, not 2");
    assert_refused("v1", "Pod", "!0b0c", "groups are not supported");
    assert_refused("v1", "Pod", "!0f", "invalid wire type 7");
}

static const kc__type_message *recursive(kc_str api_version, kc_str kind, void *user)
{
    (void)api_version;
    (void)kind;
    return user;
}

static void nesting_beyond_limit_is_refused(void **state)
{
    (void)state;
    static const uint16_t order[] = {0};
    static kc__type_message nest;
    static const kc__type_field fields[] = {{.name = KC_STR_INIT("in"),
                                             .number = 1,
                                             .kind = KC__FIELD_MESSAGE,
                                             .marks = KC__POINTER | KC__OMIT_EMPTY,
                                             .message = &nest}};
    nest =
        (kc__type_message){.fields = fields, .n_fields = 1, .by_name = order, .by_number = order};
    kc__protobuf_opts opts = {.type_of = recursive, .user = &nest};
    for (int depth = 10; depth <= 100; depth += 90) {
        kc_scoped(kc_error) err = {0};
        kc_scoped(kc_buf) text = {0};
        kc_scoped(kc_buf) bytes = {0};
        for (int i = 0; i < depth; i++)
            kc_buf_puts(&text, "1{");
        for (int i = 0; i < depth; i++)
            kc_buf_putc(&text, '}');
        put_envelope(&bytes, "v1", "Nest", kc_buf_cstr(&text));
        kc_auto(kc_object) *object = kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err);
        assert_int_equal(object != NULL, depth == 10);
        if (!object)
            assert_error(&err, KC_BAD_REQUEST, "nested too deeply");
    }
}

static void floats_without_json_representation_are_refused(void **state)
{
    (void)state;
    static const uint16_t order[] = {0, 1};
    static const kc__type_field fields[] = {
        {.name = KC_STR_INIT("f"), .number = 1, .kind = KC__FIELD_FLOAT},
        {.name = KC_STR_INIT("d"), .number = 2, .kind = KC__FIELD_DOUBLE, .shape = KC__REPEATED},
    };
    static kc__type_message message = {
        .fields = fields, .n_fields = 2, .by_name = order, .by_number = order};
    kc__protobuf_opts opts = {.type_of = recursive, .user = &message};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, "v1", "F", "1#0000c03f 2##0000000000000440 !1208000000000000f0bf");
    kc_auto(kc_object) *object = kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err);
    assert_object_json(object, "{\"kind\":\"F\",\"apiVersion\":\"v1\",\"f\":1.5,\"d\":[2.5,-1]}");
    kc_buf_clear(&bytes);
    put_envelope(&bytes, "v1", "F", "1#0000c07f");
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err));
    assert_error(&err, KC_BAD_REQUEST, "f: the number cannot be represented in JSON");
}

static void body_or_json_beyond_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0};
    put_envelope(&bytes, "v1", "Pod", "1{1:web} 2{2{} 2{} 2{} 2{}}");
    kc_str body = kc_buf_str(&bytes);
    kc__protobuf_opts small = {.max_bytes = body.n - 1};
    assert_null(kc__protobuf_decode(body, &small, &err));
    assert_error(&err, KC_TOO_LARGE, "the body is larger than");
    kc__protobuf_opts few = {.max_elements = 5};
    assert_null(kc__protobuf_decode(body, &few, &err));
    assert_error(&err, KC_TOO_LARGE, "protobuf: too many fields");
    kc__protobuf_opts brief = {.max_json_bytes = 100};
    assert_null(kc__protobuf_decode(body, &brief, &err));
    assert_error(&err, KC_TOO_LARGE, "the object is too large");
}

static void small_body_that_expands_beyond_json_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) bytes = {0}, spec = {0}, inner = {0};
    for (size_t i = 0; i < 100000; i++)
        kc_buf_append(&inner, kc_str_of("\x12\0", 2)); /* An empty container. */
    put_envelope(&bytes, "v1", "Pod", "");
    bytes.n -= 2;
    put_varint(&spec, 2 << 3 | 2);
    put_varint(&spec, inner.n);
    kc_buf_append(&spec, kc_buf_str(&inner));
    put_varint(&bytes, 2 << 3 | 2);
    put_varint(&bytes, spec.n);
    kc_buf_append(&bytes, kc_buf_str(&spec));
    kc__protobuf_opts opts = {.max_json_bytes = 1 << 20};
    assert_null(kc__protobuf_decode(kc_buf_str(&bytes), &opts, &err));
    assert_error(&err, KC_TOO_LARGE, "the object is too large");
}

TESTS(kind_and_api_version_come_from_the_envelope, envelope_without_kind_uses_kind_of_request,
      repeated_envelope_fields_are_merged, unknown_kind_is_refused,
      body_without_magic_prefix_is_refused, other_content_encoding_is_refused,
      encoding_is_not_acceptable, fields_in_any_order_are_written_in_struct_order,
      last_value_of_a_scalar_wins, embedded_messages_are_merged, unknown_fields_are_skipped,
      packed_and_unpacked_numbers_are_accepted, numbers_keep_their_sign_and_width,
      maps_are_sorted_and_last_value_of_a_key_wins, map_entry_without_key_or_value_has_zero_values,
      empty_values_are_omitted_but_empty_pointers_are_kept,
      list_elements_without_fields_are_empty_objects, inline_structs_are_fields_of_their_parent,
      bytes_are_encoded_as_base64, times_are_whole_seconds_in_utc, micro_times_have_six_digits,
      quantities_are_validated_and_canonicalized, invalid_int_or_string_type_is_refused,
      raw_json_is_validated_and_compacted, list_messages_are_arrays,
      schema_alternatives_are_decoded, text_is_escaped, text_that_is_not_utf8_is_refused,
      truncated_values_are_refused, invalid_field_numbers_are_refused, wrong_wire_types_are_refused,
      nesting_beyond_limit_is_refused, floats_without_json_representation_are_refused,
      body_or_json_beyond_limit_is_refused, small_body_that_expands_beyond_json_limit_is_refused)
