/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accept.c: parses the Accept header as Kubernetes API servers do.
 *
 * They use a small library (goautoneg) with peculiarities that clients rely on, so they are kept:
 *   - only ',' ';' '=' and '/' are significant: quotes have no meaning, case matters, and only
 *     spaces are trimmed;
 *   - an invalid media range is ignored, as is a parameter that is not one name, '=' and a
 *     value; of a repeated parameter the last one wins;
 *   - a q that is not a number is 0, even because of a space before it; q=0 comes last, but is
 *     allowed;
 *   - the order is that of an insertion sort by `comes_before`, which is not a strict weak
 *     order: where q and generality disagree, the position of the clauses decides. Go does the
 *     same for up to twelve clauses; beyond that its sort is not stable. This one is.
 */
#include "http/message/media.h"

static kc_str trim_accept_text(kc_str s)
{
    while (s.n && s.p[0] == ' ')
        s = kc_str_sub(s, 1, s.n);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* Parses "0.9", "1e-3"; 0 if it is not a number. In single precision, as in the original. */
static double read_q(kc_str text)
{
    enum { LONGEST = 32 };
    char copy[LONGEST + 1] = {0}, *end;
    if (!text.n || text.n > LONGEST)
        return 0;
    for (size_t i = 0; i < text.n; i++) {
        if (kc_str_find(KC_STR("0123456789.+-eE"), text.p[i]) < 0)
            return 0;
        copy[i] = text.p[i];
    }
    float q = strtof(copy, &end);
    return end == copy + text.n ? (double)q : 0;
}

static void set_param(kc__media_type *media, kc__media_param *params, kc_str name, kc_str value)
{
    size_t i = 0;
    while (i < media->n_params && !kc_str_eq(params[i].name, name))
        i++;
    params[i] = (kc__media_param){name, value};
    if (i == media->n_params)
        media->n_params++;
}

/* Cuts at `sep`. The rest is empty if there is no separator or nothing follows it. */
static kc_str take_up_to(kc_str *rest, char sep)
{
    kc_str part = kc_str_cut(rest, sep);
    if (!rest->p)
        *rest = (kc_str){"", 0};
    return part;
}

/* Parses into `params`, which has room for as many parameters as there are semicolons. */
static void read_params(kc_str text, kc__media_param *params, kc__media_accept_clause *clause)
{
    clause->media.params = params;
    while (text.n) {
        kc_str value = take_up_to(&text, ';'), name = trim_accept_text(take_up_to(&value, '='));
        if (!value.n)
            continue;
        kc_str more = value;
        value = take_up_to(&more, '=');
        if (more.n)
            continue;
        if (kc_str_is(name, "q"))
            clause->q = read_q(value);
        else
            set_param(&clause->media, params, name, trim_accept_text(value));
    }
}

/* Parses "type/subtype" or "*". Returns false if it is neither. */
static bool read_range(kc_str text, kc__media_type *ret)
{
    kc_str rest = text;
    ret->type = trim_accept_text(take_up_to(&rest, '/'));
    ret->subtype = KC_STR("*");
    if (!rest.n)
        return kc_str_is(ret->type, "*");
    ret->subtype = trim_accept_text(take_up_to(&rest, '/'));
    return !rest.n;
}

static bool is_any(kc_str part)
{
    return kc_str_is(part, "*");
}

static bool comes_before(const kc__media_accept_clause *a, const kc__media_accept_clause *b)
{
    return a->q > b->q || (!is_any(a->media.type) && is_any(b->media.type)) ||
           (!is_any(a->media.subtype) && is_any(b->media.subtype));
}

/* Moves the last of `n` clauses to its position among those before it. */
static void sink_last(kc__media_accept_clause *clauses, size_t n)
{
    for (size_t i = n - 1; i > 0 && comes_before(&clauses[i], &clauses[i - 1]); i--) {
        kc__media_accept_clause moved = clauses[i];
        clauses[i] = clauses[i - 1];
        clauses[i - 1] = moved;
    }
}

static size_t count_accept_clauses(kc_str text, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == c;
    return n;
}

static int accept_out_of_memory(kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE, "the Accept header exceeds the memory limit");
}

/* Adds one clause, unless it is invalid. */
static int read_clause(kc_str part, kc_arena *arena, kc__media_accept_clause *clauses, size_t *n,
                       kc_error *err)
{
    kc__media_accept_clause clause = {.q = 1};
    kc_str params = trim_accept_text(part), range = take_up_to(&params, ';');
    if (!read_range(range, &clause.media))
        return 0;
    size_t room = count_accept_clauses(params, ';') + 1;
    if (room > KC__MEDIA_MAX_PARAMS)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "a clause of the Accept header has %zu parameters: the limit is %d",
                            room, KC__MEDIA_MAX_PARAMS);
    if (params.n) {
        kc__media_param *list = kc_arena_calloc(arena, room, sizeof(*list));
        if (!list)
            return accept_out_of_memory(err);
        read_params(params, list, &clause);
    }
    clauses[(*n)++] = clause;
    sink_last(clauses, *n);
    return 0;
}

int kc__media_accept_parse(kc_str text, kc_arena *arena, kc__media_accept *ret, kc_error *err)
{
    size_t n = 0, room = count_accept_clauses(text, ',') + 1;
    if (room > KC__MEDIA_ACCEPT_MAX_CLAUSES)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the Accept header has %zu clauses: the limit is %d", room,
                            KC__MEDIA_ACCEPT_MAX_CLAUSES);
    kc__media_accept_clause *clauses = kc_arena_calloc(arena, room, sizeof(*clauses));
    kc_str rest = kc_arena_str(arena, text);
    if (!clauses || !rest.p)
        return accept_out_of_memory(err);
    while (rest.n) {
        int r = read_clause(take_up_to(&rest, ','), arena, clauses, &n, err);
        if (r < 0)
            return r;
    }
    *ret = (kc__media_accept){clauses, n, text.n == 0};
    return 0;
}

static bool suits(const kc__media_type *clause, const kc__media_offer *offer)
{
    if (kc_str_eq(clause->type, offer->type))
        return kc_str_eq(clause->subtype, offer->subtype) || is_any(clause->subtype);
    return is_any(clause->type) && is_any(clause->subtype);
}

bool kc__media_accept_choose(const kc__media_accept *accept, const kc__media_offer *offers,
                             size_t n_offers, kc__media_allows *allows, void *user,
                             kc__media_choice *ret)
{
    if (accept->absent && n_offers) {
        *ret = (kc__media_choice){0};
        return true;
    }
    for (size_t i = 0; i < accept->n; i++) {
        const kc__media_type *clause = &accept->clauses[i].media;
        for (size_t j = 0; j < n_offers; j++)
            if (suits(clause, &offers[j]) && (!allows || allows(clause, &offers[j], user))) {
                *ret = (kc__media_choice){j, clause};
                return true;
            }
    }
    return false;
}
