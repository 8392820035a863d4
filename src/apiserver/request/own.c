/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.c: the phase `owned`: metadata.managedFields of a write other than apply.
 *
 *     stored object ─┬─ owners ────────────┐
 *                    └─ fields ─┐          ├─▶ engine ─▶ owners ─▶ draft
 *     draft ─────────── fields ─┴─ changed ┘
 *
 * The owners are those of the stored object, or those that the client sent: it may change them, and
 * an empty list clears them. A client that sends none keeps them. An object that is updated without
 * owners stays without: it is older than field ownership, or its owners were cleared.
 *
 * A write never fails because of its owners. If they cannot be computed, the object is written
 * without managedFields, and the failure is counted and logged. The draft keeps its form, tree or
 * bytes; the owners are text in both (kinds/draft.h), which is written once and never parsed again.
 */
#include "apiserver/request/own_internal.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/key_layout.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/request_metrics.h"
#include "apiserver/request/write.h"
#include "kc/names.h"
#include "kc/utf8.h"
#include "object/gofmt/go_quote.h"
#include "object/json/json_cursor.h"

bool kc__rest_resets_owners(const kc__rest_call *call, const kc_object *body)
{
    kc_str sent = kc_object_managed_fields_json(body);
    return kc__fields_managed_is_reset(sent) &&
           !(call->resource->ops->ignores_empty_owners && kc_str_is(sent, "[]"));
}

/* ---- the manager ---- */

/* The part of User-Agent before the first slash, without characters that are not printable. */
static kc_str manager_of_agent(kc__rest_call *call)
{
    kc_str agent = kc__http_headers_get(&call->x->request.headers, KC_STR("User-Agent"));
    kc_str rest = kc_str_cut(&agent, '/');
    char *text = kc_arena_alloc(call->arena, KC_FIELD_MANAGER_MAX + 1);
    size_t n = 0;
    while (rest.n) {
        uint32_t code = 0;
        size_t width = kc_utf8_next(rest, &code);
        bool shown = width && kc__go_is_printable(code);
        if (shown && n + width > KC_FIELD_MANAGER_MAX)
            break;
        if (shown)
            memcpy(text + n, rest.p, width);
        n += shown ? width : 0;
        rest = kc_str_sub(rest, width ? width : 1, rest.n);
    }
    return kc_str_of(text, n);
}

static kc_str manager_of(kc__rest_call *call)
{
    kc_str chosen = call->options.field_manager;
    return kc_str_empty(chosen) ? manager_of_agent(call) : chosen;
}

/* ---- the stored object ---- */

static int read_live(kc__rest_owning *o, kc_error *err)
{
    kc__rest_call *call = o->call;
    o->live = kc__rest_is_scale(call) ? kc__rest_own_scale(call, err)
              : call->resource->ops->edits_served_form
                  ? kc_object_ref(call->current)
                  : kc__convert_from_stored(call->resource, call->current, err);
    if (!o->live)
        return kc_error_result(err);
    o->live_view = kc__fields_managed_take(&o->managed, o->live, err);
    if (o->live_view)
        return 0;
    o->live_view = kc__fields_view_of(o->live);
    return kc_error_result(err);
}

/* Adds the fields that the request cannot change, in one version. */
static void ignore_reset_fields(kc__rest_owning *o, kc_str version)
{
    kc__rest_call *call = o->call;
    kc__fields_ignored *list = (kc__fields_ignored *)o->updater.ignored;
    for (size_t i = 0; i < o->updater.n_ignored; i++)
        if (kc_str_eq(list[i].version, version))
            return;
    o->updater.n_ignored += kc__resource_reset_fields(
        call->resource, kc__rest_part_of(call), version, &o->arena, &list[o->updater.n_ignored]);
}

/* Kubernetes resets the fields of custom objects in the version of the request only. */
static void ignore_all_reset_fields(kc__rest_owning *o)
{
    size_t n = o->managed.owners.n;
    if (kc__rest_is_scale(o->call))
        return;
    o->updater.ignored = kc_arena_calloc(&o->arena, n + 1, sizeof(*o->updater.ignored));
    ignore_reset_fields(o, o->version);
    if (n && kc__resource_key_group_is_builtin(kc_cstr(o->resource->group)))
        kc_vec_each (&o->managed.owners, owner)
            ignore_reset_fields(o, owner->version);
}

