/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c: the object that is its bytes.
 *
 *     [ refs │ n │ has │ canonical JSON text │ NUL │ where the parts are │ (unescaped strings) ]
 *
 * One allocation, made with room for the text as it came and all parts, filled by the scanner in
 * one pass and trimmed. When the scanner is not sure, the thorough reader parses, the writer writes
 * canonical text, and the scanner runs once more over that, trusted, to find the parts.
 *
 * A string part with escapes in it (never in a valid object, but a name must be shown in the error
 * that refuses it) gets an unescaped copy behind the text, and its span points there.
 */
#include "object/json_cursor.h"
#include "object/object_internal.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

/* Of an object with `behind` bytes after the NUL of its text. */
static size_t bytes_for(size_t text, size_t behind)
{
    return offsetof(kc_object, text) + text + 1 + behind;
}

static kc_object *object_try_new(kc_str text)
{
    kc_object *object = kc_try_alloc(bytes_for(text.n, kc__parts_most(text.n)), UINT32_MAX);
    if (!object)
        return NULL;
    kc_ref_init(&object->refs);
    if (text.n) /* An empty slice may point nowhere. */
        memcpy(object->text, text.p, text.n);
    object->text[text.n] = '\0';
    return object;
}

/* Gives back what white space and absent parts took. The allocator leaves less than 32 bytes. */
static kc_object *trimmed(kc_object *object, size_t room)
{
    const size_t bytes = bytes_for(object->n, kc__parts_size(object->has));
    if (bytes_for(room, kc__parts_most(room)) - bytes < 32)
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
#define STRING_ROW(name, holder, key, letter, type) [KC__##name] = IS_##type,
        KC__PARTS(STRING_ROW)
#undef STRING_ROW
    };
    return strings[part];
}

static kc_str part_str(const kc_object *object, int part)
{
    kc__span span = kc__part(object, part);
    return kc_str_of(object->text + span.at, span.n);
}

/* A copy without string parts' escapes: of each that has some, an unescaped one stands behind. */
static kc_object *with_unescaped_parts(kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view), *metadata = kc_get(root, "metadata");
    const kc_value *values[] = {
#define FROM_ROOT                                  root
#define FROM_METADATA                              metadata
#define VALUE_ROW(name, holder, key, letter, type) [KC__##name] = kc_get(FROM_##holder, key),
        KC__PARTS(VALUE_ROW)
#undef VALUE_ROW
    };
    kc__span parts[KC__N_PARTS];
    kc_scoped(kc_buf) copies = {0};
    kc__parts_unpack(object, parts);
    /* They get no longer than they were, so the shape is that of twice the text at most. */
    object->has = kc__parts_shape(parts, 2 * (size_t)object->n);
    const size_t behind = (size_t)object->n + 1 + kc__parts_size(object->has);
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__span *span = &parts[i];
        if (!is_string_part(i) || !span->n || !memchr(object->text + span->at, '\\', span->n))
            continue;
        kc_str plain = kc_as_str(values[i]);
        *span = (kc__span){(uint32_t)(behind + copies.n), (uint32_t)plain.n};
        kc_buf_append(&copies, plain);
    }
    object = kc_realloc(object, offsetof(kc_object, text) + behind + copies.n);
    kc__parts_pack(object, parts);
    if (copies.n)
        memcpy(object->text + behind, copies.p, copies.n);
    return object;
}

/* Completes an object whose text the scanner has been over. */
static kc_object *finished(kc_object *object, size_t room, const kc__scanned *scanned)
{
    object->n = (uint32_t)scanned->n;
    object->has = kc__parts_shape(scanned->parts, scanned->n);
    kc__parts_pack(object, scanned->parts);
    object = trimmed(object, room);
    return scanned->escapes ? with_unescaped_parts(object) : object;
}

static kc_object *object_of_canonical(kc_str json)
{
    kc_object *object = object_try_new(json);
    kc__scanned scanned;
    if (!object)
        return NULL;
    bool ok = kc__scan(object->text, json.n, KC_JSON_MAX_DEPTH, true, &scanned);
    assert(ok && scanned.n == json.n);
    (void)ok;
    return finished(object, json.n, &scanned);
}

