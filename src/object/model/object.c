/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c: an object is its bytes.
 *
 *     [ refs │ n │ has │ canonical JSON text │ NUL │ positions of the parts │ (unescaped strings) ]
 *
 * One allocation, with room for the received text and all parts, filled by the scanner in one pass
 * and then trimmed. If the scanner is not sure, the full parser parses, the writer produces
 * canonical text, and the scanner runs over that text, trusted, to find the parts.
 *
 * A string part with escapes (never in a valid object, but an error must show the name it rejects)
 * gets an unescaped copy after the text, and its span points there.
 */
#include "object/json/json_cursor.h"
#include "object/model/canonical.h"
#include "object/model/object_internal.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

/* Size of an object with `behind` bytes after the NUL of its text. */
static size_t bytes_for(size_t text, size_t behind)
{
    return offsetof(kc_object, text) + text + 1 + behind;
}

static kc_object *object_try_new(kc_str text)
{
    kc_object *object = kc_try_alloc(bytes_for(text.n, kc__object_parts_most(text.n)), UINT32_MAX);
    if (!object)
        return NULL;
    kc_ref_init(&object->refs);
    if (text.n) /* The pointer of an empty slice may be NULL. */
        memcpy(object->text, text.p, text.n);
    object->text[text.n] = '\0';
    return object;
}

/* Releases the bytes of white space and absent parts. The allocator leaves less than 32 bytes. */
static kc_object *trimmed(kc_object *object, size_t room)
{
    const size_t bytes = bytes_for(object->n, kc__object_parts_size(object->has));
    if (bytes_for(room, kc__object_parts_most(room)) - bytes < 32)
        return object;
    kc_object *smaller = realloc(object, bytes);
    return smaller ? smaller : object;
}

static bool is_string_part(int part)
{
    static const bool strings[] = {
#define IS_STRING                                   1
#define IS_OBJECT                                   0
#define IS_ARRAY                                    0
#define IS_NUMBER                                   0
#define STRING_ROW(name, holder, key, letter, type) [KC__OBJECT_PART_##name] = IS_##type,
        KC__OBJECT_PARTS(STRING_ROW)
#undef STRING_ROW
    };
    return strings[part];
}

static kc_str part_str(const kc_object *object, int part)
{
    kc__object_span span = kc__object_part(object, part);
    return kc_str_of(object->text + span.at, span.n);
}

/* A copy of the object with an unescaped copy of each string part that has escapes. */
static kc_object *with_unescaped_parts(kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *metadata = kc_value_get(root, "metadata");
    const kc_value *values[] = {
#define FROM_ROOT     root
#define FROM_METADATA metadata
#define VALUE_ROW(name, holder, key, letter, type) \
    [KC__OBJECT_PART_##name] = kc_value_get(FROM_##holder, key),
        KC__OBJECT_PARTS(VALUE_ROW)
#undef VALUE_ROW
    };
    kc__object_span parts[KC__N_PARTS];
    kc_scoped(kc_buf) copies = {0};
    kc__object_parts_unpack(object, parts);
    /* Unescaped strings are not longer, so the total is at most twice the text. */
    object->has = kc__object_parts_shape(parts, 2 * (size_t)object->n);
    const size_t behind = (size_t)object->n + 1 + kc__object_parts_size(object->has);
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__object_span *span = &parts[i];
        if (!is_string_part(i) || !span->n || !memchr(object->text + span->at, '\\', span->n))
            continue;
        kc_str plain = kc_value_as_str(values[i]);
        *span = (kc__object_span){(uint32_t)(behind + copies.n), (uint32_t)plain.n};
        kc_buf_append(&copies, plain);
    }
    object = kc_realloc(object, offsetof(kc_object, text) + behind + copies.n);
    kc__object_parts_pack(object, parts);
    if (copies.n)
        memcpy(object->text + behind, copies.p, copies.n);
    return object;
}

/* Completes an object whose text has been scanned. */
static kc_object *finished(kc_object *object, size_t room, const kc__object_scan_result *scanned)
{
    object->n = (uint32_t)scanned->n;
    object->has = kc__object_parts_shape(scanned->parts, scanned->n);
    kc__object_parts_pack(object, scanned->parts);
    object = trimmed(object, room);
    return scanned->escapes ? with_unescaped_parts(object) : object;
}

/* An object of text that the writer has produced from a parsed document. */
static kc_object *object_of_written(kc_str json)
{
    kc_object *object = object_try_new(json);
    kc__object_scan_result scanned;
    if (!object)
        return NULL;
    bool ok = kc__json_scan(object->text, json.n, KC_JSON_MAX_DEPTH, true, &scanned);
    assert(ok && scanned.n == json.n);
    (void)ok;
    return finished(object, json.n, &scanned);
}

