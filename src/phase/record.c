/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c: status.state, with one record per phase; and the notes of handlers, which are stored in
 * it.
 *
 *     {"done":true,"startTime":"…","endTime":"…","state":{…},"failed":true,"warning":"…",
 *      "error":"…","fatal":true,"progress":{"done":3,"total":9},
 *      "objects":[{"id":"…","name":"…","group":"…","handleId":"…","done":true,"startTime":"…",…}],
 *      "steps":{"copy_keys":{…}}}
 *
 * Empty members are omitted, so that an unchanged record has the same text.
 */
#include "phase/phase_internal.h"

#include "kc/map.h"
#include "kc/time.h"

/* ---- notes of handlers ---- */

int kc_phase_set_state(kc_phase_call *call, kc_str json, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, err);
    if (!view)
        return kc_error_wrap(err, "state of phase %s", call->phase);
    call->note->state = kc_arena_strndup(&call->note->arena, json.p, json.n);
    return 0;
}

void kc_phase_warn(kc_phase_call *call, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    call->note->warning = kc_arena_strndup(&call->note->arena, text.p, text.n);
}

void kc_phase_goto(kc_phase_call *call, const char *phase)
{
    call->note->target = kc_arena_strndup(&call->note->arena, phase, strlen(phase));
}

void kc_phase_requeue_after(kc_phase_call *call, int64_t after)
{
    call->note->later = after;
}

void kc_phase_progress(kc_phase_call *call, int64_t done, int64_t total)
{
    call->note->counted = true;
    call->note->done = done;
    call->note->total = total;
}

static const char *phase_record_copy(kc_arena *arena, const char *text)
{
    return text && *text ? kc_arena_strndup(arena, text, strlen(text)) : NULL;
}

void kc_phase_set_object(kc_phase_call *call, const kc_phase_object *object)
{
    kc_arena *arena = &call->note->arena;
    const kc_phase_object own = {.id = phase_record_copy(arena, object->id),
                                 .name = phase_record_copy(arena, object->name),
                                 .group = phase_record_copy(arena, object->group),
                                 .handle_id = phase_record_copy(arena, object->handle_id),
                                 .done = object->done,
                                 .warning = phase_record_copy(arena, object->warning),
                                 .error = phase_record_copy(arena, object->error)};
    kc_vec_push(&call->note->objects, own);
}

bool kc_phase_object_is_done(const kc_phase_call *call, const char *id)
{
    for (size_t i = call->note->objects.n; i-- > 0;)
        if (!strcmp(call->note->objects.items[i].id, id))
            return call->note->objects.items[i].done;
    kc_value_each_item (kc_value_get(call->note->record, "objects"), object)
        if (kc_str_is(kc_value_as_str(kc_value_get(object, "id")), id))
            return kc_value_as_bool(kc_value_get(object, "done"), false);
    return false;
}

void kc__phase_call_notes_done(kc__phase_call_notes *note)
{
    kc_vec_done(&note->objects);
    kc_arena_done(&note->arena);
}

/* ---- reading ---- */

const kc_value *kc__phase_record_of(const kc_value *root, kc_str phase)
{
    return kc_value_get_str(kc_value_nested(root, "status.state"), phase);
}

bool kc__phase_record_is_done(const kc_value *record)
{
    return kc_value_as_bool(kc_value_get(record, "done"), false);
}

/* ---- writing ---- */

kc_node *kc__phase_timestamp(kc_edit *edit, const kc_clock *clock)
{
    char text[KC_TIME_TEXT];
    return kc_node_str(edit, kc_time_print(kc_clock_wall(clock), text));
}

kc_node *kc__phase_record(kc_edit *edit, kc_str phase)
{
    kc_node *status = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("status"));
    return kc_node_ensure_object(edit, kc_node_ensure_object(edit, status, KC_STR("state")), phase);
}

kc_node *kc__phase_step_record(kc_edit *edit, kc_node *record, const char *step)
{
    return kc_node_ensure_object(edit, kc_node_ensure_object(edit, record, KC_STR("steps")),
                                 kc_cstr(step));
}

void kc__phase_record_remove(kc_edit *edit, kc_str phase)
{
    kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    kc_node_remove(kc_node_get(status, KC_STR("state")), phase);
}

