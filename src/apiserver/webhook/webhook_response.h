/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_response.h: checks that the responses of admission and conversion webhooks share. They
 * are untrusted input: every member is checked before it is used, and errors have the messages of
 * Kubernetes. All functions return 0 or negative.
 */
#ifndef KC_APISERVER_WEBHOOK_RESPONSE_H
#define KC_APISERVER_WEBHOOK_RESPONSE_H

#include "kc/view.h"

/* A member of an object and its type; absent and null are allowed. */
typedef struct kc__hook_member {
    const char *name;
    kc_json_type type;
    const char *go_type; /* In the message: "types.UID". */
} kc__hook_member;

/* KC_BAD_REQUEST for a member of another type. `where` is the Go name of the object and its path:
 * "Status.response.status". */
int kc__hook_check_members(const kc_value *object, const char *where,
                           const kc__hook_member *members, size_t n, kc_error *err);
/* KC_INVALID if apiVersion or kind is absent. `expected` are both, as in the message:
 * "admission.k8s.io/v1, Kind=AdmissionReview". */
int kc__hook_check_named(const kc_value *review, const char *expected, kc_error *err);
/* KC_INVALID if the uid of the response is not that of the request. */
int kc__hook_check_uid(const kc_value *response, kc_str uid, kc_error *err);

#endif
