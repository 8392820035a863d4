/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane_remote.c: webhook and OIDC authenticators of an API server, according to the flags.
 */
#include "plane_remote.h"

#include "plane_authz.h"
#include "trust.h"

#include "apiserver/access/jwt_authn.h"
#include "apiserver/access/token_webhook.h"
#include "kc/file.h"

/* Successful tokens are kept this long, whatever the flags say, as in kube-apiserver. */
#define TOKEN_TTL (10 * KC_SECOND)

/* ---- issuers of tokens ---- */

/* The text of --authentication-config, or what --oidc-* stands for. Empty: neither is set. */
static int read_jwt_text(const kc__cli_plane *p, kc_buf *out, kc_error *err)
{
    const kc__cli_authn_options *o = &p->options->authn;
    kc_scoped(kc_buf) ca = {0};
    if (o->config_file && kc_file_read(o->config_file, KC_FILE_MAX, out, err) < 0)
        return kc_error_wrap(err, "--authentication-config");
    if (!o->oidc.issuer_url)
        return 0;
    if (o->oidc.ca_file && kc_file_read(o->oidc.ca_file, KC_FILE_MAX, &ca, err) < 0)
        return kc_error_wrap(err, "--oidc-ca-file");
    kc__cli_oidc_config_write(&o->oidc, kc_buf_str(&ca), out);
    return 0;
}

/* As with --anonymous-auth. */
static int check_jwt_anonymous(const kc__cli_plane *p, const kc__jwt_config *config, kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    if (config->has_anonymous && o->anonymous)
        return kc_error_set(err, KC_INVALID,
                            "--anonymous-auth flag cannot be set when anonymous field is "
                            "configured in authentication configuration file");
    if (config->anonymous && !config->anonymous_paths.n && kc__cli_plane_is_reachable(p) &&
        kc__cli_plane_allows_everything(p))
        return kc_error_set(err, KC_INVALID,
                            "anonymous.enabled would give every client on the network full access; "
                            "add conditions, or --authorization-mode=RBAC");
    return 0;
}

/* `text` gets the text of the configuration. */
static kc__jwt_config *read_jwt_config(const kc__cli_plane *p, kc_buf *text, kc_error *err)
{
    static const kc_str issuer = KC_STR_INIT(KC__CLI_DEFAULT_ISSUER);
    const kc__cli_flag_list *own = &p->options->accounts.issuers;
    const kc__cli_authn_options *o = &p->options->authn;
    const kc__user_audiences disallowed =
        own->n ? (kc__user_audiences){own->items, own->n} : (kc__user_audiences){&issuer, 1};
    if (read_jwt_text(p, text, err) < 0)
        return NULL;
    kc_auto(kc__jwt_config) *config = kc__jwt_config_parse(kc_buf_str(text), disallowed, err);
    if (!config) {
        kc_error_wrap(err, "%s", o->config_file ? "--authentication-config" : "--oidc-issuer-url");
        return NULL;
    }
    if (!o->config_file)
        config->algorithms = kc__cli_oidc_algorithms(&o->oidc);
    return check_jwt_anonymous(p, config, err) < 0 ? NULL : kc_take(config);
}

static int open_jwt(kc__cli_plane *p, kc_error *err)
{
    if (!p->jwt_config)
        return 0;
    kc__jwt_authn *jwt =
        kc__jwt_authn_new(&(kc__jwt_authn_opts){.config = p->jwt_config,
                                                .audiences = kc__sa_tokens_audiences(p->accounts),
                                                .log = p->log,
                                                .metrics = p->metrics});
    kc__authn_remote *remote =
        kc__authn_remote_new(&(kc__authn_remote_opts){.ops = &kc__jwt_authn_ops,
                                                      .self = jwt,
                                                      .success_ttl = TOKEN_TTL,
                                                      .clock = kc_clock_real(),
                                                      .metrics = p->metrics},
                             err);
    if (!remote)
        return kc_error_result(err);
    p->jwt = jwt;
    p->jwt_remote = remote;
    kc__authn_add_remote(p->authn, remote);
    return 0;
}

/* As in kube-apiserver a change of the section `anonymous` needs a restart. */
static int check_same_anonymous(const kc__jwt_config *first, const kc__jwt_config *next,
                                kc_error *err)
{
    const kc__user_audiences a = first->anonymous_paths, b = next->anonymous_paths;
    bool same = first->has_anonymous == next->has_anonymous &&
                first->anonymous == next->anonymous && a.n == b.n;
    for (size_t i = 0; same && i < a.n; i++)
        same = kc_str_eq(a.items[i], b.items[i]);
    return same ? 0
                : kc_error_set(err, KC_INVALID,
                               "anonymous: Forbidden: changed from initial configuration file");
}

static int replace_jwt(kc__cli_plane *p, kc_buf *text, kc_error *err)
{
    if (kc__cli_check_file_modes(p->options, p->log, err) < 0)
        return kc_error_result(err);
    kc_auto(kc__jwt_config) *config = read_jwt_config(p, text, err);
    if (!config || check_same_anonymous(p->jwt_config, config, err) < 0 ||
        kc__jwt_authn_replace(p->jwt, config, err) < 0)
        return kc_error_result(err);
    kc__authn_remote_clear_cache(p->jwt_remote);
    return 0;
}

int kc__cli_plane_reload_jwt(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    kc_scoped(kc_buf) text = {0};
    const int failed = replace_jwt(p, &text, err);
    kc__config_reloads_count(&p->authn_reloads, kc_buf_str(&text),
                             failed ? KC__CONFIG_RELOAD_FAILED : KC__CONFIG_RELOAD_APPLIED);
    return failed;
}

/* ---- the webhook ---- */

int kc__cli_plane_read_remotes(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_authn_options *o = &p->options->authn;
    const char *path = o->webhook.config_file;
    kc_scoped(kc_buf) text = {0};
    if (path && kc__webhook_kubeconfig_read(path, &p->token_webhook, err) < 0)
        return kc_error_wrap(err, "--authentication-token-webhook-config-file");
    if (!o->config_file && !o->oidc.issuer_url)
        return 0;
    p->jwt_config = read_jwt_config(p, &text, err);
    if (!p->jwt_config)
        return kc_error_result(err);
    if (!o->config_file)
        return 0;
    if (kc__config_reloads_init(&p->authn_reloads, p->metrics, "authentication", err) < 0)
        return kc_error_result(err);
    kc__config_reloads_start(&p->authn_reloads, kc_buf_str(&text));
    return 0;
}

static int open_token_webhook(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_token_webhook_options *o = &p->options->authn.webhook;
    if (!o->config_file)
        return 0;
    const kc__token_webhook_opts webhook = {.target = p->token_webhook.target,
                                            .version = o->version,
                                            .implicit = kc__sa_tokens_audiences(p->accounts),
                                            .log = p->log};
    kc__authn_remote *remote = kc__authn_remote_new(
        &(kc__authn_remote_opts){.ops = &kc__token_webhook_ops,
                                 .self = kc__token_webhook_new(&webhook),
                                 .success_ttl = KC_MAX(o->cache_ttl, TOKEN_TTL),
                                 .failure_ttl = o->cache_ttl,
                                 .clock = kc_clock_real(),
                                 .metrics = p->metrics},
        err);
    if (!remote)
        return kc_error_result(err);
    kc__authn_add_remote(p->authn, remote);
    return 0;
}

int kc__cli_plane_open_remotes(kc__cli_plane *p, kc_error *err)
{
    if (open_jwt(p, err) < 0)
        return kc_error_result(err);
    return open_token_webhook(p, err);
}
