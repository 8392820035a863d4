/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_credential.c: credential plugins of the API client.authentication.k8s.io. The plugin
 * receives an ExecCredential in an environment variable and prints one to standard output, with a
 * token or a client certificate and an optional expiration time. The two API versions do not differ
 * in the fields used here. Error messages match those of other clients, so that users can search
 * for them.
 */
#include "kubeconfig/exec_credential.h"

#include "kc/base64.h"
#include "kc/clock.h"
#include "kc/json.h"
#include "kc/time.h"
#include "kc/view.h"
#include "kubeconfig/exec_process.h"

#include <unistd.h>

#define MAX_OUTPUT ((size_t)1 << 20)
/* Limit of the environment variable; the kernel accepts at most 128 KiB. */
#define MAX_INFO ((size_t)120 << 10)

void kc__exec_credential_done(kc__exec_credential *credential)
{
    free(credential->token);
    free(credential->cert);
    free(credential->key);
    *credential = (kc__exec_credential){0};
}

/* ---- output of the plugin ---- */

static char *exec_credential_text_of(const kc_value *status, const char *name)
{
    const kc_str text = kc_value_as_str(kc_value_get(status, name));
    return text.n && !memchr(text.p, '\0', text.n) ? kc_str_dup(text) : NULL;
}

static int read_status(const kc_value *status, kc__exec_credential *out, kc_error *err)
{
    const kc_value *expires = kc_value_get(status, "expirationTimestamp");
    out->token = exec_credential_text_of(status, "token");
    out->cert = exec_credential_text_of(status, "clientCertificateData");
    out->key = exec_credential_text_of(status, "clientKeyData");
    out->expires = KC_FOREVER;
    if (!out->token && !out->cert && !out->key)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "exec plugin didn't return a token or cert/key pair");
    if (!out->cert != !out->key)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "exec plugin returned only certificate or key, not both");
    if (out->token && out->token[strcspn(out->token, "\r\n")])
        return kc_error_set(err, KC_UNAUTHORIZED, "exec plugin returned a token of several lines");
    if (kc_value_type(expires) > KC_JSON_NULL &&
        kc_time_parse(kc_value_as_str(expires), &out->expires, err) < 0)
        return kc_error_wrap(err, "exec plugin returned a bad expirationTimestamp");
    return 0;
}

static int read_credential(const kc_value *root, const char *api_version, kc__exec_credential *out,
                           kc_error *err)
{
    const kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion"));
    const kc_value *status = kc_value_get(root, "status");
    if (!kc_str_is(kc_value_as_str(kc_value_get(root, "kind")), "ExecCredential"))
        return kc_error_set(err, KC_UNAUTHORIZED, "decoding stdout: not an ExecCredential");
    if (!kc_str_is(version, api_version))
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "exec plugin is configured to use API version %s, plugin returned "
                            "version %.*s",
                            api_version, KC_ARG(version));
    if (kc_value_type(status) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_UNAUTHORIZED, "exec plugin didn't return a status field");
    return read_status(status, out, err);
}

int kc__exec_credential_parse(kc_str json, const char *api_version, kc__exec_credential *ret,
                              kc_error *err)
{
    const kc_json_opts limits = {.max_bytes = MAX_OUTPUT, .max_depth = 64};
    kc_scoped(kc__exec_credential) out = {0};
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc_str_trim(json), &limits, &why);
    if (!view)
        return kc_error_set(err, KC_UNAUTHORIZED, "decoding stdout: %s", kc_error_text(&why));
    if (read_credential(kc_view_root(view), api_version, &out, &why) < 0)
        return kc_error_set(err, KC_UNAUTHORIZED, "%s", kc_error_text(&why));
    *ret = out;
    out = (kc__exec_credential){0};
    return 0;
}

/* ---- input of the plugin ---- */

static void exec_credential_put_text(kc_buf *out, const char *name, const char *text)
{
    if (!text)
        return;
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, kc_cstr(text));
}

static int put_ca(kc_buf *out, const kc_config *config, kc_error *err)
{
    kc_scoped(kc_buf) pem = {0};
    if (kc_config_authority(config, &pem, err) < 0)
        return kc_error_result(err);
    if (!pem.n)
        return 0;
    kc_buf_puts(out, ",\"certificate-authority-data\":\"");
    kc_base64_write(out, kc_buf_str(&pem), KC_BASE64);
    kc_buf_putc(out, '"');
    return 0;
}

