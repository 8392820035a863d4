/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event.c: encodes Events. Members are in the order of the Go types; empty ones are omitted as in
 * Go.
 */
#include "runtime/events/event.h"

#include "kc/json.h"
#include "kc/kind.h"

enum {
    MAX_NOTE = 1024
}; /* Maximum bytes of an events.k8s.io note; the server rejects longer ones. */

/* ---- create ---- */

static kc__recorder_object_ref ref_of(const kc_object *object, const char *field_path,
                                      kc_arena *arena)
{
    if (!object)
        return (kc__recorder_object_ref){0};
    return (kc__recorder_object_ref){
        .api_version = kc_arena_str(arena, kc_object_api_version(object)),
        .kind = kc_arena_str(arena, kc_object_kind(object)),
        .ns = kc_arena_str(arena, kc_object_namespace(object)),
        .name = kc_arena_str(arena, kc_object_name(object)),
        .uid = kc_arena_str(arena, kc_object_uid(object)),
        .resource_version = kc_arena_str(arena, kc_object_resource_version(object)),
        .field_path = kc_arena_str(arena, kc_cstr(field_path)),
    };
}

static const char *const *copy_list(const char *const *list, kc_arena *arena)
{
    size_t n = 0;
    if (!list)
        return NULL;
    while (list[n])
        n++;
    const char **copy = kc_arena_calloc(arena, n + 1, sizeof(*copy));
    for (size_t i = 0; i < n; i++)
        copy[i] = kc_arena_strndup(arena, list[i], strlen(list[i]));
    return copy;
}

kc__recorder_note *kc__recorder_note_new(const kc_recorder_event_opts *opts, kc_str component,
                                         kc_str host, kc_time at)
{
    kc__recorder_note *note = kc_new(kc__recorder_note);
    kc_arena *arena = &note->arena;
    note->about = ref_of(opts->about, opts->field_path, arena);
    note->related = ref_of(opts->related, NULL, arena);
    note->type = kc_arena_str(arena, kc_cstr(opts->type ? opts->type : KC_EVENT_TYPE_NORMAL));
    note->reason = kc_arena_str(arena, kc_cstr(opts->reason));
    note->action = kc_arena_str(arena, kc_cstr(opts->action ? opts->action : opts->reason));
    note->message = kc_arena_str(arena, kc_cstr(opts->message));
    note->annotations = copy_list(opts->annotations, arena);
    note->component = kc_arena_str(arena, component);
    note->host = kc_arena_str(arena, host);
    note->at = note->first = at;
    note->count = 1;
    kc__recorder_note_rename(note);
    return note;
}

kc__recorder_note *kc__recorder_note_free(kc__recorder_note *note)
{
    if (!note)
        return NULL;
    kc_arena_done(&note->arena);
    free(note);
    return NULL;
}

kc_str kc__recorder_note_namespace(const kc__recorder_note *note)
{
    return note->about.ns.n ? note->about.ns : KC_STR("default");
}

void kc__recorder_note_rename(kc__recorder_note *note)
{
    note->name = kc_cstr(kc_arena_printf(&note->arena, "%.*s.%llx", KC_ARG(note->about.name),
                                         (unsigned long long)note->at));
}

/* ---- encode ---- */

/* ,"name":"text" unless it is empty; `comma` is "" for the first. */
static void event_note_put(kc_buf *out, const char *comma, const char *name, kc_str text)
{
    if (!text.n)
        return;
    kc_buf_printf(out, "%s\"%s\":", comma, name);
    kc_json_quote(out, text);
}

static void put_ref(kc_buf *out, const char *name, const kc__recorder_object_ref *ref)
{
    kc_buf_printf(out, ",\"%s\":{\"kind\":", name);
    kc_json_quote(out, ref->kind);
    event_note_put(out, ",", "namespace", ref->ns);
    event_note_put(out, ",", "name", ref->name);
    event_note_put(out, ",", "uid", ref->uid);
    event_note_put(out, ",", "apiVersion", ref->api_version);
    event_note_put(out, ",", "resourceVersion", ref->resource_version);
    event_note_put(out, ",", "fieldPath", ref->field_path);
    kc_buf_putc(out, '}');
}

