/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_internal.h: what the YAML files share.
 *
 *     text ──▶ yaml_events.c ──▶ yaml_read.c ──▶ JSON text ──▶ yaml_codec.c ──▶ views, objects
 *              libyaml, guarded  anchors, merges               json.h's readers
 *                                 └─ yaml_scalar.c, yaml_number.c, yaml_merge.c
 *     value ──▶ yaml_write.c ──▶ yaml_emit.c ──▶ text
 *
 * Only yaml_events.c knows the parser.
 */
#ifndef KC_YAML_INTERNAL_H
#define KC_YAML_INTERNAL_H

#include "kc/yaml.h"

/* A place in the text, both from 1; columns count characters. */
typedef struct kc__yaml_mark {
    size_t line, column;
} kc__yaml_mark;

/* "line 3, column 14: …", as KC_BAD_REQUEST. */
int kc__yaml_fail(kc__yaml_mark at, kc_error *err, const char *fmt, ...) KC_PRINTF(3, 4);

/* ---- Events (yaml_events.c) ---- */

typedef enum kc__yaml_event_type {
    KC__YAML_STREAM_END,
    KC__YAML_DOCUMENT,
    KC__YAML_DOCUMENT_END,
    KC__YAML_SCALAR,
    KC__YAML_ALIAS,
    KC__YAML_SEQUENCE,
    KC__YAML_SEQUENCE_END,
    KC__YAML_MAPPING,
    KC__YAML_MAPPING_END,
} kc__yaml_event_type;

/* Its slices live until the next event. */
typedef struct kc__yaml_event {
    kc__yaml_event_type type;
    kc__yaml_mark mark;
    kc_str anchor; /* Of a node; the name of an alias. */
    kc_str tag;    /* "tag:yaml.org,2002:int" for !!int; "!" for the bare one. */
    kc_str value;  /* Of a scalar. */
    bool implicit; /* A scalar without quotes and tag, or with the bare tag. */
} kc__yaml_event;

typedef struct kc__yaml_source kc__yaml_source;

/* Of text from byte `from` on; marks count from the start of the whole text. The text must outlive
 * the source. NULL when the text as such is refused. */
kc__yaml_source *kc__yaml_source_new(kc_str text, size_t from, kc_error *err);
kc__yaml_source *kc__yaml_source_free(kc__yaml_source *source);
KC_AUTO_DEFINE(kc__yaml_source, kc__yaml_source_free)

/* Not to be called again after KC__YAML_STREAM_END or an error. */
int kc__yaml_next(kc__yaml_source *source, kc__yaml_event *ret, kc_error *err);

/* ---- Scalars (yaml_scalar.c, yaml_number.c) ---- */

typedef enum kc__yaml_type {
    KC__YAML_STRING,
    KC__YAML_NULL,
    KC__YAML_BOOL,
    KC__YAML_INT,
    KC__YAML_UINT, /* Beyond INT64_MAX. */
    KC__YAML_FLOAT,
    KC__YAML_TOO_BIG,   /* A whole number beyond 64 bits. */
    KC__YAML_TIMESTAMP, /* Read as a string, but quoted when written. */
    KC__YAML_BINARY,    /* !!binary: the text is base64. */
} kc__yaml_type;

typedef struct kc__yaml_scalar {
    kc__yaml_type type;
    union {
        bool boolean;
        int64_t i;
        uint64_t u;
        double f;
    };
} kc__yaml_scalar;

/* The number in text that starts with a digit, a sign or a point; KC__YAML_STRING when it is none.
 */
kc__yaml_scalar kc__yaml_number(kc_str text);
/* What text without quotes and tag means. */
kc__yaml_scalar kc__yaml_resolve(kc_str text);
/* What a scalar event means. Fails when the text does not fit its tag. */
int kc__yaml_scalar_of(const kc__yaml_event *event, kc__yaml_scalar *ret, kc_error *err);

/* Appends a scalar as JSON, or as the JSON string that a key of this value becomes. */
int kc__yaml_scalar_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                         kc_error *err);
int kc__yaml_key_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                      kc_error *err);

/* ---- Merge keys (yaml_merge.c) ---- */

/*
 * Appends the object whose text, without the closing brace, is `object`, with its merge members
 * resolved. `merges` holds the offsets of their keys in `object`, ascending; their values are
 * objects, or arrays of objects. The text must be compact and valid.
 */
void kc__yaml_merge(kc_str object, const size_t *merges, size_t n_merges, kc_buf *out);

/* ---- Documents (yaml_read.c) ---- */

typedef struct kc__yaml_reader kc__yaml_reader;

kc__yaml_reader *kc__yaml_reader_new(kc_str text, size_t from, const kc_json_opts *opts,
                                     kc_error *err);
kc__yaml_reader *kc__yaml_reader_free(kc__yaml_reader *reader);
KC_AUTO_DEFINE(kc__yaml_reader, kc__yaml_reader_free)

/* The next document that is not null, as JSON that still may have duplicates; it lives until the
 * next call. 1 when there is one, 0 at the end, negative on error. */
int kc__yaml_reader_next(kc__yaml_reader *reader, kc_str *ret_json, kc__yaml_mark *ret_at,
                         kc_error *err);

/* ---- Emitting (yaml_emit.c) ---- */

/* Where the writer stands in its text. */
typedef struct kc__yaml_emitter {
    kc_buf *out;
    int indent;      /* Columns of the collection being written; -1 outside of any. */
    size_t column;   /* Characters in the current line. */
    bool whitespace; /* The last thing written was space, or nothing. */
    bool indention;  /* Only indentation and indicators stand in the current line. */
} kc__yaml_emitter;

/* Moves to the column of `indent`, on a new line unless the current one will do. */
void kc__yaml_emit_indent(kc__yaml_emitter *e);
/* Writes "-", ":", "[" and the like; with `spaced`, a space before it where there is none. */
void kc__yaml_emit_indicator(kc__yaml_emitter *e, const char *text, bool spaced, bool indention);
/* A string in the style that suits it; `key`: it must stand on one line, before a colon. */
void kc__yaml_emit_string(kc__yaml_emitter *e, kc_str text, bool key);
/* Text that is plain for sure: numbers, booleans, null. */
void kc__yaml_emit_plain(kc__yaml_emitter *e, kc_str text);
/* False when a key must be written as "? key". */
bool kc__yaml_is_simple_key(kc_str key);

#endif
