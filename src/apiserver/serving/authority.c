/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authority.c: creates and replaces a certificate authority (authority.h).
 *
 * The switch to the successor changes two files, which cannot be done atomically:
 *
 *     1. CA.crt := successor, old CA, …      replaced by a rename
 *     2. CA.key := CA-next.key               by a rename
 *     3. CA-next.crt is removed
 *
 * After a crash between 1 and 2, CA.key is not the key of CA.crt, but CA-next.key is: the next pass
 * completes the switch. No step removes a CA that signed something still valid.
 */
#include "apiserver/serving/authority.h"

#include "apiserver/serving/pem_files.h"
#include "kc/file.h"
#include "kc/vec.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define CA_LIFETIME     (3650 * KC__SERVING_DAY)
#define SUCCESSOR_AHEAD (365 * KC__SERVING_DAY)
#define SWITCH_AHEAD    (60 * KC__SERVING_DAY)

typedef KC_VEC(X509 *) cert_list;

/* The paths of the successor of a CA. */
typedef struct successor_paths {
    char *cert, *key;
} successor_paths;

const char *kc__serving_problem_of_time(const kc__serving_pass *pass, const X509 *cert,
                                        int64_t ahead)
{
    if (kc__cert_not_before(cert) > pass->wall / KC_SECOND)
        return "is not valid yet";
    if (kc__cert_not_after(cert) < pass->wall / KC_SECOND)
        return "has expired";
    if (kc__cert_not_after(cert) < (pass->wall + ahead) / KC_SECOND)
        return "expires soon";
    return NULL;
}

static bool has_expired(const kc__serving_pass *pass, const X509 *cert)
{
    return kc__cert_not_after(cert) < pass->wall / KC_SECOND;
}

/* ---- paths ---- */

/* DIR/ca.crt becomes DIR/ca-next.crt. */
static char *next_path(const char *path)
{
    const char *dot = strrchr(path, '.');
    return kc_asprintf("%.*s-next%s", (int)(dot - path), path, dot);
}

static successor_paths successor_paths_of(const kc__serving_authority *ca)
{
    return (successor_paths){next_path(ca->cert_path), next_path(ca->key_path)};
}

static void successor_paths_done(successor_paths *paths)
{
    free(paths->cert);
    free(paths->key);
}

/* ---- the certificates that clients trust ---- */

static bool keep_cert(X509 *cert, void *user)
{
    X509_up_ref(cert);
    kc_vec_push((cert_list *)user, cert);
    return true;
}

static void cert_list_done(cert_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        X509_free(list->items[i]);
    kc_vec_done(list);
}

static int read_trusted(const kc__serving_authority *ca, cert_list *ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const int failed = kc_file_read(ca->cert_path, KC_FILE_MAX, &text, err);
    if (!failed)
        kc__cert_each(kc_buf_str(&text), keep_cert, ret);
    return failed;
}

static bool trusts(const cert_list *list, const X509 *cert)
{
    for (size_t i = 0; i < list->n; i++)
        if (!X509_cmp(list->items[i], cert))
            return true;
    return false;
}

/* Writes CA.crt: `signing`, then the others of the list that have not expired, then `added` (or
 * NULL). */
static int write_trusted(kc__serving_pass *pass, const kc__serving_authority *ca, X509 *signing,
                         const cert_list *others, X509 *added, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    int result = kc__cert_write(signing, &text, err);
    for (size_t i = 0; !result && i < others->n; i++)
        if (X509_cmp(others->items[i], signing) != 0 && !has_expired(pass, others->items[i]))
            result = kc__cert_write(others->items[i], &text, err);
    if (!result && added && !trusts(others, added))
        result = kc__cert_write(added, &text, err);
    pass->changed = true;
    return result ? result : kc_file_replace(ca->cert_path, 0644, kc_buf_str(&text), err);
}

/* Removes expired CAs, and adds the successor. */
static int update_trusted(kc__serving_pass *pass, kc__serving_authority *ca, X509 *successor,
                          kc_error *err)
{
    kc_scoped(cert_list) trusted = {0};
    bool same = true;
    const int failed = read_trusted(ca, &trusted, err);
    if (failed)
        return failed;
    for (size_t i = 1; i < trusted.n; i++)
        same = same && !has_expired(pass, trusted.items[i]);
    if (same && (!successor || trusts(&trusted, successor)))
        return 0;
    return write_trusted(pass, ca, ca->pair.cert, &trusted, successor, err);
}

/* ---- creating ---- */

static int generate_ca(const kc__serving_pass *pass, const kc__serving_authority *ca,
                       kc__cert_keypair *ret, kc_error *err)
{
    const kc__cert_spec spec = {
        .use = KC__CERT_AUTHORITY, .common_name = ca->name, .lifetime = CA_LIFETIME};
    return kc__cert_keypair_generate(&spec, NULL, pass->wall, ret, err);
}

static int create_first(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    int result = generate_ca(pass, ca, &ca->pair, err);
    if (!result)
        result = kc__serving_pair_write(&ca->pair, ca->cert_path, ca->key_path, err);
    pass->changed = true;
    if (!result)
        kc_log_info(pass->opts->log, "created a certificate authority",
                    kc_kv("file", ca->cert_path));
    return result;
}

