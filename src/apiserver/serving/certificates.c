/* SPDX-License-Identifier: Apache-2.0 */
/*
 * certificates.c: the set of certificates of a server.
 *
 *     ca.crt ──signs──▶ apiserver.crt      localhost, this host, kubernetes.default.svc, …
 *        └─────signs──▶ admin.crt          CN=admin, O=system:masters
 *     node-client-ca.crt ──signs──▶ apiserver-kubelet-client.crt   the server, as a client of nodes
 *
 * Nodes have a CA of their own: they accept every client with a certificate of it, while ca.crt, or
 * a CA of the operator (--client-ca-file), may sign certificates of any name.
 *
 * authority.c creates and replaces CAs, leaf.c leaves. New files are synced together at the end, so
 * that a first start waits for the disk as little as possible. The directory is locked meanwhile,
 * for servers that share it.
 *
 * To add a certificate, add its paths to the struct and a call of kc__serving_leaf_ensure; for a
 * CA, a function beside prepare_clients.
 */
#include "apiserver/serving/certificates.h"

#include "apiserver/serving/authority.h"
#include "apiserver/serving/leaf.h"
#include "apiserver/serving/pem_files.h"
#include "kc/ascii.h"
#include "kc/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/x509v3.h>
#include <sys/file.h>
#include <unistd.h>

enum { MAX_NAMES = 8 + KC__SERVING_MAX_NAMES };

/* ---- names of the server ---- */

/* Whether a certificate can contain it as a DNS name; a host name may be any text. */
static bool is_dns_name(const char *text)
{
    for (const char *c = text; *c; c++)
        if (!kc_is_alnum(*c) && *c != '-' && *c != '.')
            return false;
    return *text && *text != '.' && *text != '-' && strlen(text) <= 253;
}