int kc__rest_owning_begin(kc__rest_owning *o, kc__rest_call *call, kc_error *err)
{
    const kc__resource *r = call->request_resource;
    *o = (kc__rest_owning){.call = call, .resource = r};
    o->managed.arena = &o->arena;
    o->updater = (kc__fields_updater){.convert = kc__rest_owning_convert, .user = o};
    o->topology = r->ops->topology(r, call->api->topologies);
    o->version = kc__resource_api_version(r, &o->arena);
    int failed = call->current ? read_live(o, err) : 0;
    ignore_all_reset_fields(o);
    return failed;
}

void kc__rest_owning_done(kc__rest_owning *o)
{
    kc_vec_each (&o->views, view)
        kc_view_free(*view);
    kc_vec_done(&o->views);
    kc__fields_managed_done(&o->managed);
    /* Validation reads the stored object, too. */
    if (o->live && o->live == o->call->current) {
        kc_view_free(o->call->current_view);
        o->call->current_view = kc_take(o->live_view);
    }
    kc_view_free(o->live_view);
    kc_object_unref(o->live);
    kc_arena_done(&o->arena);
}

kc__fields_request kc__rest_owning_request(kc__rest_owning *o, kc_str manager)
{
    const kc__rest_call *call = o->call;
    return (kc__fields_request){
        .updater = &o->updater,
        .live = {.value = kc_view_root(o->live_view ? o->live_view : o->topology->empty),
                 .type = o->topology->type,
                 .version = o->version},
        .object = {.type = o->topology->type, .version = o->version},
        .manager = manager,
        .subresource = call->subresource ? kc_cstr(call->subresource->name) : (kc_str){0},
        .now = kc__rest_call_now(o->call, o->now),
    };
}

/* ---- the draft ---- */

/* Keeps a view until the end: sets of fields refer to its strings. NULL for NULL. */
static const kc_value *keep_view(kc__rest_owning *o, kc_view *view)
{
    if (view)
        kc_vec_push(&o->views, view);
    return view ? kc_view_root(view) : NULL;
}

/* The fields of the draft in the version of the request. NULL on error. */
static const kc_value *draft_fields(kc__rest_owning *o, kc_error *err)
{
    kc__rest_call *call = o->call;
    kc__draft *draft = &call->draft;
    if (!kc__rest_is_scale(call) && kc__convert_is_needed(call->resource)) {
        const kc_object *frozen = kc__draft_freeze(draft, call->resource, err);
        kc_auto(kc_object) *shown =
            frozen ? kc__convert_from_stored(call->resource, frozen, err) : NULL;
        return keep_view(o, shown ? kc__fields_view_of(shown) : NULL);
    }
    if (kc__draft_is_open(draft))
        return kc__fields_value_of_tree(&o->arena, kc_edit_root(draft->edit));
    return kc__draft_value(draft);
}

/* A client cannot set these in a new object, so it does not own them. */
static void wipe_deletion(kc__rest_call *call)
{
    if (call->verb != &kc__rest_verb_create ||
        kc_str_empty(kc_object_deletion_timestamp(call->body)))
        return;
    kc_node *metadata = kc_node_get(kc_edit_root(kc__draft_edit(&call->draft)), KC_STR("metadata"));
    kc_node_remove(metadata, KC_STR("deletionTimestamp"));
    kc_node_remove(metadata, KC_STR("deletionGracePeriodSeconds"));
}

/* `sent` are those of the body, which the draft has. */
static void set_managed_fields(kc__rest_call *call, kc_str sent, kc_str fields)
{
    if (!kc_str_eq(fields, sent))
        kc__draft_set_managed_fields(&call->draft, fields);
}

/* ---- updates ---- */

/* Takes the owners that the client sent, unless it sent those of the stored object, or none that
 * can be read. A subresource cannot change owners. */