static void put_annotations(kc_buf *out, const char *const *list)
{
    const char *comma = "";
    if (!list || !*list)
        return;
    kc_buf_puts(out, ",\"annotations\":{");
    for (; *list; list++) {
        const char *value = strchrnul(*list, '=');
        kc_buf_puts(out, comma);
        kc_json_quote(out, kc_str_of(*list, (size_t)(value - *list)));
        kc_buf_putc(out, ':');
        kc_json_quote(out, kc_cstr(*value ? value + 1 : ""));
        comma = ",";
    }
    kc_buf_putc(out, '}');
}

static void event_note_put_metadata(kc_buf *out, const kc__recorder_note *note,
                                    const char *api_version)
{
    kc_buf_printf(out,
                  "{\"apiVersion\":\"%s\",\"kind\":\"Event\",\"metadata\":{\"name\":", api_version);
    kc_json_quote(out, note->name);
    event_note_put(out, ",", "namespace", kc__recorder_note_namespace(note));
    put_annotations(out, note->annotations);
    kc_buf_putc(out, '}');
}

static void put_time(kc_buf *out, const char *comma, const char *name, kc_time at)
{
    char text[KC_TIME_TEXT];
    event_note_put(out, comma, name, kc_time_print(at, text));
}

static void put_micro_time(kc_buf *out, const char *comma, const char *name, kc_time at)
{
    char text[KC_TIME_TEXT];
    event_note_put(out, comma, name, kc_time_print_micro(at, text));
}

void kc__recorder_note_write_core(const kc__recorder_note *note, kc_buf *out)
{
    event_note_put_metadata(out, note, "v1");
    put_ref(out, "involvedObject", &note->about);
    event_note_put(out, ",", "reason", note->reason);
    event_note_put(out, ",", "message", note->message);
    kc_buf_puts(out, ",\"source\":{");
    event_note_put(out, "", "component", note->component);
    event_note_put(out, note->component.n ? "," : "", "host", note->host);
    kc_buf_putc(out, '}');
    put_time(out, ",", "firstTimestamp", note->first);
    put_time(out, ",", "lastTimestamp", note->at);
    kc_buf_printf(out, ",\"count\":%lld", (long long)note->count);
    event_note_put(out, ",", "type", note->type);
    event_note_put(out, ",", "reportingComponent", note->component);
    kc_buf_puts(out, ",\"reportingInstance\":");
    kc_json_quote(out, note->host);
    kc_buf_putc(out, '}');
}

void kc__recorder_note_patch_core(const kc__recorder_note *note, kc_buf *out)
{
    kc_buf_printf(out, "{\"count\":%lld", (long long)note->count);
    put_time(out, ",", "lastTimestamp", note->at);
    event_note_put(out, ",", "message", note->message);
    kc_buf_putc(out, '}');
}

static void put_series(kc_buf *out, const kc__recorder_note *note, const char *comma)
{
    kc_buf_printf(out, "%s\"series\":{\"count\":%lld", comma, (long long)note->count);
    put_micro_time(out, ",", "lastObservedTime", note->at);
    kc_buf_putc(out, '}');
}

void kc__recorder_note_write_v1(const kc__recorder_note *note, bool series, kc_buf *out)
{
    event_note_put_metadata(out, note, "events.k8s.io/v1");
    put_micro_time(out, ",", "eventTime", note->first);
    if (series)
        put_series(out, note, ",");
    event_note_put(out, ",", "reportingController", note->component);
    kc_buf_puts(out, ",\"reportingInstance\":");
    kc_scoped(kc_buf) instance = {0};
    kc_buf_printf(&instance, "%.*s-%.*s", KC_ARG(note->component), KC_ARG(note->host));
    kc_json_quote(out, kc_buf_str(&instance));
    event_note_put(out, ",", "action", note->action);
    event_note_put(out, ",", "reason", note->reason);
    put_ref(out, "regarding", &note->about);
    if (note->related.kind.n)
        put_ref(out, "related", &note->related);
    event_note_put(out, ",", "note",
                   kc_str_of(note->message.p, KC_MIN(note->message.n, (size_t)MAX_NOTE)));
    event_note_put(out, ",", "type", note->type);
    kc_buf_putc(out, '}');
}

void kc__recorder_note_patch_v1(const kc__recorder_note *note, kc_buf *out)
{
    kc_buf_putc(out, '{');
    put_series(out, note, "");
    kc_buf_putc(out, '}');
}
