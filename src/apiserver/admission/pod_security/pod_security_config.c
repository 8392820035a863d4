/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_security_config.c: reads the configuration of the plugin PodSecurity. Unknown fields,
 * duplicate exemptions and wrong values are errors, as in Kubernetes.
 */
#include "apiserver/admission/pod_security/pod_security_config.h"

#include "apiserver/admission/chain/plugin_config.h"
#include "kc/names.h"
#include "kc/yaml.h"

#define GROUP "pod-security.admission.config.k8s.io/"

const kc__pod_security_config *kc__pod_security_config_of(const kc__rest_call *call)
{
    static const kc__pod_security_config defaults = {0};
    const kc__admission_config *config = call->api->admission_config;
    return config && config->pod_security ? config->pod_security : &defaults;
}

kc__pod_security_config *kc__pod_security_config_free(kc__pod_security_config *config)
{
    if (!config)
        return NULL;
    kc_map_done(&config->namespaces);
    kc_map_done(&config->usernames);
    kc_map_done(&config->runtime_classes);
    kc_view_free(config->source);
    free(config);
    return NULL;
}

/* ---- defaults ---- */

/* Whether a member has a value to parse. Adds an error if the value is no text. */
static bool is_text(const kc_value *value, const char *field, kc_field_errors *errors)
{
    if (value && kc_value_type(value) != KC_JSON_STRING)
        kc_field_errors_add_value(errors, KC_FIELD_TYPE_INVALID, field, value, "must be a string");
    return kc_value_as_str(value).n > 0;
}

static void read_default(const kc_value *defaults, const char *mode, kc__pod_security_standard *ret,
                         kc_field_errors *errors)
{
    kc_scoped(kc_buf) level_field = {0};
    kc_scoped(kc_buf) version_field = {0};
    const char *why;
    kc_buf_printf(&level_field, "defaults.%s", mode);
    kc_buf_printf(&version_field, "defaults.%s-version", mode);
    const char *level_name = kc_buf_cstr(&level_field), *version_name = kc_buf_cstr(&version_field);
    const kc_value *level = kc_value_get(defaults, mode),
                   *version = kc_value_get(defaults, version_name + strlen("defaults."));
    if (is_text(level, level_name, errors) &&
        (why = kc__pod_security_level_parse(kc_value_as_str(level), &ret->level)))
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, level_name, level, "%s", why);
    if (is_text(version, version_name, errors) &&
        (why = kc__pod_security_version_parse(kc_value_as_str(version), ret)))
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, version_name, version, "%s", why);
}

/* ---- exemptions ---- */

/* Adds what is wrong with a name to `errors`. */
typedef void check_name_fn(kc_field_errors *errors, const char *field, const kc_value *name);

static void check_namespace_name(kc_field_errors *errors, const char *field, const kc_value *name)
{
    kc_validate_name(errors, field, KC_NAME_DNS_LABEL, kc_value_as_str(name));
}

static void check_class_name(kc_field_errors *errors, const char *field, const kc_value *name)
{
    kc_validate_name(errors, field, KC_NAME_DNS_SUBDOMAIN, kc_value_as_str(name));
}

static void check_user_name(kc_field_errors *errors, const char *field, const kc_value *name)
{
    if (!kc_value_as_str(name).n)
        kc_field_errors_add_value(errors, KC_FIELD_INVALID, field, name,
                                  "username must not be empty");
}

static void read_exemptions(const kc_value *exemptions, const char *member, check_name_fn *check,
                            kc_map *ret, kc_field_errors *errors)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(exemptions, member), name) {
        const size_t before = errors->list.n;
        kc_scoped(kc_buf) field = {0};
        kc_buf_printf(&field, "exemptions.%s[%zu]", member, i++);
        if (kc_value_type(name) == KC_JSON_STRING)
            check(errors, kc_buf_cstr(&field), name);
        else
            kc_field_errors_add_value(errors, KC_FIELD_TYPE_INVALID, kc_buf_cstr(&field), name,
                                      "must be a string");
        if (errors->list.n > before)
            continue;
        if (kc_map_put(ret, kc_value_as_str(name), (void *)name))
            kc_field_errors_add_value(errors, KC_FIELD_DUPLICATE, kc_buf_cstr(&field), name, NULL);
    }
}

/* ---- the document ---- */

static int check_config_members(const kc_value *object, const char *where, const char *const *known,
                                kc_error *err)
{
    kc_value_each_member (object, name, value) {
        (void)value;
        if (!kc_str_is_any(name, known))
            return kc_error_set(err, KC_INVALID, "unknown field \"%s%.*s\"", where, KC_ARG(name));
    }
    return 0;
}

static int check_document(const kc_value *root, kc_error *err)
{
    static const char *const versions[] = {GROUP "v1", GROUP "v1beta1", GROUP "v1alpha1", NULL};
    static const char *const members[] = {"apiVersion", "kind", "defaults", "exemptions", NULL};
    static const char *const defaults[] = {"enforce", "enforce-version", "audit", "audit-version",
                                           "warn",    "warn-version",    NULL};
    static const char *const exemptions[] = {"usernames", "runtimeClasses", "namespaces", NULL};
    const kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion")),
                 kind = kc_value_as_str(kc_value_get(root, "kind"));
    if (!kc_str_is_any(version, versions) || !kc_str_is(kind, "PodSecurityConfiguration"))
        return kc_error_set(err, KC_INVALID,
                            "expected kind PodSecurityConfiguration of " GROUP "v1, got %.*s of "
                            "%.*s",
                            KC_ARG(kind), KC_ARG(version));
    if (check_config_members(root, "", members, err) < 0 ||
        check_config_members(kc_value_get(root, "defaults"), "defaults.", defaults, err) < 0 ||
        check_config_members(kc_value_get(root, "exemptions"), "exemptions.", exemptions, err) < 0)
        return kc_error_result(err);
    return 0;
}

/* One error with all field errors, as Kubernetes prints a list of errors. */
static int fail_fields(const kc_field_errors *errors, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < errors->list.n; i++)
        kc_buf_printf(&text, "%s%s: %s", i ? ", " : "", errors->list.items[i].field,
                      errors->list.items[i].body);
    return kc_error_set(err, KC_INVALID, errors->list.n > 1 ? "[%s]" : "%s", kc_buf_cstr(&text));
}

static int read_config(const kc_value *root, kc__pod_security_config *ret, kc_error *err)
{
    const kc_value *defaults = kc_value_get(root, "defaults"),
                   *exemptions = kc_value_get(root, "exemptions");
    kc_scoped(kc_field_errors) errors = {0};
    if (check_document(root, err) < 0)
        return kc_error_result(err);
    read_default(defaults, "enforce", &ret->defaults.enforce, &errors);
    read_default(defaults, "warn", &ret->defaults.warn, &errors);
    read_default(defaults, "audit", &ret->defaults.audit, &errors);
    read_exemptions(exemptions, "namespaces", check_namespace_name, &ret->namespaces, &errors);
    read_exemptions(exemptions, "runtimeClasses", check_class_name, &ret->runtime_classes, &errors);
    read_exemptions(exemptions, "usernames", check_user_name, &ret->usernames, &errors);
    return errors.list.n ? fail_fields(&errors, err) : 0;
}

kc__pod_security_config *kc__pod_security_config_parse(kc_str text, kc_error *err)
{
    kc_auto(kc__pod_security_config) *config = kc_new(kc__pod_security_config);
    config->source = kc_yaml_parse(text, NULL, err);
    if (!config->source || read_config(kc_view_root(config->source), config, err) < 0)
        return NULL;
    return kc_take(config);
}
