/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.h: media types: what a body is (Content-Type), and which of several answers a client likes
 * best (Accept).
 *
 *     static const kc__media_offer offers[] = {{KC_STR_INIT("application"), KC_STR_INIT("json")}};
 *     kc__accept accept;
 *     kc__choice choice;
 *     if (kc__accept_parse(header, arena, &accept, err) < 0)
 *         return …;                                                                         400
 *     if (!kc__accept_choose(&accept, offers, KC_COUNT(offers), allows, ctx, &choice))
 *         return …;                                                                         406
 */
#ifndef KC_HTTP_MEDIA_H
#define KC_HTTP_MEDIA_H

#include "kc/arena.h"
#include "kc/error.h"

enum {
    KC__MEDIA_MAX_PARAMS = 32,   /* Of one media type. */
    KC__ACCEPT_MAX_CLAUSES = 64, /* Of one header. */
};

typedef struct kc__media_param {
    kc_str name, value;
} kc__media_param;

/* All of it is the arena's. */
typedef struct kc__media_type {
    kc_str type, subtype;
    const kc__media_param *params; /* No name twice. */
    size_t n_params;
} kc__media_type;

/*
 * Reads a Content-Type: type "/" subtype, then parameters whose values may be quoted. Type, subtype
 * and the names of parameters come out in lower case, values as they are, without quotes and
 * backslashes. KC_UNSUPPORTED_MEDIA_TYPE if it is none; an absent header is the caller's to
 * default. `text` need not outlive the call.
 */
int kc__media_type_parse(kc_str text, kc_arena *arena, kc__media_type *ret, kc_error *err);

/* "application/json". */
bool kc__media_type_is(const kc__media_type *media, const char *name);
/* False, and *ret untouched, when there is no such parameter. */
bool kc__media_param_get(const kc__media_type *media, kc_str name, kc_str *ret);

typedef struct kc__accept_clause {
    kc__media_type media; /* Each of type and subtype may be "*". */
    double q;
} kc__accept_clause;

typedef struct kc__accept {
    const kc__accept_clause *clauses; /* Best first. */
    size_t n;
    bool absent; /* There was no header, or an empty one: anything will do. */
} kc__accept;

/*
 * Reads an Accept header into its clauses, in the order in which Kubernetes tries them: by q, then
 * the less general, then as they came. Clauses that are no media range are left out; too many give
 * an error. "q" is not among the parameters. `text` need not outlive the call.
 */
int kc__accept_parse(kc_str text, kc_arena *arena, kc__accept *ret, kc_error *err);

/* What a server can answer with, as a line of a table. */
typedef struct kc__media_offer {
    kc_str type, subtype;
} kc__media_offer;

typedef struct kc__choice {
    size_t offer;                 /* Index in the table. */
    const kc__media_type *clause; /* Whose parameters (as, v, g, …) apply. NULL without a header. */
} kc__choice;

/* May this clause's parameters be satisfied with this offer? */
typedef bool kc__media_allows(const kc__media_type *clause, const kc__media_offer *offer,
                              void *user);

/*
 * The first offer that suits the first clause for which there is one. `allows` may refuse a clause
 * for its parameters, and the next is tried; NULL allows all. False when nothing suits: 406.
 */
bool kc__accept_choose(const kc__accept *accept, const kc__media_offer *offers, size_t n_offers,
                       kc__media_allows *allows, void *user, kc__choice *ret);

#endif
