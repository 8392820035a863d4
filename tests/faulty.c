/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faulty.c: a transport that injects faults.
 *
 * Watches are read line by line, one event each, so that single events can be dropped. A watch is
 * ended by its own token, which wakes its reader; a flag decides which result the reader gets.
 */
#include "faulty.h"

#include "kc/dlist.h"
#include "kc/ref.h"
#include "kc/vec.h"

#include <string.h>

typedef struct rule {
    char *part;
    int skip; /* Matching requests that pass before the rule applies. */
    int times, status;
    char *body;
    bool cut;
    size_t bytes;
} rule;

typedef struct seen {
    char *text;
    int64_t when;
} seen;

struct faulty {
    kc_transport base;
    kc_transport *inner;
    const kc_clock *clock;
    kc_mutex mutex; /* Guards all below. */
    kc_cond thawed;
    KC_VEC(rule) rules;
    KC_VEC(seen) seen;
    kc_dlist watches;
    char *swallowed, *prepended;
    bool frozen;
};

typedef enum ending {
    GOES_ON,
    ENDS,
    BREAKS,
} ending;

typedef struct answer {
    kc_http_response base;
    kc_dlist_link link;
    faulty *f;
    kc_http_response *inner;
    kc_cancel *cancel;
    kc_cancel_hook hook; /* Wakes who waits for a thaw. */
    ending ending;       /* Guarded by the faulty's mutex. */
    bool watches;
    kc_buf raw, ready; /* Bytes not yet cut into lines; lines to be given. */
    size_t given;
    bool cut;
    size_t left; /* Until it is cut. */
} answer;

static bool holds(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* ---- opening ---- */

/* The first rule for a request, used up once more. */
static bool rule_for(faulty *f, const char *text, rule *ret)
{
    for (size_t i = 0; i < f->rules.n; i++) {
        rule *r = &f->rules.items[i];
        if (!r->times || !holds(text, r->part) || r->skip-- > 0)
            continue;
        r->skip = 0;
        if (r->times > 0)
            r->times--;
        *ret = *r;
        ret->body = kc_strdup(r->body ? r->body : ""); /* The rule may be gone before it is used. */
        return true;
    }
    return false;
}

static const kc_transport_ops OPS;

static answer *answer_new(faulty *f, int status)
{
    static const kc_http_field json = {KC_STR_INIT("content-type"),
                                       KC_STR_INIT("application/json")};
    answer *a = kc_new(answer);
    a->base = (kc_http_response){.ops = &OPS, .status = status, .fields = &json, .n_fields = 1};
    a->f = f;
    return a;
}

static kc_http_response *canned(faulty *f, const rule *r, kc_error *err)
{
    if (!r->status) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "connection refused");
        if (err)
            err->code = 0;
        return NULL;
    }
    answer *a = answer_new(f, r->status);
    kc_buf_puts(&a->ready, r->body);
    return &a->base;
}

static void wake(kc_cancel_hook *hook)
{
    faulty *f = kc_container_of(hook, answer, hook)->f;
    kc_locked (&f->mutex)
        kc_cond_broadcast(&f->thawed);
}

static kc_http_response *forward(faulty *f, const kc_http_request *request, const rule *r,
                                 kc_error *err)
{
    kc_http_request copy = *request;
    answer *a = answer_new(f, 0);
    a->cancel = kc_cancel_new(request->cancel);
    copy.cancel = a->cancel;
    a->inner = kc_transport_open(f->inner, &copy, err);
    if (!a->inner) {
        kc_cancel_unref(a->cancel);
        free(a);
        return NULL;
    }
    a->hook.fire = wake;
    kc_cancel_add_hook(a->cancel, &a->hook);
    a->base.status = a->inner->status;
    a->base.fields = a->inner->fields;
    a->base.n_fields = a->inner->n_fields;
    a->watches = kc_str_contains(request->target, KC_STR("watch=true")) && a->base.status == 200;
    a->cut = r != NULL;
    a->left = r ? r->bytes : 0;
    kc_locked (&f->mutex) {
        if (a->watches)
            kc_dlist_push(&f->watches, &a->link);
        if (a->watches && f->prepended)
            kc_buf_puts(&a->ready, f->prepended);
    }
    return &a->base;
}

