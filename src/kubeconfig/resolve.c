/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c: resolves a context to its cluster, user and namespace, and these to a kc_config.
 *
 * As in kubectl, credentials are read only if the server is reached over TLS, so that an outdated
 * entry does not send them in clear text. Impersonation settings are always read.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/buf.h"

typedef struct kubeconfig_resolve_choice {
    const kc__kubeconfig_entry *context, *cluster, *user; /* NULL if not named. */
} kubeconfig_resolve_choice;

/* "a.yaml, b.yaml" */
static const char *file_names(const kc__kubeconfig *config, kc_buf *out)
{
    for (const kc__kubeconfig_file *file = config->files; file; file = file->next)
        kc_buf_printf(out, "%s%s", out->n ? ", " : "", file->name);
    return kc_buf_cstr(out);
}

static int not_found(const kc__kubeconfig *config, const kc_map *entries, const char *what,
                     kc_str name, kc_error *err)
{
    kc_scoped(kc_buf) files = {0};
    kc_scoped(kc_buf) hint = {0};
    KC_VEC(const char *) names = {0};
    kc_arena arena = {0};
    kc_map_each (entries, entry)
        kc_vec_push(&names, kc_arena_strndup(&arena, entry->key.p, entry->key.n));
    const char *nearest = kc_str_nearest(name, names.items, names.n);
    if (nearest)
        kc_buf_printf(&hint, "; did you mean \"%s\"?", nearest);
    const int result =
        kc_error_set(err, KC_NOT_FOUND, "kubeconfig %s: no %s \"%.*s\"%s",
                     file_names(config, &files), what, KC_ARG(name), kc_buf_cstr(&hint));
    kc_vec_done(&names);
    kc_arena_done(&arena);
    return result;
}

static int kubeconfig_resolve_find(const kc__kubeconfig *config, const kc_map *entries,
                                   const char *what, kc_str name, const kc__kubeconfig_entry **ret,
                                   kc_error *err)
{
    const kc__kubeconfig_entry *entry = name.n ? kc_map_get(entries, name) : NULL;
    if (name.n && !entry)
        return not_found(config, entries, what, name, err);
    *ret = entry;
    return 0;
}

/* Returns the value in opts, otherwise that of a field of the context. */
static int kubeconfig_resolve_name_of(const char *override, const kc__kubeconfig_entry *context,
                                      const char *field, kc_str *ret, kc_error *err)
{
    const kc_value *value = context ? kc_value_get(context->value, field) : NULL;
    if (override && *override) {
        *ret = kc_cstr(override);
        return 0;
    }
    if (kc_value_type(value) > KC_JSON_NULL && kc_value_type(value) != KC_JSON_STRING)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "kubeconfig %s: context \"%.*s\": %s is not a string",
                            context->file->name, KC_ARG(context->name), field);
    *ret = kc_value_as_str(value);
    return 0;
}

static int kubeconfig_resolve_find_all(const kc__kubeconfig *config, const kc_config_opts *opts,
                                       kubeconfig_resolve_choice *ret, kc_error *err)
{
    kc_str name =
        opts->context && *opts->context ? kc_cstr(opts->context) : config->current_context;
    if (kubeconfig_resolve_find(config, &config->contexts, "context", name, &ret->context, err) <
            0 ||
        kubeconfig_resolve_name_of(opts->cluster, ret->context, "cluster", &name, err) < 0 ||
        kubeconfig_resolve_find(config, &config->clusters, "cluster", name, &ret->cluster, err) <
            0 ||
        kubeconfig_resolve_name_of(opts->user, ret->context, "user", &name, err) < 0 ||
        kubeconfig_resolve_find(config, &config->users, "user", name, &ret->user, err) < 0)
        return kc_error_result(err);
    if (ret->cluster || opts->server)
        return 0;
    kc_scoped(kc_buf) files = {0};
    file_names(config, &files);
    if (ret->context)
        return kc_error_set(err, KC_BAD_REQUEST, "kubeconfig %s: context \"%.*s\" names no cluster",
                            ret->context->file->name, KC_ARG(ret->context->name));
    return kc_error_set(err, KC_BAD_REQUEST,
                        "kubeconfig %s: no current-context, and no context was specified",
                        kc_buf_cstr(&files));
}

static int read_cluster(kc__kubeconfig_config *c, const kc__kubeconfig_entry *cluster,
                        const kc_config_opts *opts, kc_error *err)
{
    kc_config *config = &c->config;
    if (!cluster)
        return 0;
    kc__kubeconfig_fields f = {cluster, cluster->value, "", &c->arena, err, false};
    config->server = kc__kubeconfig_field_text(&f, "server");
    config->tls_server_name = kc__kubeconfig_field_text(&f, "tls-server-name");
    config->insecure = kc__kubeconfig_field_bool(&f, "insecure-skip-tls-verify");
    config->no_gzip = kc__kubeconfig_field_bool(&f, "disable-compression");
    config->proxy = kc__kubeconfig_field_text(&f, "proxy-url");
    config->ca_data = kc__kubeconfig_field_data(&f, "certificate-authority-data");
    config->ca_file = kc__kubeconfig_field_path(&f, "certificate-authority");
    if (!config->server && !opts->server)
        kc__kubeconfig_fields_fail(&f, "server is missing");
    if (config->insecure && (config->ca_data.n || config->ca_file))
        kc__kubeconfig_fields_fail(
            &f, "certificate-authority and insecure-skip-tls-verify are mutually exclusive");
    return f.failed ? kc_error_result(err) : 0;
}

