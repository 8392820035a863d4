/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_attempt.h: the rules for sending a request: the rate limit, which failures are retried,
 * and when. None of these functions blocks: send.c waits between them on the caller's thread,
 * client_stream.c by a timer of its owner.
 */
#ifndef KC_CLIENT_ATTEMPT_H
#define KC_CLIENT_ATTEMPT_H

#include "client/rest/client_internal.h"

typedef enum kc__client_attempt_outcome {
    KC__CLIENT_ATTEMPT_FINAL, /* The error is final. */
    KC__CLIENT_ATTEMPT_LATER, /* The server asked for a retry (Retry-After). */
    KC__CLIENT_ATTEMPT_BROKE, /* The connection broke or could not be established. */
} kc__client_attempt_outcome;

/* A request and its attempts. */
typedef struct kc__client_attempt {
    kc_client *client;
    kc__client_request *request;
    const char *method;
    kc_cancel *cancel;
    int64_t deadline; /* Of all attempts together. */
    int tries, breaks;
    kc__client_attempt_outcome outcome; /* Of the last failed attempt. */
} kc__client_attempt;

kc__client_attempt kc__client_attempt_of(kc_client *client, kc__client_request *request);
/* Reserves a slot of the client's rate limit and returns when to send. KC_TIMEOUT if there is no
 * slot before the deadline. */
int kc__client_attempt_take_turn(const kc__client_attempt *a, int64_t deadline, int64_t *ret_at,
                                 kc_error *err);
/* Writes the header fields of the request and returns their number. They live as long as
 * a->request. */
size_t kc__client_attempt_fields(const kc__client_attempt *a, kc_http_field fields[3]);
/* Logs the head of the response (NULL if none arrived) and the server's warnings. */
void kc__client_attempt_note(const kc__client_attempt *a, const kc_http_response *response,
                             int64_t took);
/* The attempt failed without a response, or with an error status: sets the outcome. */
void kc__client_attempt_broke(kc__client_attempt *a, const kc_error *err);
void kc__client_attempt_refused(kc__client_attempt *a, int status, kc_str retry_after);
/* Returns when to retry after a failure. False if `err` is final. */
bool kc__client_attempt_retry_at(kc__client_attempt *a, const kc_error *err, int64_t *ret_at);

#endif
