/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c: fault injection between a client and a server.
 *
 * Before a request is sent, the rules are evaluated in the order in which they were added; the
 * first one that matches and whose random draw succeeds is applied. Faults of the request are
 * injected in fault_open; faults of a long-running response (a watch) are injected in read, some
 * reads later:
 *
 *     open ──▶ which rule? ──▶ before the server: refused, delayed, a synthetic response
 *                         └──▶ after it: the response is lost; a watch breaks, stalls, lags
 *
 * A crash fires the cancellation token of every request in flight and refuses all later ones.
 */
#include "embed/faults.h"

#include "kc/dlist.h"
#include "kc/vec.h"

#include <assert.h>

/* A watch fault is injected within this many reads; delayed events last at most this long. */
enum { READS = 20 };
#define LAG (5 * KC_SECOND)

typedef struct faults_rule {
    kc_fault_opts what;
    int left; /* Remaining number of times; -1: no limit. */
} faults_rule;

struct kc__faults {
    const kc_clock *clock;
    kc_mutex mutex; /* Guards all fields below. Only firing of tokens is called under it. */
    kc_rand rand;
    KC_VEC(faults_rule) rules;
    size_t happened[KC_FAULTS];
    size_t writes_left; /* Writes left until the crash; 0: none is scheduled. */
    bool crashed;
    size_t held;
    uint64_t hash;
    kc_dlist open; /* Open responses. */
    /* The last one receives the requests. Earlier ones are kept for responses that are still
     * read. */
    KC_VEC(kc_transport *) servers;
};

typedef struct fault_transport {
    kc_transport transport;
    kc__faults *faults;
} fault_transport;

typedef struct faults_respond {
    kc_http_response response;
    kc__faults *faults;
    kc_dlist_link link;
    kc_http_response *inner; /* NULL: a synthetic response. */
    kc_cancel *cancel;       /* A child of the request's token. */
    _Atomic kc_fault fault;  /* kc__faults_clear resets it while a watch is read. */
    size_t reads_left;       /* Reads left until the fault is injected. */
    kc_str made_up;          /* Unread part of a synthetic body. */
    kc_http_field field;     /* Of a synthetic response. */
    bool is_watch;
    uint64_t hash;
} faults_respond;

/* ---- selecting a fault ---- */

static bool is_watch(const kc_http_request *request)
{
    return kc_str_contains(request->target, KC_STR("watch=1")) ||
           kc_str_contains(request->target, KC_STR("watch=true"));
}

static bool is_write(const kc_http_request *request)
{
    return strcmp(request->method, "GET") != 0;
}

/* Whether a target is of this kind: its path has the kind's group, version and resource. */
static bool is_of_kind(kc_str target, const kc_kind *kind)
{
    kc_autofree char *root = kind->group && *kind->group
                                 ? kc_asprintf("/apis/%s/%s/", kind->group, kind->version)
                                 : kc_asprintf("/api/%s/", kind->version);
    kc_autofree char *name = kc_asprintf("/%s", kind->plural);
    if (!kc_str_starts(target, kc_cstr(root)))
        return false;
    const char *at = memmem(target.p, target.n, name, strlen(name));
    const char *end = at ? at + strlen(name) : NULL;
    return at && (end == target.p + target.n || *end == '/' || *end == '?');
}

static bool can_happen_to(kc_fault fault, const kc_http_request *request)
{
    switch (fault) {
    case KC_FAULT_CONFLICT: return is_write(request) && strcmp(request->method, "POST") != 0;
    case KC_FAULT_LOST_RESPONSE: return !is_watch(request);
    case KC_FAULT_DROP_WATCH:
    case KC_FAULT_EXPIRE_WATCH:
    case KC_FAULT_STALL_WATCH:
    case KC_FAULT_STALE_READ: return is_watch(request);
    default: return true;
    }
}

