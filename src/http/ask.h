/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: a question to another server, whose answer is small and wanted as a whole: an admission
 * webhook's.
 *
 *     kc__ask_start(asker, &(kc__ask_request){.url = url, .body = review}, loop, answered, call);
 *     …
 *     static void answered(const kc__ask_answer *answer, void *user)          on that loop
 *
 * One thread asks for all, however many wait; it starts with the first question. Connections are
 * kept and used again.
 */
#ifndef KC_HTTP_ASK_H
#define KC_HTTP_ASK_H

#include "http/loop.h"
#include "kc/str.h"

typedef struct kc__asker kc__asker;

kc__asker *kc__asker_new(void);
/* Questions end at this (monotonic, real) time, answered or not, and none is taken after it. Any
 * thread; does not block. */
void kc__asker_end_by(kc__asker *asker, int64_t deadline);
/* Ends what is under way, and takes nothing any more: while the loops still run. Blocks for no
 * longer than that takes. */
void kc__asker_stop(kc__asker *asker);
/* NULL is allowed; returns NULL. */
kc__asker *kc__asker_free(kc__asker *asker);

/* All is copied. */
typedef struct kc__ask_request {
    const char *url;        /* https:// */
    const char *connect_to; /* "10.0.0.7:8443": where the URL's host is. Defaults to looking it up.
                             */
    kc_str body;            /* JSON; posted. */
    kc_str ca;              /* PEM: who may have signed the server's certificate, and nobody else.
                               Defaults to whom this system trusts. */
    const char *agent;      /* User-Agent. Defaults to none. */
    int64_t patience;       /* For all of it. Defaults to 10 s. */
    bool http2;             /* Where the server speaks it. Defaults to HTTP/1.1. */
} kc__ask_request;

enum { KC__ASK_MOST = 8 << 20 }; /* Bytes of an answer. */

/* What came. Lives as long as the call that tells of it. */
typedef struct kc__ask_answer {
    int status; /* 0: nothing came, and `error` says why, in the words of Go's client. */
    kc_str type;
    kc_str body;
    const char *error; /* "dial tcp 127.0.0.1:1: connect: connection refused" */
} kc__ask_answer;

/* Once, on the loop. */
typedef void kc__ask_done(const kc__ask_answer *answer, void *user);

void kc__ask_start(kc__asker *asker, const kc__ask_request *request, kc__loop *loop,
                   kc__ask_done *done, void *user);

#endif
