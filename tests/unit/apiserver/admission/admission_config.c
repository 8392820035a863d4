/* SPDX-License-Identifier: Apache-2.0 */
/* The file of --admission-control-config-file. */
#include "apiserver/admission/admission_config.h"
#include "kc/file.h"
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HEAD "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\n"
#define POD_SECURITY                                                                        \
    "apiVersion: pod-security.admission.config.k8s.io/v1, kind: PodSecurityConfiguration, " \
    "defaults: {enforce: baseline}"

static char *write_config(const char *dir, const char *name, const char *content)
{
    char *path = kc_asprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
    return path;
}

static void plugin_is_configured_in_the_file_or_beside_it(void **state)
{
    (void)state;
    char dir[] = "/tmp/kc-admission-XXXXXX";
    assert_non_null(mkdtemp(dir));
    kc_autofree char *other = write_config(dir, "other.yaml", "{" POD_SECURITY "}");
    kc_autofree char *inside =
        write_config(dir, "a.yaml",
                     HEAD "plugins:\n- {name: Other, path: none}\n- name: "
                          "PodSecurity\n  configuration: {" POD_SECURITY "}\n");
    kc_autofree char *beside =
        write_config(dir, "b.yaml", HEAD "plugins: [{name: PodSecurity, path: other.yaml}]\n");
    const char *const paths[] = {inside, beside};
    for (size_t i = 0; i < KC_COUNT(paths); i++) {
        kc__admission_config config = {0};
        assert_int_equal(kc__admission_config_read(paths[i], &config, NULL), 0);
        assert_int_equal(config.pod_security->defaults.enforce.level, KC__POD_SECURITY_BASELINE);
        kc__admission_config_done(&config);
    }
    unlink(other);
    unlink(inside);
    unlink(beside);
    rmdir(dir);
}

static void wrong_file_is_rejected_with_its_path(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "kind: Pod\n", HEAD "x: y\n", "a: [\n",
        HEAD "plugins: [{name: PodSecurity, configuration: {kind: Pod}}]\n",
        HEAD "plugins: [{name: PodSecurity, path: missing.yaml}]\n"};
    char dir[] = "/tmp/kc-admission-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_autofree char *path = write_config(dir, "a.yaml", wrong[i]);
        kc__admission_config config = {0};
        kc_scoped(kc_error) err = {0};
        assert_true(kc__admission_config_read(path, &config, &err) < 0);
        assert_contains(kc_error_text(&err), path);
        kc__admission_config_done(&config);
        unlink(path);
    }
    rmdir(dir);
}

/* Reads a text as the file; the caller releases the configuration. */
static int read_config_text(const char *text, kc__admission_config *ret, kc_error *err)
{
    char dir[] = "/tmp/kc-admission-XXXXXX";
    assert_non_null(mkdtemp(dir));
    kc_autofree char *path = write_config(dir, "a.yaml", text);
    const int result = kc__admission_config_read(path, ret, err);
    unlink(path);
    rmdir(dir);
    return result;
}

static void entry_with_an_unknown_field_is_rejected(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(
        read_config_text(HEAD "plugins: [{name: PodSecurity, config: {}}]\n", &config, &err) < 0);
    assert_contains(kc_error_text(&err), "unknown field \"plugins[0].config\"");
}

static void every_configurable_plugin_gets_its_part(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_scoped(kc_error) err = {0};
    const int result = read_config_text(
        HEAD "plugins:\n"
             "- name: PodNodeSelector\n"
             "  configuration: {podNodeSelectorPluginConfig: {a: 'b=c'}}\n"
             "- name: PodTolerationRestriction\n"
             "  configuration: {apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1, "
             "kind: Configuration}\n"
             "- name: EventRateLimit\n"
             "  configuration: {apiVersion: eventratelimit.admission.k8s.io/v1alpha1, kind: "
             "Configuration, limits: [{type: Server, qps: 1, burst: 1}]}\n",
        &config, &err);
    if (result < 0)
        fail_msg("%s", kc_error_text(&err));
    assert_true(config.node_selectors && config.toleration_limits && config.event_rate);
    kc__admission_config_done(&config);
}

static void file_of_the_old_form_configures_its_plugin(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(read_config_text("podNodeSelectorPluginConfig: {a: 'b=c'}\n", &config, &err),
                     0);
    assert_non_null(config.node_selectors);
    kc__admission_config_done(&config);
    assert_true(read_config_text("imagePolicy: {}\n", &config, &err) < 0);
    assert_contains(kc_error_text(&err), "plugin ImagePolicyWebhook: imagePolicy.kubeConfigFile");
}

static void webhook_plugins_get_the_users_of_a_kubeconfig(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "apiVersion: apiserver.config.k8s.io/v1, kind: WebhookAdmissionConfiguration",
        "apiVersion: apiserver.config.k8s.io/v1alpha1, kind: WebhookAdmission"};
    char dir[] = "/tmp/kc-admission-XXXXXX";
    assert_non_null(mkdtemp(dir));
    kc_autofree char *users = write_config(dir, "users", "users: [{name: '*', user: {token: t}}]");
    for (size_t i = 0; i < KC_COUNT(forms); i++) {
        kc__admission_config config = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text =
            kc_asprintf(HEAD "plugins:\n- {name: MutatingAdmissionWebhook, configuration: {%s, "
                             "kubeConfigFile: '%s'}}\n",
                        forms[i], users);
        if (read_config_text(text, &config, &err) < 0)
            fail_msg("%s", kc_error_text(&err));
        assert_non_null(config.mutating_users);
        assert_null(config.validating_users);
        assert_int_equal(config.kubeconfigs.n, 1);
        assert_string_equal(config.kubeconfigs.items[0], users);
        kc__admission_config_done(&config);
    }
    unlink(users);
    rmdir(dir);
}

static void relative_kubeconfig_of_webhooks_is_rejected(void **state)
{
    (void)state;
    kc__admission_config config = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(read_config_text(HEAD "plugins:\n- name: ValidatingAdmissionWebhook\n"
                                      "  configuration: {apiVersion: apiserver.config.k8s.io/v1, "
                                      "kind: WebhookAdmissionConfiguration, kubeConfigFile: a}\n",
                                 &config, &err) < 0);
    assert_contains(kc_error_text(&err),
                    "kubeConfigFile: Invalid value: \"a\": must be an absolute file path");
}

static void plugin_without_the_configuration_that_it_needs_is_rejected(void **state)
{
    (void)state;
    static const char *const names[] = {"ImagePolicyWebhook", "EventRateLimit"};
    const kc__admission_config config = {0};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_scoped(kc_error) err = {0};
        kc__admission_selection on = 0;
        kc__admission_selection_parse(names[i], &on, NULL);
        assert_int_equal(kc__admission_config_check(&config, on, &err), -KC_INVALID);
        assert_contains(kc_error_text(&err), names[i]);
    }
    assert_int_equal(kc__admission_config_check(&config, 0, NULL), 0);
}

TESTS(plugin_is_configured_in_the_file_or_beside_it, wrong_file_is_rejected_with_its_path,
      entry_with_an_unknown_field_is_rejected, every_configurable_plugin_gets_its_part,
      file_of_the_old_form_configures_its_plugin, webhook_plugins_get_the_users_of_a_kubeconfig,
      relative_kubeconfig_of_webhooks_is_rejected,
      plugin_without_the_configuration_that_it_needs_is_rejected)
