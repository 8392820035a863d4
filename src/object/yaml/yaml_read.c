/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_read.c: converts events to JSON text, one document at a time, in one pass.
 *
 * The text of the document grows in `out` with each event; a stack of frames, one per open
 * collection, has the state. There is no tree. References back are text, too: the value of an
 * anchor is kept as a copy of its JSON, an alias appends that copy, and an object with merge keys
 * is rewritten when it closes (merge.c). All three copy, and KC_YAML_MAX_EXPANSION limits the bytes
 * copied: that defeats expansion bombs, and keeps nested anchors and merges linear.
 *
 * Duplicate keys are written unchanged. The JSON reader, which parses the text next, finds them,
 * reports their paths and keeps the last.
 *
 * Not thread-safe.
 */
#include "object/yaml/yaml_internal.h"

#include "base/work.h"
#include "kc/arena.h"
#include "kc/map.h"

/* A named value of this document. */
typedef struct anchor {
    size_t at, n;    /* Its JSON in `kept`. */
    unsigned height; /* Nesting depth of its collections. */
    bool open;       /* Incomplete: an alias to it would contain itself. */
} anchor;

typedef struct yaml_read_frame {
    size_t start; /* Of its text in `out`. */
    bool mapping;
    bool wants_value;    /* A key was written. */
    bool value_is_merge; /* That key is a merge key. */
    bool is_merge_list;  /* The list of a merge key. */
    size_t first_merge;  /* Where its offsets in `merges` begin. */
    unsigned height;     /* Of its content so far. */
    anchor *anchor;      /* May be NULL. */
} yaml_read_frame;

struct kc__yaml_reader {
    kc__yaml_source *source;
    kc__yaml_event event;
    unsigned max_depth;
    bool only_first;
    kc_buf out;
    KC_VEC(yaml_read_frame) frames;
    KC_VEC(size_t) merges; /* Offsets, from the start of their frame, of merge keys. */
    size_t max_copied;
    size_t copied; /* Bytes copied for anchors, aliases and merges, in all documents. */
    kc_buf kept;
    kc_map anchors; /* Name to anchor, of the current document. */
    kc_arena arena; /* Of the anchors and their names. */
    kc_error *err;
};

kc__yaml_reader *kc__yaml_reader_new(kc_str text, size_t from, const kc_json_opts *opts,
                                     kc_error *err)
{
    kc_auto(kc__yaml_source) *source = kc__yaml_source_new(text, from, err);
    if (!source)
        return NULL;
    kc__yaml_reader *reader = kc_new(kc__yaml_reader);
    unsigned depth = opts && opts->max_depth ? opts->max_depth : KC_JSON_MAX_DEPTH;
    reader->source = kc_take(source);
    reader->max_copied = KC_YAML_MAX_EXPANSION(text.n);
    reader->max_depth = KC_MIN(depth, KC_JSON_MAX_DEPTH);
    reader->out.limit = KC_MAX(opts ? opts->max_bytes : 0, KC_JSON_MAX_BYTES);
    return reader;
}

kc__yaml_reader *kc__yaml_reader_free(kc__yaml_reader *reader)
{
    if (!reader)
        return NULL;
    kc__yaml_source_free(reader->source);
    kc_buf_done(&reader->out);
    kc_buf_done(&reader->kept);
    kc_vec_done(&reader->frames);
    kc_vec_done(&reader->merges);
    kc_map_done(&reader->anchors);
    kc_arena_done(&reader->arena);
    free(reader);
    return NULL;
}

static yaml_read_frame *top(kc__yaml_reader *r)
{
    return r->frames.n ? kc_vec_last(&r->frames) : NULL;
}

/* ---- copies ---- */

static int may_copy(kc__yaml_reader *r, size_t n)
{
    r->copied += n;
    if (r->copied <= r->max_copied)
        return 0;
    return kc__yaml_fail(
        r->event.mark, r->err,
        "anchors, aliases and merge keys copy more than %zu bytes, the limit for a "
        "text of this size",
        r->max_copied);
}

