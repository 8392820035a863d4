/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_keep.c: keeps the certificates of a webhook server: from a folder that somebody else
 * fills, from memory, or from a Secret.
 *
 * It looks again and again instead of being told: files of a mounted volume are replaced by renamed
 * links, which is what watching files most often gets wrong, and a look costs little. A folder in
 * which certificate and key do not fit (one is replaced already, the other not yet) is an error of
 * that look; what was served before is served on.
 */
#include "http/certificate.h"

#include "kc/file.h"
#include "runtime/webhook_internal.h"

#define LOOK_AT_FOLDER     (10 * KC_SECOND)
#define LOOK               KC_MINUTE
#define LOOK_AFTER_FAILURE (5 * KC_SECOND)

/* ---- where they are ---- */

static int read_file(const char *folder, const char *name, kc_buf *out, kc_error *err)
{
    kc_autofree char *path = kc_asprintf("%s/%s", folder, name);
    return kc_file_read(path, KC_FILE_MAX, out, err);
}

/* Without ca.crt nothing is published. */
static int read_folder(const char *folder, kc__hook_certs *ret, kc_error *err)
{
    kc_scoped(kc_error) no_authority = {0};
    if (read_file(folder, "tls.crt", &ret->cert, err) < 0 ||
        read_file(folder, "tls.key", &ret->key, err) < 0)
        return -1;
    if (read_file(folder, "ca.crt", &ret->authorities, &no_authority) < 0 &&
        no_authority.reason != KC_NOT_FOUND)
        return kc_error_move(err, &no_authority);
    return 0;
}

static int look_at_folder(kc_webhook_server *s, kc_error *err)
{
    kc__hook_certs found = {0};
    if (read_folder(s->opts.cert_dir, &found, err) < 0) {
        kc__hook_certs_done(&found);
        return -1;
    }
    kc__hook_certs_done(&s->certs);
    s->certs = found;
    return 0;
}

static int renew(kc_webhook_server *s, kc_error *err)
{
    const kc__hook_certs_spec spec = {.names = s->opts.names, .valid = s->opts.valid};
    const int64_t wall = kc_clock_wall(s->clock);
    const char *why = NULL;
    const int failed =
        s->opts.secret_name
            ? kc__hook_certs_share(s->client, KC_KEY(s->opts.secret_ns, s->opts.secret_name), &spec,
                                   wall, &s->certs, &why, err)
            : kc__hook_certs_renew(&s->certs, &spec, wall, &why, err);
    if (failed)
        return -1;
    if (why)
        kc_log_info(s->log, "made certificates for webhooks", kc_kv("why", why));
    return 0;
}

/* ---- serving them ---- */

static int serve(kc_webhook_server *s, kc_error *err)
{
    const kc__tls_opts opts = {.cert = kc_buf_str(&s->certs.cert),
                               .key = kc_buf_str(&s->certs.key)};
    if (s->tls && kc_str_eq(kc_buf_str(&s->served), opts.cert))
        return 0;
    if (s->tls && kc__tls_replace(s->tls, &opts, err) < 0)
        return -1;
    if (!s->tls && !(s->tls = kc__tls_new(&opts, err)))
        return -1;
    kc_buf_clear(&s->served);
    kc_buf_append(&s->served, opts.cert);
    atomic_store(&s->end, kc__hook_certs_end(&s->certs));
    kc_log_info(s->log, "serving a certificate");
    return 0;
}

int kc__webhook_look(kc_webhook_server *s, kc_error *err)
{
    const char *folder = s->opts.cert_dir;
    if ((folder ? look_at_folder(s, err) : renew(s, err)) < 0)
        return -1;
    if (serve(s, err) == 0)
        return 0;
    return folder ? kc_error_wrap(err, "certificates in %s", folder) : -1;
}

int kc__webhook_publish(kc_webhook_server *s, kc_error *err)
{
    const kc__hook_bundle bundle = {
        .authorities = kc_buf_str(&s->certs.authorities),
        .alone = s->opts.cert_dir != NULL,
        .configurations = s->opts.configurations,
        .definitions = s->opts.definitions,
        .wall = kc_clock_wall(s->clock),
        .log = s->log,
    };
    return bundle.authorities.n ? kc__hook_bundle_publish(s->client, &bundle, err) : 0;
}

/* Short-lived certificates are looked at more often. */
int64_t kc__webhook_pause(const kc_webhook_server *s, bool failed)
{
    if (s->opts.cert_dir)
        return LOOK_AT_FOLDER;
    return KC_MIN(failed ? LOOK_AFTER_FAILURE : LOOK, s->opts.valid / 30);
}
