/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/crd/crd_validate.h"
#include "apiserver/crd/crd_strategy.h"
#include "apiserver/crd/crd_type.h"
#include "testing.h"

/* A definition with everything but its versions and what follows them. */
#define THINGS(rest)                                                                            \
    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{"    \
    "'name':'things.example.com'},'spec':{'group':'example.com','scope':'Namespaced','names':{" \
    "'plural':'things','kind':'Thing'}," rest "}}"
#define VERSION(name, more) "{'name':'" name "','served':true,'storage':true" more "}"
#define SCHEMA(text)        ",'schema':{'openAPIV3Schema':{'type':'object'" text "}}"
#define ONE(more)           THINGS("'versions':[" VERSION("v1", more) "]")

static kc_object *prepared(const char *json)
{
    kc_auto(kc_object) *given = object_of(json);
    kc_auto(kc_object) *decoded = kc__crd_decode(given, NULL, NULL);
    assert_non_null(decoded);
    kc_auto(kc_edit) *edit = kc_edit_of(decoded);
    kc__crd_prepare(edit);
    return kc__crd_freeze(edit, NULL);
}

/* All errors as a Status has them in its message. */
static char *errors_with(const char *json, const kc__crd_rules *rules)
{
    kc_auto(kc_object) *crd = prepared(json);
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_scoped(kc_field_errors) errors = {0};
    kc__crd_validate(kc_view_root(view), rules, &errors);
    kc_buf text = {0};
    kc_vec_each (&errors.list, error)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "\n" : "", error->field, error->body);
    return kc_buf_take(&text);
}

static void assert_errors(const char *json, const char *expected)
{
    kc_autofree char *text = errors_with(json, NULL);
    assert_string_equal(text, expected);
}

static void a_usual_definition_is_valid(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA("")), "");
}

static void the_name_is_plural_and_group(void **state)
{
    (void)state;
    assert_errors(
        "{'metadata':{'name':'wrong.example.com'},'spec':{'group':'example.com',"
        "'scope':'Namespaced','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
            "v1", SCHEMA("")) "]}}",
        "metadata.name: Invalid value: \"wrong.example.com\": must be "
        "spec.names.plural+\".\"+spec.group");
}

static void a_version_needs_a_schema(void **state)
{
    (void)state;
    assert_errors(ONE(""), "spec.versions[0].schema.openAPIV3Schema: Required value");
}

static void one_version_is_stored(void **state)
{
    (void)state;
    assert_errors(
        THINGS("'versions':[{'name':'v1','served':true,'storage':false" SCHEMA("") "}]"),
        "spec.versions: Invalid value: [{\"Name\":\"v1\",\"Served\":true,\"Storage\":false,"
        "\"Deprecated\":false,\"DeprecationWarning\":null,\"Schema\":null,\"Subresources\":null,"
        "\"AdditionalPrinterColumns\":null,\"SelectableFields\":null}]: must have exactly one "
        "version marked as storage version\n"
        "status.storedVersions: Invalid value: null: must have at least one stored version");
}

static void versions_have_different_names(void **state)
{
    (void)state;
    kc_autofree char *text = errors_with(
        THINGS("'versions':[" VERSION("v1", SCHEMA("")) "," VERSION("v1", SCHEMA("")) "]"), NULL);
    assert_contains(text, "must contain unique version names");
    assert_contains(text, "must have exactly one version marked as storage version");
}

static void the_scope_is_known(void **state)
{
    (void)state;
    assert_errors(
        "{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com',"
        "'scope':'Global','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
            "v1", SCHEMA("")) "]}}",
        "spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\", "
        "\"Namespaced\"");
}

static void schemas_are_structural(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA(",'properties':{'spec':{'properties':{'a':{'type':'string'}}}}")),
                  "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not "
                  "be empty for specified object fields");
}

static void schemas_of_different_versions_are_named_by_their_version(void **state)
{
    (void)state;
    assert_errors(THINGS("'versions':[" VERSION(
                      "v1", SCHEMA("")) ",{'name':'v2','served':true,"
                                        "'storage':false" SCHEMA(",'properties':{'a':{}}") "}]"),
                  "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: "
                  "must not be empty for specified object fields");
}

static void groups_have_a_dot(void **state)
{
    (void)state;
    assert_errors("{'metadata':{'name':'things.example'},'spec':{'group':'example','scope':"
                  "'Cluster','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
                      "v1", SCHEMA("")) "]}}",
                  "spec.group: Invalid value: \"example\": should be a domain with at least one "
                  "dot");
}

