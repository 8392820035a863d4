/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_testing.h: the requests that a server received, by its own count: the series of
 * apiserver_request_total.
 *
 *     calls all = calls_of(metrics);
 *     assert_int_equal(calls_sum(&all, "create", "pods", ""), 2);
 */
#ifndef KC_CALLS_TESTING_H
#define KC_CALLS_TESTING_H

#include "kc/metrics.h"

#include <stdio.h>

/* Requests with any response; watches count when they end. */
typedef struct calls_row {
    char verb[20], resource[64], part[32]; /* "update" "deployments" "status" */
    double n;
} calls_row;

typedef struct calls {
    calls_row rows[400];
    size_t n;
} calls;

/* The value behind `before`, up to the next quotation mark. */
static inline KC_UNUSED void calls_copy(const char *line, const char *before, char *to, size_t room)
{
    const char *at = strstr(line, before);
    kc_str rest = kc_cstr(at ? at + strlen(before) : "");
    const kc_str value = kc_str_cut(&rest, '"');
    snprintf(to, room, "%.*s", KC_ARG(value));
}

static inline KC_UNUSED bool calls_parse(const char *line, calls_row *ret)
{
    if (strncmp(line, "apiserver_request_total{", 24) != 0)
        return false;
    calls_copy(line, "{verb=\"", ret->verb, sizeof(ret->verb));
    calls_copy(line, ",resource=\"", ret->resource, sizeof(ret->resource));
    calls_copy(line, ",subresource=\"", ret->part, sizeof(ret->part));
    const char *number = strstr(line, "} ");
    ret->n = number ? strtod(number + 2, NULL) : 0;
    return true;
}

/* NULL means any of them. */
static inline KC_UNUSED bool calls_match(const calls_row *row, const char *verb,
                                         const char *resource, const char *part)
{
    return (!verb || !strcmp(row->verb, verb)) && (!resource || !strcmp(row->resource, resource)) &&
           (!part || !strcmp(row->part, part));
}

static inline KC_UNUSED void calls_add(calls *all, const calls_row *row)
{
    for (size_t i = 0; i < all->n; i++)
        if (calls_match(&all->rows[i], row->verb, row->resource, row->part)) {
            all->rows[i].n += row->n;
            return;
        }
    if (all->n < KC_COUNT(all->rows))
        all->rows[all->n++] = *row;
}

static inline KC_UNUSED calls calls_of(kc_metrics *metrics)
{
    kc_scoped(kc_buf) text = {0};
    calls all = {.n = 0};
    calls_row row;
    kc_metrics_write(metrics, &text);
    kc_str rest = kc_buf_str(&text);
    while (rest.p) {
        kc_autofree char *line = kc_str_dup(kc_str_cut(&rest, '\n'));
        if (calls_parse(line, &row))
            calls_add(&all, &row);
    }
    return all;
}

/* The difference to `since`, an earlier count. */
static inline KC_UNUSED calls calls_since(const calls *since, kc_metrics *metrics)
{
    calls now = calls_of(metrics);
    for (size_t i = 0; i < since->n; i++) {
        calls_row less = since->rows[i];
        less.n = -less.n;
        calls_add(&now, &less);
    }
    return now;
}

static inline KC_UNUSED size_t calls_sum(const calls *all, const char *verb, const char *resource,
                                         const char *part)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++)
        sum += calls_match(&all->rows[i], verb, resource, part) ? all->rows[i].n : 0;
    return (size_t)sum;
}

static inline KC_UNUSED bool calls_is_write(const calls_row *row)
{
    return strcmp(row->verb, "get") != 0 && strcmp(row->verb, "list") != 0 &&
           strcmp(row->verb, "watch") != 0 && strcmp(row->verb, "other") != 0;
}

/* All kinds except Events, Leases and Nodes, which do not belong to a single object. */
static inline KC_UNUSED size_t calls_writes(const calls *all)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++)
        if (calls_is_write(&all->rows[i]) && strcmp(all->rows[i].resource, "events") != 0 &&
            strcmp(all->rows[i].resource, "leases") != 0 &&
            strcmp(all->rows[i].resource, "nodes") != 0)
            sum += all->rows[i].n;
    return (size_t)sum;
}

#endif
