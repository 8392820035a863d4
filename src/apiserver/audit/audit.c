/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c: the events of requests, and their stages.
 *
 *     authenticated ─▶ policy ─▶ RequestReceived ─▶ … ─▶ ResponseStarted (long-running)
 *                                                    └─▶ ResponseComplete
 *
 * An event lives in the arena of its exchange. audit_stream.c writes ResponseComplete of streamed
 * responses.
 *
 * In a blocking mode the request waits for RequestReceived: the phase returns PENDING, and the sink
 * resumes it. Later stages are queued without waiting.
 */
#include "apiserver/audit/audit_internal.h"

/* A larger buffer of an event is freed. */
enum { MAX_SCRATCH = 16 << 10 };

/* ---- lifetime ---- */

static int init_audit_metrics(kc__audit *audit, kc_metrics *metrics, kc_error *err)
{
    kc_metric *events = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_audit_event_total",
                          .help = "Audit events generated and sent to the audit backend."},
        err);
    kc_metric *rejected = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_audit_requests_rejected_total",
                          .help =
                              "Requests rejected due to an error in the audit logging backend."},
        err);
    kc_metric *levels = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "apiserver_audit_level_total",
                          .help = "Policy levels for audit events (1 per request).",
                          .labels = {{"level", KC_LABEL_VALUES("None", "Metadata", "Request",
                                                               "RequestResponse")}}},
        err);
    audit->errors = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "apiserver_audit_error_total",
            .help = "Audit events that failed to be audited properly. Plugin "
                    "identifies the plugin affected by the error.",
            .labels = {{"plugin", KC_LABEL_VALUES("log", "webhook", "buffered", "truncate")}}},
        err);
    if (!events || !rejected || !levels || !audit->errors)
        return kc_error_result(err);
    audit->events = kc_metric_counter(events);
    audit->rejected = kc_metric_counter(rejected);
    for (size_t i = 0; i < KC__AUDIT_LEVELS; i++)
        audit->levels[i] = kc_metric_counter(levels, kc_cstr(kc__audit_level_names[i]));
    return 0;
}

static void annotate_event(kc__rest_call *call, kc_str key, kc_str value, void *user)
{
    kc__audit_event *event = call->audit_event;
    size_t at = 0;
    (void)user;
    if (!event)
        return;
    while (at < event->annotations.n && kc_str_cmp(event->annotations.items[at].key, key) < 0)
        at++;
    /* The first value of a key stays, as in Kubernetes. */
    if (at < event->annotations.n && kc_str_eq(event->annotations.items[at].key, key))
        return;
    kc_vec_push(&event->annotations, ((kc__audit_annotation){0}));
    for (size_t i = event->annotations.n - 1; i > at; i--)
        event->annotations.items[i] = event->annotations.items[i - 1];
    event->annotations.items[at] =
        (kc__audit_annotation){kc_arena_str(call->arena, key), kc_arena_str(call->arena, value)};
}

static void annotate_bodies(kc__rest_call *call, kc_str key, kc_str value, void *user)
{
    const kc__audit_event *event = call->audit_event;
    if (event && event->decision.level >= KC__AUDIT_REQUEST)
        annotate_event(call, key, value, user);
}

kc__audit *kc__audit_new(const char *policy_file, kc_metrics *metrics, kc_log *log, kc_error *err)
{
    kc_auto(kc__audit) *audit = kc_new(kc__audit);
    audit->log = log;
    audit->hooks = (kc__rest_audit_log){annotate_event, annotate_bodies, audit};
    audit->policy = kc__audit_policy_read(policy_file, log, err);
    if (!audit->policy || init_audit_metrics(audit, metrics, err) < 0)
        return NULL;
    return kc_take(audit);
}

int kc__audit_add_sink(kc__audit *audit, const kc__audit_sink_opts *opts, bool legacy,
                       kc_error *err)
{
    assert(audit->n_sinks < KC__AUDIT_MAX_SINKS);
    kc__audit_sink *sink = kc__audit_sink_start(opts, audit->errors, err);
    if (!sink)
        return kc_error_result(err);
    audit->opts[audit->n_sinks] = *opts;
    audit->legacy[audit->n_sinks] = legacy;
    audit->sinks[audit->n_sinks++] = sink;
    return 0;
}

