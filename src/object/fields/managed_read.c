/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed_read.c: reads metadata.managedFields.
 *
 * One pass over the text: the reader of FieldsV1 reads the entries around it, too. Entries are
 * identified by their manager, operation and subresource, and by their version for updates; the
 * identifier is the JSON that upstream builds, because entries are sorted by it.
 */
#include "object/fields/managed_internal.h"
#include "object/fields/v1_internal.h"

#include "kc/time.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"
#include "object/json/json_cursor.h"

#define MANAGED_KEY "\"managedFields\":"

void kc__fields_managed_done(kc__fields_managed *managed)
{
    kc_vec_done(&managed->owners);
}

/* ---- identifiers ---- */

static bool is_plain_text(kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < ' ' || c >= 0x7F || strchr("\"\\<>&", c))
            return false;
    }
    return true;
}

static void add_id_member(kc_buf *out, kc_str name, kc_str text)
{
    if (!text.n)
        return;
    if (out->n > 1)
        kc_buf_putc(out, ',');
    kc_buf_append(out, name);
    if (is_plain_text(text)) {
        kc_buf_putc(out, '"');
        kc_buf_append(out, text);
        kc_buf_putc(out, '"');
        return;
    }
    yyjson_val value = {.tag = (uint64_t)text.n << YYJSON_TAG_BIT | YYJSON_TYPE_STR,
                        .uni.str = text.p};
    kc__go_json(out, &value);
}

kc_str kc__fields_owner_id(kc_arena *arena, const kc__fields_owner *owner)
{
    enum { MOSTLY_ENOUGH = 256 };
    kc_scoped(kc_buf) out = {0};
    kc_buf_reserve(&out, MOSTLY_ENOUGH);
    kc_buf_putc(&out, '{');
    add_id_member(&out, KC_STR("\"manager\":"), owner->manager);
    add_id_member(&out, KC_STR("\"operation\":"),
                  owner->applied ? KC_STR("Apply") : KC_STR("Update"));
    add_id_member(&out, KC_STR("\"apiVersion\":"), owner->applied ? (kc_str){0} : owner->version);
    add_id_member(&out, KC_STR("\"subresource\":"), owner->subresource);
    kc_buf_putc(&out, '}');
    return kc_arena_str(arena, kc_buf_str(&out));
}

void kc__fields_owner_set_time(kc_arena *arena, kc__fields_owner *owner, kc_str time)
{
    char text[KC_TIME_TEXT];
    kc_time ns;
    if (kc_time_parse(time, &ns, NULL) < 0) {
        owner->time = (kc_str){0};
        owner->seconds = 0;
        return;
    }
    /* Nearly all are as they are written. */
    bool plain = time.n == sizeof("2006-01-02T15:04:05Z") - 1 && time.p[time.n - 1] == 'Z';
    owner->time = plain ? time : kc_arena_str(arena, kc_time_print(ns, text));
    owner->seconds = ns / 1000000000 - (ns % 1000000000 < 0);
}

/* ---- entries ---- */

/* The members of an entry. */
typedef struct raw_entry {
    kc_str manager, operation, version, time, fields_type, subresource;
    const kc__fields_set *set;
    kc_str text; /* Of the set, if it is canonical. */
} raw_entry;

/* Where a member with a string goes; NULL for others. */
static kc_str *text_member(raw_entry *raw, kc_str name)
{
    const struct {
        kc_str name;
        kc_str *to;
    } members[] = {{KC_STR_INIT("manager"), &raw->manager},
                   {KC_STR_INIT("operation"), &raw->operation},
                   {KC_STR_INIT("apiVersion"), &raw->version},
                   {KC_STR_INIT("time"), &raw->time},
                   {KC_STR_INIT("fieldsType"), &raw->fields_type},
                   {KC_STR_INIT("subresource"), &raw->subresource}};
    for (size_t i = 0; i < KC_COUNT(members); i++)
        if (kc_str_eq(name, members[i].name))
            return members[i].to;
    return NULL;
}

static int read_member_value(kc__fields_reader *r, kc_str name, raw_entry *raw)
{
    kc_str *text = text_member(raw, name);
    bool canonical = false;
    kc_str json;
    if (text && kc__fields_reader_next_is(r, '"'))
        return kc__fields_reader_string(r, text);
    if (!kc_str_is(name, "fieldsV1") || r->at >= r->end || *r->at != '{')
        return kc__fields_reader_skip(r);
    if (kc__fields_reader_set(r, &raw->set, &json, &canonical) < 0)
        return kc_error_wrap(r->err, "error decoding set");
    raw->text = canonical ? json : (kc_str){0};
    return 0;
}

static int read_raw_entry(kc__fields_reader *r, raw_entry *raw)
{
    kc_str name;
    if (!kc__fields_reader_next_is(r, '{'))
        return kc__fields_reader_failed(r, "expect {");
    if (kc__fields_reader_next_is(r, '}'))
        return 0;
    do {
        if (!kc__fields_reader_next_is(r, '"') || kc__fields_reader_string(r, &name) < 0 ||
            !kc__fields_reader_next_is(r, ':'))
            return kc__fields_reader_failed(r, "expect a member");
        if (read_member_value(r, name, raw) < 0)
            return -1;
    } while (kc__fields_reader_next_is(r, ','));
    return kc__fields_reader_next_is(r, '}')
               ? 0
               : kc__fields_reader_failed(r, "object not ended with }");
}

