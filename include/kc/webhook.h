/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook.h: admission and conversion, asked of us by an API server.
 *
 *     kc_webhook_server *hooks = kc_webhook_server_new(manager, &(kc_webhook_server_opts){0}, err);
 *     kc_webhook_default(hooks, &robot_kind, set_defaults, NULL, err);
 *     kc_webhook_validate(hooks, &robot_kind, check, NULL, err);
 *
 * Served over TLS at /mutate-GROUP-VERSION-KIND and /validate-… (dots of the group become dashes),
 * at /convert, and at paths of one's own. Certificates come from a folder and are read again when
 * they change, or are made here: a CA and a certificate that are renewed in time, with the caBundle
 * of the configurations (and conversion definitions) that name us patched along.
 */
#ifndef KC_WEBHOOK_H
#define KC_WEBHOOK_H

#include "kc/edit.h"
#include "kc/manager.h"

typedef struct kc_webhook_server kc_webhook_server;

typedef struct kc_webhook_server_opts {
    const char *address;  /* Defaults to ":9443". */
    const char *cert_dir; /* Of tls.crt and tls.key. Defaults to made here. */
    /* Made here: the names in the certificate, and where it is kept so that several processes share
     * it. */
    const char *const *names; /* End with NULL. Defaults to the host's name and localhost. */
    const char *secret_ns, *secret_name; /* A Secret. Defaults to memory: each process its own. */
    const char *const *configurations;   /* Webhook configurations whose caBundle is ours. */
    const char *const *definitions;      /* CRDs with a conversion webhook of ours. */
    int64_t valid; /* Of a certificate. Defaults to 90 days; renewed at 2/3. */
} kc_webhook_server_opts;

/* Belongs to the manager. */
kc_webhook_server *kc_webhook_server_new(kc_manager *manager, const kc_webhook_server_opts *opts,
                                         kc_error *err);
int kc_webhook_server_port(const kc_webhook_server *server);

/* An AdmissionReview's request. All of it lives as long as the call. */
typedef struct kc_admission {
    kc_str uid, operation; /* CREATE, UPDATE, DELETE, CONNECT */
    kc_gvk kind;
    kc_gvr resource;
    kc_str subresource, name, ns;
    kc_str username, user_uid;
    const kc_str *groups;
    size_t n_groups;
    bool dry_run;
    const kc_object *object, *old_object; /* NULL where there is none. */
} kc_admission;

/* What to answer: zero allows. */
typedef struct kc_admission_answer {
    kc_buf patch;                /* A JSON patch. */
    const char *const *warnings; /* End with NULL; texts live until the answer is written. */
} kc_admission_answer;

/* 0 allows; negative denies with the error: its code and message go to the client as they are where
 * it is a Status of the API (kc_error_set with a reason), else 403. Any thread, several at a time.
 */
typedef int kc_admit_fn(const kc_admission *request, kc_admission_answer *ret, void *user,
                        kc_error *err);
int kc_webhook_handle(kc_webhook_server *server, const char *path, kc_admit_fn *admit, void *user,
                      kc_error *err);

/* Changes the edit; the difference becomes the patch. Not asked for DELETE. */
typedef int kc_default_fn(kc_edit *object, const kc_admission *request, void *user, kc_error *err);
int kc_webhook_default(kc_webhook_server *server, const kc_kind *kind, kc_default_fn *fn,
                       void *user, kc_error *err);
/* `warn` may be called with a text (copied) any number of times. */
typedef struct kc_warnings kc_warnings;
void kc_warn(kc_warnings *to, const char *fmt, ...) KC_PRINTF(2, 3);
typedef int kc_validate_fn(const kc_admission *request, kc_warnings *warnings, void *user,
                           kc_error *err);
int kc_webhook_validate(kc_webhook_server *server, const kc_kind *kind, kc_validate_fn *fn,
                        void *user, kc_error *err);

/* Gives the object as another version of its kind; NULL with an error if it cannot be. */
typedef kc_object *kc_convert_fn(const kc_object *object, kc_str desired_api_version, void *user,
                                 kc_error *err);
int kc_webhook_convert(kc_webhook_server *server, kc_group_kind kind, kc_convert_fn *fn, void *user,
                       kc_error *err);

#endif