static kc_http_response *faulty_open(kc_transport *t, const kc_http_request *request, kc_error *err)
{
    faulty *f = kc_container_of(t, faulty, base);
    rule r = {0};
    bool ruled = false;
    kc_locked (&f->mutex) {
        char *text = kc_asprintf("%s %.*s", request->method, KC_ARG(request->target));
        kc_vec_push(&f->seen, (seen){text, kc_clock_now(f->clock)});
        ruled = rule_for(f, text, &r);
    }
    kc_autofree char *body = r.body;
    if (ruled && !r.cut)
        return canned(f, &r, err);
    return forward(f, request, ruled ? &r : NULL, err);
}

/* ---- reading ---- */

/* Moves whole lines from raw to ready, without those that get lost. */
static void cut_lines(answer *a)
{
    kc_str rest = kc_buf_str(&a->raw);
    for (ptrdiff_t end; (end = kc_str_find(rest, '\n')) >= 0;) {
        kc_str line = kc_str_sub(rest, 0, (size_t)end + 1);
        rest = kc_str_sub(rest, line.n, rest.n);
        if (!a->f->swallowed || !kc_str_contains(line, kc_cstr(a->f->swallowed)))
            kc_buf_append(&a->ready, line);
    }
    memmove(a->raw.p, rest.p, rest.n);
    a->raw.n = rest.n;
}

static ssize_t give(answer *a, char *bytes, size_t n)
{
    n = KC_MIN(n, a->ready.n - a->given);
    memcpy(bytes, a->ready.p + a->given, n);
    a->given += n;
    if (a->given == a->ready.n) {
        kc_buf_clear(&a->ready);
        a->given = 0;
    }
    return (ssize_t)n;
}

static ssize_t after_end(answer *a, ssize_t got, kc_error *err)
{
    ending how = GOES_ON;
    kc_locked (&a->f->mutex)
        how = a->ending;
    if (how == ENDS) {
        if (err)
            kc_error_done(err);
        return 0;
    }
    return how == BREAKS ? kc_error_set(err, KC_SERVICE_UNAVAILABLE, "connection lost") : got;
}

/* Reads on until there is a line to give. */
static ssize_t read_watch(answer *a, char *bytes, size_t n, kc_error *err)
{
    faulty *f = a->f;
    char chunk[4096];
    while (!a->ready.n) {
        ssize_t got = kc_http_response_read(a->inner, chunk, sizeof(chunk), err);
        if (got <= 0)
            return after_end(a, got, err);
        kc_buf_append(&a->raw, kc_str_of(chunk, (size_t)got));
        kc_locked (&f->mutex)
            cut_lines(a);
    }
    bool in_time = true, over = false;
    kc_locked (&f->mutex) {
        while (f->frozen && a->ending == GOES_ON && in_time && !kc_cancel_fired(a->cancel))
            in_time =
                kc_cond_wait_until(&f->thawed, &f->mutex, f->clock,
                                   a->base.read_deadline ? a->base.read_deadline : KC_FOREVER);
        over = a->ending != GOES_ON; /* Its token is fired a moment later. */
    }
    if (!in_time)
        return kc_error_set(err, KC_TIMEOUT, "timed out waiting for an event");
    if (over || kc_cancel_fired(a->cancel))
        return after_end(a, kc_error_set(err, KC_TIMEOUT, "cancelled"), err);
    return give(a, bytes, n);
}

static ssize_t read_cut(answer *a, char *bytes, size_t n, kc_error *err)
{
    if (!a->left)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "connection lost");
    ssize_t got = kc_http_response_read(a->inner, bytes, KC_MIN(n, a->left), err);
    if (got > 0)
        a->left -= (size_t)got;
    return got;
}

static ssize_t faulty_read(kc_http_response *response, char *bytes, size_t n, kc_error *err)
{
    answer *a = kc_container_of(response, answer, base);
    if (!a->inner)
        return give(a, bytes, n);
    a->inner->read_deadline = response->read_deadline;
    if (a->cut)
        return read_cut(a, bytes, n, err);
    return a->watches ? read_watch(a, bytes, n, err)
                      : kc_http_response_read(a->inner, bytes, n, err);
}

