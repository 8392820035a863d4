/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: `kc apiserver`: opens what the server stands on, starts it, waits for a signal.
 *
 *     ROOT/store              objects (the storage backend's)
 *     ROOT/certs              certificates, unless --cert-dir names another place
 *     ROOT/admin.kubeconfig   for the administrator
 *
 * What can be wrong with files of the operator's is found before anything is written; then storage
 * is opened, which refuses a second server on the same folder; then the rest is made.
 *
 * Signals. SIGTERM and SIGINT are blocked in all threads and waited for here; the first one drains,
 * and exits 0 when the last request was answered or the grace is over. From then on a second one
 * ends the process at once, with 128 and its number (130, 143): by a handler, for the kernel
 * ignores an unhandled signal to the first process of a container. SIGHUP and SIGPIPE are ignored.
 */
#include "apiserver_options.h"
#include "verb.h"

#include "apiserver/apiserver.h"
#include "apiserver/serving/certificates.h"
#include "apiserver/serving/files.h"
#include "apiserver/serving/kubeconfig.h"

#include <signal.h>
#include <unistd.h>

#define GRACE (10 * KC_SECOND)

/* Everything a running server stands on. */
typedef struct plane {
    const kc__apiserver_options *options;
    kc_log *log;
    kc_metrics *metrics;
    kc_rand rand;
    kc_storage *storage;
    kc__authn *authn;
    kc__certificates certs;
    kc__tls *tls;
    kc_buf client_ca;
    char *secure_url, *insecure_url; /* NULL: that port is off. */
    char *kubeconfig;                /* NULL: there is none. */
    kc__listener listeners[2];
    size_t n_listeners;
    kc_apiserver *server;
} plane;

/* ---- opening ---- */

static int open_storage(plane *p, kc_error *err)
{
    kc_autofree char *location = kc_asprintf("%s/store", p->options->root);
    const kc_storage_opts opts = {.location = location};
    if (kc__make_folder(p->options->root, err) < 0)
        return kc_error_wrap(err, "--file-rootpath");
    return kc_storage_open(p->options->backend, &opts, &p->storage, err);
}

/* The address under which this machine reaches a listener. */
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

/* Also where nobody is served over TLS: nodes are asked over it. */
static int open_certificates(plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    kc_autofree char *folder =
        o->cert_dir ? kc_strdup(o->cert_dir) : kc_asprintf("%s/certs", o->root);
    const kc__certificates_opts opts = {.folder = folder,
                                        .bind_address = o->bind_address,
                                        .without_server = o->tls_cert_file || !o->secure_port,
                                        .client_ca_file = o->client_ca_file,
                                        .log = p->log};
    if (kc__certificates_prepare(&opts, &p->certs, err) < 0)
        return -1;
    return kc__read_file(p->certs.client_ca, &p->client_ca, err);
}

/* With a certificate of the operator's, clients trust that one: we cannot know who signed it. */
static int write_kubeconfig(plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    kc_autofree char *name = NULL;
    if (o->tls_cert_file)
        name = kc__certificate_other_name(o->tls_cert_file, own_address(o->bind_address));
    p->kubeconfig = kc_asprintf("%s/admin.kubeconfig", o->root);
    return kc__kubeconfig_write(
        p->kubeconfig,
        &(kc__kubeconfig_opts){.server = p->secure_url,
                               .server_name = name,
                               .ca_file = o->tls_cert_file ? o->tls_cert_file : p->certs.ca_cert,
                               .cert_file = p->certs.admin_cert,
                               .key_file = p->certs.admin_key},
        err);
}

static int open_secure(plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    if (!o->secure_port)
        return 0;
    p->secure_url = url_of("https", o->bind_address, o->secure_port);
    if (write_kubeconfig(p, err) < 0)
        return -1;
    p->tls = kc__tls_new(
        &(kc__tls_opts){.cert_file = o->tls_cert_file ? o->tls_cert_file : p->certs.server_cert,
                        .key_file = o->tls_key_file ? o->tls_key_file : p->certs.server_key,
                        .client_ca_file = p->certs.client_ca},
        err);
    if (!p->tls)
        return -1;
    p->listeners[p->n_listeners++] = (kc__listener){o->bind_address, o->secure_port, p->tls};
    return 0;
}

static int open_insecure(plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    (void)err;
    if (!o->insecure_port)
        return 0;
    p->insecure_url = url_of("http", o->insecure_addr, o->insecure_port);
    p->listeners[p->n_listeners++] = (kc__listener){o->insecure_addr, o->insecure_port, NULL};
    return 0;
}

static int open_authn(plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    p->authn = kc__authn_new(&(kc__authn_opts){.token_file = o->token_file,
                                               .allow_localhost = o->allow_localhost,
                                               .refuse_anonymous = !o->anonymous,
                                               .refuse_pages = true,
                                               .log = p->log},
                             err);
    return p->authn ? 0 : -1;
}

static int start_server(plane *p, kc_error *err)
{
    p->metrics = kc_metrics_new();
    kc_rand_seed_os(&p->rand);
    p->server =
        kc_apiserver_start(&(kc_apiserver_opts){.storage = kc_take(p->storage),
                                                .listeners = p->listeners,
                                                .n_listeners = p->n_listeners,
                                                .authn = p->authn,
                                                .node_client_cert = p->certs.node_client_cert,
                                                .node_client_key = p->certs.node_client_key,
                                                .client_ca = kc_buf_str(&p->client_ca),
                                                .request_timeout = p->options->request_timeout,
                                                .log = p->log,
                                                .metrics = p->metrics,
                                                .rand = &p->rand},
                           err);
    return p->server ? 0 : -1;
}

static int open_all(plane *p, kc_error *err)
{
    static int (*const steps[])(plane *p, kc_error *err) = {
        open_authn, open_storage, open_certificates, open_secure, open_insecure, start_server,
    };
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (steps[i](p, err) < 0)
            return -1;
    return 0;
}

static void close_all(plane *p)
{
    kc_apiserver_stop(p->server, GRACE);
    kc__tls_free(p->tls);
    kc__authn_free(p->authn);
    kc_storage_close(p->storage);
    kc_metrics_free(p->metrics);
    kc__certificates_done(&p->certs);
    kc_buf_done(&p->client_ca);
    free(p->secure_url);
    free(p->insecure_url);
    free(p->kubeconfig);
    kc_log_free(p->log);
}

/* ---- signals ---- */

static void exit_at_once(int number)
{
    _exit(128 + number);
}

/* Before any thread is started: threads inherit it. */
static sigset_t block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    return set;
}

