/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_certs.c: which certificates a webhook server should have at a time.
 *
 *     authority  |-------- signs --------------------|······ trusted ······|
 *                                          |---- signs -------------------------------|····
 *     served     |-------|-------|-------|--|-------|-------|
 *
 * What is served is renewed at 2/3 of its life, and so is the authority, which lives ten times as
 * long. The order keeps every call possible. A new authority is published first, beside the old
 * one, and signs nothing for a thirtieth of a certificate's life: by then every API server has seen
 * it. The old one stays published until its end, which is after that of all it has signed. So at
 * any time what is served is signed by an authority that has been published for long. An
 * exception is made where nothing valid is left to be served.
 *
 * The whole is a function of what there is, the names and the time: several processes that share a
 * Secret come to the same result, and whoever is first writes it.
 *
 * Two versions of a program may share a Secret and want different names. The one that lacks a name
 * adds its own to those that are there, so that they do not take turns; what nobody wants any more
 * goes with the next renewal.
 */
#include "runtime/webhook_certs.h"

#include "http/certificate.h"

enum { MAX_AUTHORITIES = 16, MAX_NAMES = 100 };

#define AUTHORITY_NAME "kubecontroller-webhook-ca@"

typedef KC_VEC(X509 *) certs_vec;

typedef struct workshop {
    kc__hook_certs *certs;
    const kc__hook_certs_spec *spec;
    int64_t wall;
    certs_vec authorities; /* The newest first. */
    EVP_PKEY *authority_key;
    kc__keypair leaf;
} workshop;

/* ---- what there is ---- */

static bool collect(X509 *cert, void *user)
{
    certs_vec *certs = user;
    X509_up_ref(cert);
    kc_vec_push(certs, cert);
    return certs->n < MAX_AUTHORITIES;
}

static void forget(certs_vec *certs)
{
    kc_vec_each (certs, cert)
        X509_free(*cert);
    kc_vec_done(certs);
}

/* What cannot be read is not there. */
static void workshop_open(workshop *w)
{
    kc__certs_each(kc_buf_str(&w->certs->authorities), collect, &w->authorities);
    kc__key_parse(kc_buf_str(&w->certs->authority_key), &w->authority_key, NULL);
    kc__cert_parse(kc_buf_str(&w->certs->cert), &w->leaf.cert, NULL);
    kc__key_parse(kc_buf_str(&w->certs->key), &w->leaf.key, NULL);
}

static void workshop_done(workshop *w)
{
    forget(&w->authorities);
    EVP_PKEY_free(w->authority_key);
    kc__keypair_done(&w->leaf);
}

static int64_t made_at(const X509 *cert)
{
    return kc__cert_not_before(cert) * KC_SECOND + KC__CERT_BACKDATED;
}

static int64_t end_of(const X509 *cert)
{
    return kc__cert_not_after(cert) * KC_SECOND;
}

static bool has_ended(const X509 *cert, int64_t wall)
{
    return end_of(cert) <= wall;
}

static bool is_due(const X509 *cert, int64_t wall)
{
    return wall >= made_at(cert) + (end_of(cert) - made_at(cert)) / 3 * 2;
}

/* ---- the authority ---- */

static const char *problem_of_authority(const workshop *w)
{
    if (!w->authorities.n)
        return "there is no authority";
    if (!w->authority_key || !kc__cert_has_key(w->authorities.items[0], w->authority_key))
        return "the authority has no key";
    return is_due(w->authorities.items[0], w->wall) ? "the authority is due" : NULL;
}

static int write_pair(const kc__keypair *pair, kc_buf *cert, kc_buf *key, kc_error *err)
{
    kc_buf_clear(cert);
    kc__wipe(key);
    const int failed = kc__cert_write(pair->cert, cert, err);
    return failed ? failed : kc__key_write(pair->key, key, err);
}

/* Puts it before those that have not ended. */
static int make_authority(workshop *w, kc_error *err)
{
    kc_autofree char *name = kc_asprintf(AUTHORITY_NAME "%lld", (long long)(w->wall / KC_SECOND));
    const kc__cert_spec spec = {
        .use = KC__CERT_AUTHORITY, .common_name = name, .lifetime = 10 * w->spec->valid};
    kc_scoped(kc__keypair) made = {0};
    if (kc__keypair_make(&spec, NULL, w->wall, &made, err) < 0 ||
        write_pair(&made, &w->certs->authorities, &w->certs->authority_key, err) < 0)
        return kc_error_wrap(err, "webhook authority");
    for (size_t i = 0; i < w->authorities.n && i < MAX_AUTHORITIES - 1; i++)
        if (!has_ended(w->authorities.items[i], w->wall) &&
            kc__cert_write(w->authorities.items[i], &w->certs->authorities, err) < 0)
            return -1;
    forget(&w->authorities);
    kc__certs_each(kc_buf_str(&w->certs->authorities), collect, &w->authorities);
    EVP_PKEY_free(w->authority_key);
    w->authority_key = kc_take(made.key);
    return 0;
}

/* ---- what it signs ---- */

