/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converter_batch.c: batches of objects: one ConversionReview each.
 *
 *     submit ──▶ queue of the CRD ──▶ call (within the limits) ──▶ response ──▶ objects end
 *
 * Kubernetes sends one object in each review. A webhook that fails a review as a whole, because it
 * cannot convert one of the objects, must not fail the others, and errors must be those of
 * Kubernetes. So if a review of several objects fails and the webhook has answered at all, the
 * objects are sent again one by one, in order.
 *
 * Each CRD has a queue and a limit of its own: a webhook that hangs delays no other CRD.
 */
#include "apiserver/conversion/converter_internal.h"

#include "apiserver/crd/custom_object.h"
#include "apiserver/webhook/webhook_endpoint.h"

#define AGENT "kube-apiserver-admission"

static void call_next(kc__converter *c);

/* ---- lanes ---- */

static kc__conversion_lane *lane_of(kc__converter *c, kc_str name)
{
    kc__conversion_lane *lane = kc_map_get(&c->lanes, name);
    if (lane)
        return lane;
    lane = kc_calloc(1, sizeof(*lane) + name.n + 1);
    memcpy(lane->text, name.p, name.n);
    lane->name = kc_str_of(lane->text, name.n);
    kc_dlist_init(&lane->queue);
    kc_map_put(&c->lanes, lane->name, lane);
    return lane;
}

static bool may_call(const kc__converter *c, const kc__conversion_lane *lane)
{
    return !lane->calls ||
           (lane->calls < KC__CONVERTER_CALLS_PER_CRD && c->calls < KC__CONVERTER_CALLS);
}

/* ---- batches ---- */

kc__conversion_batch *kc__conversion_batch_new(kc__converter *converter, const kc__custom *target)
{
    kc__conversion_batch *batch = kc_new(kc__conversion_batch);
    batch->converter = converter;
    batch->crd = kc__crd_ref(target->crd);
    batch->target = target;
    batch->lane = lane_of(converter, kc__crd_webhook_of(batch->crd)->name);
    return batch;
}

bool kc__conversion_batch_is_full(const kc__conversion_batch *batch)
{
    return batch->objects.n >= KC__CONVERTER_BATCH_OBJECTS ||
           batch->bytes >= KC__CONVERTER_BATCH_BYTES;
}

void kc__conversion_batch_add(kc__conversion_batch *batch, kc__conversion_object *object)
{
    kc_vec_push(&batch->objects, object);
    batch->bytes += kc_object_json(object->given).n;
}

static void batch_free(kc__conversion_batch *b)
{
    kc_vec_done(&b->objects);
    kc__crd_unref(b->crd);
    kc_object_unref(b->first);
    free(b->url);
    free(b);
}

static void end_object(kc__conversion_batch *b, size_t index, const kc_object *result,
                       const kc_error *error)
{
    kc__conversion_object *object = kc_take(b->objects.items[index]);
    kc__conversion_object_end(b->converter, object, result, error);
}

static void remove_ended(kc__conversion_batch *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->objects.n; i++)
        if (b->objects.items[i])
            b->objects.items[n++] = b->objects.items[i];
    b->objects.n = n;
}

/* ---- objects that are not sent ---- */

/* A job without interest in its result: abandoned, or failed already. */
static const kc_error *why_not_wanted(const kc__conversion_object *object)
{
    static const kc_error abandoned = {.reason = KC_UNKNOWN, .message = (char *)"abandoned"};
    const kc_error *why = NULL;
    for (size_t i = 0; i < object->waiters.n; i++) {
        const kc__remote_conversion *job = object->waiters.items[i].job;
        const kc_error *own = atomic_load(&job->abandoned) ? &abandoned : job->failed;
        if (!own)
            return NULL;
        why = own;
    }
    return why;
}

/* The object as the webhook sees it. Objects that are kept come from the store. */
static int prepare_sent(kc__conversion_batch *b, kc__conversion_object *object, kc_error *err)
{
    const kc_str version = kc_object_api_version(object->given);
    if (object->sent)
        return 0;
    if (!kc__crd_version(b->crd, version))
        return kc_error_set(err, KC_UNKNOWN,
                            "request to convert CR from an invalid group/version: %.*s",
                            KC_ARG(version));
    object->sent = object->key ? kc__custom_read_stored(b->target, object->given, err)
                               : kc_object_ref(object->given);
    return object->sent ? 0 : kc_error_result(err);
}