static void names_are_labels(void **state)
{
    (void)state;
    kc_autofree char *text = errors_with(
        "{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com','scope':"
        "'Cluster','names':{'plural':'things','kind':'Thing','listKind':'Thing','singular':'9',"
        "'shortNames':['ok','Bad']},'versions':[" VERSION("v1", SCHEMA("")) "]}}",
        NULL);
    assert_contains(text, "spec.names.singular: Invalid value: \"9\": a DNS-1035 label must");
    assert_contains(text, "spec.names.shortNames[1]: Invalid value: \"Bad\": a DNS-1035");
    assert_contains(text, "spec.names.listKind: Invalid value: \"Thing\": kind and listKind may "
                          "not be the same");
}

static void scale_needs_its_paths(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA("") ",'subresources':{'scale':{'specReplicasPath':'.status.n',"
                                 "'labelSelectorPath':'x'}}"),
                  "spec.subresources.scale.specReplicasPath: Invalid value: \".status.n\": should "
                  "be a json path under .spec\n"
                  "spec.subresources.scale.statusReplicasPath: Required value\n"
                  "spec.subresources.scale.labelSelectorPath: Invalid value: \"x\": must be a "
                  "simple json path starting with .");
}

static void columns_have_a_name_a_type_and_a_path(void **state)
{
    (void)state;
    assert_errors(
        ONE(SCHEMA("") ",'additionalPrinterColumns':[{'name':'','type':'text','format':'big',"
                       "'jsonPath':'a'},{'name':'A','type':'','jsonPath':''}]"),
        "spec.additionalPrinterColumns[0].name: Required value\n"
        "spec.additionalPrinterColumns[0].type: Invalid value: \"text\": must be one of "
        "boolean,date,integer,number,string\n"
        "spec.additionalPrinterColumns[0].format: Invalid value: \"big\": must be one of "
        "byte,date,date-time,double,float,int32,int64,password\n"
        "spec.additionalPrinterColumns[0].JSONPath: Invalid value: \"a\": must be a simple json "
        "path starting with .\n"
        "spec.additionalPrinterColumns[1].type: Required value: must be one of "
        "boolean,date,integer,number,string\n"
        "spec.additionalPrinterColumns[1].JSONPath: Required value");
}

static void selectable_fields_are_scalars_of_the_schema(void **state)
{
    (void)state;
    assert_errors(
        ONE(SCHEMA(
            ",'properties':{'spec':{'type':'object','properties':{'a':{'type':'string'}}}}") ",'selectableFields':[{'jsonPath':'.spec.a'},{'jsonPath':'.spec'},{'jsonPath':"
                                                                                             "'.spec.b'},{'jsonPath':'.spec.a'},{'jsonPath':''},{'jsonPath':'.spec[0]'},"
                                                                                             "{'jsonPath':'spec'}]"),
        "spec.selectableFields[1].jsonPath: Invalid value: \".spec\": must point to a field of "
        "type string, boolean or integer. Enum string fields and strings with formats are "
        "allowed.\n"
        "spec.selectableFields[2].jsonPath: Invalid value: \".spec.b\": is an invalid path: does "
        "not refer to a valid field\n"
        "spec.selectableFields[3].jsonPath: Duplicate value: \".spec.a\"\n"
        "spec.selectableFields[4].jsonPath: Required value\n"
        "spec.selectableFields[5].jsonPath: Invalid value: \".spec[0]\": is an invalid path: array "
        "notation is not allowed\n"
        "spec.selectableFields[6].jsonPath: Invalid value: \"spec\": is an invalid path: expected "
        "[ or . but got: spec");
}

static void a_warning_is_for_deprecated_versions(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA("") ",'deprecationWarning':'old'"),
                  "spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set "
                  "for deprecated versions");
    assert_errors(ONE(SCHEMA("") ",'deprecated':true,'deprecationWarning':'old'"), "");
}

static void a_webhook_is_asked_for_completely(void **state)
{
    (void)state;
    assert_errors(THINGS("'versions':[" VERSION("v1", SCHEMA("")) "],'conversion':{'strategy':"
                                                                  "'Webhook'}"),
                  "spec.conversion.webhookClientConfig: Required value: required when strategy is "
                  "set to Webhook\n"
                  "spec.conversion.conversionReviewVersions: Required value");
    assert_errors(
        THINGS("'versions':[" VERSION(
            "v1", SCHEMA("")) "],'conversion':{'strategy':"
                              "'Webhook','webhook':{'clientConfig':{'url':'http://u@/a?b#c'},"
                              "'conversionReviewVersions':['v9']}}"),
        "spec.conversion.webhookClientConfig.url: Invalid value: \"http\": 'https' is "
        "the only allowed URL scheme; desired format: https://host[/path]\n"
        "spec.conversion.webhookClientConfig.url: Invalid value: \"\": host must be "
        "specified; desired format: https://host[/path]\n"
        "spec.conversion.webhookClientConfig.url: Invalid value: \"u\": user information "
        "is not permitted in the URL\n"
        "spec.conversion.webhookClientConfig.url: Invalid value: \"c\": fragments are "
        "not permitted in the URL\n"
        "spec.conversion.webhookClientConfig.url: Invalid value: \"b\": query parameters "
        "are not permitted in the URL\n"
        "spec.conversion.conversionReviewVersions: Invalid value: [\"v9\"]: must include "
        "at least one of v1, v1beta1");
}