kc__audit *kc__audit_free(kc__audit *audit)
{
    if (!audit)
        return NULL;
    for (size_t i = 0; i < audit->n_sinks; i++)
        kc__audit_sink_stop(audit->sinks[i]);
    kc__audit_policy_free(audit->policy);
    free(audit);
    return NULL;
}

void kc__audit_drain(kc__audit *audit)
{
    for (size_t i = 0; i < audit->n_sinks; i++)
        kc__audit_sink_drain(audit->sinks[i]);
}

const kc__rest_audit_log *kc__audit_log_of(kc__audit *audit)
{
    return &audit->hooks;
}

/* ---- the beginning ---- */

static int64_t wall_of(const kc__rest_call *call, int64_t monotonic)
{
    const kc_clock *clock = call->api->clock;
    return kc_clock_wall(clock) - (kc_clock_now(clock) - monotonic);
}

static kc__audit_attributes attributes_of_call(const kc__rest_call *call, const kc__user *user)
{
    const kc__rest_request_info *info = &call->info;
    return (kc__audit_attributes){.user = user,
                                  .verb = kc_cstr(info->verb),
                                  .is_resource = info->is_resource,
                                  .group = info->group,
                                  .resource = info->resource,
                                  .subresource = info->subresource,
                                  .ns = info->ns,
                                  .name = info->name,
                                  .path = call->x->request.target.path};
}

/* What the authentication noted about the credential. */
static void annotate_credential(kc__rest_call *call)
{
    const kc__user *user = &call->audit_event->user;
    for (size_t i = 0; i < user->n_notes; i++)
        kc__rest_audit(call, user->notes[i].key, user->notes[i].value);
}

void kc__audit_begin(kc__rest_call *call, bool early)
{
    const kc__rest_audit_log *hooks = call->api->audit;
    if (!hooks || hooks->annotate != annotate_event) /* None, or annotations only, for a test. */
        return;
    kc__audit *audit = hooks->user;
    const kc__user no_user = {0};
    const kc__audit_attributes a = attributes_of_call(call, early ? &no_user : &call->user);
    const kc__audit_decision decision = kc__audit_policy_decide(audit->policy, &a);
    kc_counter_inc(audit->levels[decision.level]);
    if (decision.level == KC__AUDIT_NONE)
        return;
    kc__audit_event *event = kc_arena_new(call->arena, kc__audit_event);
    event->audit = audit;
    event->decision = decision;
    event->user = early ? no_user : call->user;
    event->early = early;
    event->received = wall_of(call, call->x->request.received);
    call->audit_event = event;
    /* A recorded list is sent as bytes, also to a client in this process. */
    if (decision.level == KC__AUDIT_REQUEST_RESPONSE && !strcmp(call->info.verb, "list"))
        call->x->request.takes_items = false;
    annotate_credential(call);
}

void kc__audit_impersonated(kc__rest_call *call)
{
    kc__audit_event *event = call->audit_event;
    if (event)
        event->impersonated = true;
}

/* ---- stages ---- */

static bool omits_stage(const kc__audit_event *event, kc__audit_stage stage)
{
    return event->decision.omit_stages & (1u << stage);
}

void kc__audit_push(kc__audit *audit, const kc__audit_texts *texts, kc__audit_wait *wait)
{
    kc_counter_inc(audit->events);
    for (size_t i = 0; i < audit->n_sinks; i++) {
        const bool legacy = audit->legacy[i];
        kc__audit_sink_push(
            audit->sinks[i],
            &(kc__audit_line){.text = kc_buf_str(legacy ? &texts->legacy : &texts->json),
                              .size = texts->json.n,
                              .short_text = legacy ? kc_buf_str(&texts->legacy)
                                                   : kc_buf_str(&texts->short_json),
                              .short_size = texts->short_json.n},
            wait);
    }
}

