/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_internal.h: shared by the YAML files.
 *
 *     text ──▶ events.c ──▶ yaml_read.c ──▶ JSON text ──▶ yaml_codec.c ──▶ views, objects
 *              wraps libyaml     anchors, merges               json.h's parsers
 *                                 └─ yaml_scalar.c, number.c, merge.c
 *     value ──▶ yaml_write.c ──▶ emit.c ──▶ text
 *
 * Only events.c depends on libyaml.
 */
#ifndef KC_YAML_INTERNAL_H
#define KC_YAML_INTERNAL_H

#include "kc/yaml.h"

/* A position in the text, both from 1; columns count characters. */
typedef struct kc__yaml_mark {
    size_t line, column;
} kc__yaml_mark;

/* "line 3, column 14: …", as KC_BAD_REQUEST. */
int kc__yaml_fail(kc__yaml_mark at, kc_error *err, const char *fmt, ...) KC_PRINTF(3, 4);

/* ---- events (events.c) ---- */

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

/* Its slices are valid until the next event. */
typedef struct kc__yaml_event {
    kc__yaml_event_type type;
    kc__yaml_mark mark;
    kc_str anchor; /* Of a node; or the name of an alias. */
    kc_str tag;    /* "tag:yaml.org,2002:int" for !!int; "!" for the bare one. */
    kc_str value;  /* Of a scalar. */
    bool implicit; /* A scalar without quotes and tag, or with the bare tag. */
} kc__yaml_event;

typedef struct kc__yaml_source kc__yaml_source;

/* A source of text from byte `from` on; marks count from the start of the whole text. The text must
 * outlive the source. NULL when the text is rejected. */
kc__yaml_source *kc__yaml_source_new(kc_str text, size_t from, kc_error *err);
kc__yaml_source *kc__yaml_source_free(kc__yaml_source *source);
KC_AUTO_DEFINE(kc__yaml_source, kc__yaml_source_free)

/* Must not be called again after KC__YAML_STREAM_END or an error. */
int kc__yaml_next(kc__yaml_source *source, kc__yaml_event *ret, kc_error *err);
/* After an error of the parser: appends it in the words of Go's YAML library, a translation of
 * libyaml: "yaml: line 4: did not find expected key". */
void kc__yaml_source_go_error(const kc__yaml_source *source, kc_buf *out);

/* ---- scalars (yaml_scalar.c, number.c) ---- */

typedef enum kc__yaml_type {
    KC__YAML_STRING,
    KC__YAML_NULL,
    KC__YAML_BOOL,
    KC__YAML_INT,
    KC__YAML_UINT, /* Beyond INT64_MAX. */
    KC__YAML_FLOAT,
    KC__YAML_TOO_BIG,   /* An integer beyond 64 bits. */
    KC__YAML_TIMESTAMP, /* Parsed as a string, but quoted when written. */
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

/* The number in text that starts with a digit, a sign or a point; KC__YAML_STRING if it is not one.
 */
kc__yaml_scalar kc__yaml_number(kc_str text);
/* The value of text without quotes and tag. */
kc__yaml_scalar kc__yaml_resolve(kc_str text);
/* The value of a scalar event. Fails when the text does not match its tag. */
int kc__yaml_scalar_of(const kc__yaml_event *event, kc__yaml_scalar *ret, kc_error *err);

/* Appends a scalar as JSON, or as the JSON string for a key of this value. */
int kc__yaml_scalar_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                         kc_error *err);
int kc__yaml_key_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                      kc_error *err);

/* ---- merge keys (merge.c) ---- */

/*
 * Appends the object whose text, without the closing brace, is `object`, with its merge keys
 * resolved. `merges` contains the offsets of their keys in `object`, ascending; their values are
 * objects, or arrays of objects. The text must be compact and valid.
 */
void kc__yaml_merge(kc_str object, const size_t *merges, size_t n_merges, kc_buf *out);

/* ---- documents (yaml_read.c) ---- */

typedef struct kc__yaml_reader kc__yaml_reader;

kc__yaml_reader *kc__yaml_reader_new(kc_str text, size_t from, const kc_json_opts *opts,
                                     kc_error *err);
kc__yaml_reader *kc__yaml_reader_free(kc__yaml_reader *reader);
KC_AUTO_DEFINE(kc__yaml_reader, kc__yaml_reader_free)

/* Reads only the first document: if that is null, there is none. */
void kc__yaml_reader_only_first(kc__yaml_reader *reader);
/* The next document that is not null, as JSON that may still have duplicates; valid until the next
 * call. 1 when there is one, 0 at the end, negative on error. */
int kc__yaml_reader_next(kc__yaml_reader *reader, kc_str *ret_json, kc__yaml_mark *ret_at,
                         kc_error *err);

/* ---- output (emit.c) ---- */

/* The state of the writer. */
typedef struct kc__yaml_emitter {
    kc_buf *out;
    int indent;      /* Column of the current collection; -1 outside of any. */
    size_t column;   /* Characters in the current line. */
    bool whitespace; /* The last output was space, or nothing. */
    bool indention;  /* The current line has only indentation and indicators. */
} kc__yaml_emitter;

/* Moves to the column of `indent`, on a new line unless the current one suffices. */
void kc__yaml_emit_indent(kc__yaml_emitter *e);
/* Writes "-", ":", "[" and so on; with `spaced`, preceded by a space if there is none. */
void kc__yaml_emit_indicator(kc__yaml_emitter *e, const char *text, bool spaced, bool indention);
/* Writes a string in a suitable style; `key`: it must fit on one line, before a colon. */
void kc__yaml_emit_string(kc__yaml_emitter *e, kc_str text, bool key);
/* Writes text that is certainly plain: numbers, booleans, null. */
void kc__yaml_emit_plain(kc__yaml_emitter *e, kc_str text);
/* False when a key must be written as "? key". */
bool kc__yaml_is_simple_key(kc_str key);

#endif
