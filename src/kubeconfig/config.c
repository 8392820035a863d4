/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c: the memory of a configuration and the normalization of its server URL. All text of a
 * configuration is in one arena, so that one call frees it.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/file.h"

kc__kubeconfig_config *kc__kubeconfig_config_new(void)
{
    return kc_new(kc__kubeconfig_config);
}

/* Overwrites a secret before its memory is freed. */
static void kubeconfig_config_forget(kc_str secret)
{
    if (secret.n)
        explicit_bzero((void *)(uintptr_t)secret.p, secret.n);
}

kc_config *kc_config_free(kc_config *config)
{
    if (!config)
        return NULL;
    kc__kubeconfig_config *c = kc_container_of(config, kc__kubeconfig_config, config);
    kubeconfig_config_forget(config->key_data);
    kubeconfig_config_forget(kc_cstr(config->token));
    kubeconfig_config_forget(kc_cstr(config->password));
    kc_arena_done(&c->arena);
    free(c);
    return NULL;
}

static bool has_tls(const kc_config *config)
{
    return config->insecure || config->ca_data.n || config->ca_file || config->cert_data.n ||
           config->cert_file;
}

/* Normalizes the URL: removes trailing slashes; a URL without a scheme gets https if any TLS
 * field is set. */
static const char *shape(kc__kubeconfig_config *c, const char *server)
{
    kc_str text = kc_str_trim(kc_cstr(server));
    const char *scheme = "";
    if (!strstr(server, "://"))
        scheme = has_tls(&c->config) ? "https://" : "http://";
    while (text.n && text.p[text.n - 1] == '/')
        text.n--;
    return kc_arena_printf(&c->arena, "%s%.*s", scheme, KC_ARG(text));
}

static int check_server(const char *server, const char *from, kc_error *err)
{
    const kc_str s = kc_cstr(server);
    const size_t scheme = kc_str_starts(s, KC_STR("https://"))  ? 8
                          : kc_str_starts(s, KC_STR("http://")) ? 7
                                                                : 0;
    if (scheme && s.n > scheme && s.p[scheme] != '/' && !strpbrk(server, " \t\r\n?#@"))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST,
                        "kubeconfig %s: the server \"%s\" is not of the form https://host:port",
                        from, server);
}

static void override(kc__kubeconfig_config *c, const kc_config_opts *opts)
{
    kc_config *config = &c->config;
    if (opts->server)
        config->server = opts->server;
    if (opts->ns && *opts->ns)
        config->ns = kc_arena_strndup(&c->arena, opts->ns, strlen(opts->ns));
    if (opts->token) {
        config->token = kc_arena_strndup(&c->arena, opts->token, strlen(opts->token));
        config->token_file = NULL;
        config->exec = NULL;
    }
    if (!config->ns)
        config->ns = "default";
}

int kc__kubeconfig_config_finish(kc__kubeconfig_config *c, const kc_config_opts *opts,
                                 const char *from, kc_error *err)
{
    override(c, opts);
    c->config.server = shape(c, c->config.server);
    return check_server(c->config.server, from, err);
}

/* ---- copies ---- */

static const char *kubeconfig_config_copy_text(kc_arena *arena, const char *text)
{
    return text ? kc_arena_strndup(arena, text, strlen(text)) : NULL;
}

static const char *const *copy_texts(kc_arena *arena, const char *const *texts)
{
    size_t n = 0;
    if (!texts)
        return NULL;
    while (texts[n])
        n++;
    const char **copy = kc_arena_calloc(arena, n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = kubeconfig_config_copy_text(arena, texts[i]);
    return copy;
}

static const kc_exec_config *copy_exec(kc_arena *arena, const kc_exec_config *exec)
{
    if (!exec)
        return NULL;
    kc_exec_config *copy = kc_arena_new(arena, kc_exec_config);
    *copy = *exec;
    copy->command = kubeconfig_config_copy_text(arena, exec->command);
    copy->api_version = kubeconfig_config_copy_text(arena, exec->api_version);
    copy->install_hint = kubeconfig_config_copy_text(arena, exec->install_hint);
    copy->args = copy_texts(arena, exec->args);
    copy->env = copy_texts(arena, exec->env);
    copy->cluster_config = kubeconfig_config_copy_text(arena, exec->cluster_config);
    return copy;
}

/* Offsets of the fields of one type. Fields not listed here are flags or need special handling. */
static const size_t text_fields[] = {
    offsetof(kc_config, server),
    offsetof(kc_config, tls_server_name),
    offsetof(kc_config, proxy),
    offsetof(kc_config, ca_file),
    offsetof(kc_config, cert_file),
    offsetof(kc_config, key_file),
    offsetof(kc_config, token),
    offsetof(kc_config, token_file),
    offsetof(kc_config, username),
    offsetof(kc_config, password),
    offsetof(kc_config, impersonate_user),
    offsetof(kc_config, impersonate_uid),
    offsetof(kc_config, ns),
};
static const size_t data_fields[] = {offsetof(kc_config, ca_data), offsetof(kc_config, cert_data),
                                     offsetof(kc_config, key_data)};

kc_config *kc__kubeconfig_config_copy(const kc_config *config)
{
    kc__kubeconfig_config *c = kc__kubeconfig_config_new();
    c->config = *config;
    for (size_t i = 0; i < KC_COUNT(text_fields); i++) {
        const char **field = (const char **)((char *)&c->config + text_fields[i]);
        *field = kubeconfig_config_copy_text(&c->arena, *field);
    }
    for (size_t i = 0; i < KC_COUNT(data_fields); i++) {
        kc_str *field = (kc_str *)((char *)&c->config + data_fields[i]);
        *field = field->n ? kc_arena_str(&c->arena, *field) : (kc_str){0};
    }
    c->config.exec = copy_exec(&c->arena, config->exec);
    c->config.impersonate_groups = copy_texts(&c->arena, config->impersonate_groups);
    c->config.impersonate_extra = copy_texts(&c->arena, config->impersonate_extra);
    return &c->config;
}

kc_config *kc_config_for_url(const char *server)
{
    kc__kubeconfig_config *c = kc__kubeconfig_config_new();
    c->config.server = shape(c, server);
    c->config.ns = "default";
    return &c->config;
}

int kc_config_authority(const kc_config *config, kc_buf *out, kc_error *err)
{
    if (config->ca_data.n)
        kc_buf_append(out, config->ca_data);
    else if (config->ca_file)
        return kc_file_read(config->ca_file, KC_FILE_MAX, out, err);
    return 0;
}
