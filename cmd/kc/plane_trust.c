/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane_trust.c: which clients an API server accepts, and which certificate it presents.
 *
 *     file                                          in effect for
 *     --token-auth-file                             the next request
 *     --authentication-config                       the next request, once all issuers answer
 *     --authorization-config                        the next request
 *     --client-ca-file,                             the next request, also on open connections
 *     --requestheader-client-ca-file
 *     --tls-cert-file, --tls-private-key-file,      the next handshake
 *     or apiserver.crt and apiserver.key
 *     ca.crt, admin.crt, admin.key                  admin.kubeconfig
 *
 * Housekeeping reads a changed file and puts it in effect, or logs why it cannot; the previous
 * contents then stay in effect. Until housekeeping starts, the thread that opens the plane owns the
 * buffers of this file; from then on the thread of housekeeping does.
 *
 * To add a file: a row of `watched`, with the function that reads it again.
 */
#include "plane_trust.h"

#include "plane_authz.h"
#include "plane_remote.h"
#include "trust.h"

#include "kc/file.h"
#include "kc/json.h"

/* ---- CAs of clients ---- */

/* The server's own CA, which issued the administrator's certificate, and the operator's. */
static int read_client_ca(const kc__cli_plane *p, kc_buf *out, kc_error *err)
{
    if (kc_file_read(p->certs.ca_cert, KC_FILE_MAX, out, err) < 0)
        return kc_error_wrap(err, "client certificate authorities");
    if (!p->options->client_ca_file)
        return 0;
    if (kc_file_read(p->options->client_ca_file, KC_FILE_MAX, out, err) < 0)
        return kc_error_wrap(err, "--client-ca-file");
    return 0;
}

static int read_proxy_ca(const kc__cli_plane *p, kc_buf *out, kc_error *err)
{
    const char *path = p->options->authn.proxy.ca_file;
    if (!path)
        return 0;
    if (kc_file_read(path, KC_FILE_MAX, out, err) < 0 ||
        kc__authn_set_proxy_ca(p->authn, kc_buf_str(out), err) < 0)
        return kc_error_wrap(err, "--requestheader-client-ca-file");
    return 0;
}

static void move_text(kc_buf *to, kc_buf *from)
{
    kc_buf_done(to);
    *to = *from;
    *from = (kc_buf){0};
}

/* Each set of CAs is in effect as soon as it is valid, whether the other one is or not. */
int kc__cli_plane_read_client_ca(kc__cli_plane *p, kc_error *err)
{
    kc_scoped(kc_buf) users = {0}, proxies = {0};
    if (read_client_ca(p, &users, err) < 0)
        return kc_error_result(err);
    if (kc__authn_set_client_ca(p->authn, kc_buf_str(&users), err) < 0)
        return kc_error_wrap(err, "--client-ca-file");
    move_text(&p->client_ca, &users);
    if (read_proxy_ca(p, &proxies, err) < 0)
        return kc_error_result(err);
    move_text(&p->proxy_ca, &proxies);
    kc_buf_clear(&p->tls_ca);
    kc_buf_printf(&p->tls_ca, "%s\n%s", kc_buf_cstr(&p->client_ca), kc_buf_cstr(&p->proxy_ca));
    return 0;
}

/* ---- what the server publishes ---- */

static kc__authn_texts texts_of(const kc__cli_flag_list *list)
{
    return (kc__authn_texts){list->items, list->n};
}

kc__authn_proxy_opts kc__cli_plane_proxy_opts(const kc__cli_plane *p)
{
    const kc__cli_proxy_options *o = &p->options->authn.proxy;
    return (kc__authn_proxy_opts){.allowed_names = texts_of(&o->allowed_names),
                                  .username_headers = texts_of(&o->username_headers),
                                  .uid_headers = texts_of(&o->uid_headers),
                                  .group_headers = texts_of(&o->group_headers),
                                  .extra_prefixes = texts_of(&o->extra_prefixes)};
}

/* ["a","b"] */
static kc_str list_as_json(kc_buf *out, const kc__cli_flag_list *list)
{
    kc_buf_clear(out);
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i)
            kc_buf_putc(out, ',');
        kc_json_quote(out, list->items[i]);
    }
    kc_buf_putc(out, ']');
    return kc_buf_str(out);
}

static void publish_member(kc__bootstrap_trust *trust, const char *name, kc_str value)
{
    trust->members[trust->n].name = name;
    trust->members[trust->n++].value = value;
}

