/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_metadata.c: replaces the metadata of an object.
 *
 *     text before │ metadata without managedFields │ ,"managedFields":[…] │ } │ text behind
 *
 * Every write sets metadata (uid, times, generation, owners). The text around it does not change,
 * so neither is it scanned again: parts before the metadata keep their positions, parts behind it
 * move, and those of the metadata come from a scan of the new text. managedFields, often the
 * longest part, need no scan either: their position is known.
 */
#include "object/model/canonical.h"
#include "object/model/object_internal.h"

#define MANAGED_NAME "\"managedFields\":"

/* The texts that a new object consists of. */
typedef struct new_metadata {
    kc_str before, metadata, behind;
    kc_str managed;    /* Empty for none. */
    const char *joint; /* What stands between the other metadata and managedFields. */
    size_t n_joint, n; /* n: bytes of the whole text. */
} new_metadata;

static new_metadata new_metadata_of(const kc_object *object, kc_str metadata, kc_str managed)
{
    const kc_str all = kc_object_json(object), old = kc_object_metadata_json(object);
    const size_t before = (size_t)(old.p - all.p);
    new_metadata m = {.before = kc_str_sub(all, 0, before),
                      .behind = kc_str_sub(all, before + old.n, all.n),
                      .metadata = metadata,
                      .managed = managed,
                      .joint = metadata.n > 2 ? "," MANAGED_NAME : MANAGED_NAME};
    m.n_joint = managed.n ? strlen(m.joint) : 0;
    m.n = m.before.n + metadata.n + m.n_joint + managed.n + m.behind.n;
    return m;
}

/* The slow path, for strings with escapes and texts that exceed a limit. */
static kc_object *reassembled(const new_metadata *m, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, m->before);
    kc_buf_append(&text, m->metadata);
    kc_buf_append(&text, m->behind);
    kc_auto(kc_object) *object = kc__object_of_canonical(kc_buf_str(&text), err);
    return object && m->managed.n ? kc_object_with_managed_fields(object, m->managed)
                                  : kc_take(object);
}

/* True when parts of the object are copies behind its text. */
static bool has_copies(const kc_object *object, const kc__object_span *parts)
{
    for (int i = 0; i < KC__N_PARTS; i++)
        if (parts[i].at > object->n)
            return true;
    return false;
}

static bool is_part_of_root(int part)
{
    return part == KC__OBJECT_PART_API_VERSION || part == KC__OBJECT_PART_KIND ||
           part == KC__OBJECT_PART_METADATA;
}

bool kc__object_metadata_parts(kc_str metadata, uint32_t at, kc__object_span *ret_parts)
{
    kc__object_scan_result scanned;
    kc_scoped(kc_buf) text = {0};
    kc_buf_append(&text, metadata);
    if (!kc__json_scan_metadata((char *)kc_buf_cstr(&text), text.n, KC_JSON_MAX_DEPTH - 1,
                                &scanned) ||
        scanned.escapes)
        return false;
    for (int i = 0; i < KC__N_PARTS; i++) {
        if (is_part_of_root(i))
            continue;
        ret_parts[i] = scanned.parts[i];
        if (ret_parts[i].at > KC__OBJECT_PART_MISTYPED)
            ret_parts[i].at += at;
    }
    return true;
}

/* An object with room for a text. */
static kc_object *object_for(size_t n, const kc__object_span *parts)
{
    const uint16_t has = kc__object_parts_shape(parts, n);
    kc_object *object = kc_alloc(offsetof(kc_object, text) + n + 1 + kc__object_parts_size(has));
    kc_ref_init(&object->refs);
    object->n = (uint32_t)n;
    object->has = has;
    object->text[n] = '\0';
    kc__object_parts_pack(object, parts);
    return object;
}

kc_object *kc__object_of_parts(kc_str text, const kc__object_span *parts)
{
    kc_object *object = object_for(text.n, parts);
    memcpy(object->text, text.p, text.n);
    return object;
}

/* ---- other metadata ---- */

/* Moves the parts of the root, and adds managedFields. */
static void place_parts(const new_metadata *m, kc__object_span *parts)
{
    const uint32_t at = (uint32_t)m->before.n, behind = (uint32_t)(m->n - m->behind.n);
    const uint32_t moved = behind - (at + parts[KC__OBJECT_PART_METADATA].n); /* May wrap. */
    for (int i = 0; i < KC__N_PARTS; i++)
        if (is_part_of_root(i) && parts[i].at > at)
            parts[i].at += moved;
    parts[KC__OBJECT_PART_METADATA] = (kc__object_span){at, behind - at};
    if (m->managed.n)
        parts[KC__OBJECT_PART_MANAGED_FIELDS] =
            (kc__object_span){behind - 1 - (uint32_t)m->managed.n, (uint32_t)m->managed.n};
}

static char *append_bytes(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
    return to + n;
}

static kc_object *assembled(const new_metadata *m, const kc__object_span *parts)
{
    kc_object *object = object_for(m->n, parts);
    char *to = append_bytes(object->text, m->before.p, m->before.n);
    to = append_bytes(to, m->metadata.p, m->metadata.n - 1);
    to = append_bytes(to, m->joint, m->n_joint);
    to = append_bytes(to, m->managed.n ? m->managed.p : "", m->managed.n);
    *to++ = '}';
    append_bytes(to, m->behind.p, m->behind.n);
    return object;
}

kc_object *kc__object_with_metadata(const kc_object *object, kc_str metadata, kc_str managed,
                                    kc_error *err)
{
    kc__object_span parts[KC__N_PARTS];
    const new_metadata m = new_metadata_of(object, metadata, managed);
    kc__object_parts_unpack(object, parts);
    if (m.n > KC_JSON_MAX_BYTES || has_copies(object, parts) ||
        !kc__object_metadata_parts(metadata, (uint32_t)m.before.n, parts))
        return reassembled(&m, err);
    place_parts(&m, parts);
    return assembled(&m, parts);
}
