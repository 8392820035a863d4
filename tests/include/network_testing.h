/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network_testing.h: the real network service in the test's own process, and a transport to it that
 * takes no time and no threads and injects the faults that a test wants:
 *
 *     reconciler ──client──▶ kc_transport of this file ──▶ kc__network_service_call
 *
 * There is one instance at a time: `outside`.
 */
#ifndef KC_NETWORK_TESTING_H
#define KC_NETWORK_TESTING_H

#include "reconciler_testing.h"

#include "kc/rand.h"
#include "network/network.h"
#include "network/service/service.h"

#include <stdio.h>

static struct {
    kc__network_service *service;
    kc_testenv *env;
    /* Probabilities per call. */
    double unreachable, lost, late, broken;
    const char *instead; /* Response with 200 of some other server at that address. NULL: none. */
    kc_rand rand;
    size_t crash_after; /* The manager crashes after this many writes. 0: never. */
    size_t calls, writes;
} outside;

/* ---- the transport ---- */

typedef struct service_response {
    kc_http_response base;
    kc__network_reply reply;
    size_t read;
} service_response;

static inline bool by_chance(double chance)
{
    return chance > 0 && kc_rand_double(&outside.rand) < chance;
}

static inline void *service_fails(kc_error *err, int code, const char *why)
{
    kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s", why);
    if (err)
        err->code = code;
    return NULL;
}

static inline kc_str service_field(const kc_http_request *r, const char *name)
{
    for (size_t i = 0; i < r->n_fields; i++)
        if (kc_str_eq_nocase(r->fields[i].name, kc_cstr(name)))
            return r->fields[i].value;
    return (kc_str){0};
}

static inline void service_call(const kc_http_request *r, kc__network_reply *reply)
{
    kc_str owner = r->target;
    kc__network_call call = {.method = kc_cstr(r->method),
                             .path = kc_str_cut(&owner, '?'),
                             .if_match = service_field(r, "If-Match"),
                             .if_none_match = service_field(r, "If-None-Match"),
                             .body = r->body};
    if (kc_str_starts(owner, KC_STR("owner=")))
        call.owner = kc_str_sub(owner, 6, owner.n);
    kc__network_service_call(outside.service, &call, reply);
}

/* Sometimes takes longer than any client's timeout. */
static inline bool service_is_late(const kc_http_request *r, kc_error *err)
{
    const kc_clock *clock = kc_testenv_clock(outside.env);
    if (!by_chance(outside.late))
        return false;
    const int64_t until =
        kc_clock_deadline(clock, (int64_t)(kc_rand_double(&outside.rand) * 15 * KC_SECOND));
    kc_clock_sleep_until(clock, KC_MIN(until, r->deadline));
    if (until < r->deadline)
        return false;
    kc_error_set(err, KC_TIMEOUT, "no response");
    return true;
}

/* The call that was just executed is the last action of the process. */
static inline bool service_crashes_manager(const kc_http_request *r)
{
    if (!strcmp(r->method, "GET") || ++outside.writes != outside.crash_after)
        return false;
    kc_testenv_crash_after(outside.env, 0);
    return true;
}

static inline kc_http_response *service_open(kc_transport *t, const kc_http_request *r,
                                             kc_error *err)
{
    (void)t;
    assert_true(r->deadline > 0);
    outside.calls++;
    if (kc_testenv_crashed(outside.env) || by_chance(outside.unreachable))
        return service_fails(err, 0, "connection refused");
    kc_http_response *nothing = NULL;
    service_response *answer = kc_new(service_response);
    answer->base.ops = t->ops;
    if (by_chance(outside.broken)) {
        answer->reply.status = 502;
        kc_buf_puts(&answer->reply.body, "<html>Bad Gateway</html>");
    } else if (outside.instead) {
        answer->reply.status = 200;
        kc_buf_puts(&answer->reply.body, outside.instead);
    } else {
        service_call(r, &answer->reply);
    }
    answer->base.status = answer->reply.status;
    if (service_crashes_manager(r) || by_chance(outside.lost))
        nothing = service_fails(err, 503, "connection lost");
    else if (!service_is_late(r, err))
        return &answer->base;
    kc__network_reply_done(&answer->reply);
    free(answer);
    return nothing;
}

static inline ssize_t service_read(kc_http_response *response, char *ret, size_t n, kc_error *err)
{
    (void)err;
    service_response *answer = (service_response *)response;
    const kc_str rest = kc_str_sub(kc_buf_str(&answer->reply.body), answer->read, SIZE_MAX);
    n = KC_MIN(n, rest.n);
    if (n)
        memcpy(ret, rest.p, n);
    answer->read += n;
    return (ssize_t)n;
}

static inline void service_close(kc_http_response *response)
{
    kc__network_reply_done(&((service_response *)response)->reply);
    free(response);
}

static inline void service_transport_free(kc_transport *t)
{
    free(t);
}

static inline kc_transport *service_transport_new(void)
{
    static const kc_transport_ops ops = {service_open, service_read, service_close,
                                         service_transport_free};
    kc_transport *t = kc_new(kc_transport);
    t->ops = &ops;
    return t;
}

static inline int set_up_outside(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    return kc__network_set_up(setup, service_transport_new(), ret_user, err);
}

/* ---- the service ---- */

extern const kc_reconciler network_reconciler;

/* The reconciler, over this transport. */
static inline const kc_reconciler *network_outside(void)
{
    static kc_reconciler reconciler;
    reconciler = network_reconciler;
    reconciler.name = "network";
    reconciler.setup = set_up_outside;
    return &reconciler;
}

static inline void outside_end(void)
{
    kc__network_service_stop(outside.service);
    memset(&outside, 0, sizeof(outside));
}

/* Starts an empty service. */
static inline void outside_begin(kc_testenv *env)
{
    outside_end();
    outside.env = env;
    kc_rand_seed(&outside.rand, 7);
    outside.service = kc__network_service_start(&(kc__network_service_opts){0}, NULL);
}

/* Sends one request; returns its status. The body is left in `out` if that is not NULL. */
static inline KC_UNUSED int outside_call(const char *method, const char *path, const char *json,
                                         kc_buf *out)
{
    kc_scoped(kc__network_reply) reply = {0};
    kc_autofree char *body = kc_strdup(json ? json : "");
    for (char *c = body; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc__network_service_call(outside.service,
                             &(kc__network_call){.method = kc_cstr(method),
                                                 .path = kc_cstr(path),
                                                 .body = kc_cstr(body)},
                             &reply);
    if (out)
        kc_buf_append(out, kc_buf_str(&reply.body));
    return reply.status;
}

/* "name cidr gateway, …", ordered by address. */
static inline KC_UNUSED void assert_service_has(const char *expected)
{
    kc_scoped(kc_buf) out = {0}, json = {0};
    outside_call("GET", "/v1/networks", NULL, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    kc_value_each_item (kc_value_get(kc_view_root(view), "networks"), item)
        kc_buf_printf(&out, "%s%s %s %s", out.n ? ", " : "",
                      kc_value_as_cstr(kc_value_get(item, "name"), ""),
                      kc_value_as_cstr(kc_value_get(item, "cidr"), ""),
                      kc_value_as_cstr(kc_value_get(item, "gateway"), ""));
    assert_string_equal(kc_buf_cstr(&out), expected);
}

#endif
