/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane_authz.c: creates the chain of authorizers of an API server, from --authorization-mode and
 * the webhook of its flags, or from the file of --authorization-config.
 *
 *     file ─▶ kc__authz_config ─▶ kubeconfig of each webhook ─▶ kc__authz_chain ─▶ server
 *
 * The watch reads a changed file (plane_trust.c). As in kube-apiserver a reload must keep all types
 * of the first file but Webhook, and may not add Node or RBAC; a file that configures the same as
 * before changes nothing, so cached results of webhooks stay. An invalid file leaves the previous
 * chain in effect. Each content of the file counts once, however often the watch tries it.
 */
#include "plane_authz.h"

#include "trust.h"

#include "apiserver/authz/authz_chain.h"
#include "kc/file.h"

/* ---- webhooks ---- */

static int add_webhook(kc__cli_plane *p, const kc__authz_authorizer_config *item,
                       kc__authz_link *ret, kc_error *err)
{
    const kc__authz_webhook_config *w = &item->webhook;
    kc_scoped(kc__webhook_kubeconfig) webhook = {0};
    if (kc__cli_check_secret("--authorization-config", w->kubeconfig, p->log, err) < 0 ||
        kc__webhook_kubeconfig_read(w->kubeconfig, &webhook, err) < 0)
        return kc_error_result(err);
    ret->webhook = kc__authz_webhook_new(
        p->authz_webhooks, &(kc__authz_webhook_opts){.name = item->name,
                                                     .target = webhook.target,
                                                     .version = w->version,
                                                     .timeout = w->timeout,
                                                     .authorized_ttl = w->authorized_ttl,
                                                     .unauthorized_ttl = w->unauthorized_ttl,
                                                     .denies_on_error = w->denies_on_error,
                                                     .conditions = w->conditions});
    return 0;
}

static kc__authz_chain *chain_of_config(kc__cli_plane *p, const kc__authz_config *config,
                                        kc_error *err)
{
    kc__authz_link *links = kc_calloc(config->n, sizeof(*links));
    kc__authz_chain *chain = NULL;
    int failed = 0;
    for (size_t i = 0; i < config->n && !failed; i++) {
        links[i] = (kc__authz_link){.mode = config->items[i].mode, .name = config->items[i].name};
        if (links[i].mode == KC__AUTHZ_WEBHOOK_MODE)
            failed = add_webhook(p, &config->items[i], &links[i], err);
    }
    if (!failed)
        chain = kc__authz_chain_new(links, config->n);
    for (size_t i = 0; i < config->n; i++)
        kc__authz_webhook_unref(links[i].webhook);
    free(links);
    return chain;
}

/* The webhook of --authorization-webhook-config-file. */
static int open_flag_webhook(kc__cli_plane *p, kc__authz_webhook **ret, kc_error *err)
{
    const kc__cli_authz_options *o = &p->options->authz;
    kc_scoped(kc__webhook_kubeconfig) webhook = {0};
    if (!o->webhook_file)
        return 0;
    if (kc__webhook_kubeconfig_read(o->webhook_file, &webhook, err) < 0)
        return kc_error_wrap(err, "--authorization-webhook-config-file");
    *ret = kc__authz_webhook_new(
        p->authz_webhooks, &(kc__authz_webhook_opts){.target = webhook.target,
                                                     .version = o->version,
                                                     .authorized_ttl = o->authorized_ttl,
                                                     .unauthorized_ttl = o->unauthorized_ttl});
    return 0;
}

/* ---- files ---- */

bool kc__cli_plane_is_reachable(const kc__cli_plane *p)
{
    const kc__cli_apiserver_options *o = p->options;
    return (o->secure_port && !kc__cli_is_loopback_address(o->bind_address)) ||
           (o->insecure_port && !kc__cli_is_loopback_address(o->insecure_addr));
}

bool kc__cli_plane_allows_everything(const kc__cli_plane *p)
{
    return kc__authz_chain_has(p->authz_chain, KC__AUTHZ_ALWAYS_ALLOW);
}

