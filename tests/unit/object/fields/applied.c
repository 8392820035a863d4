/* SPDX-License-Identifier: Apache-2.0 */
/* applied.c: extraction of what a manager applied. In JSON of this file ' stands for ". */
#include "object/fields/fields_managed.h"
#include "testing.h"

static const char definitions[] =
    "{'Thing':{'type':'object','properties':{'apiVersion':{'type':'string'},'kind':{'type':'string'},"
    "'metadata':{'type':'object','properties':{'name':{'type':'string'},'uid':{'type':'string'},'namespace':{'type':'string'},"
    "'labels':{'type':'object','additionalProperties':{'type':'string'}},"
    "'managedFields':{'type':'array','items':{'x-kubernetes-preserve-unknown-fields':true}}}},"
    "'spec':{'type':'object','properties':{'replicas':{'type':'integer'},"
    "'template':{'type':'object','x-kubernetes-map-type':'atomic','additionalProperties':{'type':'string'}},"
    "'ports':{'type':'array','x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':['port'],"
    "'items':{'type':'object','properties':{'port':{'type':'integer'},'name':{'type':'string'}}}}}},"
    "'status':{'type':'object','properties':{'phase':{'type':'string'}}}}}}";

#define ENTRY(manager, operation, more, fields)                                               \
    "{'manager':'" manager "','operation':'" operation "','apiVersion':'v1','time':'t'," more \
    "'fieldsType':'FieldsV1','fieldsV1':" fields "}"
#define THING(entries)                                                                     \
    "{'apiVersion':'v1','kind':'Thing','metadata':{'name':'a','namespace':'n','uid':'u',"  \
    "'labels':{'x':'1','y':'2'},'managedFields':[" entries "]},'spec':{'replicas':3,"      \
    "'template':{'a':'b'},'ports':[{'port':80,'name':'web'},{'port':90,'name':'other'}]}," \
    "'status':{'phase':'Up'}}"

static kc__fields_types *types_of_thing(void)
{
    kc_auto(kc_view) *view = view_of(definitions);
    kc__fields_types *types = kc__fields_types_new();
    assert_int_equal(kc__fields_types_add_openapi(types, kc_view_root(view), NULL, NULL), 0);
    kc__fields_types_finish(types);
    return types;
}

static kc_object *extract_thing(const char *thing, const char *manager, const char *subresource,
                                kc_error *err)
{
    kc_auto(kc__fields_types) *types = types_of_thing();
    kc_auto(kc_object) *object = object_of(thing);
    return kc__fields_extract_applied(kc__fields_types_get(types, KC_STR("Thing")), object,
                                      kc_cstr(manager), kc_cstr(subresource), err);
}

static void assert_extracted(const char *thing, const char *manager, const char *subresource,
                             const char *expected)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *got = extract_thing(thing, manager, subresource, &err);
    if (!got)
        fail_msg("%s", kc_error_text(&err));
    kc_auto(kc_view) *is = kc_view_of(got), *wanted = view_of(expected);
    if (!kc__fields_equal(kc_view_root(is), kc_view_root(wanted)))
        fail_msg("%.*s\nis not\n%s", KC_ARG(kc_object_json(got)), expected);
}

#define IDENTITY "'apiVersion':'v1','kind':'Thing','metadata':{'name':'a','namespace':'n'"

static void only_fields_of_the_manager_are_extracted(void **state)
{
    (void)state;
    const char *thing = THING(
        ENTRY("one", "Apply", "", "{'f:metadata':{'f:labels':{'f:x':{}}},'f:spec':{'f:replicas':{}}}") "," ENTRY(
            "two", "Apply", "",
            "{'f:spec':{'f:ports':{'k:{\\'port\\':90}':{'.':{},'f:name':{},'f:port':{}}},"
            "'f:template':{}}}"));
    assert_extracted(thing, "one", "", "{" IDENTITY ",'labels':{'x':'1'}},'spec':{'replicas':3}}");
    assert_extracted(thing, "two", "",
                     "{" IDENTITY "},'spec':{'template':{'a':'b'},"
                     "'ports':[{'port':90,'name':'other'}]}}");
}

static void manager_without_an_entry_gives_identity_only(void **state)
{
    (void)state;
    assert_extracted(THING(ENTRY("one", "Apply", "", "{'f:spec':{'f:replicas':{}}}")), "two", "",
                     "{" IDENTITY "}}");
    assert_extracted(THING(""), "one", "", "{" IDENTITY "}}");
}

static void entries_of_updates_do_not_count(void **state)
{
    (void)state;
    assert_extracted(THING(ENTRY("one", "Update", "", "{'f:spec':{'f:replicas':{}}}")), "one", "",
                     "{" IDENTITY "}}");
}

static void subresource_selects_the_entry(void **state)
{
    (void)state;
    const char *thing = THING(ENTRY("one", "Apply", "", "{'f:spec':{'f:replicas':{}}}") "," ENTRY(
        "one", "Apply", "'subresource':'status',", "{'f:status':{'f:phase':{}}}"));
    assert_extracted(thing, "one", "", "{" IDENTITY "},'spec':{'replicas':3}}");
    assert_extracted(thing, "one", "status", "{" IDENTITY "},'status':{'phase':'Up'}}");
}

static void fields_that_are_gone_are_skipped(void **state)
{
    (void)state;
    assert_extracted(
        THING(ENTRY("one", "Apply", "",
                    "{'f:spec':{'f:replicas':{},'f:ports':{'k:{\\'port\\':70}':{'.':{}}}}}")),
        "one", "", "{" IDENTITY "},'spec':{'ports':null,'replicas':3}}");
}

static void object_with_none_of_the_fields_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(extract_thing(THING(ENTRY("one", "Apply", "", "{'f:gone':{}}")), "one", "", &err));
    assert_error(&err, KC_INVALID, "none of the fields of manager \"one\"");
}

static void object_of_another_type_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0}, twice = {0};
    assert_null(extract_thing("{'apiVersion':'v1','kind':'Thing','spec':{'replicas':'x'}}", "one",
                              "", &err));
    assert_error(&err, KC_INVALID, "does not match its schema");
    assert_null(extract_thing("{'apiVersion':'v1','kind':'Thing','spec':{'ports':[{'port':1},"
                              "{'port':1}]}}",
                              "one", "", &twice));
    assert_error(&twice, KC_INVALID, "duplicate entries for key [port=1]");
}

static void invalid_fields_are_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(extract_thing(THING(ENTRY("one", "Apply", "", "[]")), "one", "", &err));
    assert_error(&err, KC_BAD_REQUEST, "read the fields of manager \"one\"");
}

TESTS(only_fields_of_the_manager_are_extracted, manager_without_an_entry_gives_identity_only,
      entries_of_updates_do_not_count, subresource_selects_the_entry,
      fields_that_are_gone_are_skipped, object_with_none_of_the_fields_is_an_error,
      object_of_another_type_is_an_error, invalid_fields_are_an_error)
