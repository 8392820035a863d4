/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook.h: a server for admission and conversion webhooks.
 *
 *     kc_webhook_server *hooks = kc_webhook_server_new(manager, &(kc_webhook_server_opts){0}, err);
 *     kc_webhook_add_defaulter(hooks, &robot_kind, set_defaults, NULL, err);
 *     kc_webhook_add_validator(hooks, &robot_kind, check, NULL, err);
 *
 * The manager serves them over TLS at /mutate-GROUP-VERSION-KIND and /validate-… (lower case; dots
 * of the group become dashes), at /convert, and at custom paths, in every replica, with or without
 * the lease. Certificates come from a directory and are reloaded when they change, or the server
 * creates them: a CA and a certificate that are renewed in time. It also patches the caBundle of
 * the webhook configurations and CRDs that refer to it.
 */
#ifndef KC_WEBHOOK_H
#define KC_WEBHOOK_H

#include "kc/edit.h"
#include "kc/manager.h"

typedef struct kc_webhook_server kc_webhook_server;

typedef struct kc_webhook_server_opts {
    const char *address; /* "host:port". Defaults to ":9443", on all addresses. */
    int workers;         /* Concurrent calls; further ones wait. Defaults to 8. */
    bool crash_recovery; /* A crash of a handler does not end the process: see controller.h. The
                          * response to a crash is an error. Defaults to off. */

    /* Directory of tls.crt and tls.key, and of ca.crt if caBundles are to be patched. Checked every
     * ten seconds. By default the server creates certificates. */
    const char *cert_dir;

    /* For created certificates: the names in the certificate (DNS names and addresses), and the
     * storage that several processes share. */
    const char *const *names; /* End with NULL. Defaults to the host name, localhost and its
                               * addresses; required with a Secret. */
    const char *secret_ns,
        *secret_name; /* A Secret. Defaults to memory: one certificate per process. */
    int64_t valid;    /* Validity of a certificate; the CA has ten times that. Defaults to 90 days.
                       * Renewed after 2/3. */

    /* Objects whose caBundle the server maintains. One that does not exist yet is patched when it
     * is created; a foreign change is reverted within a minute. Needs get and patch. End with NULL.
     */
    const char *const *configurations; /* Mutating and validating webhook configurations. */
    const char *const *definitions;    /* CRDs with a conversion webhook. */
} kc_webhook_server_opts;

/*
 * Creates the server, which belongs to a manager that has not started; one per manager. /readyz
 * includes it as "webhook". `opts` may be NULL. NULL on error: an invalid address or name.
 *
 * The following functions add webhooks, before or while the server runs; KC_ALREADY_EXISTS when the
 * path, or the kind's conversion, is taken. Handlers run on threads of the server, several at a
 * time; they may block, but an API server usually waits for only ten seconds.
 */
kc_webhook_server *kc_webhook_server_new(kc_manager *manager, const kc_webhook_server_opts *opts,
                                         kc_error *err);
/* 0 while it does not listen. */
int kc_webhook_server_port(const kc_webhook_server *server);
/* Checks the caBundles now instead of within a minute: for callers that have just created a
 * configuration. Returns at once. Any thread. */
void kc_webhook_server_publish_ca(kc_webhook_server *server);

/* The request of an AdmissionReview. Valid during the call. */
typedef struct kc_admission_request {
    kc_str uid, operation; /* CREATE, UPDATE, DELETE, CONNECT */
    kc_gvk kind;
    kc_gvr resource;
    kc_str subresource, name, ns;
    kc_str username, user_uid;
    const kc_str *groups;
    size_t n_groups;
    bool dry_run;
    const kc_object *object, *old_object; /* NULL if absent. */
    const kc_value *request; /* The whole request: options, userInfo.extra, requestKind. */
} kc_admission_request;

/* The response; zero allows. */
typedef struct kc_admission_response {
    kc_buf patch; /* A JSON patch (kc_json_patch_make creates one). The server frees it. */
    /* End with NULL; not freed: constants, or strings that live as long as `user`. */
    const char *const *warnings;
} kc_admission_response;

/*
 * 0 allows; negative denies with the error: reason, code, message and details are sent to the
 * client unchanged; an error without a reason (KC_UNKNOWN, or not set) becomes Forbidden, 403.
 */
typedef int kc_webhook_admit_fn(const kc_admission_request *request, kc_admission_response *ret,
                                void *user, kc_error *err);
int kc_webhook_add_handler(kc_webhook_server *server, const char *path, kc_webhook_admit_fn *admit,
                           void *user, kc_error *err);

/* Changes the edit; the difference becomes the patch. Not called for DELETE. The kind is static. */
typedef int kc_webhook_default_fn(kc_edit *object, const kc_admission_request *request, void *user,
                                  kc_error *err);
int kc_webhook_add_defaulter(kc_webhook_server *server, const kc_kind *kind,
                             kc_webhook_default_fn *fn, void *user, kc_error *err);
typedef struct kc_warnings kc_warnings;
/* Adds a warning, which the client receives whatever the result; any number of times. */
void kc_warnings_add(kc_warnings *to, const char *fmt, ...) KC_PRINTF(2, 3);
/* Called for CREATE (object), UPDATE (object and old_object) and DELETE (old_object). */
typedef int kc_webhook_validate_fn(const kc_admission_request *request, kc_warnings *warnings,
                                   void *user, kc_error *err);
int kc_webhook_add_validator(kc_webhook_server *server, const kc_kind *kind,
                             kc_webhook_validate_fn *fn, void *user, kc_error *err);
/* Both at a custom path. */
int kc_webhook_add_defaulter_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                                kc_webhook_default_fn *fn, void *user, kc_error *err);
int kc_webhook_add_validator_at(kc_webhook_server *server, const char *path, const kc_kind *kind,
                                kc_webhook_validate_fn *fn, void *user, kc_error *err);

/* Converts an object to another version of its kind and returns a reference; NULL with an error if
 * that is impossible. Name, namespace and uid must stay. One function per kind, for all versions.
 */
typedef kc_object *kc_webhook_convert_fn(const kc_object *object, kc_str desired_api_version,
                                         void *user, kc_error *err);
int kc_webhook_add_converter(kc_webhook_server *server, kc_group_kind kind,
                             kc_webhook_convert_fn *fn, void *user, kc_error *err);

#endif