kc__bootstrap_trust kc__cli_plane_published(kc__cli_plane *p)
{
    const kc__cli_proxy_options *o = &p->options->authn.proxy;
    kc__bootstrap_trust trust = {0};
    const struct {
        const char *name;
        const kc__cli_flag_list *list;
    } lists[] = {{"requestheader-username-headers", &o->username_headers},
                 {"requestheader-uid-headers", &o->uid_headers},
                 {"requestheader-group-headers", &o->group_headers},
                 {"requestheader-extra-headers-prefix", &o->extra_prefixes},
                 {"requestheader-allowed-names", &o->allowed_names}};
    publish_member(&trust, "client-ca-file", kc_buf_str(&p->client_ca));
    if (!o->ca_file)
        return trust;
    publish_member(&trust, "requestheader-client-ca-file", kc_buf_str(&p->proxy_ca));
    for (size_t i = 0; i < KC_COUNT(lists); i++)
        if (lists[i].list->n || lists[i].list != &o->uid_headers)
            publish_member(&trust, lists[i].name, list_as_json(&p->proxy_texts[i], lists[i].list));
    return trust;
}

void kc__cli_plane_trust_done(kc__cli_plane *p)
{
    kc_buf_done(&p->client_ca);
    kc_buf_done(&p->proxy_ca);
    kc_buf_done(&p->tls_ca);
    for (size_t i = 0; i < KC_COUNT(p->proxy_texts); i++)
        kc_buf_done(&p->proxy_texts[i]);
}

/* ---- TLS ---- */

/* The authenticator verifies client certificates; the handshake only names the CAs. */
static kc__tls_opts tls_opts_of(const kc__cli_plane *p)
{
    const kc__cli_apiserver_options *o = p->options;
    return (kc__tls_opts){.cert_file = o->tls_cert_file ? o->tls_cert_file : p->certs.server_cert,
                          .key_file = o->tls_key_file ? o->tls_key_file : p->certs.server_key,
                          .client_ca = kc_buf_str(&p->tls_ca),
                          .verify_later = true};
}

int kc__cli_plane_open_tls(kc__cli_plane *p, kc_error *err)
{
    const kc__tls_opts opts = tls_opts_of(p);
    p->tls = kc__tls_new(&opts, err);
    return p->tls ? 0 : kc_error_result(err);
}

/* ---- reloading, on the thread of housekeeping ---- */

static int reload_tokens(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    if (kc__cli_check_file_modes(p->options, p->log, err) < 0)
        return kc_error_result(err);
    return kc__authn_reload_tokens(p->authn, err);
}

static int reload_serving_pair(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    const kc__tls_opts opts = tls_opts_of(p);
    if (kc__cli_check_file_modes(p->options, p->log, err) < 0)
        return kc_error_result(err);
    return p->tls ? kc__tls_replace(p->tls, &opts, err) : 0;
}

static int reload_client_ca(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    if (kc__cli_check_file_modes(p->options, p->log, err) < 0 ||
        kc__cli_plane_read_client_ca(p, err) < 0)
        return kc_error_result(err);
    if (p->options->client_ca_file &&
        kc_file_write(p->certs.client_ca, 0644, kc_buf_str(&p->client_ca), err) < 0)
        return kc_error_result(err);
    const kc__bootstrap_trust trust = kc__cli_plane_published(p);
    kc__apiserver_publish_trust(p->server, &trust);
    return reload_serving_pair(p, err);
}

static int rewrite_kubeconfig(void *user, kc_error *err)
{
    kc__cli_plane *p = user;
    return p->kubeconfig ? kc__cli_plane_write_kubeconfig(p, err) : 0;
}

/* ---- watched files ---- */

void kc__cli_plane_watch_files(kc__cli_plane *p)
{
    const kc__cli_apiserver_options *o = p->options;
    const kc__file_watch_entry watched[] = {
        {"token-auth-file", {o->token_file}, reload_tokens, p},
        {"client-ca-file", {o->client_ca_file}, reload_client_ca, p},
        {"requestheader-client-ca-file", {o->authn.proxy.ca_file}, reload_client_ca, p},
        {"authentication-config", {o->authn.config_file}, kc__cli_plane_reload_jwt, p},
        {"authorization-config", {o->authz.config_file}, kc__cli_plane_reload_authz, p},
        {"tls-cert-file", {o->tls_cert_file, o->tls_key_file}, reload_serving_pair, p},
    };
    p->watch = kc__file_watch_new(&(kc__file_watch_opts){.log = p->log, .metrics = p->metrics});
    for (size_t i = 0; i < KC_COUNT(watched); i++)
        kc__file_watch_add(p->watch, &watched[i]);
}

void kc__cli_plane_watch_own_files(kc__cli_plane *p)
{
    const kc__file_watch_entry ca = {"cert-dir (ca.crt)", {p->certs.ca_cert}, reload_client_ca, p};
    const kc__file_watch_entry pair = {"cert-dir (apiserver.crt)",
                                       {p->certs.server_cert, p->certs.server_key},
                                       reload_serving_pair,
                                       p};
    const kc__file_watch_entry admin = {"cert-dir (admin.crt)",
                                        {p->certs.admin_cert, p->certs.admin_key, p->certs.ca_cert},
                                        rewrite_kubeconfig,
                                        p};
    kc__file_watch_add(p->watch, &ca);
    kc__file_watch_add(p->watch, &admin);
    if (p->options->secure_port && !p->options->tls_cert_file)
        kc__file_watch_add(p->watch, &pair);
}
