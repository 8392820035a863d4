/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfers.h: requests to other servers while loops go on: libcurl's multi interface, on one
 * thread for all of them, however many wait. fetch.h and ask.h are made of it.
 *
 *     kc__transfers_add ──▶ begin ──▶ curl's callbacks … ──▶ end        all on the thread
 *
 * A transfer is a part of what it is for, and belongs to the thread from the moment it is added
 * until its end.
 */
#ifndef KC_HTTP_TRANSFERS_H
#define KC_HTTP_TRANSFERS_H

#include "kc/error.h"
#include "kc/list.h"

#include <curl/curl.h>

typedef struct kc__transfers kc__transfers;

typedef struct kc__transfer {
    kc_link link; /* Until the thread has taken it. */
    size_t at;    /* Its place from then on. */
    CURL *easy;
    char why[CURL_ERROR_SIZE]; /* What went wrong, in curl's words; may be empty. */
} kc__transfer;

typedef struct kc__transfers_opts {
    const char *name; /* Of the thread. */
    int connections;  /* That are kept. */
    /* Says what is asked for; what all have in common is set already. */
    void (*begin)(kc__transfer *transfer);
    /* Its last call, once for each; `easy` is gone when it returns. */
    void (*end)(kc__transfer *transfer, CURLcode code);
    /* Each time the thread comes round: at least once a second while something is under way. May be
     * NULL. */
    void (*turn)(kc__transfers *transfers, void *user);
    void *user;
} kc__transfers_opts;

/* The thread starts with the first transfer. */
kc__transfers *kc__transfers_new(const kc__transfers_opts *opts);
/* Any thread; does not block. Negative, and nothing is called, once it was stopped. */
int kc__transfers_add(kc__transfers *transfers, kc__transfer *transfer, kc_error *err);
/* Has the thread come round. Any thread. */
void kc__transfers_wake(kc__transfers *transfers);
/* Ends what is under way (CURLE_ABORTED_BY_CALLBACK), and takes nothing any more. Blocks for no
 * longer than that takes. */
void kc__transfers_stop(kc__transfers *transfers);
/* NULL is allowed; returns NULL. */
kc__transfers *kc__transfers_free(kc__transfers *transfers);

/* ---- on the thread ---- */

/* Those under way. Who ends some of them goes from the last to the first. */
size_t kc__transfers_count(const kc__transfers *transfers);
kc__transfer *kc__transfers_at(const kc__transfers *transfers, size_t i);
/* Ends it before its time. */
void kc__transfers_end(kc__transfers *transfers, kc__transfer *transfer, CURLcode code);

#endif