static bool matches(const faults_rule *r, const kc_http_request *request)
{
    const kc_fault_opts *what = &r->what;
    return r->left != 0 && can_happen_to(what->fault, request) &&
           (!what->method || strcmp(what->method, request->method) == 0) &&
           (!what->kind || is_of_kind(request->target, what->kind));
}

/* Call it with the mutex held. */
static kc_fault fault_for(kc__faults *f, const kc_http_request *request)
{
    kc_vec_each (&f->rules, r) {
        if (!matches(r, request))
            continue;
        if (r->what.chance < 1 && kc_rand_double(&f->rand) >= r->what.chance)
            continue;
        if (r->left > 0)
            r->left--;
        f->happened[r->what.fault]++;
        return r->what.fault;
    }
    return KC_FAULT_NONE;
}

/* ---- crashing ---- */

/* The request was definitely not sent: code 0 (transport.h). */
static int faults_reject(kc_error *err, const char *why)
{
    int failed = kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s", why);
    if (err)
        err->code = 0;
    return failed;
}

/* Call it with the mutex held. */
static void crash(kc__faults *f)
{
    f->crashed = true;
    kc_dlist_each (&f->open, faults_respond, link, a)
        kc_cancel_fire(a->cancel);
}

/* Called after a write was executed. Returns true if the process has crashed right after it. */
static bool crashes_after_write(kc__faults *f)
{
    bool crashed = false;
    kc_locked (&f->mutex) {
        if (f->writes_left && --f->writes_left == 0)
            crash(f);
        crashed = f->crashed;
    }
    return crashed;
}

/* ---- synthetic responses ---- */

static kc_str status_text(kc_fault fault)
{
    switch (fault) {
    case KC_FAULT_CONFLICT:
        return KC_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                      "\"Failure\",\"message\":\"the object has been modified\",\"reason\":"
                      "\"Conflict\",\"code\":409}");
    case KC_FAULT_TOO_MANY:
        return KC_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                      "\"Failure\",\"message\":\"too many requests\",\"reason\":"
                      "\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":1},\"code\":429}");
    default:
        return KC_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                      "\"Failure\",\"message\":\"too old resource version\",\"reason\":"
                      "\"Expired\",\"code\":410}");
    }
}

static faults_respond *make_up(faults_respond *a, kc_fault fault)
{
    a->made_up = status_text(fault);
    a->response.status = fault == KC_FAULT_CONFLICT ? 409 : fault == KC_FAULT_TOO_MANY ? 429 : 410;
    a->field = fault == KC_FAULT_TOO_MANY
                   ? (kc_http_field){KC_STR("retry-after"), KC_STR("1")}
                   : (kc_http_field){KC_STR("content-type"), KC_STR("application/json")};
    a->response.fields = &a->field;
    a->response.n_fields = 1;
    return a;
}

/* ---- opening ---- */

static bool wait_until(faults_respond *a, int64_t until, int64_t deadline)
{
    kc__faults *f = a->faults;
    kc_locked (&f->mutex)
        f->held++;
    bool waited =
        kc_cancel_sleep_until(a->cancel, f->clock, deadline ? KC_MIN(until, deadline) : until);
    kc_locked (&f->mutex)
        f->held--;
    return waited && (!deadline || until <= deadline);
}

static int64_t some_time(kc__faults *f, int64_t most)
{
    int64_t ns = 0;
    kc_locked (&f->mutex)
        ns = (int64_t)kc_rand_below(&f->rand, (uint64_t)most);
    return kc_clock_deadline(f->clock, ns);
}

static void discard_response(kc_http_response *inner)
{
    char chunk[4096];
    while (kc_http_response_read(inner, chunk, sizeof(chunk), NULL) > 0)
        ;
    kc_http_response_close(inner);
}