static kc_object *parse_thoroughly(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, opts, err);
    if (!view)
        return NULL;
    if (kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "line 1, column 1: an object is needed, not a value of type %s",
                     kc_json_type_name(kc_value_type(kc_view_root(view))));
        return NULL;
    }
    /* Escapes and numbers make a text at most six times as long. */
    kc_scoped(kc_buf) text = {.limit = 8 * json.n + 64};
    kc_json_write(&text, kc_view_root(view));
    kc_object *object = text.failed ? NULL : object_of_written(kc_buf_str(&text));
    if (!object)
        kc_error_out_of_memory(err);
    return object;
}

kc_object *kc_object_parse(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    size_t max_bytes = opts && opts->max_bytes ? opts->max_bytes : KC_JSON_MAX_BYTES;
    unsigned max_depth =
        opts && opts->max_depth ? KC_MIN(opts->max_depth, KC_JSON_MAX_DEPTH) : KC_JSON_MAX_DEPTH;
    kc_object *object = json.n <= max_bytes ? object_try_new(json) : NULL;
    kc__object_scan_result scanned;
    if (!object || !kc__json_scan(object->text, json.n, max_depth, false, &scanned)) {
        free(object);
        return parse_thoroughly(json, opts, err);
    }
    return finished(object, json.n, &scanned);
}

/* A text that nests too deeply, or is too large, gets its error from the full parser. */
kc_object *kc__object_of_canonical(kc_str json, kc_error *err)
{
    kc_object *object = json.n <= KC_JSON_MAX_BYTES ? object_try_new(json) : NULL;
    kc__object_scan_result scanned;
    if (!object || !kc__json_scan(object->text, json.n, KC_JSON_MAX_DEPTH, true, &scanned)) {
        free(object);
        return parse_thoroughly(json, NULL, err);
    }
    return finished(object, json.n, &scanned);
}

kc_object *kc_object_ref(const kc_object *object)
{
    /* The reference count is not part of the object's value. */
    kc_object *counted = (kc_object *)object;
    if (counted)
        kc_ref_add(&counted->refs);
    return counted;
}

kc_object *kc_object_unref(const kc_object *object)
{
    kc_object *counted = (kc_object *)object;
    if (counted && kc_ref_drop(&counted->refs))
        free(counted);
    return NULL;
}

kc_str kc_object_json(const kc_object *object)
{
    return kc_str_of(object->text, object->n);
}

size_t kc_object_size(const kc_object *object)
{
    return malloc_usable_size((void *)object) + sizeof(size_t);
}

#define PART_ACCESSOR(function, part)        \
    kc_str function(const kc_object *object) \
    {                                        \
        return part_str(object, part);       \
    }
PART_ACCESSOR(kc_object_api_version, KC__OBJECT_PART_API_VERSION)
PART_ACCESSOR(kc_object_kind, KC__OBJECT_PART_KIND)
PART_ACCESSOR(kc_object_name, KC__OBJECT_PART_NAME)
PART_ACCESSOR(kc_object_namespace, KC__OBJECT_PART_NAMESPACE)
PART_ACCESSOR(kc_object_uid, KC__OBJECT_PART_UID)
PART_ACCESSOR(kc_object_resource_version, KC__OBJECT_PART_RESOURCE_VERSION)
PART_ACCESSOR(kc_object_deletion_timestamp, KC__OBJECT_PART_DELETED)
PART_ACCESSOR(kc_object_metadata_json, KC__OBJECT_PART_METADATA)
PART_ACCESSOR(kc_object_labels_json, KC__OBJECT_PART_LABELS)
PART_ACCESSOR(kc_object_annotations_json, KC__OBJECT_PART_ANNOTATIONS)
PART_ACCESSOR(kc_object_owners_json, KC__OBJECT_PART_OWNERS)
PART_ACCESSOR(kc_object_finalizers_json, KC__OBJECT_PART_FINALIZERS)
PART_ACCESSOR(kc_object_managed_fields_json, KC__OBJECT_PART_MANAGED_FIELDS)

/* Read rarely: a lookup in the metadata's text costs less than a part of every object. */
kc_str kc_object_creation_timestamp(const kc_object *object)
{
    return kc__json_raw_inside(
        kc__json_cursor_find(kc_object_metadata_json(object), KC_STR("creationTimestamp")));
}

uint64_t kc_object_revision(const kc_object *object)
{
    uint64_t revision;
    return kc_str_to_u64(kc_object_resource_version(object), &revision) ? revision : 0;
}