/* The anchor of the event, now open; NULL in *ret when it has none. */
static int open_anchor(kc__yaml_reader *r, anchor **ret)
{
    kc_str name = r->event.anchor;
    *ret = NULL;
    if (!name.n)
        return 0;
    anchor *a = kc_map_get(&r->anchors, name);
    if (!a) {
        if (r->anchors.n == KC_YAML_MAX_ANCHORS)
            return kc__yaml_fail(r->event.mark, r->err, "more than %u anchors",
                                 KC_YAML_MAX_ANCHORS);
        a = kc_arena_new(&r->arena, anchor);
        kc_map_put(&r->anchors, kc_arena_str(&r->arena, name), a);
    }
    a->open = true;
    *ret = a;
    return 0;
}

/* Stores the anchor's JSON. */
static int close_anchor(kc__yaml_reader *r, anchor *a, kc_str json, unsigned height)
{
    if (!a)
        return 0;
    if (may_copy(r, json.n) < 0)
        return -1;
    *a = (anchor){.at = r->kept.n, .n = json.n, .height = height};
    kc_buf_append(&r->kept, json);
    return 0;
}

static int no_such_anchor(kc__yaml_reader *r)
{
    enum { MOST_NAMES = 100 };
    const char *names[MOST_NAMES];
    size_t n = 0;
    kc_map_each (&r->anchors, entry)
        if (n < MOST_NAMES)
            names[n++] = entry->key.p;
    const char *near = kc_str_nearest(r->event.anchor, names, n);
    return kc__yaml_fail(r->event.mark, r->err, "unknown anchor '%.*s'%s%s%s",
                         KC_ARG(kc_str_sub(r->event.anchor, 0, 60)), near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
}

static int find_anchor(kc__yaml_reader *r, anchor **ret)
{
    anchor *a = kc_map_get(&r->anchors, r->event.anchor);
    if (!a)
        return no_such_anchor(r);
    if (a->open)
        return kc__yaml_fail(r->event.mark, r->err,
                             "the value of the anchor '%.*s' contains itself",
                             KC_ARG(kc_str_sub(r->event.anchor, 0, 60)));
    *ret = a;
    return 0;
}

/* ---- values ---- */

static int bad_merge(kc__yaml_reader *r)
{
    return kc__yaml_fail(r->event.mark, r->err,
                         "a merge key (<<) takes an object or a list of objects");
}

/* The value of a merge key must be an object, an alias of one, or a list of these. */
static int check_merge(kc__yaml_reader *r, const yaml_read_frame *f, const anchor *alias)
{
    bool in_list = f && f->is_merge_list;
    if (!in_list && !(f && f->mapping && f->value_is_merge))
        return 0;
    switch (r->event.type) {
    case KC__YAML_MAPPING: return 0;
    case KC__YAML_SEQUENCE: return in_list ? bad_merge(r) : 0;
    case KC__YAML_ALIAS: return r->kept.p[alias->at] == '{' ? 0 : bad_merge(r);
    default: return bad_merge(r);
    }
}

/* Before a value: writes the comma of a list. */
static void begin_value(kc__yaml_reader *r)
{
    yaml_read_frame *f = top(r);
    if (f && !f->mapping && r->out.n > f->start + 1)
        kc_buf_putc(&r->out, ',');
}

/* After a value of this height: the enclosing collection continues with the next key or item. */
static void end_value(kc__yaml_reader *r, unsigned height)
{
    yaml_read_frame *f = top(r);
    if (!f)
        return;
    f->height = KC_MAX(f->height, height);
    f->wants_value = f->value_is_merge = false;
}

static int read_scalar(kc__yaml_reader *r)
{
    kc__yaml_scalar scalar;
    anchor *named;
    if (check_merge(r, top(r), NULL) < 0 || open_anchor(r, &named) < 0 ||
        kc__yaml_scalar_of(&r->event, &scalar, r->err) < 0)
        return -1;
    begin_value(r);
    size_t start = r->out.n;
    if (kc__yaml_scalar_json(&r->event, &scalar, &r->out, r->err) < 0 ||
        close_anchor(r, named, kc_str_sub(kc_buf_str(&r->out), start, r->out.n), 0) < 0)
        return -1;
    end_value(r, 0);
    return 0;
}

static int too_deep(kc__yaml_reader *r)
{
    return kc__yaml_fail(r->event.mark, r->err, "objects and arrays are nested too deeply");
}

static int read_alias(kc__yaml_reader *r)
{
    anchor *a = NULL;
    if (find_anchor(r, &a) < 0 || check_merge(r, top(r), a) < 0)
        return -1;
    if (r->frames.n + a->height > r->max_depth)
        return too_deep(r);
    if (may_copy(r, a->n) < 0)
        return -1;
    begin_value(r);
    kc_buf_append(&r->out, kc_str_sub(kc_buf_str(&r->kept), a->at, a->at + a->n));
    end_value(r, a->height);
    return 0;
}

/* ---- collections ---- */

static int open_collection(kc__yaml_reader *r)
{
    yaml_read_frame *holder = top(r);
    yaml_read_frame f = {.mapping = r->event.type == KC__YAML_MAPPING, .first_merge = r->merges.n};
    if (r->frames.n == r->max_depth)
        return too_deep(r);
    if (check_merge(r, holder, NULL) < 0 || open_anchor(r, &f.anchor) < 0)
        return -1;
    begin_value(r);
    f.start = r->out.n;
    f.is_merge_list = !f.mapping && holder && holder->mapping && holder->value_is_merge;
    kc_buf_putc(&r->out, f.mapping ? '{' : '[');
    kc_vec_push(&r->frames, f);
    return 0;
}

static int resolve_merges(kc__yaml_reader *r, const yaml_read_frame *f)
{
    kc_scoped(kc_buf) merged = {.limit = r->out.limit};
    kc__yaml_merge(kc_str_sub(kc_buf_str(&r->out), f->start, r->out.n),
                   r->merges.items + f->first_merge, r->merges.n - f->first_merge, &merged);
    r->out.n = f->start;
    r->out.failed |= merged.failed;
    r->merges.n = f->first_merge;
    kc_buf_append(&r->out, kc_buf_str(&merged));
    return may_copy(r, merged.n);
}

static int close_collection(kc__yaml_reader *r)
{
    yaml_read_frame f = kc_vec_pop(&r->frames);
    if (r->merges.n > f.first_merge) {
        if (resolve_merges(r, &f) < 0)
            return -1;
    } else {
        kc_buf_putc(&r->out, f.mapping ? '}' : ']');
    }
    kc_str json = kc_str_sub(kc_buf_str(&r->out), f.start, r->out.n);
    if (close_anchor(r, f.anchor, json, f.height + 1) < 0)
        return -1;
    end_value(r, f.height + 1);
    return 0;
}

/* ---- keys ---- */

static bool is_merge_key(const kc__yaml_event *event)
{
    return kc_str_is(event->value, "<<") &&
           (event->implicit || kc_str_is(event->tag, "tag:yaml.org,2002:merge"));
}

static int read_scalar_key(kc__yaml_reader *r, yaml_read_frame *f)
{
    kc__yaml_scalar scalar;
    anchor *named;
    kc_scoped(kc_buf) value = {0};
    if (is_merge_key(&r->event)) {
        f->value_is_merge = true;
        kc_vec_push(&r->merges, r->out.n - f->start);
        kc_json_quote(&r->out, r->event.value);
        return 0;
    }
    if (open_anchor(r, &named) < 0 || kc__yaml_scalar_of(&r->event, &scalar, r->err) < 0)
        return -1;
    /* Aliases of a key yield its value, not the text of the key. */
    if (named && (kc__yaml_scalar_json(&r->event, &scalar, &value, r->err) < 0 ||
                  close_anchor(r, named, kc_buf_str(&value), 0) < 0))
        return -1;
    return kc__yaml_key_json(&r->event, &scalar, &r->out, r->err);
}

static int bad_key(kc__yaml_reader *r)
{
    return kc__yaml_fail(
        r->event.mark, r->err,
        "an object or a list cannot be a key; text in braces, such as a template's "
        "{{ … }}, must be quoted");
}

/* The scalar's JSON is text that resolves to the same scalar. */
static int read_alias_key(kc__yaml_reader *r)
{
    anchor *a = NULL;
    if (find_anchor(r, &a) < 0 || may_copy(r, a->n) < 0)
        return -1;
    kc_str json = kc_str_sub(kc_buf_str(&r->kept), a->at, a->at + a->n);
    if (json.p[0] == '{' || json.p[0] == '[')
        return bad_key(r);
    if (json.p[0] == '"') {
        kc_buf_append(&r->out, json);
        return 0;
    }
    kc__yaml_event event = {.mark = r->event.mark, .value = json};
    kc__yaml_scalar scalar = kc__yaml_resolve(json);
    return kc__yaml_key_json(&event, &scalar, &r->out, r->err);
}

static int read_key(kc__yaml_reader *r, yaml_read_frame *f)
{
    int result;
    if (r->out.n > f->start + 1)
        kc_buf_putc(&r->out, ',');
    switch (r->event.type) {
    case KC__YAML_SCALAR: result = read_scalar_key(r, f); break;
    case KC__YAML_ALIAS: result = read_alias_key(r); break;
    default: result = bad_key(r); break;
    }
    kc_buf_putc(&r->out, ':');
    f->wants_value = true;
    return result;
}

/* ---- documents ---- */

static int read_event(kc__yaml_reader *r)
{
    yaml_read_frame *f = top(r);
    if (f && f->mapping && !f->wants_value && r->event.type != KC__YAML_MAPPING_END)
        return read_key(r, f);
    switch (r->event.type) {
    case KC__YAML_SCALAR: return read_scalar(r);
    case KC__YAML_ALIAS: return read_alias(r);
    case KC__YAML_SEQUENCE:
    case KC__YAML_MAPPING: return open_collection(r);
    case KC__YAML_SEQUENCE_END:
    case KC__YAML_MAPPING_END: return close_collection(r);
    default: return 0;
    }
}

static void forget_document(kc__yaml_reader *r)
{
    kc_buf_clear(&r->out);
    kc_buf_clear(&r->kept);
    kc_map_clear(&r->anchors);
    kc_arena_clear(&r->arena);
    kc_vec_clear(&r->frames);
    kc_vec_clear(&r->merges);
}

/* From after the start of a document to its end. */
static int read_document(kc__yaml_reader *r, kc__yaml_mark *ret_at)
{
    bool first = true;
    forget_document(r);
    for (;;) {
        if (kc__work_is_over())
            return kc__work_fail(r->err);
        if (kc__yaml_next(r->source, &r->event, r->err) < 0)
            return kc_error_result(r->err);
        if (first)
            *ret_at = r->event.mark;
        first = false;
        if (r->event.type == KC__YAML_DOCUMENT_END)
            return 0;
        if (read_event(r) < 0)
            return kc_error_result(r->err);
        if (r->out.failed)
            return kc_error_set(r->err, KC_TOO_LARGE,
                                "the document has more than %zu bytes as JSON", r->out.limit);
    }
}

void kc__yaml_reader_only_first(kc__yaml_reader *reader)
{
    reader->only_first = true;
}

int kc__yaml_reader_next(kc__yaml_reader *reader, kc_str *ret_json, kc__yaml_mark *ret_at,
                         kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc__yaml_mark at = {0};
    reader->err = &why;
    while (kc__yaml_next(reader->source, &reader->event, &why) == 0) {
        if (reader->event.type == KC__YAML_STREAM_END)
            return 0;
        if (read_document(reader, &at) < 0)
            break;
        if (kc_str_is(kc_buf_str(&reader->out), "null")) {
            if (reader->only_first)
                return 0;
            continue;
        }
        *ret_json = kc_buf_str(&reader->out);
        *ret_at = at;
        return 1;
    }
    return kc_error_move(err, &why);
}
