/* SPDX-License-Identifier: Apache-2.0 */
/*
 * maintain.c: maintains the certificates of a webhook server: from a directory that another program
 * fills, from memory, or from a Secret.
 *
 * The server polls instead of watching files: the files of a mounted volume are replaced by
 * renaming symbolic links, which file watching handles badly, and polling is cheap. If certificate
 * and key in the directory do not match (one is already replaced, the other not yet), that poll
 * fails and the previous certificate stays in use.
 */
#include "http/tls/certificate.h"

#include "kc/file.h"
#include "runtime/webhook/webhook_internal.h"

#define DIR_CHECK_INTERVAL (10 * KC_SECOND)
#define CHECK_INTERVAL     KC_MINUTE
#define RETRY_INTERVAL     (5 * KC_SECOND)

/* ---- loading ---- */

static int read_file(const char *dir, const char *name, kc_buf *out, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/%s", dir, name);
    return kc_file_read(path, KC_FILE_MAX, out, err);
}

/* Without ca.crt no caBundle is published. */
static int read_dir(const char *dir, kc__webhook_certs *ret, kc_error *err)
{
    kc_scoped(kc_error) no_authority = {0};
    if (read_file(dir, "tls.crt", &ret->cert, err) < 0 ||
        read_file(dir, "tls.key", &ret->key, err) < 0)
        return kc_error_result(err);
    if (read_file(dir, "ca.crt", &ret->authorities, &no_authority) < 0 &&
        no_authority.reason != KC_NOT_FOUND)
        return kc_error_move(err, &no_authority);
    return 0;
}

static int reload_dir(kc_webhook_server *s, kc_error *err)
{
    kc__webhook_certs found = {0};
    if (read_dir(s->opts.cert_dir, &found, err) < 0) {
        kc__webhook_certs_done(&found);
        return kc_error_result(err);
    }
    kc__webhook_certs_done(&s->certs);
    s->certs = found;
    return 0;
}

static int renew(kc_webhook_server *s, kc_error *err)
{
    const kc__webhook_certs_spec spec = {.names = s->opts.names, .valid = s->opts.valid};
    const int64_t wall = kc_clock_wall(s->clock);
    const char *why = NULL;
    const int failed =
        s->opts.secret_name
            ? kc__webhook_certs_share(s->client, KC_KEY(s->opts.secret_ns, s->opts.secret_name),
                                      &spec, wall, &s->certs, &why, err)
            : kc__webhook_certs_renew(&s->certs, &spec, wall, &why, err);
    if (failed)
        return kc_error_result(err);
    if (why)
        kc_log_info(s->log, "created webhook certificates", kc_kv("reason", why));
    return 0;
}

/* ---- serving ---- */

static int webhook_maintain_serve(kc_webhook_server *s, kc_error *err)
{
    const kc__tls_opts opts = {.cert = kc_buf_str(&s->certs.cert),
                               .key = kc_buf_str(&s->certs.key)};
    if (s->tls && kc_str_eq(kc_buf_str(&s->served), opts.cert))
        return 0;
    if (s->tls && kc__tls_replace(s->tls, &opts, err) < 0)
        return kc_error_result(err);
    if (!s->tls && !(s->tls = kc__tls_new(&opts, err)))
        return kc_error_result(err);
    kc_buf_clear(&s->served);
    kc_buf_append(&s->served, opts.cert);
    atomic_store(&s->end, kc__webhook_certs_expiry(&s->certs));
    kc_log_info(s->log, "serving a new certificate");
    return 0;
}

int kc__webhook_check_certs(kc_webhook_server *s, kc_error *err)
{
    const char *dir = s->opts.cert_dir;
    if ((dir ? reload_dir(s, err) : renew(s, err)) < 0)
        return kc_error_result(err);
    if (webhook_maintain_serve(s, err) == 0)
        return 0;
    return dir ? kc_error_wrap(err, "certificates in %s", dir) : kc_error_result(err);
}

int kc__webhook_publish(kc_webhook_server *s, kc_error *err)
{
    const kc__webhook_ca_bundle bundle = {
        .authorities = kc_buf_str(&s->certs.authorities),
        .alone = s->opts.cert_dir != NULL,
        .configurations = s->opts.configurations,
        .definitions = s->opts.definitions,
        .wall = kc_clock_wall(s->clock),
        .log = s->log,
    };
    return bundle.authorities.n ? kc__webhook_ca_bundle_publish(s->client, &bundle, err) : 0;
}

/* Short-lived certificates are checked more often. */
int64_t kc__webhook_pause(const kc_webhook_server *s, bool failed)
{
    if (s->opts.cert_dir)
        return DIR_CHECK_INTERVAL;
    return KC_MIN(failed ? RETRY_INTERVAL : CHECK_INTERVAL, s->opts.valid / 30);
}
