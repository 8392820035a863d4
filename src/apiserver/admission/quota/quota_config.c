/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_config.c: reads the configuration of the plugin ResourceQuota. Unknown fields and wrong
 * types are errors, as in Kubernetes.
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: ResourceQuotaConfiguration
 *     limitedResources:
 *     - resource: pods
 *       matchScopes:
 *       - {scopeName: PriorityClass, operator: In, values: [cluster-services]}
 */
#include "apiserver/admission/quota/quota_config.h"

#include "kc/yaml.h"

#define OLD_GROUP "resourcequota.admission.k8s.io/"

kc__quota_config *kc__quota_config_free(kc__quota_config *config)
{
    if (!config)
        return NULL;
    kc_view_free(config->source);
    free(config);
    return NULL;
}

/* A member of an object, and its type. */
typedef struct config_member {
    const char *name;
    kc_json_type type;
    bool of_texts; /* An array of strings. */
} config_member;

static bool has_member_type(const config_member *member, const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_NULL)
        return true;
    if (kc_value_type(value) != member->type)
        return false;
    if (member->of_texts)
        kc_value_each_item (value, item)
            if (kc_value_type(item) != KC_JSON_STRING)
                return false;
    return true;
}

static int check_typed_members(const kc_value *object, const char *where,
                               const config_member *members, kc_error *err)
{
    if (kc_value_type(object) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_INVALID, "%s must be an object", where);
    kc_value_each_member (object, name, value) {
        const config_member *member = members;
        while (member->name && !kc_str_is(name, member->name))
            member++;
        if (!member->name)
            return kc_error_set(err, KC_INVALID, "unknown field \"%s.%.*s\"", where, KC_ARG(name));
        if (!has_member_type(member, value))
            return kc_error_set(err, KC_INVALID, "%s.%.*s has the wrong type", where, KC_ARG(name));
    }
    return 0;
}

static int check_scopes(const kc_value *scopes, kc_error *err)
{
    static const config_member members[] = {{"scopeName", KC_JSON_STRING, false},
                                            {"operator", KC_JSON_STRING, false},
                                            {"values", KC_JSON_ARRAY, true},
                                            {NULL, KC_JSON_NULL, false}};
    kc_value_each_item (scopes, scope)
        if (check_typed_members(scope, "limitedResources.matchScopes", members, err) < 0)
            return kc_error_result(err);
    return 0;
}

static int check_limited(const kc_value *limited, size_t i, kc_error *err)
{
    static const config_member members[] = {{"apiGroup", KC_JSON_STRING, false},
                                            {"resource", KC_JSON_STRING, false},
                                            {"matchContains", KC_JSON_ARRAY, true},
                                            {"matchScopes", KC_JSON_ARRAY, false},
                                            {NULL, KC_JSON_NULL, false}};
    if (check_typed_members(limited, "limitedResources", members, err) < 0)
        return kc_error_result(err);
    if (!kc_value_as_str(kc_value_get(limited, "resource")).n)
        return kc_error_set(err, KC_INVALID, "limitedResources[%zu].resource: Required value", i);
    return check_scopes(kc_value_get(limited, "matchScopes"), err);
}

static bool is_quota_configuration(kc_str version, kc_str kind)
{
    static const char *const old[] = {OLD_GROUP "v1beta1", OLD_GROUP "v1alpha1", NULL};
    if (kc_str_is(version, "apiserver.config.k8s.io/v1"))
        return kc_str_is(kind, "ResourceQuotaConfiguration");
    return kc_str_is_any(version, old) && kc_str_is(kind, "Configuration");
}

static int check_quota_document(const kc_value *root, kc_error *err)
{
    static const config_member members[] = {{"apiVersion", KC_JSON_STRING, false},
                                            {"kind", KC_JSON_STRING, false},
                                            {"limitedResources", KC_JSON_ARRAY, false},
                                            {NULL, KC_JSON_NULL, false}};
    const kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion")),
                 kind = kc_value_as_str(kc_value_get(root, "kind"));
    size_t i = 0;
    if (!is_quota_configuration(version, kind))
        return kc_error_set(err, KC_INVALID,
                            "expected kind ResourceQuotaConfiguration of "
                            "apiserver.config.k8s.io/v1, got %.*s of %.*s",
                            KC_ARG(kind), KC_ARG(version));
    if (check_typed_members(root, "configuration", members, err) < 0)
        return kc_error_result(err);
    kc_value_each_item (kc_value_get(root, "limitedResources"), limited)
        if (check_limited(limited, i++, err) < 0)
            return kc_error_result(err);
    return 0;
}

kc__quota_config *kc__quota_config_parse(kc_str text, kc_error *err)
{
    kc_auto(kc__quota_config) *config = kc_new(kc__quota_config);
    config->source = kc_yaml_parse(text, NULL, err);
    if (!config->source || check_quota_document(kc_view_root(config->source), err) < 0)
        return NULL;
    config->limited = kc_value_get(kc_view_root(config->source), "limitedResources");
    return kc_take(config);
}
