/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.c: opens storage, certificates and listeners, and starts the API server; for `kc apiserver`
 * and `kc up`.
 *
 *     ROOT/store              objects (the storage backend's)
 *     ROOT/certs              certificates and the key of service-account tokens, unless
 *                             --cert-dir names another directory
 *     ROOT/admin.kubeconfig   for the administrator
 *     ROOT/encryption.yaml    the key that encrypts Secrets (encryption_file.h)
 *     ROOT/backup.sock        for `kc store backup` (maintenance/backup_socket.h)
 *
 * The operator's files are checked before the first write. Then storage is opened, which refuses a
 * second server on the same directory; then certificates and listeners are created.
 *
 * To add a step: a row of `steps`, and its cleanup in kc__cli_plane_close.
 */
#include "plane.h"

#include "encryption_file.h"
#include "initial.h"
#include "plane_authz.h"
#include "plane_remote.h"
#include "plane_trust.h"
#include "shared_keys.h"
#include "trust.h"

#include "kc/file.h"

#include "apiserver/background/system_crds.h"
#include "apiserver/maintenance/backup_socket.h"
#include "apiserver/serving/account_key.h"
#include "apiserver/serving/kubeconfig.h"

#define GRACE (10 * KC_SECOND)

/* Address space reserved for running requests when memory is short (kc/mem.h). */
#define MEMORY_RESERVE ((size_t)64 << 20)

/* ---- opening ---- */

static int check_files(kc__cli_plane *p, kc_error *err)
{
    kc__cli_plane_watch_files(p);
    return kc__cli_check_file_modes(p->options, p->log, err);
}

static int check_shared_keys(kc__cli_plane *p, kc_error *err)
{
    return kc__cli_shared_keys_check(p->options, err);
}

static int open_storage(kc__cli_plane *p, kc_error *err)
{
    kc_autofree char *location = kc_asprintf("%s/store", p->options->root);
    const kc__storage_opts opts = {.location = location, .log = p->log, .metrics = p->metrics};
    if (kc_dir_create(p->options->root, 0700, err) < 0)
        return kc_error_wrap(err, "--file-rootpath");
    if (kc__cli_etcd_open(&p->options->etcd, p->options->backend, &opts, &p->storage, err) < 0)
        return kc_error_result(err);
    return kc__cli_etcd_overrides_open(&p->options->etcd, &opts, &p->overrides, err);
}

/* A store that other processes can open needs no help with its backup. The server runs without the
 * socket, if a file system does not have any. */
static void start_backups(kc__cli_plane *p, kc__storage *storage)
{
    kc_scoped(kc_error) why = {0};
    if (!storage->backend->durable || !storage->backend->exclusive)
        return;
    p->backups = kc__maintenance_backup_server_start(storage, p->options->root, p->log, &why);
    if (!p->backups)
        kc_log_warn(p->log, "no backups while the server runs", kc_kv("err", &why));
}

/* ---- encryption at rest ---- */

static int read_encryption(kc__cli_plane *p, const char *path, kc_error *err)
{
    p->encryption =
        kc__encryption_new(&(kc__encryption_opts){.path = path,
                                                  .reload = p->options->encryption_reload,
                                                  .log = p->log,
                                                  .metrics = p->metrics},
                           err);
    return p->encryption ? 0 : kc_error_wrap(err, "--encryption-provider-config");
}

/* The operator's file is read before the first write. */
static int open_given_encryption(kc__cli_plane *p, kc_error *err)
{
    kc_autofree char *path = kc__cli_shared_encryption_path(p->options);
    return path ? read_encryption(p, path, err) : 0;
}

static int open_own_encryption(kc__cli_plane *p, kc_error *err)
{
    if (p->encryption || !p->options->encryption_create)
        return 0;
    kc_autofree char *path = kc__cli_encryption_create(p->options->root, p->storage, p->log, err);
    return path ? read_encryption(p, path, err) : kc_error_result(err);
}

/* ---- addresses, certificates, listeners ---- */

/* The address at which this machine reaches a listener. */
static const char *own_address(const char *address)
{
    if (!strcmp(address, "0.0.0.0"))
        return "127.0.0.1";
    return strcmp(address, "::") != 0 ? address : "::1";
}

static char *url_of(const char *scheme, const char *address, int port)
{
    const char *own = own_address(address);
    const bool v6 = strchr(own, ':') != NULL;
    return kc_asprintf("%s://%s%s%s:%d", scheme, v6 ? "[" : "", own, v6 ? "]" : "", port);
}

/* Needed without HTTPS too: the server reaches nodes over TLS. */
static int prepare_certificates(const kc__cli_plane *p, kc__serving_certificates *ret,
                                kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    kc_autofree char *dir = kc__cli_cert_dir(o);
    const char *names[KC_COUNT(o->tls_names.items)];
    for (size_t i = 0; i < o->tls_names.n; i++)
        names[i] = o->tls_names.items[i].p; /* Terminated: a flag's value. */
    const kc__serving_certificates_opts opts = {.dir = dir,
                                                .bind_address = o->bind_address,
                                                .names = names,
                                                .n_names = o->tls_names.n,
                                                .without_server =
                                                    o->tls_cert_file || !o->secure_port,
                                                .client_ca_file = o->client_ca_file,
                                                .log = p->log};
    return kc__serving_certificates_prepare(&opts, ret, err);
}

static int open_certificates(kc__cli_plane *p, kc_error *err)
{
    if (prepare_certificates(p, &p->certs, err) < 0)
        return kc_error_result(err);
    kc__cli_plane_watch_own_files(p);
    return kc__cli_plane_read_client_ca(p, err);
}

/* Clients trust the operator's certificate itself, because its issuer is unknown. */
const char *kc__cli_plane_authority(const kc__cli_plane *p)
{
    return p->options->tls_cert_file ? p->options->tls_cert_file : p->certs.ca_cert;
}

int kc__cli_plane_write_kubeconfig(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    kc_autofree char *name = NULL;
    if (o->tls_cert_file)
        name = kc__serving_certificate_other_name(o->tls_cert_file, own_address(o->bind_address));
    return kc__serving_kubeconfig_write(
        p->kubeconfig,
        &(kc__serving_kubeconfig_opts){.server = p->secure_url,
                                       .server_name = name,
                                       .ca_file = kc__cli_plane_authority(p),
                                       .cert_file = p->certs.admin_cert,
                                       .key_file = p->certs.admin_key},
        err);
}

/* A job of housekeeping. The watch reads the new files (plane_trust.c). */
static void renew_certificates(void *user)
{
    kc__cli_plane *p = user;
    kc_scoped(kc__serving_certificates) certs = {0};
    kc_scoped(kc_error) err = {0};
    if (prepare_certificates(p, &certs, &err) < 0)
        kc_log_error(p->log, "cannot renew certificates", kc_kv("err", &err));
}

static int open_secure(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    if (!o->secure_port)
        return 0;
    p->secure_url = url_of("https", o->bind_address, o->secure_port);
    p->kubeconfig = kc_asprintf("%s/admin.kubeconfig", o->root);
    if (kc__cli_plane_write_kubeconfig(p, err) < 0)
        return kc_error_result(err);
    if (kc__cli_plane_open_tls(p, err) < 0)
        return kc_error_result(err);
    p->listeners[p->n_listeners++] = (kc__http_listener){o->bind_address, o->secure_port, p->tls};
    return 0;
}

static int open_insecure(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    (void)err;
    if (!o->insecure_port)
        return 0;
    p->insecure_url = url_of("http", o->insecure_addr, o->insecure_port);
    p->listeners[p->n_listeners++] = (kc__http_listener){o->insecure_addr, o->insecure_port, NULL};
    return 0;
}

/* --authentication-config decides, if it has such a section. */
static bool accepts_anonymous(const kc__cli_plane *p)
{
    const kc__jwt_config *config = p->jwt_config;
    return config && config->has_anonymous ? config->anonymous : p->options->anonymous;
}

static kc__authn_texts anonymous_paths(const kc__cli_plane *p)
{
    const kc__jwt_config *config = p->jwt_config;
    return config ? (kc__authn_texts){config->anonymous_paths.items, config->anonymous_paths.n}
                  : (kc__authn_texts){0};
}

static int open_authn(kc__cli_plane *p, kc_error *err)
{
    const kc__cli_apiserver_options *o = p->options;
    const kc__cli_pod_users pods = kc__cli_pod_users_of(o->pod_uids);
    const kc__local_trust_opts localhost = {.users = o->localhost_users.uids,
                                            .n_users = o->localhost_users.n,
                                            .never = pods.ranges,
                                            .n_never = pods.n,
                                            .log = p->log};
    const kc__authn_proxy_opts proxy = kc__cli_plane_proxy_opts(p);
    p->authn =
        kc__authn_new(&(kc__authn_opts){.token_file = o->token_file,
                                        .bootstrap_tokens = o->authn.bootstrap_tokens,
                                        .proxy = o->authn.proxy.ca_file ? &proxy : NULL,
                                        .allow_localhost = o->allow_localhost && !o->localhost_off,
                                        .localhost = localhost,
                                        .refuse_anonymous = !accepts_anonymous(p),
                                        .anonymous_paths = anonymous_paths(p),
                                        .refuse_pages = true,
                                        .log = p->log},
                      err);
    return p->authn ? 0 : kc_error_result(err);
}

/* ---- service accounts ---- */

/* Where other systems find the keys of this server; NULL without HTTPS. */
static char *jwks_uri_of(const kc__cli_apiserver_options *o)
{
    if (o->accounts.jwks_uri)
        return kc_strdup(o->accounts.jwks_uri);
    if (!o->secure_port)
        return NULL;
    kc_autofree char *url = url_of("https", o->bind_address, o->secure_port);
    return kc_asprintf("%s/openid/v1/jwks", url);
}

static int read_accounts(kc__cli_plane *p, const char *signing_key_file, kc_error *err)
{
    static const kc_str issuer = KC_STR_INIT(KC__CLI_DEFAULT_ISSUER);
    const kc__cli_account_options *o = &p->options->accounts;
    kc_autofree char *jwks_uri = jwks_uri_of(p->options);
    const kc__sa_opts opts = {.issuers = o->issuers.n
                                             ? (kc__user_audiences){o->issuers.items, o->issuers.n}
                                             : (kc__user_audiences){&issuer, 1},
                              .audiences = {o->audiences.items, o->audiences.n},
                              .key_files = o->key_files.items,
                              .n_key_files = o->key_files.n,
                              .signing_key_file = signing_key_file,
                              .jwks_uri = jwks_uri,
                              .max_seconds = o->max_expiration / KC_SECOND,
                              .extend_expiration = o->extend_expiration,
                              .metrics = p->metrics};
    p->accounts = kc__sa_tokens_new(&opts, err);
    if (!p->accounts)
        return kc_error_result(err);
    kc__authn_accept_accounts(p->authn, p->accounts);
    return 0;
}

/* The operator's key is read before the first write. */
static int open_given_accounts(kc__cli_plane *p, kc_error *err)
{
    const char *given = p->options->accounts.signing_key_file;
    return given ? read_accounts(p, given, err) : 0;
}

static int open_own_accounts(kc__cli_plane *p, kc_error *err)
{
    if (p->accounts)
        return 0;
    kc_autofree char *dir = kc__cli_cert_dir(p->options);
    kc_autofree char *path = kc__serving_account_key_prepare(dir, p->log, err);
    return path ? read_accounts(p, path, err) : kc_error_result(err);
}

static int open_audit(kc__cli_plane *p, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    p->audit = kc__cli_audit_open(&p->options->audit, p->metrics, p->log, &why);
    return why.reason ? kc_error_move(err, &why) : 0;
}

static int check_admission_kubeconfigs(kc__cli_plane *p, kc_error *err)
{
    kc_vec_each (&p->admission.kubeconfigs, path) {
        if (kc__cli_check_secret("--admission-control-config-file", *path, p->log, err) < 0)
            return kc_error_result(err);
        kc__cli_hidden_paths_add_kubeconfig(&p->named_files, *path);
    }
    return 0;
}

static int read_admission_config(kc__cli_plane *p, kc_error *err)
{
    const char *path = p->options->admission_config_file;
    if (path && kc__admission_config_read(path, &p->admission, err) < 0)
        return kc_error_wrap(err, "--admission-control-config-file");
    if (check_admission_kubeconfigs(p, err) < 0)
        return kc_error_result(err);
    p->admission.default_tolerations = (kc__admission_default_toleration_seconds){
        .given = true,
        .not_ready = (int64_t)p->options->not_ready_seconds,
        .unreachable = (int64_t)p->options->unreachable_seconds};
    if (kc__admission_config_check(&p->admission, p->options->server.enabled_plugins, err) < 0)
        return kc_error_wrap(err, "--enable-admission-plugins");
    return 0;
}

/* ---- CRDs of the server itself ---- */

#define SYSTEM_CRDS "manifests/platform/"

enum { MAX_SYSTEM_CRDS = 8 };

typedef struct system_crds {
    kc__bootstrap_crd items[MAX_SYSTEM_CRDS];
    size_t n;
} system_crds;

static void collect_system_crds(system_crds *ret)
{
    for (size_t i = 0; i < kc__cli_n_manifests && ret->n < MAX_SYSTEM_CRDS; i++)
        if (kc_str_starts(kc_cstr(kc__cli_manifests[i].name), KC_STR(SYSTEM_CRDS)))
            ret->items[ret->n++] =
                (kc__bootstrap_crd){kc__cli_manifests[i].name, kc__cli_manifests[i].text};
}

/* Without HTTPS no endpoint is published: its port is that of HTTPS. */
static void set_service_opts(kc__cli_plane *p, kc__apiserver_opts *opts)
{
    const kc__cli_apiserver_options *o = p->options;
    opts->service_range = o->services.range;
    opts->node_ports = o->services.node_ports;
    if (!o->secure_port)
        return;
    p->advertised = kc__cli_service_advertised(&o->services, o->bind_address);
    opts->advertise_address = p->advertised;
    opts->advertise_port = o->secure_port;
}

/* A supervisor starts the process again, which loads the objects from the storage. */
static void end_inconsistent_server(void *user, const kc_error *err)
{
    kc__cli_plane *p = user;
    kc_log_error(p->log, "the store must be loaded again; ending the process", kc_kv("err", err));
    atomic_store(&p->inconsistent, true);
    if (p->stop)
        kc_cancel_fire(p->stop);
}

int kc__cli_plane_check(const kc__cli_plane *p, kc_error *err)
{
    if (!atomic_load(&p->inconsistent))
        return 0;
    return kc_error_set(err, KC_INTERNAL,
                        "ended because the storage and the memory of the server differed: start it "
                        "again");
}

static int cli_plane_start_server(kc__cli_plane *p, kc_error *err)
{
    kc_rand_seed_os(&p->rand);
    system_crds crds = {0};
    kc__apiserver_opts opts = p->options->server;
    collect_system_crds(&crds);
    opts.system_crds = crds.items;
    opts.n_system_crds = crds.n;
    kc__storage *storage = p->storage;
    opts.storage = kc_take(p->storage);
    opts.overrides = p->overrides.items;
    opts.n_overrides = p->overrides.n;
    p->overrides.taken = true;
    opts.encryption = p->encryption;
    opts.audit = p->audit;
    opts.listeners = p->listeners;
    opts.n_listeners = p->n_listeners;
    opts.authn = p->authn;
    opts.authz_chain = p->authz_chain;
    opts.authz_reloads = p->authz_config;
    opts.authz_webhooks = p->authz_webhooks;
    opts.accounts = p->accounts;
    opts.housekeeping = p->housekeeping;
    opts.people = true;
    opts.node_client_cert = p->certs.node_client_cert;
    opts.node_client_key = p->certs.node_client_key;
    opts.client_trust = kc__cli_plane_published(p);
    opts.admission_config = &p->admission;
    opts.inconsistent = end_inconsistent_server;
    opts.inconsistent_user = p;
    opts.log = p->log;
    opts.metrics = p->metrics;
    opts.rand = &p->rand;
    set_service_opts(p, &opts);
    p->server = kc__apiserver_start(&opts, err);
    if (!p->server)
        return kc_error_result(err);
    start_backups(p, storage);
    return 0;
}

static int start_housekeeping(kc__cli_plane *p, kc_error *err)
{
    kc__periodic_add(p->housekeeping, KC__FILE_WATCH_INTERVAL, kc__file_watch_poll, p->watch);
    kc__periodic_add(p->housekeeping, KC__SERVING_RENEWAL_INTERVAL, renew_certificates, p);
    return kc__periodic_start(p->housekeeping, "housekeeping", err);
}

int kc__cli_plane_open(kc__cli_plane *p, const kc__cli_apiserver_options *options, kc_log *log,
                       kc_metrics *metrics, kc_error *err)
{
    static int (*const steps[])(kc__cli_plane *p, kc_error *err) = {
        check_files,
        check_shared_keys,
        kc__cli_plane_open_authz,
        kc__cli_plane_read_remotes,
        open_authn,
        open_given_accounts,
        read_admission_config,
        open_audit,
        open_given_encryption,
        open_storage,
        open_own_encryption,
        open_certificates,
        open_own_accounts,
        open_secure,
        open_insecure,
        kc__cli_plane_open_remotes,
        cli_plane_start_server,
        start_housekeeping,
    };
    kc_mem_reserve(MEMORY_RESERVE);
    p->options = options;
    p->log = log;
    p->metrics = metrics;
    p->housekeeping = kc__periodic_new(NULL);
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (steps[i](p, err) < 0)
            return kc_error_result(err);
    return 0;
}

void kc__cli_plane_close(kc__cli_plane *p)
{
    kc__periodic_free(p->housekeeping); /* Its jobs use the server. */
    kc__file_watch_free(p->watch);
    kc__maintenance_backup_server_stop(p->backups); /* Its thread reads the store. */
    if (p->server && p->options->shutdown_delay)
        kc__apiserver_leave(p->server, p->options->shutdown_delay);
    kc__apiserver_stop(p->server, GRACE);
    kc__audit_free(p->audit);
    kc__tls_free(p->tls);
    kc__authn_free(p->authn);
    kc__webhook_kubeconfig_done(&p->token_webhook);
    kc__cli_hidden_paths_done(&p->named_files);
    kc__cli_plane_close_authz(p);
    kc__jwt_config_unref(p->jwt_config);
    kc__sa_tokens_free(p->accounts);
    kc__admission_config_done(&p->admission);
    kc__storage_close(p->storage);
    kc__cli_etcd_overrides_close(&p->overrides);
    kc__encryption_free(p->encryption);
    kc__serving_certificates_done(&p->certs);
    kc__cli_plane_trust_done(p);
    free(p->advertised);
    free(p->secure_url);
    free(p->insecure_url);
    free(p->kubeconfig);
    *p = (kc__cli_plane){0};
}