static bool is_trusted(const workshop *w, X509 *leaf)
{
    kc_vec_each (&w->authorities, authority)
        if (kc__cert_is_of(leaf, *authority))
            return true;
    return false;
}

static bool has_names(const workshop *w, X509 *leaf)
{
    for (const char *const *name = w->spec->names; *name; name++)
        if (!kc__cert_names(leaf, *name))
            return false;
    return true;
}

static bool is_settled(const workshop *w)
{
    return w->wall >= made_at(w->authorities.items[0]) + w->spec->valid / 30;
}

static const char LACKS_A_NAME[] = "the certificate lacks a name";

static const char *problem_of_leaf(const workshop *w)
{
    X509 *leaf = w->leaf.cert;
    if (!leaf)
        return "there is no certificate";
    if (!w->leaf.key || !kc__cert_has_key(leaf, w->leaf.key))
        return "the certificate has no key";
    if (!is_trusted(w, leaf))
        return "the certificate is of another authority";
    if (has_ended(leaf, w->wall))
        return "the certificate has ended";
    if (!has_names(w, leaf))
        return LACKS_A_NAME;
    return is_due(leaf, w->wall) && is_settled(w) ? "the certificate is due" : NULL;
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

static void add_name(const char *name, void *user)
{
    name_list *names = user;
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return;
    if (names->n < MAX_NAMES)
        names->items[names->n++] = kc_arena_strndup(&names->copies, name, strlen(name));
}

/* A certificate ends no later than its authority. */
static int make_leaf(workshop *w, bool keep_names, kc_error *err)
{
    kc_scoped(name_list) names = {0};
    kc_scoped(kc__keypair) made = {0};
    for (const char *const *name = w->spec->names; *name; name++)
        add_name(*name, &names);
    if (keep_names)
        kc__cert_each_name(w->leaf.cert, add_name, &names);
    const kc__keypair issuer = {w->authorities.items[0], w->authority_key};
    const kc__cert_spec spec = {.use = KC__CERT_SERVER,
                                .common_name = "kubecontroller-webhook",
                                .names = names.items,
                                .n_names = names.n,
                                .lifetime = KC_MIN(w->spec->valid, end_of(issuer.cert) - w->wall)};
    if (kc__keypair_make(&spec, &issuer, w->wall, &made, err) < 0 ||
        write_pair(&made, &w->certs->cert, &w->certs->key, err) < 0)
        return kc_error_wrap(err, "webhook certificate");
    return 0;
}

int kc__hook_certs_renew(kc__hook_certs *certs, const kc__hook_certs_spec *spec, int64_t wall,
                         const char **ret_why, kc_error *err)
{
    kc_scoped(workshop) w = {.certs = certs, .spec = spec, .wall = wall};
    workshop_open(&w);
    const char *why = problem_of_authority(&w);
    if (why && make_authority(&w, err) < 0)
        return -1;
    const char *why_leaf = problem_of_leaf(&w);
    if (why_leaf && make_leaf(&w, why_leaf == LACKS_A_NAME, err) < 0)
        return -1;
    *ret_why = why ? why : why_leaf;
    return 0;
}

int64_t kc__hook_certs_end(const kc__hook_certs *certs)
{
    X509 *cert = NULL;
    if (kc__cert_parse(kc_buf_str(&certs->cert), &cert, NULL) < 0)
        return 0;
    const int64_t end = kc__cert_not_after(cert);
    X509_free(cert);
    return end;
}

void kc__hook_certs_done(kc__hook_certs *certs)
{
    kc_buf_done(&certs->authorities);
    kc__wipe(&certs->authority_key);
    kc_buf_done(&certs->cert);
    kc__wipe(&certs->key);
}

/* ---- whom to trust ---- */

static bool is_ours(X509 *cert)
{
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
    return kc_str_starts(kc_cstr(name), KC_STR(AUTHORITY_NAME));
}

static bool is_in(const certs_vec *certs, const X509 *cert)
{
    kc_vec_each (certs, one)
        if (X509_cmp(*one, cert) == 0)
            return true;
    return false;
}

/* Those of others go first where there are too many, the oldest of them before the rest. */
static void trim(certs_vec *all, const certs_vec *mine)
{
    for (size_t i = all->n; i-- > 0 && all->n > MAX_AUTHORITIES;) {
        if (is_in(mine, all->items[i]))
            continue;
        X509_free(all->items[i]);
        kc_vec_remove(all, i);
    }
}

/* Where ours are there already the order stays, so that processes do not take turns. */
void kc__hook_bundle_merge(kc_str ours, kc_str there, int64_t wall, kc_buf *out)
{
    certs_vec mine = {0}, others = {0}, all = {0};
    kc__certs_each(ours, collect, &mine);
    kc__certs_each(there, collect, &others);
    kc_vec_each (&mine, cert)
        if (!is_in(&others, *cert))
            collect(*cert, &all);
    kc_vec_each (&others, cert)
        if (is_in(&mine, *cert) || (is_ours(*cert) && !has_ended(*cert, wall)))
            collect(*cert, &all);
    trim(&all, &mine);
    kc_vec_each (&all, cert)
        kc__cert_write(*cert, out, NULL);
    forget(&mine);
    forget(&others);
    forget(&all);
}
