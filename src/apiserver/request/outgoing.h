/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.h: responses in progress that hold memory until their client has read them: lists,
 * watches, large objects. Each is counted, and can be cancelled when memory is short.
 *
 * The struct is embedded in what the body source owns. Use it on the context's loop only, except
 * kc__rest_outgoing_init: a response that a worker builds is counted when the loop reads its first
 * bytes.
 */
#ifndef KC_APISERVER_OUTGOING_H
#define KC_APISERVER_OUTGOING_H

#include "apiserver/governor/governor.h"
#include "apiserver/request/phases.h"

typedef struct kc__rest_outgoing kc__rest_outgoing;

/* One const table for each kind of response. */
typedef struct kc__rest_outgoing_kind {
    const char *name; /* The name in metrics: "list", "watch", "object". */
    kc__memory_category category;
    /* Bytes that cancelling would free now; 0: not worth cancelling. NULL: the counted bytes. */
    size_t (*held)(const kc__rest_outgoing *out);
    /* Frees the memory that it holds. The source fails from now on, so the client sees an error at
     * its next read. */
    void (*cancel)(kc__rest_outgoing *out);
} kc__rest_outgoing_kind;

struct kc__rest_outgoing {
    const kc__rest_outgoing_kind *kind;
    kc__rest_context *context;
    kc__exchange *x;
    kc_dlist_link link; /* In the context's list. */
    size_t counted;
    bool cancelled;
};

/* `bytes` is the memory that the response holds. Any thread that has the call. */
void kc__rest_outgoing_init(kc__rest_outgoing *out, const kc__rest_outgoing_kind *kind,
                            const kc__rest_call *call, size_t bytes);
/* Starts to count it. Idempotent. */
void kc__rest_outgoing_open(kc__rest_outgoing *out);
/* Idempotent; also allowed if it was never opened. */
void kc__rest_outgoing_close(kc__rest_outgoing *out);
/* Cancels it and wakes its exchange. Idempotent. */
void kc__rest_outgoing_cancel(kc__rest_outgoing *out);

/* Cancels the largest responses until about `bytes` are free. Returns the number of bytes freed. */
size_t kc__rest_context_shed(kc__rest_context *context, size_t bytes);
/* The same on all contexts, from any thread; each context frees its share. */
void kc__rest_api_shed(kc__rest_api *api, size_t bytes);

/* Responds with text, or an object's JSON, and takes it over: counted, and cancellable, if it is
 * large. */
kc__rest_verdict kc__rest_respond_owned_text(kc__rest_call *call, int status, kc_str type,
                                             kc_buf *text);
kc__rest_verdict kc__rest_respond_owned_object(kc__rest_call *call, int status, kc_object *object);

#endif
