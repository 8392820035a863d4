/* SPDX-License-Identifier: Apache-2.0 */
/* negotiate.c: content negotiation of responses. */
#include "api_testing.h"

#define MAPS     "/api/v1/namespaces/default/configmaps"
#define TABLE    "application/json;as=Table;v=v1;g=meta.k8s.io"
#define PARTIAL  "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
#define PARTIALS "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
#define ACCEPTED "application/json, application/yaml, application/vnd.kubernetes.protobuf"

static api *with_object(void)
{
    api *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v'}}");
    return a;
}

static bool is_indented(const reply *r)
{
    return strncmp(r->body, "{\n  \"", 5) == 0;
}

static const reply *get_as(api *a, const char *target, const char *accept)
{
    return SEND(a, "GET", target, .accept = accept);
}

static void json_is_the_default(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    static const char *const accepts[] = {NULL,
                                          "",
                                          "*/*",
                                          "application/json",
                                          "application/json;charset=utf-8",
                                          "application/vnd.kubernetes.protobuf,application/json",
                                          "text/html, */*;q=0.1"};
    for (size_t i = 0; i < KC_COUNT(accepts); i++) {
        const reply *r = get_as(a, MAPS "/a", accepts[i]);
        assert_code(r, 200);
        assert_string_equal(r->type, "application/json");
    }
}

static void media_type_with_higher_q_is_chosen(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    assert_string_equal(
        get_as(a, MAPS "/a", "application/json;q=0.5, application/yaml;q=0.9")->type,
        "application/yaml");
}

static void object_may_be_returned_as_table(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    const reply *r = get_as(a, MAPS "/a", TABLE);
    assert_at(r, "kind", "Table");
    assert_at(r, "rows[0].cells[0]", "a");
    assert_at(r, "rows[0].object.kind", "PartialObjectMetadata");
    r = get_as(a, MAPS "/a?includeObject=None", TABLE);
    assert_at(r, "rows[0].object", "null");
    r = get_as(a, MAPS "?includeObject=Object", TABLE);
    assert_at(r, "rows[0].object.data.k", "v");
    assert_code(get_as(a, MAPS "/a?includeObject=x", TABLE), 400);
    assert_code(get_as(a, MAPS "/a?includeObject=x", NULL), 200);
}

static void partial_metadata_kind_must_match_object_or_list(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    assert_at(get_as(a, MAPS "/a", PARTIAL), "kind", "PartialObjectMetadata");
    assert_at(get_as(a, MAPS, PARTIALS), "kind", "PartialObjectMetadataList");
    assert_status(get_as(a, MAPS "/a", PARTIALS), 406, "NotAcceptable",
                  "you requested PartialObjectMetadataList, but the requested object is not a list "
                  "(*core.ConfigMap)");
    assert_status(get_as(a, MAPS, PARTIAL), 406, "NotAcceptable",
                  "you requested PartialObjectMetadata, but the requested object is a list "
                  "(*core.ConfigMapList)");
}

static void unsupported_clause_is_skipped(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    assert_at(get_as(a, MAPS "/a", "application/json;as=Foo;v=v1;g=meta.k8s.io,application/json"),
              "kind", "ConfigMap");
    assert_status(get_as(a, MAPS "/a", "application/json;as=Table;v=v2;g=meta.k8s.io"), 406,
                  "NotAcceptable", "only the following media types are accepted: " ACCEPTED);
}

static void unsupported_media_type_returns_406(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    const reply *r = get_as(a, MAPS "/a", "text/plain");
    assert_status(r, 406, "NotAcceptable",
                  "406: Not Acceptable\n\nAvailable representations: " ACCEPTED);
    assert_at(r, "details", "{}");
    assert_contains(r_text(get_as(a, MAPS, "text/plain"), "message"),
                    ACCEPTED ", application/json;stream=watch");
    assert_code(get_as(a, MAPS "/a", "application/*"), 406);
    assert_code(get_as(a, MAPS "/a", "application/cbor"), 406);
}

static void watch_as_yaml_returns_406(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    const reply *r = get_as(a, MAPS "?watch=1", "application/yaml");
    assert_code(r, 406);
    assert_string_equal(r->type, "application/yaml");
}

static void pretty_or_browser_request_is_indented(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    assert_true(is_indented(api_get(a, MAPS "/a?pretty=true")));
    assert_true(is_indented(api_get(a, MAPS "/a?pretty=1")));
    assert_true(is_indented(SEND(a, "GET", MAPS "/a", .agent = "curl/8")));
    assert_true(is_indented(SEND(a, "GET", MAPS, .agent = "Mozilla/5.0")));
    assert_true(is_indented(get_as(a, MAPS "/a", "application/json;pretty=1")));
    assert_false(is_indented(api_get(a, MAPS "/a")));
    assert_false(is_indented(api_get(a, MAPS "/a?pretty")));
    assert_false(is_indented(api_get(a, MAPS "/a?pretty=x")));
    assert_false(is_indented(SEND(a, "GET", MAPS "/a?pretty=false", .agent = "curl/8")));
}

static void errors_use_a_representation_the_client_accepts(void **state)
{
    (void)state;
    kc_auto(api) *a = with_object();
    const reply *r = get_as(a, MAPS "/x", "application/yaml");
    assert_code(r, 404);
    assert_string_equal(r->type, "application/yaml");
    r = get_as(a, MAPS "/x", TABLE ",application/json");
    assert_code(r, 404);
    assert_false(is_indented(r));
    assert_true(is_indented(get_as(a, MAPS "/x", TABLE)));
    assert_true(is_indented(get_as(a, MAPS "/a", "text/plain")));
    assert_true(is_indented(SEND(a, "GET", "/api/v1/foos", .agent = "Mozilla/5.0")));
}

TESTS(json_is_the_default, media_type_with_higher_q_is_chosen, object_may_be_returned_as_table,
      partial_metadata_kind_must_match_object_or_list, unsupported_clause_is_skipped,
      unsupported_media_type_returns_406, watch_as_yaml_returns_406,
      pretty_or_browser_request_is_indented, errors_use_a_representation_the_client_accepts)
