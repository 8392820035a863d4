/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission_config.c: reads the configuration of admission plugins.
 *
 *     apiVersion: apiserver.config.k8s.io/v1
 *     kind: AdmissionConfiguration
 *     plugins:
 *     - name: PodSecurity
 *       configuration: {apiVersion: pod-security.admission.config.k8s.io/v1, …}
 *     - name: PodSecurity
 *       path: pod-security.yaml
 *
 * The first entry of a name counts. Entries of plugins without a configuration are ignored, as in
 * Kubernetes. A file without kind that has the member imagePolicy or podNodeSelectorPluginConfig is
 * of the old form: the configuration of these plugins. To add a configurable plugin: a row of
 * `configurable`.
 */
#include "apiserver/admission/admission_config.h"

#include "apiserver/config/strict_config.h"
#include "kc/file.h"
#include "kc/json.h"
#include "kc/yaml.h"

#define MAX_CONFIG_BYTES ((size_t)1 << 20)

void kc__admission_config_done(kc__admission_config *config)
{
    kc__pod_security_config_free(config->pod_security);
    kc__quota_config_free(config->quota);
    kc__event_rate_limits_free(config->event_rate);
    kc__admission_image_policy_free(config->image_policy);
    kc__admission_node_selectors_free(config->node_selectors);
    kc__admission_toleration_limits_free(config->toleration_limits);
    kc__webhook_kubeconfig_users_free(config->mutating_users);
    kc__webhook_kubeconfig_users_free(config->validating_users);
    kc_vec_each (&config->kubeconfigs, path)
        free(*path);
    kc_vec_done(&config->kubeconfigs);
    *config = (kc__admission_config){0};
}

/* ---- configurable plugins ---- */

static int configure_pod_security(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->pod_security = kc__pod_security_config_parse(text, err);
    return ret->pod_security ? 0 : kc_error_result(err);
}

static int configure_quota(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->quota = kc__quota_config_parse(text, err);
    return ret->quota ? 0 : kc_error_result(err);
}

static int configure_event_rate(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->event_rate = kc__event_rate_limits_parse(text, err);
    return ret->event_rate ? 0 : kc_error_result(err);
}

static int configure_image_policy(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->image_policy = kc__admission_image_policy_parse(text, err);
    if (!ret->image_policy)
        return kc_error_result(err);
    kc_vec_push(&ret->kubeconfigs, kc_strdup(ret->image_policy->kubeconfig));
    return 0;
}

static int configure_node_selectors(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->node_selectors = kc__admission_node_selectors_parse(text, err);
    return ret->node_selectors ? 0 : kc_error_result(err);
}

static int configure_toleration_limits(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->toleration_limits = kc__admission_toleration_limits_parse(text, err);
    return ret->toleration_limits ? 0 : kc_error_result(err);
}

/* A WebhookAdmissionConfiguration names a kubeconfig with the credentials of the server. */
static kc__webhook_kubeconfig_users *read_webhook_users(kc_str text, kc__admission_config *config,
                                                        kc_error *err)
{
    static const kc__config_member members[] = {{"kubeConfigFile", KC__CONFIG_STRING, NULL}, {0}};
    static const char *const versions[] = {"apiserver.config.k8s.io/v1", NULL},
                             *const old_versions[] = {"apiserver.config.k8s.io/v1alpha1", NULL};
    static const kc__config_type now = {versions, "WebhookAdmissionConfiguration", members},
                                 old = {old_versions, "WebhookAdmission", members};
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = kc__config_parse(text, &now, &why);
    if (!view)
        view = kc__config_parse(text, &old, NULL);
    if (!view) {
        kc_error_move(err, &why);
        return NULL;
    }
    const kc_str file = kc_value_as_str(kc_value_get(kc_view_root(view), "kubeConfigFile"));
    if (!kc_str_starts(file, KC_STR("/"))) {
        kc_error_set(err, KC_INVALID,
                     "kubeConfigFile: Invalid value: \"%.*s\": must be an absolute file path",
                     KC_ARG(file));
        return NULL;
    }
    kc_autofree char *path = kc_str_dup(file);
    kc__webhook_kubeconfig_users *users = kc__webhook_kubeconfig_users_read(path, err);
    if (users)
        kc_vec_push(&config->kubeconfigs, kc_take(path));
    return users;
}

static int configure_mutating_webhooks(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->mutating_users = read_webhook_users(text, ret, err);
    return ret->mutating_users ? 0 : kc_error_result(err);
}

static int configure_validating_webhooks(kc_str text, kc__admission_config *ret, kc_error *err)
{
    ret->validating_users = read_webhook_users(text, ret, err);
    return ret->validating_users ? 0 : kc_error_result(err);
}

