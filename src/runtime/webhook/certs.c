/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certs.c: decides which certificates a webhook server should have at a given time.
 *
 *     authority  |-------- signs --------------------|······ trusted ······|
 *                                          |---- signs -------------------------------|····
 *     served     |-------|-------|-------|--|-------|-------|
 *
 * The serving certificate is renewed at 2/3 of its lifetime, and so is the authority (CA), which
 * lives ten times as long. The order keeps every call possible. A new authority is published first,
 * beside the old one, and signs nothing for a thirtieth of a certificate's lifetime: by then every
 * API server has seen it. The old authority stays published until it expires, which is after
 * everything that it has signed has expired. So the serving certificate is always signed by an
 * authority that has been published for a long time. The only exception: no valid serving
 * certificate is left.
 *
 * The result is a function of the existing certificates, the names and the time: several processes
 * that share a Secret compute the same result, and the first one writes it.
 *
 * Two versions of a program may share a Secret and want different names. The one that misses a name
 * adds its own to the existing names, so that the two do not alternate; names that no process wants
 * any more are dropped at the next renewal.
 */
#include "runtime/webhook/certs.h"

#include "http/tls/certificate.h"

enum { MAX_AUTHORITIES = 16, MAX_NAMES = 100 };

#define AUTHORITY_NAME "kubecontroller-webhook-ca@"

typedef KC_VEC(X509 *) certs_vec;

typedef struct webhook_certs_builder {
    kc__webhook_certs *certs;
    const kc__webhook_certs_spec *spec;
    int64_t wall;
    certs_vec authorities; /* Newest first. */
    EVP_PKEY *authority_key;
    kc__cert_keypair leaf;
} webhook_certs_builder;

/* ---- existing certificates ---- */

static bool webhook_certs_collect(X509 *cert, void *user)
{
    certs_vec *certs = user;
    X509_up_ref(cert);
    kc_vec_push(certs, cert);
    return certs->n < MAX_AUTHORITIES;
}

static void webhook_certs_forget(certs_vec *certs)
{
    kc_vec_each (certs, cert)
        X509_free(*cert);
    kc_vec_done(certs);
}

/* Treats what cannot be parsed as missing. */
static void builder_open(webhook_certs_builder *w)
{
    kc__cert_each(kc_buf_str(&w->certs->authorities), webhook_certs_collect, &w->authorities);
    kc__cert_key_parse(kc_buf_str(&w->certs->authority_key), &w->authority_key, NULL);
    kc__cert_parse(kc_buf_str(&w->certs->cert), &w->leaf.cert, NULL);
    kc__cert_key_parse(kc_buf_str(&w->certs->key), &w->leaf.key, NULL);
}

static void webhook_certs_builder_done(webhook_certs_builder *w)
{
    webhook_certs_forget(&w->authorities);
    EVP_PKEY_free(w->authority_key);
    kc__cert_keypair_done(&w->leaf);
}

static int64_t made_at(const X509 *cert)
{
    return kc__cert_not_before(cert) * KC_SECOND + KC__CERT_BACKDATED;
}

static int64_t end_of(const X509 *cert)
{
    return kc__cert_not_after(cert) * KC_SECOND;
}

static bool webhook_certs_has_ended(const X509 *cert, int64_t wall)
{
    return end_of(cert) <= wall;
}

static bool is_due(const X509 *cert, int64_t wall)
{
    return wall >= made_at(cert) + (end_of(cert) - made_at(cert)) / 3 * 2;
}

/* ---- the authority ---- */

static const char *problem_of_authority(const webhook_certs_builder *w)
{
    if (!w->authorities.n)
        return "there is no CA";
    if (!w->authority_key || !kc__cert_has_key(w->authorities.items[0], w->authority_key))
        return "the CA has no private key";
    return is_due(w->authorities.items[0], w->wall) ? "the CA is due for renewal" : NULL;
}

