/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h: a GET from another server whose answer is passed on, bit by bit, as fast as our own
 * client reads: what a container has written, from the node it runs on.
 *
 *     kc__fetch_start(fetcher, &(kc__fetch_request){.url = url}, x, arrived, call);
 *     …
 *     static void arrived(const kc__fetch_head *head, kc__pipe *body, void *user)
 *     {
 *         kc__exchange_answer(x, &(kc__answer){.status = head->status, .source = &kc__pipe_source,
 *                                              .user = kc__pipe_read_by(body, x), .flush = true});
 *     }
 *
 * One thread moves the bytes of all fetches; it starts with the first.
 */
#ifndef KC_HTTP_FETCH_H
#define KC_HTTP_FETCH_H

#include "http/pipe.h"

typedef struct kc__fetcher kc__fetcher;

typedef struct kc__fetcher_opts {
    /* PEM: who we are, for servers that ask. Defaults to nobody. */
    const char *cert_file, *key_file;
} kc__fetcher_opts;

kc__fetcher *kc__fetcher_new(const kc__fetcher_opts *opts);
/* Ends what is under way, and takes nothing any more: while the loops still run. */
void kc__fetcher_stop(kc__fetcher *fetcher);
/* NULL is allowed; returns NULL. */
kc__fetcher *kc__fetcher_free(kc__fetcher *fetcher);

/* All is copied. */
typedef struct kc__fetch_request {
    const char *url;
    /* How to know the server: by its public key, "sha256//…" as curl takes it. Defaults to not
     * knowing it. */
    const char *pin;
    int64_t patience; /* For the head. Defaults to 30 s. */
} kc__fetch_request;

/* What came first. A status that is not one of success comes with its text, of which at most 50 KiB
 * are kept, and no body. */
typedef struct kc__fetch_head {
    int status; /* 0: nothing came, and `error` says why. */
    kc_str type;
    kc_str text;
    const kc_error *error;
} kc__fetch_head;

/* Once, on the loop of the exchange, which must be answered then. */
typedef void kc__fetch_arrived(const kc__fetch_head *head, kc__pipe *body, void *user);

void kc__fetch_start(kc__fetcher *fetcher, const kc__fetch_request *request, kc__exchange *x,
                     kc__fetch_arrived *arrived, void *user);

#endif
