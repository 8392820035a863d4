/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_config.c: a configuration itself: its memory, and the shape of its server's URL. All
 * its text lies in one arena, so that freeing is one step whatever was read.
 */
#include "client/kubeconfig_internal.h"

kc__config *kc__config_new(void)
{
    return kc_new(kc__config);
}

/* Secrets do not stay behind in freed memory. */
static void forget(kc_str secret)
{
    if (secret.n)
        explicit_bzero((void *)(uintptr_t)secret.p, secret.n);
}

kc_config *kc_config_free(kc_config *config)
{
    if (!config)
        return NULL;
    kc__config *c = kc_container_of(config, kc__config, config);
    forget(config->key_data);
    forget(kc_cstr(config->token));
    forget(kc_cstr(config->password));
    kc_arena_done(&c->arena);
    free(c);
    return NULL;
}

static bool has_tls(const kc_config *config)
{
    return config->insecure || config->ca_data.n || config->ca_file || config->cert_data.n ||
           config->cert_file;
}

/* Without a scheme it is https if anything is said about TLS; without slashes at its end. */
static const char *shape(kc__config *c, const char *server)
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

static void override(kc__config *c, const kc_config_opts *opts)
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

int kc__config_finish(kc__config *c, const kc_config_opts *opts, const char *from, kc_error *err)
{
    override(c, opts);
    c->config.server = shape(c, c->config.server);
    return check_server(c->config.server, from, err);
}

kc_config *kc_config_for_url(const char *server)
{
    kc__config *c = kc__config_new();
    c->config.server = shape(c, server);
    c->config.ns = "default";
    return &c->config;
}
