/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.c: which certificates there should be, and whether those there are will do.
 *
 *     ca.crt ──signs──▶ apiserver.crt      localhost, this host, kubernetes.default.svc, …
 *        ├─────signs──▶ admin.crt          CN=admin, O=system:masters
 *        └─────signs──▶ apiserver-kubelet-client.crt   who the server is to nodes
 *
 * A leaf is ours to make again whenever it no longer does (`problem_of_leaf`): clients trust the
 * authority, not the leaf. The authority is made again only when it is missing or, if it is one we
 * made, about to end: all clients have to learn the new one then. Whatever else is wrong with it
 * is an error for the operator to solve, as it may be the operator's own. An authority without its
 * key is enough as long as nothing has to be signed.
 *
 * A pair is two files and cannot be replaced at once. So the certificate goes first and comes last:
 * a crash between leaves a key without certificate, which is "missing", never a pair that does not
 * fit. The removal is synced at once, new pairs with each other at the end: a first start waits for
 * the disk as seldom as it can. The folder is locked meanwhile, for servers that share it.
 *
 * To add a certificate, add its paths to the struct and a call of ensure_leaf.
 */
#include "apiserver/serving/certificates.h"

#include "apiserver/serving/pem_files.h"
#include "kc/ascii.h"
#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/x509v3.h>
#include <sys/file.h>
#include <unistd.h>

#define DAY            (24 * KC_HOUR)
#define CA_LIFETIME    (3650 * DAY)
#define LEAF_LIFETIME  (365 * DAY)
#define RENEWED_BEFORE (30 * DAY)
#define CA_NAME        "kubecontroller-ca"

enum { MAX_NAMES = 8 };

typedef struct workshop {
    const kc__certificates_opts *opts;
    int64_t wall;
    kc__keypair ca;
    bool changed; /* The folder is to be synced. */
} workshop;

/* ---- pairs of files ---- */

static int write_pair(workshop *w, const kc__keypair *pair, const char *cert_path,
                      const char *key_path, kc_error *err)
{
    kc_scoped(kc_buf) cert = {0};
    kc_buf key = {0};
    int result = kc__cert_write(pair->cert, &cert, err);
    if (!result)
        result = kc__key_write(pair->key, &key, err);
    if (!result)
        result = kc_file_remove(cert_path, err);
    if (!result)
        result = kc_file_replace(key_path, 0600, kc_buf_str(&key), err);
    if (!result)
        result = kc_file_replace(cert_path, 0644, kc_buf_str(&cert), err);
    kc__wipe(&key);
    w->changed = true;
    return result;
}

/* ---- the authority ---- */

static const char *problem_of_time(const workshop *w, const X509 *cert)
{
    if (kc__cert_not_before(cert) > w->wall / KC_SECOND)
        return "is not valid yet";
    if (kc__cert_not_after(cert) < w->wall / KC_SECOND)
        return "has ended";
    if (kc__cert_not_after(cert) < (w->wall + RENEWED_BEFORE) / KC_SECOND)
        return "ends soon";
    return NULL;
}

static bool is_our_ca(X509 *cert)
{
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, name, sizeof(name));
    return !strcmp(name, CA_NAME) && kc__cert_is_of(cert, cert);
}

static int make_ca(workshop *w, const kc__certificates *paths, const char *why, kc_error *err)
{
    const kc__cert_spec spec = {
        .use = KC__CERT_AUTHORITY, .common_name = CA_NAME, .lifetime = CA_LIFETIME};
    kc__keypair_done(&w->ca);
    if (kc__keypair_make(&spec, NULL, w->wall, &w->ca, err) < 0 ||
        write_pair(w, &w->ca, paths->ca_cert, paths->ca_key, err) < 0)
        return kc_error_wrap(err, "certificate authority");
    kc_log_info(w->opts->log, "made a certificate authority", kc_kv("file", paths->ca_cert),
                kc_kv("why", why));
    return 0;
}

/* The key may be missing, but must fit if it is there. */
static int read_ca(workshop *w, const kc__certificates *paths, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    if (kc__cert_read(paths->ca_cert, &w->ca.cert, err) < 0)
        return kc_error_wrap(err, "certificate authority");
    if (kc__key_read(paths->ca_key, &w->ca.key, &why) < 0 && why.reason != KC_NOT_FOUND)
        return kc_error_move(err, &why);
    if (w->ca.key && !kc__cert_has_key(w->ca.cert, w->ca.key))
        return kc_error_set(err, KC_INVALID, "%s is not the key of %s", paths->ca_key,
                            paths->ca_cert);
    return 0;
}