/* As with --authorization-mode. */
static int check_config_is_safe(const kc__cli_plane *p, const kc__authz_config *config,
                                kc_error *err)
{
    const bool allows_all = config->modes >> KC__AUTHZ_ALWAYS_ALLOW & 1;
    if (!allows_all || !kc__cli_plane_is_reachable(p) || !p->options->anonymous)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "AlwaysAllow with --anonymous-auth=true would give every client on the "
                        "network full access");
}

static kc__authz_config *parse_config(const kc__cli_plane *p, kc_str text, kc_error *err)
{
    kc_auto(kc__authz_config) *config = kc__authz_config_parse(text, p->authz_required, err);
    return config && check_config_is_safe(p, config, err) == 0 ? kc_take(config) : NULL;
}

static int read_config_file(const kc__cli_plane *p, kc_buf *out, kc_error *err)
{
    return kc_file_read(p->options->authz.config_file, KC__AUTHZ_CONFIG_BYTES, out, err);
}

/* ---- opening ---- */

static void note_named_files(kc__cli_plane *p)
{
    for (size_t i = 0; i < p->authz_config->n; i++)
        kc__cli_hidden_paths_add_kubeconfig(&p->named_files,
                                            p->authz_config->items[i].webhook.kubeconfig);
}

static int open_configured(kc__cli_plane *p, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__config_reloads_init(&p->authz_reloads, p->metrics, "authorization", err) < 0 ||
        read_config_file(p, &text, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__authz_config) *config = parse_config(p, kc_buf_str(&text), err);
    p->authz_chain = config ? chain_of_config(p, config, err) : NULL;
    if (!p->authz_chain)
        return kc_error_result(err);
    p->authz_config = kc_take(config);
    note_named_files(p);
    p->authz_required = p->authz_config->modes & ~(1u << KC__AUTHZ_WEBHOOK_MODE);
    kc__config_reloads_start(&p->authz_reloads, kc_buf_str(&text));
    return 0;
}

int kc__cli_plane_open_authz(kc__cli_plane *p, kc_error *err)
{
    kc__authz_webhook *webhook = NULL;
    p->authz_webhooks = kc__authz_webhooks_new(
        &(kc__authz_webhooks_opts){.log = p->log, .metrics = p->metrics}, err);
    if (!p->authz_webhooks)
        return kc_error_result(err);
    if (p->options->authz.config_file)
        return open_configured(p, err) < 0 ? kc_error_wrap(err, "--authorization-config") : 0;
    if (open_flag_webhook(p, &webhook, err) < 0)
        return kc_error_result(err);
    p->authz_chain = kc__authz_chain_of_modes(&p->options->server.authorization, webhook);
    kc__authz_webhook_unref(webhook);
    return 0;
}

/* ---- reloading ---- */

/* Puts the configuration in effect, unless it configures the same as before. */
static int apply_authz_config(kc__cli_plane *p, kc_str text, kc__config_reload *ret, kc_error *err)
{
    kc_auto(kc__authz_config) *config = parse_config(p, text, err);
    if (!config)
        return kc_error_result(err);
    if (kc__authz_config_equal(config, p->authz_config)) {
        *ret = KC__CONFIG_RELOAD_SAME;
        return 0;
    }
    kc_auto(kc__authz_chain) *chain = chain_of_config(p, config, err);
    if (!chain || kc__apiserver_replace_authz(p->server, chain, err) < 0)
        return kc_error_result(err);
    kc__authz_chain_unref(p->authz_chain);
    p->authz_chain = kc_take(chain);
    kc__authz_config_free(p->authz_config);
    p->authz_config = kc_take(config);
    *ret = KC__CONFIG_RELOAD_APPLIED;
    return 0;
}

int kc__cli_plane_reload_authz(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    kc_scoped(kc_buf) text = {0};
    kc__config_reload result = KC__CONFIG_RELOAD_FAILED;
    int failed = kc__cli_check_file_modes(p->options, p->log, err);
    if (!failed)
        failed = read_config_file(p, &text, err);
    if (!failed)
        failed = apply_authz_config(p, kc_buf_str(&text), &result, err);
    kc__config_reloads_count(&p->authz_reloads, kc_buf_str(&text), result);
    return failed;
}

void kc__cli_plane_close_authz(kc__cli_plane *p)
{
    kc__authz_chain_unref(p->authz_chain);
    kc__authz_config_free(p->authz_config);
    kc__authz_webhooks_free(p->authz_webhooks);
}
