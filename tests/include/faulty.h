/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty.h: a way to a server on which things go wrong as a test says.
 *
 *     faulty *way = faulty_new(kc_embed_transport(server, NULL), clock);
 *     faulty_answer(way, "watch=true", 1, 410, "{…}");      the next watch is refused
 *     faulty_end_watches(way, false);                       those that are open end, as if broken
 *
 * It is a transport around another one. Targets of all requests are kept, with the time they came.
 * Any thread may use it; it lives as long as the client it was given to.
 */
#ifndef KC_FAULTY_H
#define KC_FAULTY_H

#include "kc/transport.h"

typedef struct faulty faulty;

/* Takes the inner one. Freed as a transport. */
faulty *faulty_new(kc_transport *inner, const kc_clock *clock);
kc_transport *faulty_transport(faulty *f);

/* The next `times` requests whose method and target ("GET /api/…") hold `part` are answered so,
 * without asking the server. Status 0: they fail as if nobody listened. -1: until
 * faulty_heal. */
void faulty_answer(faulty *f, const char *part, int times, int status, const char *body);
void faulty_heal(faulty *f);

/* Ends the watches that are open: regularly, or as if the connection broke. */
void faulty_end_watches(faulty *f, bool regularly);
/* Events that hold this text get lost. NULL: none. */
void faulty_swallow(faulty *f, const char *text);
/* Watches bring nothing until it is called again with false. */
void faulty_freeze(faulty *f, bool frozen);
/* Watches have this at their beginning, before what the server sends. NULL: nothing. */
void faulty_prepend(faulty *f, const char *text);
/* Bodies of answers that are no watches break off after so many bytes, `times` times. */
void faulty_cut(faulty *f, const char *part, int times, size_t bytes);

/* Requests so far that hold `part`. */
size_t faulty_count(faulty *f, const char *part);
/* The target of number `nth` (from 0) of them, and when it came; the caller frees it. NULL: there
 * are fewer. */
char *faulty_target(faulty *f, const char *part, size_t nth, int64_t *ret_when);

#endif
