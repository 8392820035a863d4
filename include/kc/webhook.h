/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook.h: admission and conversion, asked of us by an API server.
 *
 *     kc_webhook_server *hooks = kc_webhook_server_new(manager, &(kc_webhook_server_opts){0}, err);
 *     kc_webhook_default(hooks, &robot_kind, set_defaults, NULL, err);
 *     kc_webhook_validate(hooks, &robot_kind, check, NULL, err);
 *
 * Served over TLS at /mutate-GROUP-VERSION-KIND and /validate-… (lower case; dots of the group
 * become dashes), at /convert, and at paths of one's own; with the manager, on every one of its
 * processes, whether or not it leads. Certificates come from a folder and are read again when they
 * change, or are made here: a CA and a certificate that are renewed in time, with the caBundle of
 * the configurations (and conversion definitions) that name us patched along.
 */
#ifndef KC_WEBHOOK_H
#define KC_WEBHOOK_H

#include "kc/edit.h"
#include "kc/manager.h"

typedef struct kc_webhook_server kc_webhook_server;

typedef struct kc_webhook_server_opts {
    const char *address; /* "host:port". Defaults to ":9443", on all addresses. */
    int workers;         /* Calls handled at a time; further ones wait. Defaults to 8. */
    bool crash;          /* Do not guard calls: see kc_controller_opts. */

    /* Of tls.crt and tls.key, and of ca.crt if caBundles are to be patched. Looked at every ten
     * seconds. Defaults to made here. */
    const char *cert_dir;

    /* Made here: the names in the certificate (DNS names and addresses), and where all of it is
     * kept so that several processes share it. */
    const char *const *names; /* End with NULL. Defaults to the host's name, localhost and the
                               * addresses of that; with a Secret they must be said. */
    const char *secret_ns, *secret_name; /* A Secret. Defaults to memory: each process its own. */
    int64_t valid; /* Of a certificate; of the CA ten times that. Defaults to 90 days. Renewed at
                    * 2/3. */

    /* Whose caBundle is ours; one that is not there yet is patched when it is, one that somebody
     * else changed within a minute. Needs get and patch of these. End with NULL. */
    const char *const *configurations; /* Mutating and validating webhook configurations. */
    const char *const *definitions;    /* CRDs with a conversion webhook. */
} kc_webhook_server_opts;

/*
 * Belongs to the manager, which is not started yet; one for each. It is part of /readyz as
 * "webhook". `opts` may be NULL. NULL on error: an address or names that are none.
 *
 * What follows adds to it, before or while it is served; KC_ALREADY_EXISTS when the path, or the
 * kind's conversion, is taken. Functions are called on threads of the server, several at a time;
 * they may block, but an API server waits for ten seconds, usually. Calls are guarded as reconciles
 * are (controller.h): a crash is answered with an error.
 */
kc_webhook_server *kc_webhook_server_new(kc_manager *manager, const kc_webhook_server_opts *opts,
                                         kc_error *err);
/* 0 while it does not listen. */
int kc_webhook_server_port(const kc_webhook_server *server);
/* Looks at the caBundles now instead of within a minute: for who has just made a configuration.
 * Returns at once. Any thread. */
void kc_webhook_server_publish(kc_webhook_server *server);

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
    const kc_value *request;              /* All that came: options, userInfo.extra, requestKind. */
} kc_admission;

/* What to answer: zero allows. */
typedef struct kc_admission_answer {
    kc_buf patch; /* A JSON patch (kc_json_patch_make makes one). Freed by the server. */
    /* End with NULL; not freed: constants, or what lives as long as `user`. */
    const char *const *warnings;
} kc_admission_answer;

/*
 * 0 allows; negative denies with the error: reason, code, message and details go to the client as
 * they are; an error without a reason (KC_UNKNOWN, or not set) is Forbidden, 403.
 */
typedef int kc_admit_fn(const kc_admission *request, kc_admission_answer *ret, void *user,
                        kc_error *err);
int kc_webhook_handle(kc_webhook_server *server, const char *path, kc_admit_fn *admit, void *user,
                      kc_error *err);

/* Changes the edit; the difference becomes the patch. Not asked for DELETE. The kind is static. */
typedef int kc_default_fn(kc_edit *object, const kc_admission *request, void *user, kc_error *err);
int kc_webhook_default(kc_webhook_server *server, const kc_kind *kind, kc_default_fn *fn,
                       void *user, kc_error *err);
typedef struct kc_warnings kc_warnings;
/* Shown to the client, whatever the result; any number of times. */
void kc_warn(kc_warnings *to, const char *fmt, ...) KC_PRINTF(2, 3);
/* Asked for CREATE (object), UPDATE (object and old_object) and DELETE (old_object). */
typedef int kc_validate_fn(const kc_admission *request, kc_warnings *warnings, void *user,
                           kc_error *err);
int kc_webhook_validate(kc_webhook_server *server, const kc_kind *kind, kc_validate_fn *fn,
                        void *user, kc_error *err);
/* Both at a path of one's own. */
int kc_webhook_default_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                          kc_default_fn *fn, void *user, kc_error *err);
int kc_webhook_validate_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                           kc_validate_fn *fn, void *user, kc_error *err);

/* Gives the object (a reference) as another version of its kind; NULL with an error if it cannot
 * be. Name, namespace and uid stay. One for each kind, all of its versions. */
typedef kc_object *kc_convert_fn(const kc_object *object, kc_str desired_api_version, void *user,
                                 kc_error *err);
int kc_webhook_convert(kc_webhook_server *server, kc_group_kind kind, kc_convert_fn *fn, void *user,
                       kc_error *err);

#endif