/* Reads the successor, or creates it. */
static int ensure_successor(kc__serving_pass *pass, const kc__serving_authority *ca,
                            const successor_paths *paths, kc__cert_keypair *ret, kc_error *err)
{
    kc__serving_cert_read(paths->cert, &ret->cert, NULL);
    kc__serving_key_read(paths->key, &ret->key, NULL);
    if (ret->cert && ret->key && kc__cert_has_key(ret->cert, ret->key) &&
        !kc__serving_problem_of_time(pass, ret->cert, SUCCESSOR_AHEAD))
        return 0;
    kc__cert_keypair_done(ret);
    int result = generate_ca(pass, ca, ret, err);
    if (!result)
        result = kc__serving_pair_write(ret, paths->cert, paths->key, err);
    pass->changed = true;
    if (!result)
        kc_log_info(pass->opts->log, "created the successor of a certificate authority",
                    kc_kv("file", paths->cert), kc_kv("signs", ca->cert_path));
    return result;
}

/* ---- switching to the successor ---- */

static int take_successor_key(const kc__serving_authority *ca, const successor_paths *paths,
                              kc_error *err)
{
    if (rename(paths->key, ca->key_path) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot rename %s: %s", paths->key, strerror(errno));
    return kc_file_remove(paths->cert, err);
}

static int switch_to_successor(kc__serving_pass *pass, kc__serving_authority *ca,
                               const successor_paths *paths, kc__cert_keypair *successor,
                               kc_error *err)
{
    kc_scoped(cert_list) trusted = {0};
    int result = read_trusted(ca, &trusted, err);
    if (!result)
        result = write_trusted(pass, ca, successor->cert, &trusted, NULL, err);
    if (!result)
        result = take_successor_key(ca, paths, err);
    if (result)
        return result;
    kc__cert_keypair_done(&ca->pair);
    ca->pair = *successor;
    *successor = (kc__cert_keypair){0};
    kc_log_info(pass->opts->log, "the successor of a certificate authority signs now",
                kc_kv("file", ca->cert_path));
    return 0;
}

/* Takes the step of the replacement that is due. */
static int replace_in_time(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    const bool soon =
        ca->replace_now || kc__serving_problem_of_time(pass, ca->pair.cert, SUCCESSOR_AHEAD);
    if (!soon)
        return update_trusted(pass, ca, NULL, err);
    kc_scoped(successor_paths) paths = successor_paths_of(ca);
    const bool prepared = ca->replace_now && access(paths.cert, F_OK) == 0;
    kc__cert_keypair successor = {0};
    int result = ensure_successor(pass, ca, &paths, &successor, err);
    if (!result && (prepared || kc__serving_problem_of_time(pass, ca->pair.cert, SWITCH_AHEAD)))
        result = switch_to_successor(pass, ca, &paths, &successor, err);
    else if (!result)
        result = update_trusted(pass, ca, successor.cert, err);
    kc__cert_keypair_done(&successor);
    return result;
}

/* ---- reading ---- */

/* After a crash, the successor may be in CA.crt, but its key not in CA.key. */
static int complete_switch(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    kc_scoped(successor_paths) paths = successor_paths_of(ca);
    EVP_PKEY *key = NULL;
    kc__serving_key_read(paths.key, &key, NULL);
    if (!key || !kc__cert_has_key(ca->pair.cert, key)) {
        EVP_PKEY_free(key);
        return kc_error_set(err, KC_INVALID, "%s is not the key of %s", ca->key_path,
                            ca->cert_path);
    }
    EVP_PKEY_free(ca->pair.key);
    ca->pair.key = key;
    pass->changed = true;
    return take_successor_key(ca, &paths, err);
}

/* The key may be missing, but must match if it exists. */
static int read_ca(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const int failed = kc__serving_cert_read(ca->cert_path, &ca->pair.cert, err);
    if (failed)
        return failed;
    if (kc__serving_key_read(ca->key_path, &ca->pair.key, &why) < 0 && why.reason != KC_NOT_FOUND)
        return kc_error_move(err, &why);
    if (ca->pair.key && !kc__cert_has_key(ca->pair.cert, ca->pair.key))
        return complete_switch(pass, ca, err);
    return 0;
}

static bool is_ours(const kc__serving_authority *ca)
{
    char name[64] = "";
    X509 *cert = ca->pair.cert;
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
    return !strcmp(name, ca->name) && kc__cert_is_of(cert, cert);
}

static int ensure_authority(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    if (access(ca->cert_path, F_OK) < 0 && errno == ENOENT)
        return create_first(pass, ca, err);
    const int failed = read_ca(pass, ca, err);
    if (failed)
        return failed;
    if (ca->pair.key && is_ours(ca))
        return replace_in_time(pass, ca, err);
    if (has_expired(pass, ca->pair.cert))
        return kc_error_set(err, KC_INVALID,
                            "%s has expired and was not created by this server, so it is not "
                            "renewed",
                            ca->cert_path);
    return 0;
}

int kc__serving_authority_ensure(kc__serving_pass *pass, kc__serving_authority *ca, kc_error *err)
{
    const int failed = ensure_authority(pass, ca, err);
    return failed ? kc_error_wrap(err, "certificate authority") : 0;
}

void kc__serving_authority_done(kc__serving_authority *ca)
{
    kc__cert_keypair_done(&ca->pair);
}