void kc__audit_push_long(kc__audit *audit, kc__audit_long_event *event,
                         const kc__audit_texts *texts)
{
    const kc__audit_line legacy = {.text = kc_buf_str(&texts->legacy)};
    kc_counter_inc(audit->events);
    for (size_t i = 0; i < audit->n_sinks; i++)
        if (audit->legacy[i])
            kc__audit_sink_push(audit->sinks[i], &legacy, NULL);
        else
            kc__audit_sink_push_long(audit->sinks[i], event);
}

/* Whether a sink may need the form without objects. */
static bool may_truncate(const kc__audit *audit, const kc__audit_event *event, size_t size)
{
    for (size_t i = 0; i < audit->n_sinks; i++)
        if (audit->opts[i].truncate && event->decision.level >= KC__AUDIT_REQUEST &&
            size > audit->opts[i].max_event_bytes)
            return true;
    return false;
}

void kc__audit_write_texts(const kc__audit *audit, kc__rest_call *call,
                           const kc__audit_stage_of *stage, bool needs_short, kc__audit_texts *ret)
{
    kc__audit_event *event = call->audit_event;
    kc__audit_write(&ret->json, call, event, stage, &ret->places);
    if (needs_short || may_truncate(audit, event, ret->json.n)) {
        kc__audit_stage_of bare = *stage;
        bare.without_objects = true;
        kc__audit_write(&ret->short_json, call, event, &bare, &ret->short_places);
    }
    for (size_t i = 0; i < audit->n_sinks; i++)
        if (audit->legacy[i] && !ret->legacy.n)
            kc__audit_write_legacy(&ret->legacy, call, event, stage);
}

/* The buffer of the loop, if the loop runs the call: an event without objects needs no allocation.
 */
static kc_buf *scratch_of(kc__rest_call *call)
{
    return call->on_worker ? NULL : &call->context->scratch;
}

static void keep_scratch(kc_buf *scratch, kc_buf *text)
{
    if (!scratch || text->cap > MAX_SCRATCH)
        return;
    *scratch = *text;
    kc_buf_clear(scratch);
    *text = (kc_buf){0};
}

static void emit_stage(kc__rest_call *call, const kc__audit_stage_of *stage, kc__audit_wait *wait)
{
    kc__audit_event *event = call->audit_event;
    kc_scoped(kc__audit_texts) texts = {0};
    if (omits_stage(event, stage->stage))
        return;
    kc_buf *scratch = scratch_of(call);
    if (scratch) {
        texts.json = *scratch;
        *scratch = (kc_buf){0};
    }
    kc__audit_write_texts(event->audit, call, stage, false, &texts);
    kc__audit_push(event->audit, &texts, wait);
    keep_scratch(scratch, &texts.json);
}

/* ---- RequestReceived ---- */

/* A request that waits for its sinks. Freed on its loop. */
typedef struct audit_hold {
    kc__audit_wait wait;
    kc__rest_call *call;
} audit_hold;

static void hold_released(kc__loop_task *task)
{
    audit_hold *hold = kc_container_of(task, audit_hold, wait.task);
    kc__rest_call *call = hold->call;
    kc__audit_event *event = call->audit_event;
    event->undelivered = atomic_load(&hold->wait.failed);
    free(hold);
    kc__rest_call_resume(call, KC__REST_ON_LOOP);
}

static bool is_blocking(const kc__audit *audit)
{
    for (size_t i = 0; i < audit->n_sinks; i++)
        if (audit->opts[i].mode != KC__AUDIT_BATCH)
            return true;
    return false;
}

/* Whether a sink holds a request, whose first stage is omitted, until there is room. */
static bool await_room(kc__audit *audit, audit_hold *hold)
{
    bool held = false;
    for (size_t i = 0; i < audit->n_sinks; i++)
        held = kc__audit_sink_hold(audit->sinks[i], &hold->wait) || held;
    return held;
}

static audit_hold *audit_hold_new(kc__rest_call *call)
{
    audit_hold *hold = kc_new(audit_hold);
    hold->call = call;
    hold->wait.loop = call->x->loop;
    hold->wait.task.run = hold_released;
    atomic_init(&hold->wait.pending, 1);
    return hold;
}