static int ensure_ca(workshop *w, const kc__certificates *paths, kc_error *err)
{
    if (access(paths->ca_cert, F_OK) < 0 && errno == ENOENT)
        return make_ca(w, paths, "is not there", err);
    const int failed = read_ca(w, paths, err);
    if (failed)
        return failed;
    const char *problem = problem_of_time(w, w->ca.cert);
    if (problem && w->ca.key && is_our_ca(w->ca.cert))
        return make_ca(w, paths, problem, err);
    if (problem && kc__cert_not_after(w->ca.cert) < w->wall / KC_SECOND)
        return kc_error_set(err, KC_INVALID, "%s %s and is not ours to make again", paths->ca_cert,
                            problem);
    return 0;
}

/* ---- what it signs ---- */

static const char *problem_of_leaf(const workshop *w, const kc__cert_spec *spec,
                                   const kc__keypair *leaf)
{
    if (!leaf->cert)
        return "is not there";
    if (!leaf->key || !kc__cert_has_key(leaf->cert, leaf->key))
        return "has no key";
    if (!kc__cert_is_of(leaf->cert, w->ca.cert))
        return "is of another authority";
    for (size_t i = 0; i < spec->n_names; i++)
        if (!kc__cert_names(leaf->cert, spec->names[i]))
            return "lacks a name of this server";
    return problem_of_time(w, leaf->cert);
}

static int make_leaf(workshop *w, const kc__cert_spec *spec, kc__keypair *leaf,
                     const char *cert_path, const char *key_path, kc_error *err)
{
    if (!w->ca.key)
        return kc_error_set(err, KC_NOT_FOUND, "the key of the authority, ca.key, is not there");
    const int failed = kc__keypair_make(spec, &w->ca, w->wall, leaf, err);
    return failed ? failed : write_pair(w, leaf, cert_path, key_path, err);
}

static int ensure_leaf(workshop *w, const kc__cert_spec *spec, const char *cert_path,
                       const char *key_path, kc_error *err)
{
    kc__keypair leaf = {0};
    /* One that cannot be read is made anew: it is ours. */
    kc__cert_read(cert_path, &leaf.cert, NULL);
    kc__key_read(key_path, &leaf.key, NULL);
    const char *problem = problem_of_leaf(w, spec, &leaf);
    kc__keypair_done(&leaf);
    if (!problem)
        return 0;
    const int failed = make_leaf(w, spec, &leaf, cert_path, key_path, err);
    kc__keypair_done(&leaf);
    if (failed)
        return kc_error_wrap(err, "%s %s and has to be made", cert_path, problem);
    kc_log_info(w->opts->log, "made a certificate", kc_kv("file", cert_path),
                kc_kv("why", problem));
    return 0;
}

/* ---- names of the server ---- */

/* What a certificate can carry as a name; a machine may be called anything. */
static bool is_dns_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!kc_is_alnum(*c) && *c != '-' && *c != '.')
            return false;
    return *text && *text != '.' && *text != '-' && strlen(text) <= 253;
}