static void fields_are_not_preserved_by_the_old_switch(void **state)
{
    (void)state;
    assert_errors(THINGS("'preserveUnknownFields':true,'versions':[" VERSION("v1", SCHEMA("")) "]"),
                  "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                  "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
                  "instead");
}

/* ---- groups of the community ---- */

#define NETWORKS(annotations)                                                                 \
    "{'metadata':{'name':'networks.samplecrd.k8s.io'" annotations "},'spec':{'group':"        \
    "'samplecrd.k8s.io','scope':'Namespaced','names':{'plural':'networks','kind':'Network'}," \
    "'versions':[" VERSION("v1", SCHEMA("")) "]}}"

static void groups_of_the_community_need_approval(void **state)
{
    (void)state;
    assert_errors(NETWORKS(""),
                  "metadata.annotations[api-approved.kubernetes.io]: Required value: protected "
                  "groups must have approval annotation \"api-approved.kubernetes.io\", see "
                  "https://github.com/kubernetes/enhancements/pull/1111");
    kc_autofree char *text =
        errors_with(NETWORKS(",'annotations':{'api-approved.kubernetes.io':'yes'}"), NULL);
    assert_contains(text, "Invalid value: \"yes\": protected groups must have approval");
}

static void approval_is_a_url_or_a_refusal(void **state)
{
    (void)state;
    assert_errors(NETWORKS(",'annotations':{'api-approved.kubernetes.io':'https://a.b/1'}"), "");
    assert_errors(NETWORKS(",'annotations':{'api-approved.kubernetes.io':'unapproved, test'}"), "");
}

static void beta_definitions_are_taken_as_they_are(void **state)
{
    (void)state;
    kc_autofree char *text = errors_with(
        "{'apiVersion':'apiextensions.k8s.io/v1beta1','metadata':{'name':"
        "'networks.samplecrd.k8s.io'},'spec':{'group':'samplecrd.k8s.io','version':'v1','names':{"
        "'kind':'Network','plural':'networks'},'scope':'Namespaced'}}",
        &(kc__crd_rules){.beta = true});
    assert_string_equal(text, "");
}

/* ---- updates ---- */

static char *errors_of_update(const char *before, const char *after)
{
    kc_auto(kc_object) *old = prepared(before);
    kc_auto(kc_edit) *establish = kc_edit_of(old);
    kc_auto(kc_view) *conditions = view_of("[{'type':'Established','status':'True'}]");
    kc_node_set(establish, kc_node_get(kc_edit_root(establish), KC_STR("status")),
                KC_STR("conditions"), kc_node_copy(establish, kc_view_root(conditions)));
    kc_auto(kc_view) *old_view = kc_edit_view(establish, NULL);
    kc_auto(kc_edit) *edit = edit_of(after);
    kc__crd_prepare_update(edit, kc_view_root(old_view), NULL);
    kc_auto(kc_object) *crd = kc__crd_freeze(edit, NULL);
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_scoped(kc_field_errors) errors = {0};
    kc__crd_validate(kc_view_root(view),
                     &(kc__crd_rules){.old = kc_view_root(old_view), .metadata_checked = true},
                     &errors);
    kc_buf text = {0};
    kc_vec_each (&errors.list, error)
        kc_buf_printf(&text, "%s%s: %s", text.n ? "\n" : "", error->field, error->body);
    return kc_buf_take(&text);
}

static void what_is_stored_elsewhere_does_not_change(void **state)
{
    (void)state;
    kc_autofree char *text = errors_of_update(
        ONE(SCHEMA("")),
        "{'metadata':{'name':'things.example.com'},'spec':{'group':'example.org','scope':'Cluster',"
        "'names':{'plural':'thingies','kind':'Thingy'},'versions':[" VERSION("v1",
                                                                             SCHEMA("")) "]}}");
    assert_string_equal(text, "spec.scope: Invalid value: \"Cluster\": field is immutable\n"
                              "spec.names.kind: Invalid value: \"Thingy\": field is immutable\n"
                              "spec.group: Invalid value: \"example.org\": field is immutable\n"
                              "spec.names.plural: Invalid value: \"thingies\": field is immutable");
}

