/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty.h: a transport that injects faults.
 *
 *     faulty *faults = faulty_new(kc_embedded_server_transport(server, NULL), clock);
 *     faulty_respond(faults, "watch=true", 1, 410, "{…}");      the next watch is rejected
 *     faulty_end_watches(faults, false);                       open watches end, as if broken
 *
 * It wraps another transport. It records the targets of all requests and the times they arrived.
 * Any thread may use it; it lives as long as the client that it was passed to.
 */
#ifndef KC_FAULTY_H
#define KC_FAULTY_H

#include "kc/transport.h"

typedef struct faulty faulty;

/* Takes ownership of the inner transport. Freed as a transport. */
faulty *faulty_new(kc_transport *inner, const kc_clock *clock);
kc_transport *faulty_transport(faulty *f);

/* The next `times` requests whose method and target ("GET /api/…") contain `part` get this
 * response, without reaching the server. Status 0: they fail like a refused connection. -1: until
 * faulty_heal. */
void faulty_respond(faulty *f, const char *part, int times, int status, const char *body);
void faulty_heal(faulty *f);
/* The next n requests pass; all later ones get 403 until faulty_heal, as if the process had ended.
 */
void faulty_allow(faulty *f, int n);

/* Ends the open watches: normally, or as if the connection broke. */
void faulty_end_watches(faulty *f, bool regularly);
/* Drops events that contain this text. NULL: none. */
void faulty_drop_events(faulty *f, const char *text);
/* Watches deliver nothing until it is called again with false. */
void faulty_freeze(faulty *f, bool frozen);
/* Watches start with this text, before what the server sends. NULL: nothing. */
void faulty_prepend(faulty *f, const char *text);
/* Truncates bodies of responses other than watches after this many bytes, `times` times. */
void faulty_cut(faulty *f, const char *part, int times, size_t bytes);

/* Number of requests so far that contain `part`. */
size_t faulty_count(faulty *f, const char *part);
/* The target of the nth (from 0) of them, and when it arrived; the caller frees it. NULL: there
 * are fewer. */
char *faulty_target(faulty *f, const char *part, size_t nth, int64_t *ret_when);

#endif