kc__rest_verdict kc__audit_received(kc__rest_call *call)
{
    kc__audit_event *event = call->audit_event;
    if (!event)
        return KC__REST_NEXT;
    if (event->received_written) {
        if (event->undelivered)
            kc_counter_inc(event->audit->rejected);
        return event->undelivered ? KC__REST_FAIL : KC__REST_NEXT;
    }
    event->received_written = true;
    const kc__audit_stage_of stage = {.stage = KC__AUDIT_REQUEST_RECEIVED, .time = event->received};
    if (!is_blocking(event->audit)) {
        emit_stage(call, &stage, NULL);
        return KC__REST_NEXT;
    }
    audit_hold *hold = audit_hold_new(call);
    if (!omits_stage(event, KC__AUDIT_REQUEST_RECEIVED)) {
        emit_stage(call, &stage, &hold->wait);
    } else if (!await_room(event->audit, hold)) {
        free(hold);
        return KC__REST_NEXT;
    }
    kc__audit_wait_release(&hold->wait);
    return KC__REST_PENDING;
}

/* ---- the request's object ---- */

bool kc__audit_wants_body(const kc__rest_call *call)
{
    return call->audit_event && call->audit_event->decision.level >= KC__AUDIT_REQUEST;
}

void kc__audit_request_object(kc__rest_call *call, const kc_object *object)
{
    kc__audit_event *event = call->audit_event;
    if (!event || event->has_object || !object)
        return;
    event->has_object = true;
    event->ns = kc_arena_str(call->arena, kc_object_namespace(object));
    event->name = kc_arena_str(call->arena, kc_object_name(object));
    event->uid = kc_arena_str(call->arena, kc_object_uid(object));
    event->version = kc_arena_str(call->arena, kc_object_resource_version(object));
    if (!kc__audit_wants_body(call))
        return;
    kc_scoped(kc_buf) json = {0};
    if (event->decision.omit_managed_fields)
        kc__audit_write_object(&json, kc_object_json(object), true);
    else
        kc_buf_append(&json, kc_object_json(object));
    event->request_object = kc_arena_str(call->arena, kc_buf_str(&json));
}

/* A patch that was read is recorded as it was sent; options of a deletion under the kind of
 * Kubernetes' internal type. */
static void record_raw_body(kc__rest_call *call, kc__audit_event *event)
{
    kc_scoped(kc_buf) json = {0};
    const kc_str body = call->x->request.body;
    const bool patch = call->patch != NULL, deletion = !strncmp(call->info.verb, "delete", 6);
    if (event->decision.level < KC__AUDIT_REQUEST || event->request_object.n || !body.n ||
        !call->info.is_resource || (!patch && !deletion) || !call->resource)
        return;
    if (patch ? kc__audit_write_object(&json, body, false)
              : kc__audit_write_delete_options(&json, body))
        event->request_object = kc_arena_str(call->arena, kc_buf_str(&json));
}

/* ---- the response ---- */

static bool is_json(const kc__http_response *response)
{
    return kc_str_starts(response->type, KC_STR("application/json")) ||
           kc_str_starts(response->type, KC_STR("application/yaml"));
}

static bool is_status(kc_str body)
{
    return kc_str_starts(body, KC_STR("{\"kind\":\"Status\"")) ||
           kc_str_starts(body, KC_STR("{\n  \"kind\": \"Status\"")) ||
           (!kc_str_starts(body, KC_STR("{")) &&
            kc_str_contains(kc_str_sub(body, 0, 64), KC_STR("kind: Status")));
}

/* Kubernetes writes the Status of a request whose Accept matches nothing past its audit log. */
static bool is_recorded(const kc__http_response *response)
{
    return is_json(response) && response->status != 406;
}

static void describe_status(const kc__http_response *response, kc_buf *out)
{
    if (is_recorded(response) && is_status(response->body))
        kc__audit_write_status(out, response->body, response->status);
}