static int check_entry(const raw_entry *raw, size_t at, kc_error *err)
{
    kc_scoped(kc_buf) type = {0};
    if (!kc_str_is(raw->operation, "Apply") && !kc_str_is(raw->operation, "Update"))
        return kc_error_set(err, KC_BAD_REQUEST, "operation must be `Apply` or `Update`");
    if (!raw->version.n)
        return kc_error_set(err, KC_BAD_REQUEST, "apiVersion must not be empty");
    if (kc_str_is(raw->fields_type, "FieldsV1"))
        return 0;
    if (!raw->fields_type.n)
        return kc_error_set(err, KC_BAD_REQUEST, "missing fieldsType in managed fields entry %zu",
                            at);
    kc__go_quote(&type, raw->fields_type);
    return kc_error_set(err, KC_BAD_REQUEST, "invalid fieldsType %s in managed fields entry %zu",
                        kc_buf_cstr(&type), at);
}

static int read_entry(kc__fields_managed *managed, kc__fields_reader *r, size_t at,
                      kc__fields_owner *ret)
{
    raw_entry raw = {0};
    if (read_raw_entry(r, &raw) < 0 || check_entry(&raw, at, r->err) < 0)
        return -1;
    *ret = (kc__fields_owner){.manager = raw.manager,
                              .subresource = raw.subresource,
                              .version = raw.version,
                              .applied = kc_str_is(raw.operation, "Apply"),
                              .set = raw.set,
                              .text = raw.text,
                              .set_of_text = raw.text.n ? raw.set : NULL};
    ret->id = kc__fields_owner_id(managed->arena, ret);
    kc__fields_owner_set_time(managed->arena, ret, raw.time);
    return 0;
}

/* ---- all entries ---- */

static void add_owner(kc__fields_managed *managed, const kc__fields_owner *owner, kc_map *positions)
{
    size_t position = (size_t)(uintptr_t)kc_map_get(positions, owner->id);
    if (position) {
        managed->owners.items[position - 1] = *owner;
        return;
    }
    kc_vec_push(&managed->owners, *owner);
    kc_map_put(positions, owner->id, (void *)(uintptr_t)managed->owners.n);
}

/* The array at the reader. */
static int read_entries(kc__fields_managed *managed, kc__fields_reader *r)
{
    kc_scoped(kc_map) positions = {0};
    size_t n = 0;
    if (!kc__fields_reader_next_is(r, '['))
        return kc__fields_reader_failed(r, "expect [");
    if (kc__fields_reader_next_is(r, ']'))
        return 0;
    do {
        kc__fields_owner owner;
        if (read_entry(managed, r, n++, &owner) < 0)
            return -1;
        add_owner(managed, &owner, &positions);
    } while (kc__fields_reader_next_is(r, ','));
    return kc__fields_reader_next_is(r, ']') ? 0 : kc__fields_reader_failed(r, "expect ]");
}

static int read_managed(kc__fields_managed *managed, kc_str text, kc_error *err)
{
    kc__fields_reader reader = {
        .at = text.p, .end = text.p + text.n, .builder = {.arena = managed->arena}, .err = err};
    kc_vec_clear(&managed->owners);
    int failed = read_entries(managed, &reader);
    kc__fields_builder_done(&reader.builder);
    if (failed == 0)
        return 0;
    kc_vec_clear(&managed->owners);
    return kc_error_result(err);
}

int kc__fields_managed_read(kc__fields_managed *managed, kc_str json, kc_error *err)
{
    kc_vec_clear(&managed->owners);
    if (!json.n || kc_str_is(json, "null"))
        return 0;
    return read_managed(managed, json, err);
}

/* ---- objects ---- */

/* The object without its managedFields, and one of the commas around them. The view keeps the
 * text and parses it in place: a part of an object's text needs no checks. */
static kc_view *view_without(kc_str json, kc_str managed)
{
    const char *from = managed.p - (sizeof(MANAGED_KEY) - 1), *to = managed.p + managed.n;
    if (*to == ',')
        to++;
    else if (from[-1] == ',')
        from--;
    const size_t before = (size_t)(from - json.p), after = (size_t)(json.p + json.n - to);
    kc_view *view = kc_new(kc_view);
    char *text = kc_alloc(before + after + KC__JSON_PADDING);
    memcpy(text, json.p, before);
    memcpy(text + before, to, after);
    kc__json_read_canonical(text, before + after, view);
    return view;
}

kc_view *kc__fields_view_of(const kc_object *object)
{
    kc_str managed = kc_object_managed_fields_json(object);
    return managed.n ? view_without(kc_object_json(object), managed) : kc_view_of(object);
}

/* managedFields that are no array: null counts as absent. */
static kc_view *take_other_type(const kc_object *object, kc_error *err)
{
    kc_str json = kc__json_cursor_find(kc_object_metadata_json(object), KC_STR("managedFields"));
    if (!json.n)
        return kc_view_of(object);
    if (kc_str_is(json, "null"))
        return view_without(kc_object_json(object), json);
    kc_error_set(err, KC_BAD_REQUEST, "ReadMapCB: expect [");
    return NULL;
}

kc_view *kc__fields_managed_take(kc__fields_managed *managed, const kc_object *object,
                                 kc_error *err)
{
    kc_str json = kc_object_managed_fields_json(object);
    kc_vec_clear(&managed->owners);
    if (!json.n)
        return take_other_type(object, err);
    if (read_managed(managed, json, err) < 0)
        return NULL;
    return view_without(kc_object_json(object), json);
}

bool kc__fields_managed_is_reset(kc_str json)
{
    return kc_str_is(json, "[]") || kc_str_is(json, "[{}]");
}