static const struct {
    const char *name;
    int (*configure)(kc_str text, kc__admission_config *ret, kc_error *err);
    const char *old_member; /* A file of the old form has it; NULL: there is no old form. */
} configurable[] = {
    {"PodSecurity", configure_pod_security, NULL},
    {"ResourceQuota", configure_quota, NULL},
    {"EventRateLimit", configure_event_rate, NULL},
    {"ImagePolicyWebhook", configure_image_policy, "imagePolicy"},
    {"PodNodeSelector", configure_node_selectors, "podNodeSelectorPluginConfig"},
    {"PodTolerationRestriction", configure_toleration_limits, NULL},
    {"MutatingAdmissionWebhook", configure_mutating_webhooks, NULL},
    {"ValidatingAdmissionWebhook", configure_validating_webhooks, NULL},
};

/* ---- entries ---- */

static char *path_beside(const char *file, kc_str path)
{
    const char *slash = strrchr(file, '/');
    const int n = slash && !kc_str_starts(path, KC_STR("/")) ? (int)(slash - file) + 1 : 0;
    return kc_asprintf("%.*s%.*s", n, file, KC_ARG(path));
}

/* The text of an entry's configuration; empty: none. */
static int read_entry(const char *file, const kc_value *entry, kc_buf *ret_text, kc_error *err)
{
    const kc_value *inside = kc_value_get(entry, "configuration");
    const kc_str path = kc_value_as_str(kc_value_get(entry, "path"));
    if (kc_value_type(inside) == KC_JSON_OBJECT) {
        kc_json_write(ret_text, inside);
        return 0;
    }
    if (!path.n)
        return 0;
    kc_autofree char *full = path_beside(file, path);
    return kc_file_read(full, MAX_CONFIG_BYTES, ret_text, err);
}

static const kc_value *find_entry(const kc_value *root, const char *name)
{
    kc_value_each_item (kc_value_get(root, "plugins"), entry)
        if (kc_str_is(kc_value_as_str(kc_value_get(entry, "name")), name))
            return entry;
    return NULL;
}

/* ---- the file ---- */

static const kc__config_member entry_members[] = {{"name", KC__CONFIG_STRING, NULL},
                                                  {"path", KC__CONFIG_STRING, NULL},
                                                  {"configuration", KC__CONFIG_ANY, NULL},
                                                  {0}};
static const kc__config_member file_members[] = {{"plugins", KC__CONFIG_OBJECTS, entry_members},
                                                 {0}};
static const char *const file_versions[] = {"apiserver.config.k8s.io/v1",
                                            "apiserver.k8s.io/v1alpha1", NULL};
static const kc__config_type file_type = {
    .api_versions = file_versions, .kind = "AdmissionConfiguration", .members = file_members};

static int configure_plugins(const char *path, const kc_value *root, kc__admission_config *ret,
                             kc_error *err)
{
    for (size_t i = 0; i < KC_COUNT(configurable); i++) {
        kc_scoped(kc_buf) text = {0};
        const kc_value *entry = find_entry(root, configurable[i].name);
        if (!entry)
            continue;
        if (read_entry(path, entry, &text, err) < 0 ||
            (text.n && configurable[i].configure(kc_buf_str(&text), ret, err) < 0))
            return kc_error_wrap(err, "plugin %s", configurable[i].name);
    }
    return 0;
}

/* Whether a file is of the old form; configures the plugins of its members. */
static bool configure_by_old_form(kc_str text, kc__admission_config *ret, int *ret_failed,
                                  kc_error *err)
{
    kc_auto(kc_view) *view = kc_yaml_parse(text, NULL, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    bool is_old = false;
    if (kc_value_get(root, "kind"))
        return false;
    for (size_t i = 0; i < KC_COUNT(configurable); i++) {
        const char *member = configurable[i].old_member;
        if (!member || !kc_value_get(root, member))
            continue;
        is_old = true;
        if (configurable[i].configure(text, ret, err) < 0)
            *ret_failed = kc_error_wrap(err, "plugin %s", configurable[i].name);
    }
    return is_old;
}

int kc__admission_config_read(const char *path, kc__admission_config *ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    int failed = 0;
    if (kc_file_read(path, MAX_CONFIG_BYTES, &text, err) < 0)
        return kc_error_result(err);
    if (configure_by_old_form(kc_buf_str(&text), ret, &failed, err))
        return failed < 0 ? kc_error_wrap(err, "%s", path) : 0;
    kc_auto(kc_view) *view = kc__config_parse(kc_buf_str(&text), &file_type, err);
    if (!view || configure_plugins(path, kc_view_root(view), ret, err) < 0)
        return kc_error_wrap(err, "%s", path);
    return 0;
}

static bool selects(kc__admission_selection plugins, const char *name)
{
    kc__admission_selection one = 0;
    kc__admission_selection_parse(name, &one, NULL);
    return plugins & one;
}

int kc__admission_config_check(const kc__admission_config *config, kc__admission_selection plugins,
                               kc_error *err)
{
    if (selects(plugins, "ImagePolicyWebhook") && !config->image_policy)
        return kc_error_set(err, KC_INVALID, "plugin ImagePolicyWebhook: no config specified");
    if (selects(plugins, "EventRateLimit") && !config->event_rate)
        return kc_error_set(err, KC_INVALID,
                            "plugin EventRateLimit: limits: Invalid value: must not be empty");
    return 0;
}
