/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/apiextensions/crd_validate.h"
#include "apiserver/kinds/apiextensions/crd_strategy.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
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

static void valid_crd_has_no_errors(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA("")), "");
}

static void name_must_be_plural_and_group(void **state)
{
    (void)state;
    assert_errors(
        "{'metadata':{'name':'wrong.example.com'},'spec':{'group':'example.com',"
        "'scope':'Namespaced','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
            "v1", SCHEMA("")) "]}}",
        "metadata.name: Invalid value: \"wrong.example.com\": must be "
        "spec.names.plural+\".\"+spec.group");
}

static void version_without_schema_is_invalid(void **state)
{
    (void)state;
    assert_errors(ONE(""), "spec.versions[0].schema.openAPIV3Schema: Required value");
}

static void exactly_one_version_must_be_stored(void **state)
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

static void version_names_must_be_unique(void **state)
{
    (void)state;
    kc_autofree char *text = errors_with(
        THINGS("'versions':[" VERSION("v1", SCHEMA("")) "," VERSION("v1", SCHEMA("")) "]"), NULL);
    assert_contains(text, "must contain unique version names");
    assert_contains(text, "must have exactly one version marked as storage version");
}

static void unknown_scope_is_invalid(void **state)
{
    (void)state;
    assert_errors(
        "{'metadata':{'name':'things.example.com'},'spec':{'group':'example.com',"
        "'scope':'Global','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
            "v1", SCHEMA("")) "]}}",
        "spec.scope: Unsupported value: \"Global\": supported values: \"Cluster\", "
        "\"Namespaced\"");
}

static void non_structural_schema_is_invalid(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA(",'properties':{'spec':{'properties':{'a':{'type':'string'}}}}")),
                  "spec.validation.openAPIV3Schema.properties[spec].type: Required value: must not "
                  "be empty for specified object fields");
}

static void error_names_the_version_when_schemas_differ(void **state)
{
    (void)state;
    assert_errors(THINGS("'versions':[" VERSION(
                      "v1", SCHEMA("")) ",{'name':'v2','served':true,"
                                        "'storage':false" SCHEMA(",'properties':{'a':{}}") "}]"),
                  "spec.versions[1].schema.openAPIV3Schema.properties[a].type: Required value: "
                  "must not be empty for specified object fields");
}

static void group_without_dot_is_invalid(void **state)
{
    (void)state;
    assert_errors("{'metadata':{'name':'things.example'},'spec':{'group':'example','scope':"
                  "'Cluster','names':{'plural':'things','kind':'Thing'},'versions':[" VERSION(
                      "v1", SCHEMA("")) "]}}",
                  "spec.group: Invalid value: \"example\": should be a domain with at least one "
                  "dot");
}

#define IN_GROUP(group)                                                                          \
    "{'metadata':{'name':'things." group "','annotations':{'api-approved.kubernetes.io':"        \
    "'unapproved, a test'}},'spec':{'group':'" group "','scope':'Namespaced','names':{'plural':" \
    "'things','kind':'Thing'},'versions':[" VERSION("v9", SCHEMA("")) "]}}"

static void group_of_built_in_apis_is_invalid(void **state)
{
    (void)state;
    static const struct {
        const char *group, *json;
    } groups[] = {
        {"rbac.authorization.k8s.io", IN_GROUP("rbac.authorization.k8s.io")},
        {"apiextensions.k8s.io", IN_GROUP("apiextensions.k8s.io")},
        {"apiregistration.k8s.io", IN_GROUP("apiregistration.k8s.io")},
        {"flowcontrol.apiserver.k8s.io", IN_GROUP("flowcontrol.apiserver.k8s.io")},
    };
    for (size_t i = 0; i < KC_COUNT(groups); i++) {
        kc_autofree char *expected =
            kc_asprintf("spec.group: Invalid value: \"%s\": must not be a group that is served by "
                        "built-in APIs",
                        groups[i].group);
        assert_errors(groups[i].json, expected);
        kc_autofree char *beta = errors_with(groups[i].json, &(kc__crd_rules){.beta = true});
        assert_string_equal(beta, expected);
    }
    assert_errors(IN_GROUP("apps.k8s.io"), "");
    assert_errors(IN_GROUP("xrbac.authorization.k8s.io"), "");
}

static void stored_crd_in_built_in_group_can_be_updated(void **state)
{
    (void)state;
    kc_auto(kc_object) *old = prepared(IN_GROUP("rbac.authorization.k8s.io"));
    kc_auto(kc_view) *view = kc_view_of(old);
    kc_scoped(kc_field_errors) errors = {0};
    kc__crd_rules rules = {.old = kc_view_root(view), .metadata_checked = true};
    kc__crd_validate(kc_view_root(view), &rules, &errors);
    assert_int_equal(errors.list.n, 0);
}

static void names_must_be_dns_labels(void **state)
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

static void scale_without_paths_is_invalid(void **state)
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

static void printer_columns_need_name_type_and_path(void **state)
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

static void selectable_fields_must_be_scalars_of_the_schema(void **state)
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