static bool is_specific_address(const char *text)
{
    return text && *text && strcmp(text, "0.0.0.0") != 0 && strcmp(text, "::") != 0;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static size_t server_names(const kc__certificates_opts *opts, const char *host,
                           const char *names[MAX_NAMES])
{
    static const char *const always[] = {
        "localhost",  "127.0.0.1",          "::1",
        "kubernetes", "kubernetes.default", "kubernetes.default.svc",
    };
    size_t n = 0;
    for (; n < KC_COUNT(always); n++)
        names[n] = always[n];
    if (is_specific_address(opts->bind_address) && !is_among(opts->bind_address, names, n))
        names[n++] = opts->bind_address;
    if (is_dns_name(host) && !is_among(host, names, n))
        names[n++] = host;
    return n;
}

static int ensure_server(workshop *w, const kc__certificates *paths, kc_error *err)
{
    char machine[254] = "";
    const char *names[MAX_NAMES];
    if (!w->opts->host_name && gethostname(machine, sizeof(machine) - 1) < 0)
        machine[0] = '\0';
    const size_t n =
        server_names(w->opts, w->opts->host_name ? w->opts->host_name : machine, names);
    return ensure_leaf(w,
                       &(kc__cert_spec){.use = KC__CERT_SERVER,
                                        .common_name = "kubecontroller-apiserver",
                                        .names = names,
                                        .n_names = n,
                                        .lifetime = LEAF_LIFETIME},
                       paths->server_cert, paths->server_key, err);
}

static int ensure_admin(workshop *w, const kc__certificates *paths, kc_error *err)
{
    return ensure_leaf(w,
                       &(kc__cert_spec){.use = KC__CERT_CLIENT,
                                        .common_name = "admin",
                                        .organization = "system:masters",
                                        .lifetime = LEAF_LIFETIME},
                       paths->admin_cert, paths->admin_key, err);
}

/* What the server shows to nodes: they know it by this name. */
static int ensure_node_client(workshop *w, const kc__certificates *paths, kc_error *err)
{
    return ensure_leaf(w,
                       &(kc__cert_spec){.use = KC__CERT_CLIENT,
                                        .common_name = "kube-apiserver-kubelet-client",
                                        .lifetime = LEAF_LIFETIME},
                       paths->node_client_cert, paths->node_client_key, err);
}

/* ---- whose clients are welcome ---- */

/* One file for TLS: our authority, for the administrator's certificate, and the operator's. */
static int write_client_ca(const kc__certificates_opts *opts, const kc__certificates *paths,
                           kc_error *err)
{
    kc_scoped(kc_buf) both = {0}, other = {0};
    X509 *first = NULL;
    if (!opts->client_ca_file)
        return 0;
    if (kc__cert_read(opts->client_ca_file, &first, err) < 0 ||
        kc_file_read(opts->client_ca_file, KC_FILE_MAX, &other, err) < 0 ||
        kc_file_read(paths->ca_cert, KC_FILE_MAX, &both, err) < 0) {
        X509_free(first);
        return kc_error_wrap(err, "client certificate authorities");
    }
    X509_free(first);
    kc_buf_append(&both, kc_buf_str(&other));
    return kc_file_write(paths->client_ca, 0644, kc_buf_str(&both), err);
}

/* ---- all of it ---- */

static kc__certificates paths_in(const char *folder, bool bundled)
{
    return (kc__certificates){
        .ca_cert = kc_asprintf("%s/ca.crt", folder),
        .ca_key = kc_asprintf("%s/ca.key", folder),
        .server_cert = kc_asprintf("%s/apiserver.crt", folder),
        .server_key = kc_asprintf("%s/apiserver.key", folder),
        .admin_cert = kc_asprintf("%s/admin.crt", folder),
        .admin_key = kc_asprintf("%s/admin.key", folder),
        .node_client_cert = kc_asprintf("%s/apiserver-kubelet-client.crt", folder),
        .node_client_key = kc_asprintf("%s/apiserver-kubelet-client.key", folder),
        .client_ca = kc_asprintf("%s/%s", folder, bundled ? "client-ca.crt" : "ca.crt"),
    };
}

static int prepare(const kc__certificates_opts *opts, const kc__certificates *paths, kc_error *err)
{
    const kc_clock *clock = opts->clock ? opts->clock : kc_clock_real();
    workshop w = {.opts = opts, .wall = kc_clock_wall(clock)};
    int result = ensure_ca(&w, paths, err);
    if (!result && !opts->without_server)
        result = ensure_server(&w, paths, err);
    if (!result)
        result = ensure_admin(&w, paths, err);
    if (!result)
        result = ensure_node_client(&w, paths, err);
    if (!result && w.changed)
        result = kc_folder_sync(opts->folder, err);
    if (!result)
        result = write_client_ca(opts, paths, err);
    kc__keypair_done(&w.ca);
    return result;
}

static int lock_folder(const char *folder, int *ret_fd, kc_error *err)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        const int failed =
            kc_error_set(err, KC_INTERNAL, "cannot lock %s: %s", folder, strerror(errno));
        if (fd >= 0)
            close(fd);
        return failed;
    }
    *ret_fd = fd;
    return 0;
}

int kc__certificates_prepare(const kc__certificates_opts *opts, kc__certificates *ret,
                             kc_error *err)
{
    int fd = -1;
    if (kc_folder_make(opts->folder, 0700, err) < 0 || lock_folder(opts->folder, &fd, err) < 0)
        return kc_error_wrap(err, "certificates");
    kc__certificates paths = paths_in(opts->folder, opts->client_ca_file != NULL);
    const int failed = prepare(opts, &paths, err);
    close(fd);
    if (failed)
        kc__certificates_done(&paths);
    else
        *ret = paths;
    return failed;
}

void kc__certificates_done(kc__certificates *certs)
{
    free(certs->ca_cert);
    free(certs->ca_key);
    free(certs->server_cert);
    free(certs->server_key);
    free(certs->admin_cert);
    free(certs->admin_key);
    free(certs->node_client_cert);
    free(certs->node_client_key);
    free(certs->client_ca);
    *certs = (kc__certificates){0};
}

/* ---- certificates of the operator ---- */

static char *first_dns_name(X509 *cert)
{
    GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);
    char *found = NULL;
    for (int i = 0; !found && i < sk_GENERAL_NAME_num(names); i++) {
        const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
        if (name->type != GEN_DNS)
            continue;
        const char *text = (const char *)ASN1_STRING_get0_data(name->d.dNSName);
        const size_t n = (size_t)ASN1_STRING_length(name->d.dNSName);
        if (!memchr(text, '\0', n) && !memchr(text, '*', n))
            found = kc_strndup(text, n);
    }
    GENERAL_NAMES_free(names);
    if (found && !is_dns_name(found)) {
        free(found);
        return NULL;
    }
    return found;
}

char *kc__certificate_other_name(const char *cert_file, const char *address)
{
    X509 *cert = NULL;
    if (kc__cert_read(cert_file, &cert, NULL) < 0)
        return NULL;
    char *name = kc__cert_names(cert, address) ? NULL : first_dns_name(cert);
    X509_free(cert);
    return name;
}
