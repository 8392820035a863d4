/* SPDX-License-Identifier: Apache-2.0 */
/*
 * media.h: media types: the type of a body (Content-Type), and content negotiation (Accept).
 *
 *     static const kc__media_offer offers[] = {{KC_STR_INIT("application"), KC_STR_INIT("json")}};
 *     kc__media_accept accept;
 *     kc__media_choice choice;
 *     if (kc__media_accept_parse(header, arena, &accept, err) < 0)
 *         return …;                                                                         400
 *     if (!kc__media_accept_choose(&accept, offers, KC_COUNT(offers), allows, ctx, &choice))
 *         return …;                                                                         406
 */
#ifndef KC_HTTP_MEDIA_H
#define KC_HTTP_MEDIA_H

#include "kc/arena.h"
#include "kc/error.h"

enum {
    KC__MEDIA_MAX_PARAMS = 32,         /* Of one media type. */
    KC__MEDIA_ACCEPT_MAX_CLAUSES = 64, /* Of one header. */
};

typedef struct kc__media_param {
    kc_str name, value;
} kc__media_param;

/* All memory is in the arena. */
typedef struct kc__media_type {
    kc_str type, subtype;
    const kc__media_param *params; /* Names are unique. */
    size_t n_params;
} kc__media_type;

/*
 * Parses a Content-Type: type "/" subtype, then parameters whose values may be quoted. Type,
 * subtype and parameter names are lower-cased; values are kept, without quotes and backslashes.
 * KC_UNSUPPORTED_MEDIA_TYPE if it is invalid; the caller handles an absent header. `text` need not
 * outlive the call.
 */
int kc__media_type_parse(kc_str text, kc_arena *arena, kc__media_type *ret, kc_error *err);

/* `name` is like "application/json". */
bool kc__media_type_is(const kc__media_type *media, const char *name);
/* Returns false, and *ret untouched, if there is no such parameter. */
bool kc__media_param_get(const kc__media_type *media, kc_str name, kc_str *ret);

typedef struct kc__media_accept_clause {
    kc__media_type media; /* Type and subtype may be "*". */
    double q;
} kc__media_accept_clause;

typedef struct kc__media_accept {
    const kc__media_accept_clause *clauses; /* Best first. */
    size_t n;
    bool absent; /* The header is absent or empty: anything is accepted. */
} kc__media_accept;

/*
 * Parses an Accept header into its clauses, in the order in which Kubernetes tries them: by q, then
 * the less general first, then by position. Invalid media ranges are ignored; too many clauses are
 * an error. "q" is not among the parameters. `text` need not outlive the call.
 */
int kc__media_accept_parse(kc_str text, kc_arena *arena, kc__media_accept *ret, kc_error *err);

/* A media type that a server can produce, as a row of a table. */
typedef struct kc__media_offer {
    kc_str type, subtype;
} kc__media_offer;

typedef struct kc__media_choice {
    size_t offer;                 /* Index in the table. */
    const kc__media_type *clause; /* Its parameters (as, v, g, …) apply. NULL without a header. */
} kc__media_choice;

/* Returns whether the clause's parameters can be satisfied with this offer. */
typedef bool kc__media_allows(const kc__media_type *clause, const kc__media_offer *offer,
                              void *user);

/*
 * Chooses the first offer that matches the first clause with a match. `allows` may reject a clause
 * for its parameters, and the next one is tried; NULL allows all. Returns false if nothing matches:
 * 406.
 */
bool kc__media_accept_choose(const kc__media_accept *accept, const kc__media_offer *offers,
                             size_t n_offers, kc__media_allows *allows, void *user,
                             kc__media_choice *ret);

#endif