/* Ends the objects that need not or cannot be sent. */
static void prepare_batch(kc__conversion_batch *b)
{
    for (size_t i = 0; i < b->objects.n; i++) {
        kc_scoped(kc_error) err = {0};
        const kc_error *why = why_not_wanted(b->objects.items[i]);
        if (!why && prepare_sent(b, b->objects.items[i], &err) < 0)
            why = &err;
        if (why)
            end_object(b, i, NULL, why);
    }
    remove_ended(b);
}

/* ---- the response ---- */

/* Ends all objects with the same error, which names the kind of each. */
static void fail_batch(kc__conversion_batch *b, const kc_error *why, bool complete)
{
    for (size_t i = 0; i < b->objects.n; i++) {
        kc_scoped(kc_error) err = {0};
        kc_error_set(&err, KC_UNKNOWN, "%s", kc_error_text(why));
        if (!complete)
            kc__conversion_wrap_error(b->objects.items[i]->given, &err);
        end_object(b, i, NULL, &err);
    }
    remove_ended(b);
}

/* Sends the objects again, one by one: the first now, the rest when it has ended. */
static void send_one_by_one(kc__conversion_batch *b)
{
    kc__conversion_batch *first = kc__conversion_batch_new(b->converter, b->target);
    kc__conversion_batch *rest = kc__conversion_batch_new(b->converter, b->target);
    for (size_t i = 0; i < b->objects.n; i++)
        kc__conversion_batch_add(i ? rest : first, b->objects.items[i]);
    b->objects.n = 0;
    rest->one_by_one = true;
    if (rest->objects.n)
        kc_dlist_push_front(&b->lane->queue, &rest->link);
    else
        batch_free(rest);
    kc_dlist_push_front(&b->lane->queue, &first->link);
}

/* The object of a response; NULL on error. */
static kc_object *take_object(const kc__conversion_batch *b, const kc__conversion_object *object,
                              const kc_value *item, kc_error *err)
{
    kc_auto(kc_object) *read =
        kc__conversion_object_read(item, object->sent, b->target->api_version, err);
    if (!read || object->as_returned)
        return kc_take(read);
    return kc__custom_coerce_converted(b->target, read, err);
}

/* Reads the objects of a response; false: one was invalid. */
static bool take_objects(kc__conversion_batch *b, const kc_value *objects)
{
    bool valid = true;
    size_t i = 0;
    kc_value_each_item (objects, item) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_object) *taken = take_object(b, b->objects.items[i], item, &err);
        valid = valid && taken;
        if (taken)
            kc__crd_set_converting(b->crd);
        end_object(b, i++, taken, &err);
    }
    remove_ended(b);
    return valid;
}

static kc__conversion_review review_of(const kc__conversion_batch *b, kc_object **sent)
{
    for (size_t i = 0; i < b->objects.n; i++)
        sent[i] = b->objects.items[i]->sent;
    return (kc__conversion_review){.version = kc__crd_webhook_of(b->crd)->review,
                                   .uid = kc_cstr(b->uid),
                                   .desired = b->target->api_version,
                                   .objects = sent,
                                   .n = b->objects.n};
}

/* Reads a response. On failure sets `err`, unless only single objects failed. */
static kc__conversion_failure read_conversion(kc__conversion_batch *b,
                                              const kc__http_client_response *response,
                                              kc_error *err)
{
    kc_object *sent[KC__CONVERTER_BATCH_OBJECTS];
    const kc__conversion_review review = review_of(b, sent);
    kc_scoped(kc_buf) why = {0};
    kc_auto(kc_view) *view = NULL;
    const kc_value *objects = NULL;
    if (!kc__http_client_succeeded(response)) {
        kc__hook_write_error(&why, response, b->url);
        if (!response->status && !strcmp(response->error, "context deadline exceeded"))
            kc_buf_puts(&why, " (Client.Timeout exceeded while awaiting headers)");
        kc_error_set(err, KC_UNKNOWN, "%s", kc_buf_cstr(&why));
        return KC__CONVERSION_FAILURE_CALL;
    }
    if (!response->body.n) {
        kc_error_set(err, KC_UNKNOWN,
                     "0-length response with status code: %d and content type: %.*s",
                     response->status, KC_ARG(response->type));
        return KC__CONVERSION_FAILURE_CALL;
    }
    const kc__conversion_failure failure =
        kc__conversion_review_read(response->body, &review, &view, &objects, err);
    if (failure)
        return failure;
    return take_objects(b, objects) ? failure : KC__CONVERSION_FAILURE_INVALID_OBJECT;
}

