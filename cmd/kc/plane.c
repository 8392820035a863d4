/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.c: opens what a server stands on, in order, and starts it: for `kc apiserver` and `kc up`.
 *
 *     ROOT/store              objects (the storage backend's)
 *     ROOT/certs              certificates, unless --cert-dir names another place
 *     ROOT/admin.kubeconfig   for the administrator
 *
 * What can be wrong with files of the operator's is found before anything is written; then storage
 * is opened, which refuses a second server on the same folder; then the rest is made.
 *
 * To add a step: a row of `steps`, and its end in kc__plane_close.
 */
#include "plane.h"

#include "kc/file.h"

#include "apiserver/serving/kubeconfig.h"

#define GRACE (10 * KC_SECOND)

/* ---- opening ---- */

static int open_storage(kc__plane *p, kc_error *err)
{
    kc_autofree char *location = kc_asprintf("%s/store", p->options->root);
    const kc_storage_opts opts = {.location = location};
    if (kc_folder_make(p->options->root, 0700, err) < 0)
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
static int open_certificates(kc__plane *p, kc_error *err)
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
    return kc_file_read(p->certs.client_ca, KC_FILE_MAX, &p->client_ca, err);
}

/* With a certificate of the operator's, clients trust that one: we cannot know who signed it. */
const char *kc__plane_authority(const kc__plane *p)
{
    return p->options->tls_cert_file ? p->options->tls_cert_file : p->certs.ca_cert;
}

static int write_kubeconfig(kc__plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    kc_autofree char *name = NULL;
    if (o->tls_cert_file)
        name = kc__certificate_other_name(o->tls_cert_file, own_address(o->bind_address));
    p->kubeconfig = kc_asprintf("%s/admin.kubeconfig", o->root);
    return kc__kubeconfig_write(p->kubeconfig,
                                &(kc__kubeconfig_opts){.server = p->secure_url,
                                                       .server_name = name,
                                                       .ca_file = kc__plane_authority(p),
                                                       .cert_file = p->certs.admin_cert,
                                                       .key_file = p->certs.admin_key},
                                err);
}

static int open_secure(kc__plane *p, kc_error *err)
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

static int open_insecure(kc__plane *p, kc_error *err)
{
    const kc__apiserver_options *o = p->options;
    (void)err;
    if (!o->insecure_port)
        return 0;
    p->insecure_url = url_of("http", o->insecure_addr, o->insecure_port);
    p->listeners[p->n_listeners++] = (kc__listener){o->insecure_addr, o->insecure_port, NULL};
    return 0;
}

static int open_authn(kc__plane *p, kc_error *err)
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

static int start_server(kc__plane *p, kc_error *err)
{
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

int kc__plane_open(kc__plane *p, const kc__apiserver_options *options, kc_log *log,
                   kc_metrics *metrics, kc_error *err)
{
    static int (*const steps[])(kc__plane *p, kc_error *err) = {
        open_authn, open_storage, open_certificates, open_secure, open_insecure, start_server,
    };
    p->options = options;
    p->log = log;
    p->metrics = metrics;
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (steps[i](p, err) < 0)
            return -1;
    return 0;
}

void kc__plane_close(kc__plane *p)
{
    kc_apiserver_stop(p->server, GRACE);
    kc__tls_free(p->tls);
    kc__authn_free(p->authn);
    kc_storage_close(p->storage);
    kc__certificates_done(&p->certs);
    kc_buf_done(&p->client_ca);
    free(p->secure_url);
    free(p->insecure_url);
    free(p->kubeconfig);
    *p = (kc__plane){0};
}
