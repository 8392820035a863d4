/* SPDX-License-Identifier: Apache-2.0 */
/* rest_bodies.c: what bodies may be, and what is said of those that are not. */
#include "api_testing.h"

#define MAPS         "/api/v1/namespaces/default/configmaps"
#define UNRECOGNIZED "the object provided is unrecognized (must be of type ConfigMap): "
#define NO_KIND      UNRECOGNIZED "couldn't get version/kind; json parse error: "

static void refused(api *a, const char *body, const char *message)
{
    assert_status(api_post(a, MAPS, body), 400, "BadRequest", message);
}

static void a_body_that_is_no_json_is_explained(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    refused(a, "", NO_KIND "unexpected end of JSON input (<empty>)");
    refused(a, "{", NO_KIND "unexpected end of JSON input ({)");
    refused(a, "hello",
            NO_KIND "invalid character 'h' looking for beginning of value (68656c6c6f)");
    refused(a, "{'metadata':{'name':'a'}} and more of it",
            NO_KIND "invalid character 'a' after top-level value ({\"metadata\":{\"name\":\"a\"}} "
                    "and  ...)");
}

static void a_body_that_is_no_object_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char type[] = "struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; "
                               "Kind string \"json:\\\"kind,omitempty\\\"\" }";
    refused(a, "[]",
            text(a, NO_KIND "json: cannot unmarshal array into Go value of type %s (5b5d)", type));
    refused(a, "12",
            text(a, NO_KIND "json: cannot unmarshal number into Go value of type %s (3132)", type));
    refused(a, "{'apiVersion':1}",
            NO_KIND "json: cannot unmarshal number into Go struct field .apiVersion of type string "
                    "({\"apiVersion\":1})");
}

static void an_object_of_another_kind_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    refused(a, "{'apiVersion':'v1','kind':'Foo'}",
            "Foo in version \"v1\" cannot be handled as a ConfigMap: no kind \"Foo\" is registered "
            "for version \"v1\" in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
    refused(a, "{'apiVersion':'v1','kind':'Secret'}",
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to "
            "(core.ConfigMap): unknown conversion");
    refused(a, "{'apiVersion':'a/b/c','kind':'ConfigMap'}",
            UNRECOGNIZED "unexpected GroupVersion string: a/b/c "
                         "({\"apiVersion\":\"a/b/c\",\"kind\":\" ...)");
}

static void a_field_of_the_wrong_type_is_named(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    refused(a, "{'data':{'a':1}}",
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "number into Go struct field ConfigMap.data of type string");
}

static void unknown_and_double_fields_are_warned_of(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        api_post(a, MAPS, "{'metadata':{'name':'a'},'foo':1,'data':{'x':'1','x':'2'}}");
    assert_code(r, 201);
    assert_string_equal(r_header_at(r, "Warning", 0), "299 - \"unknown field \\\"foo\\\"\"");
    assert_string_equal(r_header_at(r, "Warning", 1), "299 - \"duplicate field \\\"data.x\\\"\"");
    assert_null(r_header_at(r, "Warning", 2));
    assert_at(r, "data", "{\"x\":\"2\"}");
}

static void warnings_are_many_but_not_endless(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    kc_scoped(kc_buf) body = {0};
    kc_buf_puts(&body, "{'metadata':{'name':'a'}");
    for (int i = 0; i < 120; i++)
        kc_buf_printf(&body, ",'unknown%03dxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx':1", i);
    kc_buf_puts(&body, "}");
    const reply *r = api_post(a, MAPS, kc_buf_cstr(&body));
    assert_code(r, 201);
    assert_non_null(r_header_at(r, "Warning", 50));
    assert_null(r_header_at(r, "Warning", 70));
}

static void nobody_is_warned_who_asks_for_silence(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        api_post(a, MAPS "?fieldValidation=Ignore", "{'metadata':{'name':'a'},'foo':1}");
    assert_code(r, 201);
    assert_null(r_header(r, "Warning"));
}

static void strict_validation_refuses_them(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_post(a, MAPS "?fieldValidation=Strict",
                              "{'metadata':{'name':'a'},'foo':1,'data':{'x':'1','x':'2'}}");
    assert_status(r, 400, "BadRequest",
                  "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding "
                  "error: unknown field \"foo\", duplicate field \"data.x\"");
}

static void yaml_is_read_and_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = SEND(a, "POST", MAPS, "metadata:\n  name: a\ndata:\n  k: v\n",
                          .type = "application/yaml", .accept = "application/yaml");
    assert_code(r, 201);
    assert_string_equal(r->type, "application/yaml");
    assert_contains(r->body, "apiVersion: v1\ndata:\n  k: v\nkind: ConfigMap\n");
}

static void double_keys_of_yaml_are_noticed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char body[] = "metadata:\n  name: a\ndata:\n  k: v\n  k: w\n";
    const reply *r =
        SEND(a, "POST", MAPS "?fieldValidation=Strict", body, .type = "application/yaml");
    assert_code(r, 400);
    r = SEND(a, "POST", MAPS, body, .type = "application/yaml");
    assert_code(r, 201);
    assert_string_equal(r_header(r, "Warning"), "299 - \"duplicate field \\\"data.k\\\"\"");
}

static void parameters_of_the_media_type_do_not_matter(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = SEND(a, "POST", MAPS, "{'metadata':{'name':'a'}}",
                          .type = "application/json; charset=utf-8");
    assert_code(r, 201);
}

static void other_media_types_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char *const types[] = {"text/plain", "application/xml", ";;", "*/*"};
    for (size_t i = 0; i < KC_COUNT(types); i++)
        assert_status(SEND(a, "POST", MAPS, "{}", .type = types[i]), 415, "UnsupportedMediaType",
                      "the body of the request was in an unknown format - accepted media types "
                      "include: application/json, application/yaml, "
                      "application/vnd.kubernetes.protobuf");
}

TESTS(a_body_that_is_no_json_is_explained, a_body_that_is_no_object_is_refused,
      an_object_of_another_kind_is_refused, a_field_of_the_wrong_type_is_named,
      unknown_and_double_fields_are_warned_of, warnings_are_many_but_not_endless,
      nobody_is_warned_who_asks_for_silence, strict_validation_refuses_them,
      yaml_is_read_and_written, double_keys_of_yaml_are_noticed,
      parameters_of_the_media_type_do_not_matter, other_media_types_are_refused)