/* Blocks until the first one; the second one then ends the process. */
static int await_signal(const sigset_t *set)
{
    int number = 0;
    while (sigwait(set, &number) != 0)
        ;
    signal(SIGTERM, exit_at_once);
    signal(SIGINT, exit_at_once);
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    return number;
}

/* ---- talking ---- */

static void say_what_to_try(const plane *p)
{
    const bool both = p->secure_url && p->insecure_url;
    printf("kc: serving the API on %s%s%s; everything is kept in %s\n",
           p->secure_url ? p->secure_url : "", both ? " and " : "",
           p->insecure_url ? p->insecure_url : "", p->options->root);
    if (p->kubeconfig)
        printf("    try: kubectl --kubeconfig %s get namespaces\n", p->kubeconfig);
    else
        printf("    try: kubectl -s %s get namespaces\n", p->insecure_url);
    fflush(stdout);
}

static int serve(const kc__apiserver_options *options)
{
    kc_scoped(kc_error) err = {0};
    const sigset_t signals = block_signals();
    plane p = {.options = options,
               .log = kc_log_new(
                   &(kc_log_opts){.verbosity = options->verbosity, .format = options->log_format})};
    const int failed = open_all(&p, &err);
    if (failed) {
        fprintf(stderr, "kc apiserver: %s\n", kc_error_text(&err));
    } else {
        say_what_to_try(&p);
        const int number = await_signal(&signals);
        kc_log_info(p.log, "stopping; another signal stops at once", kc_kv("signal", number));
        kc_apiserver_drain(p.server);
    }
    close_all(&p);
    return failed ? 1 : 0;
}

int kc_verb_apiserver(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__apiserver_options options;
    const int parsed = kc_flags_parse(&kc_apiserver_flags, argc, argv, &options, &err);
    if (parsed > 0) {
        kc_flags_help(&kc_apiserver_flags, stdout);
        return 0;
    }
    if (parsed < 0 || kc__apiserver_options_check(&options, &err) < 0)
        return kc_called_wrongly("apiserver", &err);
    return serve(&options);
}