static void read_extra(kc__kubeconfig_fields *f, kc_config *config)
{
    const kc_value *extra = kc__kubeconfig_field_object(f, "as-user-extra");
    KC_VEC(const char *) pairs = {0};
    kc_value_each_member (extra, name, values) {
        kc__kubeconfig_fields inner = *f;
        const char *key = kc_arena_strndup(f->arena, name.p, name.n);
        inner.at = extra;
        inner.in = "as-user-extra.";
        const char *const *texts = kc__kubeconfig_field_texts(&inner, key);
        f->failed = inner.failed;
        for (; texts && *texts; texts++) {
            kc_vec_push(&pairs, key);
            kc_vec_push(&pairs, *texts);
        }
        (void)values;
    }
    if (pairs.n) {
        const char **copy = kc_arena_calloc(f->arena, pairs.n + 1, sizeof(*copy));
        memcpy(copy, pairs.items, pairs.n * sizeof(*copy));
        config->impersonate_extra = copy;
    }
    kc_vec_done(&pairs);
}

static void read_impersonation(kc__kubeconfig_fields *f, kc_config *config)
{
    config->impersonate_user = kc__kubeconfig_field_text(f, "as");
    config->impersonate_uid = kc__kubeconfig_field_text(f, "as-uid");
    config->impersonate_groups = kc__kubeconfig_field_texts(f, "as-groups");
    read_extra(f, config);
    if (!config->impersonate_user &&
        (config->impersonate_uid || config->impersonate_groups || config->impersonate_extra))
        kc__kubeconfig_fields_fail(f, "as-uid, as-groups and as-user-extra require \"as\"");
}

static void read_files_and_tokens(kc__kubeconfig_fields *f, kc_config *config)
{
    config->cert_data = kc__kubeconfig_field_data(f, "client-certificate-data");
    config->cert_file = kc__kubeconfig_field_path(f, "client-certificate");
    config->key_data = kc__kubeconfig_field_data(f, "client-key-data");
    config->key_file = kc__kubeconfig_field_path(f, "client-key");
    config->token = kc__kubeconfig_field_text(f, "token");
    config->token_file = kc__kubeconfig_field_path(f, "tokenFile");
    config->username = kc__kubeconfig_field_text(f, "username");
    config->password = kc__kubeconfig_field_text(f, "password");
    const bool cert = config->cert_data.n || config->cert_file;
    if (cert && !config->key_data.n && !config->key_file)
        kc__kubeconfig_fields_fail(f, "client-certificate requires client-key");
    if (!cert)
        config->key_data = (kc_str){0}, config->key_file = NULL;
    if (config->token && (config->username || config->password))
        kc__kubeconfig_fields_fail(f, "token and password are mutually exclusive");
}

static void check_no_provider(kc__kubeconfig_fields *f)
{
    const kc_value *provider = kc__kubeconfig_field_object(f, "auth-provider");
    if (!provider)
        return;
    kc__kubeconfig_fields_fail(
        f,
        "auth-provider \"%s\" is no longer supported; use an exec plugin (the provider's "
        "documentation names one), a token or a certificate",
        kc_value_as_cstr(kc_value_get(provider, "name"), ""));
}

static int read_user(kc__kubeconfig_config *c, const kubeconfig_resolve_choice *found,
                     const kc_config_opts *opts, kc_error *err)
{
    const kc__kubeconfig_entry *user = found->user;
    if (!user)
        return 0;
    kc__kubeconfig_fields f = {user, user->value, "", &c->arena, err, false};
    read_impersonation(&f, &c->config);
    const char *server = opts->server ? opts->server : c->config.server;
    /* A server without a scheme may become http or https. */
    if (f.failed || opts->token || kc_str_starts(kc_cstr(server), KC_STR("http://")))
        return f.failed ? kc_error_result(err) : 0;
    read_files_and_tokens(&f, &c->config);
    check_no_provider(&f);
    if (f.failed)
        return kc_error_result(err);
    c->config.exec = kc__kubeconfig_exec_read(user, found->cluster, &c->arena, err, &f.failed);
    return f.failed ? kc_error_result(err) : 0;
}

static int kubeconfig_resolve_read_namespace(kc__kubeconfig_config *c,
                                             const kc__kubeconfig_entry *context, kc_error *err)
{
    if (!context)
        return 0;
    kc__kubeconfig_fields f = {context, context->value, "", &c->arena, err, false};
    c->config.ns = kc__kubeconfig_field_text(&f, "namespace");
    return f.failed ? kc_error_result(err) : 0;
}

kc_config *kc__kubeconfig_resolve(const kc__kubeconfig *config, const kc_config_opts *opts,
                                  kc_error *err)
{
    kubeconfig_resolve_choice found = {0};
    kc_scoped(kc_buf) files = {0};
    kc__kubeconfig_config *c = kc__kubeconfig_config_new();
    if (kubeconfig_resolve_find_all(config, opts, &found, err) < 0 ||
        read_cluster(c, found.cluster, opts, err) < 0 || read_user(c, &found, opts, err) < 0 ||
        kubeconfig_resolve_read_namespace(c, found.context, err) < 0 ||
        kc__kubeconfig_config_finish(c, opts, file_names(config, &files), err) < 0)
        return kc_config_free(&c->config);
    return &c->config;
}

kc_config *kc__kubeconfig_resolve_user(const kc__kubeconfig_entry *user, kc_error *err)
{
    const kubeconfig_resolve_choice found = {.user = user};
    kc__kubeconfig_config *c = kc__kubeconfig_config_new();
    return read_user(c, &found, &(kc_config_opts){0}, err) < 0 ? kc_config_free(&c->config)
                                                               : &c->config;
}