static kc_object *parse_thoroughly(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, opts, err);
    if (!view)
        return NULL;
    if (kc_type_of(kc_view_root(view)) != KC_OBJECT) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "line 1, column 1: an object is needed, not a value of type %s",
                     kc_type_name(kc_type_of(kc_view_root(view))));
        return NULL;
    }
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_view_root(view));
    kc_object *object = object_of_canonical(kc_buf_str(&text));
    if (!object)
        kc_error_set(err, KC_INTERNAL, "out of memory");
    return object;
}

kc_object *kc_object_parse(kc_str json, const kc_json_opts *opts, kc_error *err)
{
    size_t max_bytes = opts && opts->max_bytes ? opts->max_bytes : KC_JSON_MAX_BYTES;
    unsigned max_depth =
        opts && opts->max_depth ? KC_MIN(opts->max_depth, KC_JSON_MAX_DEPTH) : KC_JSON_MAX_DEPTH;
    kc_object *object = json.n <= max_bytes ? object_try_new(json) : NULL;
    kc__scanned scanned;
    if (!object || !kc__scan(object->text, json.n, max_depth, false, &scanned)) {
        free(object);
        return parse_thoroughly(json, opts, err);
    }
    return finished(object, json.n, &scanned);
}

kc_object *kc_object_ref(const kc_object *object)
{
    /* Counting does not change what the object is. */
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
PART_ACCESSOR(kc_object_api_version, KC__API_VERSION)
PART_ACCESSOR(kc_object_kind, KC__KIND)
PART_ACCESSOR(kc_object_name, KC__NAME)
PART_ACCESSOR(kc_object_namespace, KC__NAMESPACE)
PART_ACCESSOR(kc_object_uid, KC__UID)
PART_ACCESSOR(kc_object_resource_version, KC__RESOURCE_VERSION)
PART_ACCESSOR(kc_object_deletion_timestamp, KC__DELETED)
PART_ACCESSOR(kc_object_metadata_json, KC__METADATA)
PART_ACCESSOR(kc_object_labels_json, KC__LABELS)
PART_ACCESSOR(kc_object_annotations_json, KC__ANNOTATIONS)
PART_ACCESSOR(kc_object_owners_json, KC__OWNERS)
PART_ACCESSOR(kc_object_finalizers_json, KC__FINALIZERS)

/* These two are asked for less often than they would cost: they are looked up in the metadata's
 * text. */
kc_str kc_object_creation_timestamp(const kc_object *object)
{
    return kc__raw_inside(
        kc__cursor_find(kc_object_metadata_json(object), KC_STR("creationTimestamp")));
}

kc_str kc_object_managed_fields_json(const kc_object *object)
{
    kc_str json = kc__cursor_find(kc_object_metadata_json(object), KC_STR("managedFields"));
    return json.n && json.p[0] == '[' ? json : (kc_str){0};
}

uint64_t kc_object_revision(const kc_object *object)
{
    uint64_t revision;
    return kc_str_to_u64(kc_object_resource_version(object), &revision) ? revision : 0;
}

int64_t kc_object_generation(const kc_object *object)
{
    int64_t generation;
    return kc_str_to_i64(part_str(object, KC__GENERATION), &generation) ? generation : 0;
}

/* Bytes of the unescaped strings behind the parts. */
static size_t copies_of(const kc_object *object, const kc__span *parts)
{
    const size_t behind = (size_t)object->n + 1 + kc__parts_size(object->has);
    size_t end = behind;
    for (int i = 0; i < KC__N_PARTS; i++)
        end = KC_MAX(end, (size_t)parts[i].at + parts[i].n);
    return end - behind;
}

/* A stretch of text to be replaced. */
typedef struct splice {
    size_t at, n;
    kc_str with;
    kc__span version; /* The resource version, if it comes with the splice. */
} splice;

/* What lies behind the stretch moves, what lies around it grows; copies move by `shift`. */
static void move_parts(const kc_object *object, const splice *s, uint32_t shift, kc__span *parts)
{
    const uint32_t delta = (uint32_t)(s->with.n - s->n); /* Wraps as wanted. */
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__span *span = &parts[i];
        if (span->at > object->n)
            span->at += shift;
        else if (span->at > s->at)
            span->at += delta;
        else if (span->at > KC__MISTYPED && span->at + span->n >= s->at + s->n)
            span->n += delta;
    }
    if (s->version.at)
        parts[KC__RESOURCE_VERSION] = s->version;
}

