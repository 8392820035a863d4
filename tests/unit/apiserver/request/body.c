/* SPDX-License-Identifier: Apache-2.0 */
/* body.c: decoding of request bodies, and the errors of invalid ones. */
#include "api_testing.h"

#define MAPS         "/api/v1/namespaces/default/configmaps"
#define UNRECOGNIZED "the object provided is unrecognized (must be of type ConfigMap): "
#define NO_KIND      UNRECOGNIZED "couldn't get version/kind; json parse error: "

static void refused(api *a, const char *body, const char *message)
{
    assert_status(api_post(a, MAPS, body), 400, "BadRequest", message);
}

static void invalid_json_returns_bad_request_with_position(void **state)
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

static void body_that_is_not_an_object_is_refused(void **state)
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

static void wrong_kind_or_version_is_refused(void **state)
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

static void wrong_field_type_is_named_in_error(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    refused(a, "{'data':{'a':1}}",
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal "
            "number into Go struct field ConfigMap.data of type string");
}

static void unknown_and_duplicate_fields_return_warnings(void **state)
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

static void number_of_warnings_is_limited(void **state)
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

static void field_validation_ignore_returns_no_warnings(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        api_post(a, MAPS "?fieldValidation=Ignore", "{'metadata':{'name':'a'},'foo':1}");
    assert_code(r, 201);
    assert_null(r_header(r, "Warning"));
}

static void field_validation_strict_returns_bad_request(void **state)
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

static void duplicate_yaml_keys_are_reported(void **state)
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

static void media_type_parameters_are_ignored(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = SEND(a, "POST", MAPS, "{'metadata':{'name':'a'}}",
                          .type = "application/json; charset=utf-8");
    assert_code(r, 201);
}

static void other_media_types_return_415(void **state)
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

TESTS(invalid_json_returns_bad_request_with_position, body_that_is_not_an_object_is_refused,
      wrong_kind_or_version_is_refused, wrong_field_type_is_named_in_error,
      unknown_and_duplicate_fields_return_warnings, number_of_warnings_is_limited,
      field_validation_ignore_returns_no_warnings, field_validation_strict_returns_bad_request,
      yaml_is_read_and_written, duplicate_yaml_keys_are_reported, media_type_parameters_are_ignored,
      other_media_types_return_415)
