/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec.c: the exec section of a user: which exec plugin provides credentials and how it is run.
 * This file checks that the section is complete; the program itself is looked up when it runs.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/json.h"

/* Name of the cluster extension whose content is passed to the exec plugin. */
#define EXTENSION "client.authentication.k8s.io/exec"

static const char *const api_versions[] = {"client.authentication.k8s.io/v1",
                                           "client.authentication.k8s.io/v1beta1"};

static void read_api_version(kc__kubeconfig_fields *f, kc_exec_config *exec)
{
    exec->api_version = kc__kubeconfig_field_text(f, "apiVersion");
    if (!exec->api_version)
        kc__kubeconfig_fields_fail(f, "apiVersion is required, such as %s", api_versions[0]);
    for (size_t i = 0; !f->failed && i < KC_COUNT(api_versions); i++)
        if (!strcmp(exec->api_version, api_versions[i]))
            return;
    kc__kubeconfig_fields_fail(f, "apiVersion %s is not supported; supported: %s, %s",
                               exec->api_version, api_versions[0], api_versions[1]);
}

static void read_interactive(kc__kubeconfig_fields *f, kc_exec_config *exec)
{
    static const char *const modes[] = {
        [KC_EXEC_IF_AVAILABLE] = "IfAvailable",
        [KC_EXEC_NEVER] = "Never",
        [KC_EXEC_ALWAYS] = "Always",
    };
    const char *mode = kc__kubeconfig_field_text(f, "interactiveMode");
    if (!mode && !f->failed && !strcmp(exec->api_version, api_versions[0]))
        kc__kubeconfig_fields_fail(f, "interactiveMode is required: Never, IfAvailable or Always");
    for (size_t i = 0; mode && i < KC_COUNT(modes); i++)
        if (!strcmp(mode, modes[i])) {
            exec->interactive = (kc_exec_interactive)i;
            return;
        }
    if (mode)
        kc__kubeconfig_fields_fail(f, "interactiveMode %s is not Never, IfAvailable or Always",
                                   mode);
}

static const char *env_entry(kc__kubeconfig_fields *f, const kc_value *item)
{
    kc__kubeconfig_fields inner = *f;
    inner.at = item;
    inner.in = "exec.env: ";
    const char *name = kc__kubeconfig_field_text(&inner, "name");
    const char *value = kc__kubeconfig_field_text(&inner, "value");
    if (!name)
        kc__kubeconfig_fields_fail(&inner, "a variable requires a name");
    else if (strchr(name, '='))
        kc__kubeconfig_fields_fail(&inner, "the name %s contains '='", name);
    f->failed = inner.failed;
    return f->failed ? NULL : kc_arena_printf(f->arena, "%s=%s", name, value ? value : "");
}

static void read_env(kc__kubeconfig_fields *f, kc_exec_config *exec)
{
    const kc_value *list = kc_value_get(f->at, "env");
    size_t n = 0;
    if (kc_value_type(list) > KC_JSON_NULL && kc_value_type(list) != KC_JSON_ARRAY)
        kc__kubeconfig_fields_fail(f, "env is not a list");
    if (f->failed || !kc_value_len(list))
        return;
    const char **env = kc_arena_calloc(f->arena, kc_value_len(list) + 1, sizeof(*env));
    kc_value_each_item (list, item)
        env[n++] = f->failed ? NULL : env_entry(f, item);
    exec->env = env;
}

/* Returns the text safe for a terminal: control characters other than white space are escaped. */
static const char *clean(kc_arena *arena, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    for (; text && *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if ((c < 0x20 && !(c >= '\t' && c <= '\r')) || c == 0x7f)
            kc_buf_printf(&out, "U+%04X", c);
        else
            kc_buf_putc(&out, *text);
    }
    return text ? kc_arena_strndup(arena, kc_buf_cstr(&out), out.n) : NULL;
}

/* A command with a slash is relative to the kubeconfig's directory; any other is searched in
 * $PATH. */
static const char *read_command(kc__kubeconfig_fields *f)
{
    const char *command = kc__kubeconfig_field_text(f, "command");
    if (!command)
        kc__kubeconfig_fields_fail(f, "command is missing");
    else if (strchr(command, '/'))
        return kc__kubeconfig_field_path(f, "command");
    return command;
}

static const char *cluster_config(const kc__kubeconfig_entry *cluster, kc_arena *arena)
{
    kc_value_each_item (cluster ? kc_value_get(cluster->value, "extensions") : NULL, item) {
        kc_scoped(kc_buf) json = {0};
        if (!kc_str_is(kc_value_as_str(kc_value_get(item, "name")), EXTENSION))
            continue;
        kc_json_write(&json, kc_value_get(item, "extension"));
        return kc_arena_strndup(arena, kc_buf_cstr(&json), json.n);
    }
    return NULL;
}

const kc_exec_config *kc__kubeconfig_exec_read(const kc__kubeconfig_entry *user,
                                               const kc__kubeconfig_entry *cluster, kc_arena *arena,
                                               kc_error *err, bool *ret_failed)
{
    kc__kubeconfig_fields f = {user, user->value, "", arena, err, false};
    f.at = kc__kubeconfig_field_object(&f, "exec");
    *ret_failed = f.failed;
    if (!f.at)
        return NULL;
    kc_exec_config *exec = kc_arena_new(arena, kc_exec_config);
    f.in = "exec.";
    exec->command = read_command(&f);
    read_api_version(&f, exec);
    exec->args = kc__kubeconfig_field_texts(&f, "args");
    read_env(&f, exec);
    exec->install_hint = clean(arena, kc__kubeconfig_field_text(&f, "installHint"));
    exec->provide_cluster_info = kc__kubeconfig_field_bool(&f, "provideClusterInfo");
    exec->cluster_config = cluster_config(cluster, arena);
    read_interactive(&f, exec);
    *ret_failed = f.failed;
    return f.failed ? NULL : exec;
}