static kc_object *spliced(const kc_object *object, const splice *s)
{
    kc__span parts[KC__N_PARTS];
    kc__parts_unpack(object, parts);
    const size_t copies = copies_of(object, parts), n = object->n + s->with.n - s->n;
    const unsigned added = s->version.at ? 1u << KC__RESOURCE_VERSION : 0;
    const uint16_t has = (uint16_t)(kc__parts_shape(parts, n + copies) | added);
    const size_t before = (size_t)object->n + 1 + kc__parts_size(object->has);
    const size_t behind = n + 1 + kc__parts_size(has);
    move_parts(object, s, (uint32_t)(behind - before), parts);
    kc_object *copy = kc_alloc(offsetof(kc_object, text) + behind + copies);
    kc_ref_init(&copy->refs);
    copy->n = (uint32_t)n;
    copy->has = has;
    memcpy(copy->text, object->text, s->at);
    memcpy(copy->text + s->at, s->with.p, s->with.n);
    memcpy(copy->text + s->at + s->with.n, object->text + s->at + s->n,
           object->n + 1 - s->at - s->n);
    kc__parts_pack(copy, parts);
    memcpy(copy->text + behind, object->text + before, copies);
    return copy;
}

/* The thorough way, for members that have another type or escapes in them. */
static kc_object *edited(const kc_object *object, bool in_metadata, kc_str name, kc_str value)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc_node *holder = kc_edit_root(edit);
    if (in_metadata)
        holder = kc_node_need_object(edit, holder, KC_STR("metadata"));
    kc_node_set(edit, holder, name, kc_node_str(edit, value));
    kc_object *changed = kc_edit_freeze(edit, NULL);
    assert(changed);
    return changed;
}

static bool is_absent(kc__span span)
{
    return span.at == 0;
}

static bool stands_in_text(const kc_object *object, kc__span span)
{
    return span.at > KC__MISTYPED && span.at + span.n <= object->n;
}

kc_object *kc_object_with_revision(const kc_object *object, uint64_t revision)
{
    kc__span old = kc__part(object, KC__RESOURCE_VERSION),
             metadata = kc__part(object, KC__METADATA);
    char digits[24], member[64];
    kc_str number =
        kc_str_of(digits, (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, revision));

    if (stands_in_text(object, old))
        return spliced(object, &(splice){.at = old.at, .n = old.n, .with = number});
    if (!is_absent(old) || !stands_in_text(object, metadata))
        return edited(object, true, KC_STR("resourceVersion"), number);

    snprintf(member, sizeof(member), "\"resourceVersion\":\"%s\"%s", digits,
             object->text[metadata.at + 1] == '}' ? "" : ",");
    const uint32_t at = metadata.at + (uint32_t)strlen("{\"resourceVersion\":\"");
    return spliced(object, &(splice){.at = metadata.at + 1,
                                     .with = kc_cstr(member),
                                     .version = {at, (uint32_t)number.n}});
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
    kc__span old = kc__part(object, KC__API_VERSION);
    if (!stands_in_text(object, old) || needs_escapes(api_version))
        return edited(object, false, KC_STR("apiVersion"), api_version);
    return spliced(object, &(splice){.at = old.at, .n = old.n, .with = api_version});
}

/* A copy, if the allocator would give it a smaller block than the one it was read into. */
static kc_object *compacted(const kc_object *object)
{
    kc__span parts[KC__N_PARTS];
    kc__parts_unpack(object, parts);
    const size_t needs =
        bytes_for(object->n, kc__parts_size(object->has)) + copies_of(object, parts);
    if (malloc_usable_size((void *)object) < needs + 16)
        return kc_object_ref(object);
    return spliced(object, &(splice){.at = object->n, .with = KC_STR("")});
}

/* Canonical text has the name right before the value, and one comma goes with the member. */
kc_object *kc_object_without_managed_fields(const kc_object *object)
{
    static const kc_str name = KC_STR_INIT("\"managedFields\":");
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
                                     .with = KC_STR("")});
}