static int write_pair(const kc__cert_keypair *pair, kc_buf *cert, kc_buf *key, kc_error *err)
{
    kc_buf_clear(cert);
    kc_buf_wipe(key);
    const int failed = kc__cert_write(pair->cert, cert, err);
    return failed ? failed : kc__cert_key_write(pair->key, key, err);
}

/* Puts the new authority before those that have not expired. */
static int make_authority(webhook_certs_builder *w, kc_error *err)
{
    kc_autofree char *name = kc_asprintf(AUTHORITY_NAME "%lld", (long long)(w->wall / KC_SECOND));
    const kc__cert_spec spec = {
        .use = KC__CERT_AUTHORITY, .common_name = name, .lifetime = 10 * w->spec->valid};
    kc_scoped(kc__cert_keypair) made = {0};
    if (kc__cert_keypair_generate(&spec, NULL, w->wall, &made, err) < 0 ||
        write_pair(&made, &w->certs->authorities, &w->certs->authority_key, err) < 0)
        return kc_error_wrap(err, "webhook CA");
    for (size_t i = 0; i < w->authorities.n && i < MAX_AUTHORITIES - 1; i++)
        if (!webhook_certs_has_ended(w->authorities.items[i], w->wall) &&
            kc__cert_write(w->authorities.items[i], &w->certs->authorities, err) < 0)
            return kc_error_result(err);
    webhook_certs_forget(&w->authorities);
    kc__cert_each(kc_buf_str(&w->certs->authorities), webhook_certs_collect, &w->authorities);
    EVP_PKEY_free(w->authority_key);
    w->authority_key = kc_take(made.key);
    return 0;
}

/* ---- the serving certificate ---- */

static bool is_trusted(const webhook_certs_builder *w, X509 *leaf)
{
    kc_vec_each (&w->authorities, authority)
        if (kc__cert_is_of(leaf, *authority))
            return true;
    return false;
}

static bool has_names(const webhook_certs_builder *w, X509 *leaf)
{
    for (const char *const *name = w->spec->names; *name; name++)
        if (!kc__cert_names(leaf, *name))
            return false;
    return true;
}

static bool is_settled(const webhook_certs_builder *w)
{
    return w->wall >= made_at(w->authorities.items[0]) + w->spec->valid / 30;
}

static const char LACKS_A_NAME[] = "the certificate lacks a name";

static const char *problem_of_leaf(const webhook_certs_builder *w)
{
    X509 *leaf = w->leaf.cert;
    if (!leaf)
        return "there is no certificate";
    if (!w->leaf.key || !kc__cert_has_key(leaf, w->leaf.key))
        return "the certificate has no private key";
    if (!is_trusted(w, leaf))
        return "the certificate was issued by another CA";
    if (webhook_certs_has_ended(leaf, w->wall))
        return "the certificate has expired";
    if (!has_names(w, leaf))
        return LACKS_A_NAME;
    return is_due(leaf, w->wall) && is_settled(w) ? "the certificate is due for renewal" : NULL;
}

typedef struct name_list {
    const char *items[MAX_NAMES];
    size_t n;
    kc_arena copies;
} name_list;

static void name_list_done(name_list *names)
{
    kc_arena_done(&names->copies);
}

static void webhook_certs_add_name(const char *name, void *user)
{
    name_list *names = user;
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (names->n < MAX_NAMES)
        names->items[names->n++] = kc_arena_strndup(&names->copies, name, strlen(name));
}

