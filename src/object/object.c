/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c: the object that is its bytes.
 *
 *     [ refs │ n │ spans of apiVersion, kind, metadata and its members │ canonical JSON text │ NUL
 * │ (unescaped strings) ]
 *
 * One allocation, made with room for the text as it came, filled by the scanner in one pass and
 * trimmed. When the scanner is not sure, the thorough reader parses, the writer writes canonical
 * text, and the scanner runs once more over that, trusted, to find the parts.
 *
 * A string part with escapes in it (never in a valid object, but a name must be shown in the error
 * that refuses it) gets an unescaped copy behind the text, and its span points there.
 */
#include "object/json_cursor.h"
#include "object/object_internal.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

static size_t bytes_for(size_t text)
{
    return sizeof(kc_object) + text + 1;
}

static kc_object *object_try_new(kc_str text)
{
    kc_object *object = kc_try_alloc(bytes_for(text.n), UINT32_MAX);
    if (!object)
        return NULL;
    kc_ref_init(&object->refs);
    if (text.n) /* An empty slice may point nowhere. */
        memcpy(object->text, text.p, text.n);
    object->text[text.n] = '\0';
    return object;
}

/*
 * Gives back what white space took. Not by realloc, which leaves a block as it is unless 32 bytes
 * or more become free: a cache holds many of these.
 */
static kc_object *trimmed(kc_object *object, size_t room)
{
    if (room - object->n < 8)
        return object;
    kc_object *smaller = malloc(bytes_for(object->n));
    if (!smaller)
        return object;
    memcpy((void *)smaller, object, bytes_for(object->n));
    free(object);
    return smaller;
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
    kc__span span = object->parts[part];
    return kc_str_of(object->text + span.at, span.n);
}

/* Appends an unescaped copy of each string part that has escapes, and lets its span point there. */
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
    size_t end = (size_t)object->n + 1;
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__span *span = &object->parts[i];
        if (!is_string_part(i) || !span->n || !memchr(object->text + span->at, '\\', span->n))
            continue;
        kc_str plain = kc_as_str(values[i]);
        object = kc_realloc(object, sizeof(*object) + end + plain.n);
        memcpy(object->text + end, plain.p, plain.n);
        object->parts[i] = (kc__span){(uint32_t)end, (uint32_t)plain.n};
        end += plain.n;
    }
    return object;
}

/* Completes an object whose text the scanner has been over. */
static kc_object *finished(kc_object *object, size_t room, const kc__scanned *scanned)
{
    object->n = (uint32_t)scanned->n;
    memcpy(object->parts, scanned->parts, sizeof(object->parts));
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

/* Bytes of text, its NUL and the unescaped strings behind it. */
static size_t whole_text(const kc_object *object)
{
    size_t end = (size_t)object->n + 1;
    for (int i = 0; i < KC__N_PARTS; i++)
        end = KC_MAX(end, (size_t)object->parts[i].at + object->parts[i].n);
    return end;
}

/* The object with `n` bytes of its text at `at` replaced: what lies behind moves, what lies around
 * grows. */
static kc_object *spliced(const kc_object *object, size_t at, size_t n, kc_str with)
{
    size_t old = whole_text(object), delta = with.n - n; /* Unsigned arithmetic wraps as wanted. */
    kc_object *copy = kc_alloc(sizeof(*copy) + old + delta);
    kc_ref_init(&copy->refs);
    copy->n = (uint32_t)(object->n + delta);
    memcpy(copy->text, object->text, at);
    memcpy(copy->text + at, with.p, with.n);
    memcpy(copy->text + at + with.n, object->text + at + n, old - at - n);
    for (int i = 0; i < KC__N_PARTS; i++) {
        kc__span span = object->parts[i];
        if (span.at > at)
            span.at += (uint32_t)delta;
        else if (span.at > KC__MISTYPED && span.at + span.n >= at + n)
            span.n += (uint32_t)delta;
        copy->parts[i] = span;
    }
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
    kc__span old = object->parts[KC__RESOURCE_VERSION], metadata = object->parts[KC__METADATA];
    char digits[24], member[64];
    kc_str number =
        kc_str_of(digits, (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, revision));

    if (stands_in_text(object, old))
        return spliced(object, old.at, old.n, number);
    if (!is_absent(old) || !stands_in_text(object, metadata))
        return edited(object, true, KC_STR("resourceVersion"), number);

    snprintf(member, sizeof(member), "\"resourceVersion\":\"%s\"%s", digits,
             object->text[metadata.at + 1] == '}' ? "" : ",");
    kc_object *result = spliced(object, metadata.at + 1, 0, kc_cstr(member));
    uint32_t at = metadata.at + (uint32_t)strlen("{\"resourceVersion\":\"");
    result->parts[KC__RESOURCE_VERSION] = (kc__span){at, (uint32_t)number.n};
    return result;
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
    kc__span old = object->parts[KC__API_VERSION];
    if (!stands_in_text(object, old) || needs_escapes(api_version))
        return edited(object, false, KC_STR("apiVersion"), api_version);
    return spliced(object, old.at, old.n, api_version);
}