static bool is_ip_address(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

static int check_given_names(const kc__serving_certificates_opts *opts, kc_error *err)
{
    if (opts->n_names > KC__SERVING_MAX_NAMES)
        return kc_error_set(err, KC_INVALID, "more than %d names for the serving certificate",
                            KC__SERVING_MAX_NAMES);
    for (size_t i = 0; i < opts->n_names; i++)
        if (!is_ip_address(opts->names[i]) && !is_dns_name(opts->names[i]))
            return kc_error_set(err, KC_INVALID,
                                "invalid name '%s' for the serving certificate: must be an IP "
                                "address or a DNS name",
                                opts->names[i]);
    return 0;
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

static size_t server_names(const kc__serving_certificates_opts *opts, const char *host,
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
    for (size_t i = 0; i < opts->n_names; i++)
        if (!is_among(opts->names[i], names, n))
            names[n++] = opts->names[i];
    return n;
}

static int ensure_server(kc__serving_pass *pass, const kc__serving_authority *ca,
                         const kc__serving_certificates *paths, kc_error *err)
{
    char machine[254] = "";
    const char *names[MAX_NAMES];
    if (!pass->opts->host_name && gethostname(machine, sizeof(machine) - 1) < 0)
        machine[0] = '\0';
    const size_t n =
        server_names(pass->opts, pass->opts->host_name ? pass->opts->host_name : machine, names);
    return kc__serving_leaf_ensure(pass, ca,
                                   &(kc__serving_leaf){paths->server_cert,
                                                       paths->server_key,
                                                       {.use = KC__CERT_SERVER,
                                                        .common_name = "kubecontroller-apiserver",
                                                        .names = names,
                                                        .n_names = n,
                                                        .lifetime = KC__SERVING_LEAF_LIFETIME}},
                                   err);
}

static int ensure_admin(kc__serving_pass *pass, const kc__serving_authority *ca,
                        const kc__serving_certificates *paths, kc_error *err)
{
    return kc__serving_leaf_ensure(pass, ca,
                                   &(kc__serving_leaf){paths->admin_cert,
                                                       paths->admin_key,
                                                       {.use = KC__CERT_CLIENT,
                                                        .common_name = "admin",
                                                        .organization = "system:masters",
                                                        .lifetime = KC__SERVING_LEAF_LIFETIME}},
                                   err);
}

/* The client certificate for nodes, which identify the server by this name. */
static int ensure_node_client(kc__serving_pass *pass, const kc__serving_authority *ca,
                              const kc__serving_certificates *paths, kc_error *err)
{
    return kc__serving_leaf_ensure(
        pass, ca,
        &(kc__serving_leaf){paths->node_client_cert,
                            paths->node_client_key,
                            {.use = KC__CERT_CLIENT,
                             .common_name = "kube-apiserver-kubelet-client",
                             .lifetime = KC__SERVING_LEAF_LIFETIME}},
        err);
}

/* ---- client CAs ---- */

/* One file for TLS: our CA, for the administrator's certificate, and the operator's CAs. */
static int write_client_ca(const kc__serving_certificates_opts *opts,
                           const kc__serving_certificates *paths, kc_error *err)
{
    kc_scoped(kc_buf) both = {0}, other = {0};
    X509 *first = NULL;
    if (!opts->client_ca_file)
        return 0;
    if (kc__serving_cert_read(opts->client_ca_file, &first, err) < 0 ||
        kc_file_read(opts->client_ca_file, KC_FILE_MAX, &other, err) < 0 ||
        kc_file_read(paths->ca_cert, KC_FILE_MAX, &both, err) < 0) {
        X509_free(first);
        return kc_error_wrap(err, "client certificate authorities");
    }
    X509_free(first);
    kc_buf_append(&both, kc_buf_str(&other));
    return kc_file_write(paths->client_ca, 0644, kc_buf_str(&both), err);
}

/* ---- all certificates ---- */

static kc__serving_certificates paths_in(const char *dir, bool bundled)
{
    return (kc__serving_certificates){
        .ca_cert = kc_asprintf("%s/ca.crt", dir),
        .ca_key = kc_asprintf("%s/ca.key", dir),
        .server_cert = kc_asprintf("%s/apiserver.crt", dir),
        .server_key = kc_asprintf("%s/apiserver.key", dir),
        .admin_cert = kc_asprintf("%s/admin.crt", dir),
        .admin_key = kc_asprintf("%s/admin.key", dir),
        .node_client_ca_cert = kc_asprintf("%s/node-client-ca.crt", dir),
        .node_client_ca_key = kc_asprintf("%s/node-client-ca.key", dir),
        .node_client_cert = kc_asprintf("%s/apiserver-kubelet-client.crt", dir),
        .node_client_key = kc_asprintf("%s/apiserver-kubelet-client.key", dir),
        .client_ca = kc_asprintf("%s/%s", dir, bundled ? "client-ca.crt" : "ca.crt"),
    };
}

/* The CA of clients and of the server itself, and the certificates that it signs. */
static int prepare_clients(kc__serving_pass *pass, const kc__serving_certificates *paths,
                           kc_error *err)
{
    kc__serving_authority ca = {.name = pass->opts->shared_ca ? "kubecontroller-shared-ca"
                                                              : "kubecontroller-ca",
                                .cert_path = paths->ca_cert,
                                .key_path = paths->ca_key,
                                .replace_now = pass->opts->renew_ca};
    int result = kc__serving_authority_ensure(pass, &ca, err);
    if (!result && !pass->opts->without_server)
        result = ensure_server(pass, &ca, paths, err);
    if (!result)
        result = ensure_admin(pass, &ca, paths, err);
    kc__serving_authority_done(&ca);
    return result;
}

/* The CA that nodes trust, and the certificate that it signs. */
static int prepare_node_client(kc__serving_pass *pass, const kc__serving_certificates *paths,
                               kc_error *err)
{
    kc__serving_authority ca = {.name = pass->opts->shared_ca
                                            ? "kubecontroller-shared-node-client-ca"
                                            : "kubecontroller-node-client-ca",
                                .cert_path = paths->node_client_ca_cert,
                                .key_path = paths->node_client_ca_key,
                                .replace_now = pass->opts->renew_ca};
    int result = kc__serving_authority_ensure(pass, &ca, err);
    if (!result)
        result = ensure_node_client(pass, &ca, paths, err);
    kc__serving_authority_done(&ca);
    return result;
}

static int prepare_all(kc__serving_pass *pass, const kc__serving_certificates *paths, kc_error *err)
{
    int result = prepare_clients(pass, paths, err);
    if (!result)
        result = prepare_node_client(pass, paths, err);
    if (!result && pass->changed)
        result = kc_dir_sync(pass->opts->dir, err);
    if (!result)
        result = write_client_ca(pass->opts, paths, err);
    return result;
}

static int lock_dir(const char *dir, int *ret_fd, kc_error *err)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_EX) < 0) {
        const int failed =
            kc_error_set(err, KC_INTERNAL, "cannot lock %s: %s", dir, strerror(errno));
        if (fd >= 0)
            close(fd);
        return failed;
    }
    *ret_fd = fd;
    return 0;
}

int kc__serving_certificates_prepare(const kc__serving_certificates_opts *opts,
                                     kc__serving_certificates *ret, kc_error *err)
{
    int fd = -1;
    if (check_given_names(opts, err) < 0 || kc_dir_create(opts->dir, 0700, err) < 0 ||
        lock_dir(opts->dir, &fd, err) < 0)
        return kc_error_wrap(err, "certificates");
    kc__serving_certificates paths = paths_in(opts->dir, opts->client_ca_file != NULL);
    const kc_clock *clock = opts->clock ? opts->clock : kc_clock_real();
    kc__serving_pass pass = {.opts = opts, .wall = kc_clock_wall(clock)};
    const int failed = prepare_all(&pass, &paths, err);
    close(fd);
    if (failed)
        kc__serving_certificates_done(&paths);
    else
        *ret = paths;
    return failed;
}

void kc__serving_certificates_done(kc__serving_certificates *certs)
{
    free(certs->ca_cert);
    free(certs->ca_key);
    free(certs->server_cert);
    free(certs->server_key);
    free(certs->admin_cert);
    free(certs->admin_key);
    free(certs->node_client_ca_cert);
    free(certs->node_client_ca_key);
    free(certs->node_client_cert);
    free(certs->node_client_key);
    free(certs->client_ca);
    *certs = (kc__serving_certificates){0};
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

char *kc__serving_certificate_other_name(const char *cert_file, const char *address)
{
    X509 *cert = NULL;
    if (kc__serving_cert_read(cert_file, &cert, NULL) < 0)
        return NULL;
    char *name = kc__cert_names(cert, address) ? NULL : first_dns_name(cert);
    X509_free(cert);
    return name;
}