static void a_version_that_is_stored_stays(void **state)
{
    (void)state;
    kc_autofree char *text =
        errors_of_update(ONE(SCHEMA("")), THINGS("'versions':[" VERSION("v2", SCHEMA("")) "]"));
    assert_string_equal(
        text, "status.storedVersions[0]: Invalid value: \"v1\": missing from spec.versions; v1 was "
              "previously a storage version, and must remain in spec.versions until a storage "
              "migration ensures no data remains persisted in v1 and removes v1 from "
              "status.storedVersions");
}

static void a_schema_that_did_not_change_is_not_judged_again(void **state)
{
    (void)state;
    const char *loose = ONE(SCHEMA(",'properties':{'a':{}}"));
    kc_autofree char *same = errors_of_update(loose, loose);
    assert_string_equal(same, "");
    kc_autofree char *changed =
        errors_of_update(loose, ONE(SCHEMA(",'properties':{'a':{},'b':{'type':'string'}}")));
    assert_contains(changed, "properties[a].type: Required value");
}

#define LOOSE(more)                                                                              \
    THINGS("'preserveUnknownFields':true,'versions':[{'name':'v1','served':true,'storage':true," \
           "'schema':{'openAPIV3Schema':{'properties':{'a':{}" more "}}}}]")

static void an_old_definition_may_stay_as_loose_as_it_was(void **state)
{
    (void)state;
    kc_autofree char *text = errors_of_update(LOOSE(""), LOOSE(",'b':{}"));
    assert_string_equal(text, "");
}

/* ---- as a kind among others ---- */

static void a_definition_goes_when_its_objects_have_gone(void **state)
{
    (void)state;
    kc_auto(kc_view) *fresh = view_of("{}");
    kc_auto(kc_view) *going =
        view_of("{'status':{'conditions':[{'type':'Terminating','status':'True'}]}}");
    kc_auto(kc_view) *gone =
        view_of("{'status':{'conditions':[{'type':'Terminating','status':'False'}]}}");
    assert_false(kc__strategy_crd.may_go(kc_view_root(fresh)));
    assert_false(kc__strategy_crd.may_go(kc_view_root(going)));
    assert_true(kc__strategy_crd.may_go(kc_view_root(gone)));
}

static void the_strategy_validates_all_but_common_metadata(void **state)
{
    (void)state;
    kc_auto(kc_object) *crd = prepared(ONE(""));
    kc_auto(kc_view) *view = kc_view_of(crd);
    kc_scoped(kc_field_errors) errors = {0}, update = {0};
    kc__strategy_crd.validate(kc_view_root(view), &errors);
    assert_int_equal(errors.list.n, 1);
    kc__strategy_crd.validate_update(kc_view_root(view), kc_view_root(view), &update);
    assert_string_equal(update.list.items[0].body,
                        "Required value: because otherwise all fields are pruned");
}

/* ---- warnings ---- */

static void rules_and_unknown_formats_are_told(void **state)
{
    (void)state;
    kc_auto(kc_view) *crd = view_of(
        ONE(SCHEMA(",'x-kubernetes-validations':[{'rule':'true'}],'properties':{'a':{'type':"
                   "'string','format':'odd'},'b':{'type':'string','format':'date-time'}}")));
    kc_scoped(kc_paths) warnings = {0}, again = {0};
    kc__crd_warnings(kc_view_root(crd), NULL, &warnings);
    assert_int_equal(warnings.n, 2);
    assert_string_equal(warnings.items[0], "unrecognized format \"odd\"");
    assert_contains(warnings.items[1], "not evaluated yet");
    kc__crd_warnings(kc_view_root(crd), kc_view_root(crd), &again);
    assert_int_equal(again.n, 0);
}

TESTS(a_usual_definition_is_valid, the_name_is_plural_and_group, a_version_needs_a_schema,
      one_version_is_stored, versions_have_different_names, the_scope_is_known,
      schemas_are_structural, schemas_of_different_versions_are_named_by_their_version,
      groups_have_a_dot, names_are_labels, scale_needs_its_paths,
      columns_have_a_name_a_type_and_a_path, selectable_fields_are_scalars_of_the_schema,
      a_warning_is_for_deprecated_versions, a_webhook_is_asked_for_completely,
      fields_are_not_preserved_by_the_old_switch, groups_of_the_community_need_approval,
      approval_is_a_url_or_a_refusal, beta_definitions_are_taken_as_they_are,
      what_is_stored_elsewhere_does_not_change, a_version_that_is_stored_stays,
      a_schema_that_did_not_change_is_not_judged_again,
      an_old_definition_may_stay_as_loose_as_it_was, a_definition_goes_when_its_objects_have_gone,
      the_strategy_validates_all_but_common_metadata, rules_and_unknown_formats_are_told)