static void read_client_managed_fields(kc__rest_owning *o, kc_str sent)
{
    kc__rest_call *call = o->call;
    if (call->subresource)
        return;
    if (call->resets_owners || kc__rest_resets_owners(call, call->body)) {
        kc_vec_clear(&o->managed.owners);
        return;
    }
    if (!sent.n || (o->live && kc_str_eq(sent, kc_object_managed_fields_json(o->live))))
        return;
    kc__fields_managed other = {.arena = &o->arena};
    if (kc__fields_managed_read(&other, sent, NULL) == 0 && other.owners.n) {
        kc__fields_managed_done(&o->managed);
        o->managed = other;
        call->client_managed_fields = true;
        return;
    }
    kc__fields_managed_done(&other);
}

/* The decoder of built-in kinds makes valid objects only. */
static int check_fields_valid(const kc__rest_owning *o, kc__fields_request *request, kc_error *err)
{
    if (o->topology->decoded)
        return 0;
    /* A new object is checked while it is compared with an empty one. */
    request->object.unchecked = !o->live_view && !o->managed.owners.n;
    if (request->object.unchecked)
        return 0;
    if (kc__fields_validate(request->object.type, request->object.value, true, err) < 0)
        return kc_error_wrap(err, "new object");
    if (kc__fields_validate(request->live.type, request->live.value, true, err) < 0)
        return kc_error_wrap(err, "stored object");
    return 0;
}

static int update_owners(kc__rest_owning *o, kc_error *err)
{
    kc__rest_call *call = o->call;
    kc__fields_request request = kc__rest_owning_request(o, manager_of(call));
    request.object.value = draft_fields(o, err);
    if (!request.object.value || check_fields_valid(o, &request, err) < 0)
        return kc_error_result(err);
    return kc__fields_managed_update(&o->managed, &request, err);
}

/* Computes the owners and sets them in the draft. Negative: without owners. */
static int own_draft(kc__rest_owning *o, kc__rest_call *call, kc_str sent, kc_error *err)
{
    kc_scoped(kc_error) unreadable = {0};
    int failed = kc__rest_owning_begin(o, call, &unreadable);
    if (failed < 0 && !o->live_view)
        return kc_error_move(err, &unreadable);
    read_client_managed_fields(o, sent);
    /* Without owners, only new objects get some. */
    bool tracked = o->managed.owners.n || !o->live || !kc_object_uid(o->live).n;
    failed = tracked ? update_owners(o, err) : 0;
    if (failed < 0)
        return failed;
    enum { MOSTLY_ENOUGH = 2048 };
    kc_scoped(kc_buf) text = {0};
    kc_buf_reserve(&text, MOSTLY_ENOUGH);
    if (o->managed.owners.n)
        kc__fields_managed_write(&text, &o->managed);
    call->managed_fields = kc_arena_str(call->arena, kc_buf_str(&text));
    set_managed_fields(call, sent, call->managed_fields);
    return 0;
}

static void report_lost_owners(kc__rest_call *call, const kc_error *err)
{
    const kc__resource *r = call->resource;
    kc_counter_inc(call->api->counts->lost_owners);
    kc_log_error(call->api->log, "managedFields cannot be computed", kc_kv("resource", r->plural),
                 kc_kv("group", r->group), kc_kv("namespace", kc_object_namespace(call->body)),
                 kc_kv("name", kc_object_name(call->body)), kc_kv("err", err));
}

/* After a generated name was taken, the body has the owners of the first try. */
static bool is_owned(const kc__rest_call *call)
{
    return call->owned || (call->hooks_mutated && !call->current);
}

/* Neither the stored object nor the client has owners. */
static bool is_untracked(const kc__rest_call *call, kc_str sent)
{
    return !sent.n && call->current && kc_object_uid(call->current).n &&
           !kc_object_managed_fields_json(call->current).n;
}