static int put_cluster(kc_buf *out, const kc_config *config, kc_error *err)
{
    kc_buf_puts(out, "\"cluster\":{\"server\":");
    kc_json_quote(out, kc_cstr(config->server));
    exec_credential_put_text(out, "tls-server-name", config->tls_server_name);
    if (config->insecure)
        kc_buf_puts(out, ",\"insecure-skip-tls-verify\":true");
    if (put_ca(out, config, err) < 0)
        return kc_error_result(err);
    exec_credential_put_text(out, "proxy-url", config->proxy);
    if (config->no_gzip)
        kc_buf_puts(out, ",\"disable-compression\":true");
    kc_buf_printf(out, ",\"config\":%s},",
                  config->exec->cluster_config ? config->exec->cluster_config : "null");
    return 0;
}

char *kc__exec_info(const kc_config *config, bool interactive, kc_error *err)
{
    kc_scoped(kc_buf) out = {.limit = MAX_INFO};
    kc_buf_puts(&out, "{\"kind\":\"ExecCredential\",\"apiVersion\":");
    kc_json_quote(&out, kc_cstr(config->exec->api_version));
    kc_buf_puts(&out, ",\"spec\":{");
    if (config->exec->provide_cluster_info && put_cluster(&out, config, err) < 0)
        return NULL;
    kc_buf_printf(&out, "\"interactive\":%s}}", interactive ? "true" : "false");
    if (!out.failed)
        return kc_buf_take(&out);
    kc_error_set(err, KC_TOO_LARGE, "spec.cluster of KUBERNETES_EXEC_INFO is too long");
    return NULL;
}

/* ---- running the plugin ---- */

/* Returns the environment of the plugin: the variables of the configuration and
 * KUBERNETES_EXEC_INFO. */
static const char **env_of(const kc_exec_config *exec, const char *info)
{
    size_t n = 0;
    while (exec->env && exec->env[n])
        n++;
    const char **env = kc_calloc(n + 2, sizeof(*env));
    if (n)
        memcpy(env, exec->env, n * sizeof(*env));
    env[n] = info;
    return env;
}

static int run_it(const kc_config *config, bool interactive, int stop_fd, kc_buf *out,
                  int *ret_status, kc_error *err)
{
    const kc_exec_config *exec = config->exec;
    kc_autofree char *json = kc__exec_info(config, interactive, err);
    if (!json)
        return kc_error_result(err);
    kc_autofree char *info = kc_asprintf("KUBERNETES_EXEC_INFO=%s", json);
    kc_autofree const char **env = env_of(exec, info);
    const kc__exec_process process = {
        .command = exec->command,
        .args = exec->args,
        .env = env,
        .terminal = interactive,
        .timeout = interactive ? 10 * KC_MINUTE : KC_MINUTE,
        .max_output = MAX_OUTPUT,
        .stop_fd = stop_fd,
    };
    kc_scoped(kc_error) why = {0};
    const int result = kc__exec_process_run(&process, out, ret_status, &why);
    if (result == -KC_NOT_FOUND)
        return kc_error_set(err, KC_UNAUTHORIZED, "exec: %s%s%s", kc_error_text(&why),
                            exec->install_hint ? "\n\n" : "",
                            exec->install_hint ? exec->install_hint : "");
    if (result < 0)
        return kc_error_set(err, why.reason == KC_TIMEOUT ? KC_TIMEOUT : KC_UNAUTHORIZED,
                            "exec: %s", kc_error_text(&why));
    return 0;
}

int kc__exec_credential_get(const kc_config *config, int stop_fd, kc__exec_credential *ret,
                            int *ret_status, kc_error *err)
{
    const kc_exec_config *exec = config->exec;
    const bool terminal = isatty(STDIN_FILENO);
    kc_scoped(kc_buf) out = {0};
    *ret_status = -1;
    if (exec->interactive == KC_EXEC_ALWAYS && !terminal)
        return kc_error_set(err, KC_UNAUTHORIZED,
                            "exec plugin cannot support interactive mode: standard input is not a "
                            "terminal");
    if (run_it(config, terminal && exec->interactive != KC_EXEC_NEVER, stop_fd, &out, ret_status,
               err) < 0)
        return kc_error_result(err);
    return kc__exec_credential_parse(kc_buf_str(&out), exec->api_version, ret, err);
}