int64_t kc_object_generation(const kc_object *object)
{
    int64_t generation;
    return kc_str_to_i64(part_str(object, KC__OBJECT_PART_GENERATION), &generation) ? generation
                                                                                    : 0;
}

/* Bytes of the unescaped strings after the parts. */
static size_t copies_of(const kc_object *object, const kc__object_span *parts)
{
    const size_t behind = (size_t)object->n + 1 + kc__object_parts_size(object->has);
    size_t end = behind;
    for (int i = 0; i < KC__N_PARTS; i++)
        end = KC_MAX(end, (size_t)parts[i].at + parts[i].n);
    return end - behind;
}

/* A range of text to replace. */
typedef struct splice {
    size_t at, n;
    kc_str with;
    bool changes_part;    /* The splice adds or removes … */
    int part;             /* … this part … */
    kc__object_span span; /* … which is here afterwards; zero for a removed one. */
} splice;

/* Moves spans after the range, extends spans around it, and moves copies by `shift`. */
static void move_parts(const kc_object *object, const splice *s, uint32_t shift,
                       kc__object_span *parts)
{
    const uint32_t delta = (uint32_t)(s->with.n - s->n); /* Wraparound is intended. */
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__object_span *span = &parts[i];
        if (span->at > object->n)
            span->at += shift;
        else if (span->at > s->at)
            span->at += delta;
        else if (span->at > KC__OBJECT_PART_MISTYPED && span->at + span->n >= s->at + s->n)
            span->n += delta;
    }
    if (s->changes_part)
        parts[s->part] = s->span;
}

static kc_object *spliced(const kc_object *object, const splice *s)
{
    kc__object_span parts[KC__N_PARTS];
    kc__object_parts_unpack(object, parts);
    const size_t copies = copies_of(object, parts), n = object->n + s->with.n - s->n;
    unsigned shape = kc__object_parts_shape(parts, n + copies);
    if (s->changes_part)
        shape = (shape & ~(1u << s->part)) | (unsigned)(s->span.at != 0) << s->part;
    const uint16_t has = (uint16_t)shape;
    const size_t before = (size_t)object->n + 1 + kc__object_parts_size(object->has);
    const size_t behind = n + 1 + kc__object_parts_size(has);
    move_parts(object, s, (uint32_t)(behind - before), parts);
    kc_object *copy = kc_alloc(offsetof(kc_object, text) + behind + copies);
    kc_ref_init(&copy->refs);
    copy->n = (uint32_t)n;
    copy->has = has;
    memcpy(copy->text, object->text, s->at);
    memcpy(copy->text + s->at, s->with.p, s->with.n);
    memcpy(copy->text + s->at + s->with.n, object->text + s->at + s->n,
           object->n + 1 - s->at - s->n);
    kc__object_parts_pack(copy, parts);
    memcpy(copy->text + behind, object->text + before, copies);
    return copy;
}

/* The slow path, for members of another type or with escapes. */
static kc_object *edited(const kc_object *object, bool in_metadata, kc_str name, kc_str value)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *holder = kc_edit_root(edit);
    if (in_metadata)
        holder = kc_node_ensure_object(edit, holder, KC_STR("metadata"));
    kc_node_set(edit, holder, name, kc_node_str(edit, value));
    kc_object *changed = kc_edit_freeze(edit, NULL);
    assert(changed);
    return changed;
}

static bool object_is_absent(kc__object_span span)
{
    return span.at == 0;
}

static bool is_in_text(const kc_object *object, kc__object_span span)
{
    return span.at > KC__OBJECT_PART_MISTYPED && span.at + span.n <= object->n;
}

kc_object *kc_object_with_revision(const kc_object *object, uint64_t revision)
{
    kc__object_span old = kc__object_part(object, KC__OBJECT_PART_RESOURCE_VERSION),
                    metadata = kc__object_part(object, KC__OBJECT_PART_METADATA);
    char digits[24], member[64];
    kc_str number =
        kc_str_of(digits, (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, revision));

    if (is_in_text(object, old))
        return spliced(object, &(splice){.at = old.at, .n = old.n, .with = number});
    if (!object_is_absent(old) || !is_in_text(object, metadata))
        return edited(object, true, KC_STR("resourceVersion"), number);

    /* Behind the uid, where Kubernetes has it; else at the beginning. */
    const kc__object_span uid = kc__object_part(object, KC__OBJECT_PART_UID);
    const bool behind = is_in_text(object, uid);
    const uint32_t at = behind ? uid.at + uid.n + 1 : metadata.at + 1;
    const bool alone = !behind && object->text[metadata.at + 1] == '}';
    snprintf(member, sizeof(member), "%s\"resourceVersion\":\"%s\"%s", behind ? "," : "", digits,
             behind || alone ? "" : ",");
    const uint32_t digits_at = at + (uint32_t)strlen("\"resourceVersion\":\"") + behind;
    return spliced(object, &(splice){.at = at,
                                     .with = kc_cstr(member),
                                     .changes_part = true,
                                     .part = KC__OBJECT_PART_RESOURCE_VERSION,
                                     .span = {digits_at, (uint32_t)number.n}});
}

