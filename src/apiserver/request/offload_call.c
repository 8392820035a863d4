/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload_call.c: decides which calls run on a worker thread, and returns them to the loop.
 *
 *     loop    DECODED? ──▶ submit          STORED … ANSWERED ──▶ response
 *     worker              DECODED … ENCODED ─┘    └─ rendering ─┘
 *
 * A request is expensive if its body is long or has many values, if it changes such an object, or
 * if its response is rendered from long or many objects. Stored bytes are sent unchanged, so plain
 * reads never leave the loop.
 *
 * What a write costs depends on its values more than on its bytes: each object inside a list gets
 * defaults, an owner and checks. So the estimate counts opening braces, commas and, for YAML,
 * lines. Those in strings are counted, too, except commas of a short text; a call that leaves the
 * loop without need is a little slower, and nothing else.
 *
 * On a worker a call runs phase after phase until one needs the loop. A response that is complete
 * there is kept (kc__rest_call_keep_response) and sent on the loop, because exchanges may only be
 * used on their loop. The job has the deadline of the request; a call that reaches it while it
 * waits or runs fails with a Timeout.
 */
#include "apiserver/kinds/conversion.h"
#include "apiserver/request/offload.h"
#include "apiserver/request/phases.h"
#include "apiserver/request/scale.h"

enum {
    LONG = 32 * 1024, /* A body or object that may take several milliseconds in all phases. */
    /* The same, by its values: about a millisecond for objects that get many defaults. */
    MANY_VALUES = 1600,
    OBJECT_VALUES = 8, /* What an object counts as, */
    LINE_VALUES = 4,   /* and a line. */
    MANY = 256,        /* Number of objects to read, and their size in KiB. */
    RESOURCES = 300,   /* From this number on, discovery takes more than a millisecond. */
};

typedef struct kc__rest_call_work {
    kc__offload_job job;
    kc__rest_call *call;
    kc__rest_verdict verdict;
    kc__http_response *response; /* Completed on the worker. */
} kc__rest_call_work;

/* ---- which calls ---- */

/* Counts values for a character, up to MANY_VALUES in all. */
static void count_values(kc_str text, char c, size_t each, size_t *values)
{
    if (!text.n)
        return;
    const char *end = text.p + text.n, *at = text.p;
    while (at < end && *values <= MANY_VALUES && (at = memchr(at, c, (size_t)(end - at)))) {
        *values += each;
        at++;
    }
}

/* Whether two parts of a text have many values. Outside of strings a value stands before each
 * comma, so a short text need not be searched for them. */
static bool has_many_values(kc_str a, kc_str b)
{
    size_t values = 0;
    count_values(a, '{', OBJECT_VALUES, &values);
    count_values(b, '{', OBJECT_VALUES, &values);
    count_values(a, '\n', LINE_VALUES, &values);
    count_values(b, '\n', LINE_VALUES, &values);
    if (values + (a.n + b.n) / 2 > MANY_VALUES) {
        count_values(a, ',', 1, &values);
        count_values(b, ',', 1, &values);
    }
    return values > MANY_VALUES;
}

static bool is_long_body(kc_str body)
{
    return body.n > LONG || has_many_values(body, (kc_str){0});
}

/* The owners have an object for each field, and cost much less. */
static bool is_long_object(const kc_object *object)
{
    kc_str json = kc_object_json(object), owners = kc_object_managed_fields_json(object);
    size_t before = owners.n ? (size_t)(owners.p - json.p) : json.n;
    return json.n > LONG || has_many_values(kc_str_sub(json, 0, before),
                                            kc_str_sub(json, before + owners.n, json.n));
}

static bool is_long(const kc__rest_call *call)
{
    kc_auto(kc_object) *stored = kc__watch_cache_get(call->served->cache, call->key);
    return stored && is_long_object(stored);
}

static bool is_read_and_changed(const kc__rest_verb *verb)
{
    return verb == &kc__rest_verb_update || verb == &kc__rest_verb_patch ||
           verb == &kc__rest_verb_delete;
}

/* Whether the response must be rendered, and is not just stored bytes. */
static bool is_rendered(const kc__rest_call *call)
{
    return call->form.as != KC__REST_AS_OBJECT || call->form.yaml || call->form.pretty ||
           call->request_resource->ops->transforms_on_read || kc__rest_is_scale(call) ||
           kc__convert_is_needed(call->request_resource);
}

/* A list reads every object that its selectors reject, and reads a page twice; YAML and indented
 * JSON are one text. */