/* Forwards the request; negative if the response is lost. */
static int faults_forward(faults_respond *a, const kc_http_request *request, kc_error *err)
{
    kc_http_request with_token = *request;
    kc_transport *server = NULL;
    with_token.cancel = a->cancel;
    kc_locked (&a->faults->mutex)
        server = *kc_vec_last(&a->faults->servers);
    a->inner = kc_transport_open(server, &with_token, err);
    if (!a->inner)
        return kc_error_result(err);
    bool carried_out = is_write(request) && a->inner->status < 300;
    if (a->fault == KC_FAULT_LOST_RESPONSE || (carried_out && crashes_after_write(a->faults))) {
        discard_response(kc_take(a->inner));
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "the connection was lost before the response");
    }
    a->response.status = a->inner->status;
    a->response.fields = a->inner->fields;
    a->response.n_fields = a->inner->n_fields;
    return 0;
}

static int open_with(faults_respond *a, const kc_http_request *request, kc_error *err)
{
    switch (a->fault) {
    case KC_FAULT_UNAVAILABLE: return faults_reject(err, "connection refused");
    case KC_FAULT_CONFLICT:
    case KC_FAULT_TOO_MANY:
    case KC_FAULT_EXPIRE_WATCH: make_up(a, a->fault); return 0;
    case KC_FAULT_SLOW:
        if (!wait_until(a, some_time(a->faults, KC_SECOND), request->deadline))
            return kc_error_set(err, KC_TIMEOUT, "timed out waiting for the response");
        return faults_forward(a, request, err);
    default: return faults_forward(a, request, err);
    }
}

static const kc_transport_ops ops;

/* NULL after a crash. */
static faults_respond *answer_new(kc__faults *f, const kc_http_request *request)
{
    faults_respond *a = kc_new(faults_respond);
    a->response.ops = &ops;
    a->faults = f;
    a->cancel = kc_cancel_new(request->cancel);
    a->is_watch = is_watch(request);
    a->hash = kc_str_hash(request->target, kc_str_hash(kc_cstr(request->method), 1));
    bool crashed = false;
    kc_locked (&f->mutex) {
        crashed = f->crashed;
        if (crashed)
            break;
        a->fault = fault_for(f, request);
        a->reads_left = 1 + kc_rand_below(&f->rand, READS);
        kc_dlist_push(&f->open, &a->link);
    }
    if (!crashed)
        return a;
    kc_cancel_unref(a->cancel);
    free(a);
    return NULL;
}

static void answer_close(kc_http_response *response)
{
    faults_respond *a = (faults_respond *)response;
    kc__faults *f = a->faults;
    kc_http_response_close(a->inner);
    kc_locked (&f->mutex) {
        kc_dlist_remove(&a->link);
        if (!a->is_watch)
            f->hash =
                (f->hash ^ a->hash) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)response->status;
    }
    kc_cancel_unref(a->cancel);
    free(a);
}

static kc_http_response *fault_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    fault_transport *ft = (fault_transport *)t;
    faults_respond *a = answer_new(ft->faults, request);
    if (!a) {
        faults_reject(err, "connection refused");
        return NULL;
    }
    if (open_with(a, request, err) == 0)
        return &a->response;
    answer_close(&a->response);
    return NULL;
}

/* ---- reading ---- */

static ssize_t read_made_up(faults_respond *a, char *to, size_t n)
{
    n = KC_MIN(n, a->made_up.n);
    memcpy(to, a->made_up.p, n);
    a->made_up = kc_str_of(a->made_up.p + n, a->made_up.n - n);
    return (ssize_t)n;
}

/* Injects a fault into a read of a watch; 0: the read continues. */
static int strike(faults_respond *a, kc_error *err)
{
    switch (a->fault) {
    case KC_FAULT_DROP_WATCH: return faults_reject(err, "connection lost");
    case KC_FAULT_STALL_WATCH:
        /* The watch has stalled; not counted as held, because no event will follow. */
        kc_cancel_sleep_until(a->cancel, a->faults->clock,
                              a->response.read_deadline ? a->response.read_deadline : KC_FOREVER);
        return kc_error_set(err, KC_TIMEOUT, "timed out waiting for an event");
    case KC_FAULT_STALE_READ:
        return wait_until(a, some_time(a->faults, LAG), 0) ? 0
                                                           : faults_reject(err, "connection lost");
    default: return 0;
    }
}