static bool needs_escapes(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] < ' ' || text.p[i] > '~' || text.p[i] == '"' || text.p[i] == '\\')
            return true;
    return false;
}

kc_object *kc_object_with_api_version(const kc_object *object, kc_str api_version)
{
    kc__object_span old = kc__object_part(object, KC__OBJECT_PART_API_VERSION);
    if (!is_in_text(object, old) || needs_escapes(api_version))
        return edited(object, false, KC_STR("apiVersion"), api_version);
    return spliced(object, &(splice){.at = old.at, .n = old.n, .with = api_version});
}

/* A copy, if the allocator would use a smaller block for it. */
static kc_object *compacted(const kc_object *object)
{
    kc__object_span parts[KC__N_PARTS];
    kc__object_parts_unpack(object, parts);
    const size_t needs =
        bytes_for(object->n, kc__object_parts_size(object->has)) + copies_of(object, parts);
    if (malloc_usable_size((void *)object) < needs + 16)
        return kc_object_ref(object);
    return spliced(object, &(splice){.at = object->n, .with = KC_STR("")});
}

#define MANAGED_NAME "\"managedFields\":"

/* In canonical text the name is right before the value; one comma is removed with the member. */
kc_object *kc_object_without_managed_fields(const kc_object *object)
{
    static const kc_str name = KC_STR_INIT(MANAGED_NAME);
    const kc_str value = kc_object_managed_fields_json(object);
    if (!value.n)
        return compacted(object);
    const char *from = value.p - name.n, *to = value.p + value.n;
    assert(memcmp(from, name.p, name.n) == 0);
    if (*to == ',')
        to++;
    else if (from[-1] == ',')
        from--;
    return spliced(object, &(splice){.at = (size_t)(from - object->text),
                                     .n = (size_t)(to - from),
                                     .with = KC_STR(""),
                                     .changes_part = true,
                                     .part = KC__OBJECT_PART_MANAGED_FIELDS});
}

/* The slow path, for an object without metadata, or whose managedFields are not an array. */
static kc_object *edited_managed_fields(const kc_object *object, kc_str json)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    kc_node *metadata = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("metadata"));
    kc_node_set(edit, metadata, KC_STR("managedFields"),
                kc_node_from_value(edit, kc_view_root(view)));
    kc_object *changed = kc_edit_freeze(edit, NULL);
    assert(changed);
    return changed;
}

/* Appends the member to metadata that lack it. The splice includes the closing brace: parts that
 * end before it do not grow. */
static kc_object *added_managed_fields(const kc_object *object, kc__object_span metadata,
                                       kc_str json)
{
    kc_scoped(kc_buf) member = {0};
    const size_t brace = metadata.at + metadata.n - 1;
    kc_buf_reserve(&member, json.n + sizeof(MANAGED_NAME) + 1);
    kc_buf_puts(&member, metadata.n > 2 ? "," MANAGED_NAME : MANAGED_NAME);
    const kc__object_span span = {(uint32_t)(brace + member.n), (uint32_t)json.n};
    kc_buf_append(&member, json);
    kc_buf_putc(&member, '}');
    return spliced(object, &(splice){.at = brace,
                                     .n = 1,
                                     .with = kc_buf_str(&member),
                                     .changes_part = true,
                                     .part = KC__OBJECT_PART_MANAGED_FIELDS,
                                     .span = span});
}

kc_object *kc_object_with_managed_fields(const kc_object *object, kc_str json)
{
    const kc__object_span now = kc__object_part(object, KC__OBJECT_PART_MANAGED_FIELDS),
                          metadata = kc__object_part(object, KC__OBJECT_PART_METADATA);
    if (!json.n)
        return kc_object_without_managed_fields(object);
    if (is_in_text(object, now))
        return spliced(object, &(splice){.at = now.at, .n = now.n, .with = json});
    return object_is_absent(now) && is_in_text(object, metadata)
               ? added_managed_fields(object, metadata, json)
               : edited_managed_fields(object, json);
}