static void deprecation_warning_requires_deprecated_version(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA("") ",'deprecationWarning':'old'"),
                  "spec.versions[0].deprecationWarning: Invalid value: \"old\": can only be set "
                  "for deprecated versions");
    assert_errors(ONE(SCHEMA("") ",'deprecated':true,'deprecationWarning':'old'"), "");
}

static void incomplete_conversion_webhook_is_invalid(void **state)
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

static void preserve_unknown_fields_true_is_invalid_in_v1(void **state)
{
    (void)state;
    assert_errors(THINGS("'preserveUnknownFields':true,'versions':[" VERSION("v1", SCHEMA("")) "]"),
                  "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set "
                  "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
                  "instead");
}

/* ---- protected groups ---- */

#define NETWORKS(annotations)                                                                 \
    "{'metadata':{'name':'networks.samplecrd.k8s.io'" annotations "},'spec':{'group':"        \
    "'samplecrd.k8s.io','scope':'Namespaced','names':{'plural':'networks','kind':'Network'}," \
    "'versions':[" VERSION("v1", SCHEMA("")) "]}}"

static void protected_group_needs_approval_annotation(void **state)
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

static void approval_may_be_url_or_unapproved(void **state)
{
    (void)state;
    assert_errors(NETWORKS(",'annotations':{'api-approved.kubernetes.io':'https://a.b/1'}"), "");
    assert_errors(NETWORKS(",'annotations':{'api-approved.kubernetes.io':'unapproved, test'}"), "");
}

static void v1beta1_crd_is_validated_leniently(void **state)
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
                KC_STR("conditions"), kc_node_from_value(establish, kc_view_root(conditions)));
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

static void group_plural_and_scope_are_immutable(void **state)
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

static void stored_version_cannot_be_removed(void **state)
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

static void unchanged_schema_is_not_validated_again(void **state)
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

static void non_structural_v1beta1_crd_may_be_updated(void **state)
{
    (void)state;
    kc_autofree char *text = errors_of_update(LOOSE(""), LOOSE(",'b':{}"));
    assert_string_equal(text, "");
}

/* ---- CRDs as a resource ---- */

static void terminating_crd_may_be_deleted_after_its_objects(void **state)
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

static void strategy_validates_all_but_metadata(void **state)
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

/* ---- rules ---- */

static void rules_of_schema_and_defaults_are_checked(void **state)
{
    (void)state;
    assert_errors(ONE(SCHEMA(",'x-kubernetes-validations':[{'rule':'true'}]")), "");
    assert_errors(
        ONE(SCHEMA(",'x-kubernetes-validations':[{'rule':'1'}]")),
        "spec.validation.openAPIV3Schema.x-kubernetes-validations[0].rule: Invalid value: "
        "{\"Rule\":\"1\",\"Message\":\"\",\"MessageExpression\":\"\",\"Reason\":null,"
        "\"FieldPath\":\"\",\"OptionalOldSelf\":null}: cel expression must evaluate to a "
        "bool");
    assert_errors(ONE(SCHEMA(",'properties':{'a':{'type':'integer','default':1,"
                             "'x-kubernetes-validations':[{'rule':'self > 1'}]}}")),
                  "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: "
                  "\"integer\": failed rule: self > 1");
}

/* ---- warnings ---- */

static void warnings_name_unknown_formats(void **state)
{
    (void)state;
    kc_auto(kc_view) *crd = view_of(
        ONE(SCHEMA(",'properties':{'a':{'type':'string','format':'odd'},'b':{'type':'string',"
                   "'format':'date-time'}}")));
    kc_scoped(kc_paths) warnings = {0}, more_writes = {0};
    kc__crd_warnings(kc_view_root(crd), NULL, &warnings);
    assert_int_equal(warnings.n, 1);
    assert_string_equal(warnings.items[0], "unrecognized format \"odd\"");
    kc__crd_warnings(kc_view_root(crd), kc_view_root(crd), &more_writes);
    assert_int_equal(more_writes.n, 0);
}

TESTS(valid_crd_has_no_errors, name_must_be_plural_and_group, version_without_schema_is_invalid,
      exactly_one_version_must_be_stored, version_names_must_be_unique, unknown_scope_is_invalid,
      non_structural_schema_is_invalid, error_names_the_version_when_schemas_differ,
      group_without_dot_is_invalid, group_of_built_in_apis_is_invalid,
      stored_crd_in_built_in_group_can_be_updated, names_must_be_dns_labels,
      scale_without_paths_is_invalid, printer_columns_need_name_type_and_path,
      selectable_fields_must_be_scalars_of_the_schema,
      deprecation_warning_requires_deprecated_version, incomplete_conversion_webhook_is_invalid,
      preserve_unknown_fields_true_is_invalid_in_v1, protected_group_needs_approval_annotation,
      approval_may_be_url_or_unapproved, v1beta1_crd_is_validated_leniently,
      group_plural_and_scope_are_immutable, stored_version_cannot_be_removed,
      unchanged_schema_is_not_validated_again, non_structural_v1beta1_crd_may_be_updated,
      terminating_crd_may_be_deleted_after_its_objects, strategy_validates_all_but_metadata,
      warnings_name_unknown_formats, rules_of_schema_and_defaults_are_checked)