/* A compact body, which is the usual form, is copied. Indented text and YAML are rendered again. */
static void write_response_object(const kc__audit_event *event, kc_str body, kc_buf *out)
{
    if (!event->decision.omit_managed_fields && kc_str_starts(body, KC_STR("{\"")))
        kc_buf_append(out, body);
    else
        kc__audit_write_object(out, body, event->decision.omit_managed_fields);
}

/* Watches, streams of nodes and profiles are long-running. */
static bool is_long_running(const kc__rest_call *call)
{
    static const char *const parts[] = {"attach", "exec", "proxy", "log", "portforward", NULL};
    if (!call->info.is_resource)
        return kc_str_starts(call->x->request.target.path, KC_STR("/debug/pprof/"));
    return !strcmp(call->info.verb, "watch") || kc_str_is_any(call->info.subresource, parts);
}

/* The metric of deprecated APIs is counted at the end of a request in Kubernetes: only
 * ResponseComplete has these. */
static void annotate_deprecation(kc__rest_call *call)
{
    const kc__resource *resource = call->resource;
    if (!resource || !resource->deprecation)
        return;
    kc__rest_audit(call, KC_STR("k8s.io/deprecated"), KC_STR("true"));
    if (resource->removed_release)
        kc__rest_audit(call, KC_STR("k8s.io/removed-release"), kc_cstr(resource->removed_release));
}

/* Whether a streamed body is to be captured: that of a list, or of a large object. */
static bool captures_body(const kc__rest_call *call, const kc__http_response *response)
{
    return call->audit_event->decision.level == KC__AUDIT_REQUEST_RESPONSE &&
           call->info.is_resource && !is_long_running(call) && response->source &&
           is_json(response);
}

static void finish_event(kc__rest_call *call, kc__http_response *response,
                         kc__audit_stage_of *stage)
{
    stage->stage = KC__AUDIT_RESPONSE_COMPLETE;
    if (omits_stage(call->audit_event, stage->stage))
        return;
    annotate_deprecation(call);
    if (response->source || response->items)
        kc__audit_finish_stream(call, response, stage, captures_body(call, response));
    else
        emit_stage(call, stage, NULL);
}

void kc__audit_response(kc__rest_call *call, kc__http_response *response)
{
    kc__audit_event *event = call->audit_event;
    kc_scoped(kc_buf) status = {0};
    kc_scoped(kc_buf) object = {0};
    if (!event)
        return;
    if (!event->received_written && !event->early)
        emit_stage(call, &(kc__audit_stage_of){KC__AUDIT_REQUEST_RECEIVED, event->received}, NULL);
    event->received_written = true;
    record_raw_body(call, event);
    describe_status(response, &status);
    if (event->decision.level == KC__AUDIT_REQUEST_RESPONSE && call->info.is_resource &&
        response->body.n && is_recorded(response))
        write_response_object(event, response->body, &object);
    kc__audit_stage_of stage = {.stage = KC__AUDIT_RESPONSE_STARTED,
                                .time = kc_clock_wall(call->api->clock),
                                .code = response->status,
                                .status = kc_buf_str(&status),
                                .response_object = kc_buf_str(&object)};
    if (is_long_running(call) || event->early)
        emit_stage(call, &stage, NULL);
    if (!event->early)
        finish_event(call, response, &stage);
    kc__audit_release(call);
}

void kc__audit_abandoned(kc__rest_call *call, int status)
{
    kc__audit_event *event = call->audit_event;
    if (!event)
        return;
    kc__audit_stage_of stage = {.stage = KC__AUDIT_RESPONSE_COMPLETE,
                                .time = kc_clock_wall(call->api->clock),
                                .code = status};
    if (!status)
        stage.status = KC_STR("{\"metadata\":{},\"status\":\"Failure\",\"message\":\"unexpected "
                              "EOF\",\"reason\":\"BadRequest\",\"code\":400}");
    emit_stage(call, &(kc__audit_stage_of){KC__AUDIT_REQUEST_RECEIVED, event->received}, NULL);
    emit_stage(call, &stage, NULL);
    kc__audit_release(call);
}

void kc__audit_release(kc__rest_call *call)
{
    if (call->audit_event)
        kc_vec_done(&call->audit_event->annotations);
    call->audit_event = NULL;
}