static void phase_record_set_text(kc_edit *edit, kc_node *record, kc_str name, const char *text)
{
    if (text && *text)
        kc_node_set(edit, record, name, kc_node_str(edit, kc_cstr(text)));
    else
        kc_node_remove(record, name);
}

static void set_flag(kc_edit *edit, kc_node *record, kc_str name, bool value)
{
    if (value)
        kc_node_set(edit, record, name, kc_node_bool(edit, true));
    else
        kc_node_remove(record, name);
}

static void set_times(kc_edit *edit, kc_node *record, bool done, const kc_clock *clock)
{
    if (!kc_node_get(record, KC_STR("startTime")))
        kc_node_set(edit, record, KC_STR("startTime"), kc__phase_timestamp(edit, clock));
    if (!done)
        kc_node_remove(record, KC_STR("endTime"));
    else if (!kc_node_get(record, KC_STR("endTime")))
        kc_node_set(edit, record, KC_STR("endTime"), kc__phase_timestamp(edit, clock));
}

/* Batches may be long: matched by id. */
static void index_objects(kc_node *objects, kc_map *ret)
{
    kc_node_each_item (objects, object)
        kc_map_put(ret, kc_node_as_str(kc_node_get(object, KC_STR("id"))), object);
}

static kc_node *object_with(kc_edit *edit, kc_node *objects, kc_map *by_id, const char *id)
{
    kc_node *object = kc_map_get(by_id, kc_cstr(id));
    if (object)
        return object;
    object = kc_node_object(edit);
    phase_record_set_text(edit, object, KC_STR("id"), id);
    kc_node_append(objects, object);
    kc_map_put(by_id, kc_cstr(id), object);
    return object;
}

static void put_objects(kc_edit *edit, kc_node *record, const kc__phase_call_notes *note,
                        const kc_clock *clock)
{
    kc_scoped(kc_map) by_id = {0};
    if (!note->objects.n)
        return;
    if (!kc_node_get(record, KC_STR("objects")))
        kc_node_set(edit, record, KC_STR("objects"), kc_node_array(edit));
    kc_node *objects = kc_node_get(record, KC_STR("objects"));
    index_objects(objects, &by_id);
    for (size_t i = 0; i < note->objects.n; i++) {
        const kc_phase_object *noted = &note->objects.items[i];
        kc_node *object = object_with(edit, objects, &by_id, noted->id);
        phase_record_set_text(edit, object, KC_STR("name"), noted->name);
        phase_record_set_text(edit, object, KC_STR("group"), noted->group);
        phase_record_set_text(edit, object, KC_STR("handleId"), noted->handle_id);
        set_flag(edit, object, KC_STR("done"), noted->done);
        phase_record_set_text(edit, object, KC_STR("warning"), noted->warning);
        phase_record_set_text(edit, object, KC_STR("error"), noted->error);
        set_times(edit, object, noted->done, clock);
    }
}

static void put_progress(kc_edit *edit, kc_node *record, const kc__phase_call_notes *note)
{
    if (!note->counted)
        return;
    kc_node *progress = kc_node_ensure_object(edit, record, KC_STR("progress"));
    kc_node_set(edit, progress, KC_STR("done"), kc_node_i64(edit, note->done));
    kc_node_set(edit, progress, KC_STR("total"), kc_node_i64(edit, note->total));
}

static void put_state(kc_edit *edit, kc_node *record, const char *json)
{
    if (!json)
        return;
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(json), NULL, NULL);
    kc_node_set(edit, record, KC_STR("state"), kc_node_from_value(edit, kc_view_root(view)));
}

void kc__phase_record_write(kc_edit *edit, kc_node *record, const kc__phase_call_notes *note,
                            const kc__phase_end *end, const kc_clock *clock)
{
    const bool failed = end->verdict == KC_PHASE_FAIL;
    const bool done = end->verdict == KC_PHASE_DONE || (failed && end->fatal);
    set_times(edit, record, done, clock);
    set_flag(edit, record, KC_STR("done"), done);
    set_flag(edit, record, KC_STR("failed"), failed);
    set_flag(edit, record, KC_STR("fatal"), failed && end->fatal);
    phase_record_set_text(edit, record, KC_STR("error"), failed ? kc_error_text(end->error) : NULL);
    if (note->warning)
        phase_record_set_text(edit, record, KC_STR("warning"), note->warning);
    put_state(edit, record, note->state);
    put_progress(edit, record, note);
    put_objects(edit, record, note, clock);
}