static ssize_t fault_read(kc_http_response *response, char *to, size_t n, kc_error *err)
{
    faults_respond *a = (faults_respond *)response;
    if (!a->inner)
        return read_made_up(a, to, n);
    a->inner->read_deadline = response->read_deadline;
    if (a->reads_left > 1)
        a->reads_left--;
    else if (strike(a, err) < 0)
        return kc_error_result(err);
    ssize_t got = kc_http_response_read(a->inner, to, n, err);
    if (got > 0)
        a->hash = kc_str_hash(kc_str_of(to, (size_t)got), a->hash);
    return got;
}

static void fault_free(kc_transport *t)
{
    free(t);
}

static const kc_transport_ops ops = {fault_open, fault_read, answer_close, fault_free};

kc_transport *kc__faults_transport(kc__faults *faults)
{
    fault_transport *t = kc_new(fault_transport);
    t->transport.ops = &ops;
    t->faults = faults;
    return &t->transport;
}

void kc__faults_connect(kc__faults *faults, kc_transport *to)
{
    kc_locked (&faults->mutex)
        kc_vec_push(&faults->servers, to);
}

/* ---- for tests ---- */

kc__faults *kc__faults_new(const kc_clock *clock, kc_rand rand)
{
    kc__faults *f = kc_new(kc__faults);
    f->clock = clock;
    f->rand = rand;
    kc_mutex_init(&f->mutex);
    kc_dlist_init(&f->open);
    return f;
}

kc__faults *kc__faults_free(kc__faults *f)
{
    if (!f)
        return NULL;
    assert(kc_dlist_empty(&f->open));
    kc_vec_each (&f->servers, t)
        kc_transport_free(*t);
    kc_vec_done(&f->servers);
    kc_vec_done(&f->rules);
    kc_mutex_done(&f->mutex);
    free(f);
    return NULL;
}

void kc__faults_add(kc__faults *f, const kc_fault_opts *fault)
{
    kc_locked (&f->mutex)
        kc_vec_push(&f->rules, ((faults_rule){*fault, fault->times ? fault->times : -1}));
}

void kc__faults_clear(kc__faults *f)
{
    kc_locked (&f->mutex) {
        kc_vec_clear(&f->rules);
        kc_dlist_each (&f->open, faults_respond, link, a)
            if (a->fault != KC_FAULT_STALL_WATCH)
                a->fault = KC_FAULT_NONE;
            else
                kc_cancel_fire(a->cancel);
    }
}

size_t kc__faults_count(const kc__faults *faults, kc_fault fault)
{
    kc__faults *f = (kc__faults *)faults;
    size_t n = 0;
    kc_locked (&f->mutex)
        n = f->happened[fault];
    return n;
}

void kc__faults_crash_after(kc__faults *f, size_t writes)
{
    kc_locked (&f->mutex) {
        f->writes_left = writes;
        if (!writes)
            crash(f);
    }
}

bool kc__faults_crashed(const kc__faults *faults)
{
    kc__faults *f = (kc__faults *)faults;
    bool crashed = false;
    kc_locked (&f->mutex)
        crashed = f->crashed;
    return crashed;
}

size_t kc__faults_held(const kc__faults *faults)
{
    kc__faults *f = (kc__faults *)faults;
    size_t held = 0;
    kc_locked (&f->mutex)
        held = f->held;
    return held;
}

uint64_t kc__faults_hash(const kc__faults *faults)
{
    kc__faults *f = (kc__faults *)faults;
    uint64_t hash = 0;
    kc_locked (&f->mutex)
        hash = f->hash;
    return hash;
}