static void faulty_close(kc_http_response *response)
{
    answer *a = kc_container_of(response, answer, base);
    kc_locked (&a->f->mutex)
        kc_dlist_remove(&a->link);
    kc_http_response_close(a->inner);
    kc_cancel_remove_hook(a->cancel, &a->hook);
    kc_cancel_unref(a->cancel);
    kc_buf_done(&a->raw);
    kc_buf_done(&a->ready);
    free(a);
}

/* ---- life ---- */

static void faulty_free(kc_transport *t)
{
    faulty *f = kc_container_of(t, faulty, base);
    kc_transport_free(f->inner);
    faulty_heal(f);
    kc_vec_done(&f->rules);
    kc_vec_each (&f->seen, s)
        free(s->text);
    kc_vec_done(&f->seen);
    free(f->swallowed);
    free(f->prepended);
    kc_cond_done(&f->thawed);
    kc_mutex_done(&f->mutex);
    free(f);
}

static const kc_transport_ops OPS = {faulty_open, faulty_read, faulty_close, faulty_free};

faulty *faulty_new(kc_transport *inner, const kc_clock *clock)
{
    faulty *f = kc_new(faulty);
    f->base.ops = &OPS;
    f->inner = inner;
    f->clock = clock;
    kc_mutex_init(&f->mutex);
    kc_cond_init(&f->thawed);
    kc_dlist_init(&f->watches);
    return f;
}

kc_transport *faulty_transport(faulty *f)
{
    return &f->base;
}

/* ---- what a test says ---- */

static void add_rule(faulty *f, rule r)
{
    kc_locked (&f->mutex)
        kc_vec_push(&f->rules, r);
}

void faulty_respond(faulty *f, const char *part, int times, int status, const char *body)
{
    add_rule(f, (rule){.part = kc_strdup(part),
                       .times = times,
                       .status = status,
                       .body = kc_strdup(body ? body : "")});
}

void faulty_allow(faulty *f, int n)
{
    add_rule(f, (rule){.part = kc_strdup(""),
                       .skip = n,
                       .times = -1,
                       .status = 403,
                       .body = kc_strdup("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
                                         "\"Failure\",\"reason\":\"Forbidden\",\"code\":403}")});
}

void faulty_cut(faulty *f, const char *part, int times, size_t bytes)
{
    add_rule(f, (rule){.part = kc_strdup(part), .times = times, .cut = true, .bytes = bytes});
}

void faulty_heal(faulty *f)
{
    kc_locked (&f->mutex) {
        kc_vec_each (&f->rules, r) {
            free(r->part);
            free(r->body);
        }
        kc_vec_clear(&f->rules);
    }
}

void faulty_end_watches(faulty *f, bool regularly)
{
    KC_VEC(kc_cancel *) tokens = {0};
    kc_locked (&f->mutex) {
        kc_dlist_each (&f->watches, answer, link, a) {
            a->ending = regularly ? ENDS : BREAKS;
            kc_vec_push(&tokens, kc_cancel_ref(a->cancel));
        }
        kc_cond_broadcast(&f->thawed);
    }
    kc_vec_each (&tokens, token) {
        kc_cancel_fire(*token);
        kc_cancel_unref(*token);
    }
    kc_vec_done(&tokens);
}

static void set_text(faulty *f, char **place, const char *text)
{
    kc_locked (&f->mutex) {
        free(*place);
        *place = text ? kc_strdup(text) : NULL;
    }
}

void faulty_drop_events(faulty *f, const char *text)
{
    set_text(f, &f->swallowed, text);
}

void faulty_prepend(faulty *f, const char *text)
{
    set_text(f, &f->prepended, text);
}

void faulty_freeze(faulty *f, bool frozen)
{
    kc_locked (&f->mutex) {
        f->frozen = frozen;
        kc_cond_broadcast(&f->thawed);
    }
}

size_t faulty_count(faulty *f, const char *part)
{
    size_t n = 0;
    kc_locked (&f->mutex)
        kc_vec_each (&f->seen, s)
            n += holds(s->text, part);
    return n;
}

char *faulty_target(faulty *f, const char *part, size_t nth, int64_t *ret_when)
{
    char *found = NULL;
    kc_locked (&f->mutex)
        kc_vec_each (&f->seen, s)
            if (!found && holds(s->text, part) && nth-- == 0) {
                found = kc_strdup(s->text);
                if (ret_when)
                    *ret_when = s->when;
            }
    return found;
}
