/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leaf.c: creates and renews a certificate that a CA of the server signs.
 *
 * A leaf with any problem is replaced, because the server owns it, and clients trust the CA, not
 * the leaf. A leaf never outlives its CA; one of a CA that ends soon is not renewed for less than a
 * day.
 */
#include "apiserver/serving/leaf.h"

#include "apiserver/serving/pem_files.h"
#include "kc/arena.h"
#include "kc/vec.h"

#define RENEWED_BEFORE (30 * KC__SERVING_DAY)

/* How long a new certificate would be valid. */
static int64_t lifetime_of_leaf(const kc__serving_pass *pass, const kc__serving_authority *ca,
                                const kc__serving_leaf *leaf)
{
    const int64_t left = kc__cert_not_after(ca->pair.cert) * KC_SECOND - pass->wall;
    return KC_MIN(leaf->spec.lifetime, left);
}

static bool can_be_extended(const kc__serving_pass *pass, const kc__serving_authority *ca,
                            const kc__serving_leaf *leaf, const X509 *cert)
{
    const int64_t end = pass->wall + lifetime_of_leaf(pass, ca, leaf);
    return end > kc__cert_not_after(cert) * KC_SECOND + KC__SERVING_DAY;
}

static const char *problem_of_leaf(const kc__serving_pass *pass, const kc__serving_authority *ca,
                                   const kc__serving_leaf *leaf, const kc__cert_keypair *pair)
{
    if (!pair->cert)
        return "does not exist";
    if (!pair->key || !kc__cert_has_key(pair->cert, pair->key))
        return "has no private key";
    if (!kc__cert_is_of(pair->cert, ca->pair.cert))
        return "was issued by another authority";
    for (size_t i = 0; i < leaf->spec.n_names; i++)
        if (!kc__cert_names(pair->cert, leaf->spec.names[i]))
            return "lacks a name of this server";
    if (pass->opts->renew_leaves)
        return "is renewed on request";
    const char *problem = kc__serving_problem_of_time(pass, pair->cert, RENEWED_BEFORE);
    return problem && can_be_extended(pass, ca, leaf, pair->cert) ? problem : NULL;
}

/* ---- names ---- */

typedef struct leaf_names {
    kc_arena arena;
    KC_VEC(const char *) list;
} leaf_names;

static void leaf_names_done(leaf_names *names)
{
    kc_vec_done(&names->list);
    kc_arena_done(&names->arena);
}

static void add_leaf_name(const char *name, void *user)
{
    leaf_names *names = user;
    for (size_t i = 0; i < names->list.n; i++)
        if (!strcmp(name, names->list.items[i]))
            return;
    kc_vec_push(&names->list, kc_arena_printf(&names->arena, "%s", name));
}

/* The names of the specification, then those of the certificate that it replaces, or NULL. */
static void collect_names(leaf_names *names, const kc__cert_spec *spec, const X509 *replaced)
{
    for (size_t i = 0; i < spec->n_names; i++)
        add_leaf_name(spec->names[i], names);
    if (replaced)
        kc__cert_each_name(replaced, add_leaf_name, names);
}

/* ---- creating ---- */

static int create_leaf(kc__serving_pass *pass, const kc__serving_authority *ca,
                       const kc__serving_leaf *leaf, const X509 *replaced, kc_error *err)
{
    kc__cert_keypair pair = {0};
    kc__cert_spec spec = leaf->spec;
    kc_scoped(leaf_names) names = {0};
    if (!ca->pair.key)
        return kc_error_set(err, KC_NOT_FOUND,
                            "the private key of the authority, %s, does not exist", ca->key_path);
    collect_names(&names, &leaf->spec, replaced);
    spec.names = names.list.items;
    spec.n_names = names.list.n;
    spec.lifetime = lifetime_of_leaf(pass, ca, leaf);
    int result = kc__cert_keypair_generate(&spec, &ca->pair, pass->wall, &pair, err);
    if (!result)
        result = kc__serving_pair_write(&pair, leaf->cert_path, leaf->key_path, err);
    pass->changed = true;
    kc__cert_keypair_done(&pair);
    return result;
}

int kc__serving_leaf_ensure(kc__serving_pass *pass, const kc__serving_authority *ca,
                            const kc__serving_leaf *leaf, kc_error *err)
{
    kc__cert_keypair old = {0};
    kc__serving_cert_read(leaf->cert_path, &old.cert, NULL);
    kc__serving_key_read(leaf->key_path, &old.key, NULL);
    const char *problem = problem_of_leaf(pass, ca, leaf, &old);
    const bool failed = problem && create_leaf(pass, ca, leaf, old.cert, err) < 0;
    kc__cert_keypair_done(&old);
    if (failed)
        return kc_error_wrap(err, "%s %s and must be created", leaf->cert_path, problem);
    if (problem)
        kc_log_info(pass->opts->log, "created a certificate", kc_kv("file", leaf->cert_path),
                    kc_kv("reason", problem));
    return 0;
}