kc__rest_verdict kc__rest_phase_owned(kc__rest_call *call)
{
    kc__rest_owning o;
    kc_scoped(kc_error) err = {0};
    if (kc__draft_is_empty(&call->draft) || is_owned(call))
        return KC__REST_NEXT;
    kc__rest_verdict verdict = kc__rest_own_await(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc_str sent = kc_object_managed_fields_json(call->body);
    call->managed_fields = (kc_str){0};
    if (is_untracked(call, sent))
        return KC__REST_NEXT;
    wipe_deletion(call);
    int failed = own_draft(&o, call, sent, &err);
    kc__rest_owning_done(&o);
    if (failed < 0 && kc__rest_own_is_waiting(call))
        return kc__rest_own_await(call);
    if (failed < 0) {
        report_lost_owners(call, &err);
        set_managed_fields(call, sent, (kc_str){0});
    }
    return KC__REST_NEXT;
}

/* ---- after admission ---- */

kc__rest_verdict kc__rest_own_check_admitted(kc__rest_call *call)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc__fields_managed) managed = {.arena = &arena};
    kc_scoped(kc_error) err = {0};
    const kc__resource *type = kc__rest_is_scale(call) ? call->request_resource : call->resource;
    if (kc__draft_is_empty(&call->draft))
        return KC__REST_NEXT;
    const kc_object *object = kc__draft_freeze(&call->draft, type, &call->error);
    if (!object)
        return KC__REST_FAIL;
    kc_str now = kc_object_managed_fields_json(object);
    if (kc_str_eq(now, call->managed_fields) || kc__fields_managed_read(&managed, now, &err) == 0)
        return KC__REST_NEXT;
    kc__draft_set_managed_fields(&call->draft, call->managed_fields);
    kc__rest_warn(call, kc_cstr(kc_arena_printf(
                            call->arena,
                            ".metadata.managedFields was in an invalid state after admission; this "
                            "could be caused by an outdated mutating admission controller; please "
                            "fix your requests: %s",
                            kc_error_text(&err))));
    return KC__REST_NEXT;
}

/* ---- equality ---- */

/* The next member of an entry other than its time. */
static bool next_but_time(kc__json_cursor *at, kc_str *ret_name, kc_str *ret_value)
{
    while (kc__json_cursor_member(at, ret_name, ret_value))
        if (!kc_str_is(*ret_name, "time"))
            return true;
    return false;
}

/* Compares text: decoding has put the members of both in order. */
static bool entries_differ_in_time_only(kc_str a, kc_str b)
{
    kc__json_cursor in_a = kc__json_cursor_of(a), in_b = kc__json_cursor_of(b);
    kc_str name_a, name_b, value_a, value_b;
    for (;;) {
        bool more_a = next_but_time(&in_a, &name_a, &value_a);
        bool more_b = next_but_time(&in_b, &name_b, &value_b);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (!kc_str_eq(name_a, name_b) || !kc_str_eq(value_a, value_b))
            return false;
    }
}

static bool owners_differ_in_time_only(kc_str a, kc_str b)
{
    kc__json_cursor in_a = kc__json_cursor_of(a), in_b = kc__json_cursor_of(b);
    kc_str entry_a, entry_b;
    for (;;) {
        bool more_a = kc__json_cursor_item(&in_a, &entry_a);
        bool more_b = kc__json_cursor_item(&in_b, &entry_b);
        if (!more_a || !more_b)
            return more_a == more_b;
        if (!entries_differ_in_time_only(entry_a, entry_b))
            return false;
    }
}

/* The text after the metadata, where most changes are. */
static kc_str text_after_metadata(const kc_object *object)
{
    kc_str all = kc_object_json(object), metadata = kc_object_metadata_json(object);
    return kc_str_sub(all, metadata.n ? (size_t)(metadata.p + metadata.n - all.p) : 0, all.n);
}

bool kc__rest_own_same_but_times(const kc_object *a, const kc_object *b)
{
    if (!kc_str_eq(text_after_metadata(a), text_after_metadata(b)))
        return false;
    kc_str x = kc_object_json(a), y = kc_object_json(b), in_x = kc_object_managed_fields_json(a),
           in_y = kc_object_managed_fields_json(b);
    size_t before = (size_t)(in_x.p - x.p), after = x.n - before - in_x.n;
    if (!in_x.n || !in_y.n || before != (size_t)(in_y.p - y.p) || after != y.n - before - in_y.n ||
        memcmp(x.p, y.p, before) != 0 || memcmp(in_x.p + in_x.n, in_y.p + in_y.n, after) != 0)
        return false;
    return owners_differ_in_time_only(in_x, in_y);
}