/* A certificate expires no later than its authority. */
static int make_leaf(webhook_certs_builder *w, bool keep_names, kc_error *err)
{
    kc_scoped(name_list) names = {0};
    kc_scoped(kc__cert_keypair) made = {0};
    for (const char *const *name = w->spec->names; *name; name++)
        webhook_certs_add_name(*name, &names);
    if (keep_names)
        kc__cert_each_name(w->leaf.cert, webhook_certs_add_name, &names);
    const kc__cert_keypair issuer = {w->authorities.items[0], w->authority_key};
    const kc__cert_spec spec = {.use = KC__CERT_SERVER,
                                .common_name = "kubecontroller-webhook",
                                .names = names.items,
                                .n_names = names.n,
                                .lifetime = KC_MIN(w->spec->valid, end_of(issuer.cert) - w->wall)};
    if (kc__cert_keypair_generate(&spec, &issuer, w->wall, &made, err) < 0 ||
        write_pair(&made, &w->certs->cert, &w->certs->key, err) < 0)
        return kc_error_wrap(err, "webhook certificate");
    return 0;
}

int kc__webhook_certs_renew(kc__webhook_certs *certs, const kc__webhook_certs_spec *spec,
                            int64_t wall, const char **ret_why, kc_error *err)
{
    kc_scoped(webhook_certs_builder) w = {.certs = certs, .spec = spec, .wall = wall};
    builder_open(&w);
    const char *why = problem_of_authority(&w);
    if (why && make_authority(&w, err) < 0)
        return kc_error_result(err);
    const char *why_leaf = problem_of_leaf(&w);
    if (why_leaf && make_leaf(&w, why_leaf == LACKS_A_NAME, err) < 0)
        return kc_error_result(err);
    *ret_why = why ? why : why_leaf;
    return 0;
}

int64_t kc__webhook_certs_expiry(const kc__webhook_certs *certs)
{
    X509 *cert = NULL;
    if (kc__cert_parse(kc_buf_str(&certs->cert), &cert, NULL) < 0)
        return 0;
    const int64_t end = kc__cert_not_after(cert);
    X509_free(cert);
    return end;
}

void kc__webhook_certs_done(kc__webhook_certs *certs)
{
    kc_buf_done(&certs->authorities);
    kc_buf_wipe(&certs->authority_key);
    kc_buf_done(&certs->cert);
    kc_buf_wipe(&certs->key);
}

/* ---- the CA bundle ---- */

static bool webhook_certs_is_ours(X509 *cert)
{
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
    return kc_str_starts(kc_cstr(name), KC_STR(AUTHORITY_NAME));
}

static bool webhook_certs_is_in(const certs_vec *certs, const X509 *cert)
{
    kc_vec_each (certs, one)
        if (X509_cmp(*one, cert) == 0)
            return true;
    return false;
}

/* If there are too many, drops certificates of other processes first, the oldest first. */
static void webhook_certs_trim(certs_vec *all, const certs_vec *mine)
{
    for (size_t i = all->n; i-- > 0 && all->n > MAX_AUTHORITIES;) {
        if (webhook_certs_is_in(mine, all->items[i]))
            continue;
        X509_free(all->items[i]);
        kc_vec_remove(all, i);
    }
}

/* If all our authorities are present already the order is kept, so that processes do not
 * alternate. */
void kc__webhook_ca_bundle_merge(kc_str ours, kc_str there, int64_t wall, kc_buf *out)
{
    certs_vec mine = {0}, others = {0}, all = {0};
    kc__cert_each(ours, webhook_certs_collect, &mine);
    kc__cert_each(there, webhook_certs_collect, &others);
    kc_vec_each (&mine, cert)
        if (!webhook_certs_is_in(&others, *cert))
            webhook_certs_collect(*cert, &all);
    kc_vec_each (&others, cert)
        if (webhook_certs_is_in(&mine, *cert) ||
            (webhook_certs_is_ours(*cert) && !webhook_certs_has_ended(*cert, wall)))
            webhook_certs_collect(*cert, &all);
    webhook_certs_trim(&all, &mine);
    kc_vec_each (&all, cert)
        kc__cert_write(*cert, out, NULL);
    webhook_certs_forget(&mine);
    webhook_certs_forget(&others);
    webhook_certs_forget(&all);
}