static void end_call(kc__conversion_batch *b)
{
    kc__converter *c = b->converter;
    b->lane->calls--;
    c->calls--;
    batch_free(b);
    call_next(c);
}

static void conversion_arrived(const kc__http_client_response *response, void *user)
{
    kc__conversion_batch *b = user;
    kc_scoped(kc_error) err = {0};
    const kc__conversion_failure failure = read_conversion(b, response, &err);
    kc__converter_count_call(b, failure);
    if (failure && b->objects.n > 1 && response->status)
        send_one_by_one(b);
    else if (failure)
        fail_batch(b, &err, failure == KC__CONVERSION_FAILURE_PARTIAL);
    end_call(b);
}

/* ---- the request ---- */

static void send_batch(kc__conversion_batch *b, const kc__hook_endpoint *place)
{
    kc__converter *c = b->converter;
    kc_scoped(kc_buf) body = {0};
    kc_object *sent[KC__CONVERTER_BATCH_OBJECTS];
    uint8_t random[16];
    kc_rand_bytes(&c->opts.rand, random, sizeof(random));
    kc_uid_of(random, b->uid);
    const kc__conversion_review review = review_of(b, sent);
    kc__conversion_review_write(&body, &review);
    b->url = kc_strdup(place->url);
    b->started = kc_clock_now(c->opts.clock);
    b->first = kc_object_ref(b->objects.items[0]->given);
    c->opts.send(
        c->http_client,
        &(kc__http_client_request){.url = place->url,
                                   .connect_to = place->connect_to,
                                   .body = kc_buf_str(&body),
                                   .ca = kc__crd_webhook_of(b->crd)->target.ca,
                                   .agent = AGENT,
                                   .timeout = KC__CONVERTER_TIMEOUT,
                                   .max_response = KC__CONVERTER_RESPONSE_BASE +
                                                   KC__CONVERTER_RESPONSE_FACTOR * (size_t)body.n,
                                   .http2 = place->near},
        c->loop, conversion_arrived, b);
}

/* Starts a call. False: its objects have ended without one. */
static bool start_conversion(kc__conversion_batch *b)
{
    const kc__crd_webhook *webhook = kc__crd_webhook_of(b->crd);
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_arena) arena = {0};
    kc__hook_endpoint place;
    prepare_batch(b);
    if (!b->objects.n)
        return false;
    if (b->converter->stopped)
        kc_error_set(&err, KC_UNKNOWN, "the server is shutting down");
    else if (!webhook->review)
        kc_error_set(&err, KC_UNKNOWN, "no supported conversion review versions");
    else if (kc__hook_endpoint_resolve(b->converter->opts.store, &webhook->target,
                                       KC__CONVERTER_TIMEOUT / KC_SECOND, &arena, &place,
                                       &err) == 0) {
        send_batch(b, &place);
        return true;
    }
    fail_batch(b, &err, webhook->review == NULL);
    return false;
}

/* The rest of a batch that is sent one by one: takes its first object. */
static kc__conversion_batch *take_first(kc__conversion_batch *rest)
{
    kc__conversion_batch *first = kc__conversion_batch_new(rest->converter, rest->target);
    kc__conversion_batch_add(first, rest->objects.items[0]);
    kc_vec_remove(&rest->objects, 0);
    if (rest->objects.n)
        kc_dlist_push_front(&rest->lane->queue, &rest->link);
    else
        batch_free(rest);
    return first;
}

static void call_next_of_lane(kc__converter *c, kc__conversion_lane *lane)
{
    while (!kc_dlist_empty(&lane->queue) && may_call(c, lane)) {
        kc__conversion_batch *b =
            kc_container_of(kc_dlist_pop(&lane->queue), kc__conversion_batch, link);
        if (b->one_by_one)
            b = take_first(b);
        if (start_conversion(b)) {
            lane->calls++;
            c->calls++;
        } else {
            batch_free(b);
        }
    }
}

/* Starts queued calls, and drops lanes that have none. */
static void call_next(kc__converter *c)
{
    kc_map_each (&c->lanes, at) {
        kc__conversion_lane *lane = at->value;
        call_next_of_lane(c, lane);
        if (lane->calls || !kc_dlist_empty(&lane->queue))
            continue;
        kc_map_remove(&c->lanes, lane->name);
        free(lane);
    }
}

void kc__conversion_batch_submit(kc__conversion_batch *batch)
{
    kc_dlist_push(&batch->lane->queue, &batch->link);
    call_next(batch->converter);
}