static bool is_long_list(const kc__rest_call *call)
{
    const kc__rest_options *o = &call->options;
    bool collected = call->verb == &kc__rest_verb_delete_collection;
    if (!collected && !is_rendered(call) && !o->labels && !o->fields && !o->limit)
        return false;
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(call->served->cache, NULL);
    kc__cow_iter at = kc__cow_iter_start(now, &(kc__cow_range){.prefix = call->key});
    size_t objects = 0, bytes = 0;
    while (objects <= MANY && bytes <= MANY * 1024 && kc__cow_iter_next(&at)) {
        objects++;
        bytes += kc_object_json(at.object).n;
    }
    return objects > MANY || bytes > MANY * 1024;
}

static bool has_long_answer(const kc__rest_call *call)
{
    if (call->endpoint)
        return call->endpoint->heavy ||
               (call->endpoint->grows && call->catalog->n_served > RESOURCES);
    if (call->verb == &kc__rest_verb_list)
        return is_long_list(call);
    if (call->verb == &kc__rest_verb_delete_collection)
        return call->heavy;
    if (!is_rendered(call))
        return false;
    return call->heavy || (call->verb == &kc__rest_verb_get && is_long(call));
}

/* Whether the call is the first to change an object of a CRD with a large schema. */
static bool builds_topology(const kc__rest_call *call)
{
    const kc__resource *r = call->request_resource;
    bool changes = call->verb == &kc__rest_verb_create || call->verb == &kc__rest_verb_update ||
                   call->verb == &kc__rest_verb_patch;
    return changes && r && r->ops->topology_is_slow && r->ops->topology_is_slow(r);
}

static bool is_expensive(kc__rest_call *call)
{
    switch (call->phase) {
    case KC__REST_PHASE_DECODED: call->heavy = is_long_body(call->x->request.body); break;
    case KC__REST_PHASE_PROPOSED:
        call->heavy = call->heavy || builds_topology(call) ||
                      (is_read_and_changed(call->verb) && is_long(call)) ||
                      (call->verb == &kc__rest_verb_delete_collection && is_long_list(call));
        break;
    case KC__REST_PHASE_ANSWERED: return has_long_answer(call);
    default: break;
    }
    return call->heavy;
}

/* ---- on a worker ---- */

static void run_offloaded_call(kc__offload_job *job)
{
    kc__rest_call_work *work = kc_container_of(job, kc__rest_call_work, job);
    kc__rest_call *call = work->call;
    kc_rand *own = call->rand;
    call->rand = job->rand;
    call->on_worker = true;
    work->verdict = kc__rest_call_run_offloaded(call);
    call->on_worker = false;
    call->rand = own;
}

static void free_text(void *text)
{
    free(text);
}

static kc__http_header *keep_headers(kc_arena *arena, const kc__http_response *response)
{
    kc__http_header *kept = kc_arena_calloc(arena, response->n_headers, sizeof(*kept));
    for (size_t i = 0; i < response->n_headers; i++)
        kept[i] = (kc__http_header){kc_arena_str(arena, response->headers[i].name),
                                    kc_arena_str(arena, response->headers[i].value)};
    return kept;
}

bool kc__rest_call_keep_response(kc__rest_call *call, const kc__http_response *response)
{
    if (!call->on_worker)
        return false;
    kc__http_response *kept = kc_arena_new(call->arena, kc__http_response);
    *kept = *response;
    kept->type = kc_arena_str(call->arena, response->type);
    kept->headers = keep_headers(call->arena, response);
    if (response->body.n && !response->owner && !response->release) {
        kept->owner = kc_str_dup(response->body);
        kept->release = free_text;
        kept->body.p = kept->owner;
    }
    call->work->response = kept;
    return true;
}

/* ---- back on the loop ---- */

static void offloaded_call_done(kc__offload_job *job)
{
    kc__rest_call_work *work = kc_container_of(job, kc__rest_call_work, job);
    kc__rest_call *call = work->call;
    if (job->expired)
        kc__rest_call_resume(call, kc__rest_fail_timeout(call));
    else if (work->response)
        kc__rest_respond_bytes(call, work->response);
    else
        kc__rest_call_resume(call, work->verdict);
}

static void refuse_offloaded_call(kc__rest_call *call)
{
    kc__rest_fail(call, KC_TOO_MANY_REQUESTS,
                  "too many large requests are being processed, please try again later");
    call->error.retry_after_seconds = 1;
    kc__rest_respond_error(call);
}

bool kc__rest_call_offload(kc__rest_call *call)
{
    kc__offload *pool = call->api->offload;
    if (!pool || !is_expensive(call))
        return false;
    if (!call->work) {
        call->work = kc_arena_new(call->arena, kc__rest_call_work);
        call->work->call = call;
        call->work->job = (kc__offload_job){
            .loop = call->x->loop,
            .user = call->user.name,
            .deadline = kc_clock_deadline(call->api->clock, call->request_timeout),
            .run = run_offloaded_call,
            .done = offloaded_call_done,
        };
    }
    if (!kc__offload_submit(pool, &call->work->job))
        refuse_offloaded_call(call);
    return true;
}
