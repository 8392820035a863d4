/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_go_error.c: the words of Kubernetes' YAML decoder for text that it refuses.
 *
 * The errors of yaml.h name a line and a column and say what to do. Clients of the API get those of
 * kube-apiserver instead. Views have no lines, so the text is parsed again, which is cheap enough
 * for an error. The decoder works in stages, and the error of the earliest stage counts:
 *
 *     parse      syntax, aliases without an anchor       yaml: line 4: did not find expected key
 *     decode     keys, merges, tags                      yaml: invalid map key: []interface {}{"a"}
 *     convert    keys that JSON does not have            unsupported map key of type: …
 *     marshal    numbers that JSON does not have         json: unsupported value: +Inf
 *
 * Values in these messages are in Go's syntax (%#v).
 */
#include "object/yaml/yaml_go_error.h"

#include "kc/arena.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/number.h"
#include "object/gofmt/go_quote.h"
#include "object/yaml/yaml_internal.h"

#include <math.h>

/* Longest text of a value in a message. */
enum { MAX_GO_VALUE = 64 << 10 };

typedef struct go_walk {
    kc__yaml_source *source;
    kc__yaml_event event;
    unsigned depth;
    unsigned printed; /* Open collections that are being printed. */
    kc_arena arena;
    kc_map anchors; /* Name to an anchor_state. */
    kc_buf parse;   /* Errors: the first of each stage. */
    kc_buf decode, convert, marshal;
} go_walk;

typedef enum anchor_state { OPEN, COMPLETE } anchor_state;

static const anchor_state states[] = {[OPEN] = OPEN, [COMPLETE] = COMPLETE};

/* Moves to the next event; false at the end, or after an error of the parser. */
static bool next_go_event(go_walk *w)
{
    kc_scoped(kc_error) why = {0};
    if (kc__yaml_next(w->source, &w->event, &why) < 0) {
        kc__yaml_source_go_error(w->source, &w->parse);
        return false;
    }
    return w->event.type != KC__YAML_STREAM_END;
}

/* The buffer for the error of a stage; NULL: the stage has one. */
static kc_buf *first_of(kc_buf *stage)
{
    return stage->n ? NULL : stage;
}

static bool walk_go_node(go_walk *w, kc_buf *go);

/* ---- scalars ---- */

static void write_go_float(kc_buf *out, double number)
{
    if (isfinite(number))
        kc_double_write(out, number, false);
    else
        kc_buf_puts(out, isnan(number) ? "NaN" : number < 0 ? "-Inf" : "+Inf");
}

/* `nil`: how Go prints null here. */
static void write_go_scalar(kc_buf *out, const kc__yaml_event *event, const kc__yaml_scalar *scalar,
                            const char *nil)
{
    switch (scalar->type) {
    case KC__YAML_NULL: kc_buf_puts(out, nil); break;
    case KC__YAML_BOOL: kc_buf_puts(out, scalar->boolean ? "true" : "false"); break;
    case KC__YAML_INT: kc_buf_printf(out, "%lld", (long long)scalar->i); break;
    case KC__YAML_UINT: kc_buf_printf(out, "0x%llx", (unsigned long long)scalar->u); break;
    case KC__YAML_FLOAT: write_go_float(out, scalar->f); break;
    default: kc__go_quote(out, event->value); break;
    }
}

/* The tag that text without one resolves to. */
static const char *tag_of_text(kc_str text)
{
    switch (kc__yaml_resolve(text).type) {
    case KC__YAML_NULL: return "!!null";
    case KC__YAML_BOOL: return "!!bool";
    case KC__YAML_INT:
    case KC__YAML_UINT: return "!!int";
    case KC__YAML_FLOAT: return "!!float";
    case KC__YAML_TIMESTAMP: return "!!timestamp";
    default: return "!!str";
    }
}

static void note_bad_tag(go_walk *w)
{
    static const kc_str prefix = KC_STR_INIT("tag:yaml.org,2002:");
    kc_buf *out = first_of(&w->decode);
    const kc_str tag = w->event.tag;
    if (out)
        kc_buf_printf(out, "yaml: cannot decode %s `%.*s` as a !!%.*s", tag_of_text(w->event.value),
                      KC_ARG(w->event.value),
                      KC_ARG(kc_str_sub(tag, kc_str_starts(tag, prefix) ? prefix.n : 0, tag.n)));
}

static kc__yaml_scalar scalar_of_event(go_walk *w)
{
    kc__yaml_scalar scalar = {0};
    kc_scoped(kc_error) ignored = {0};
    if (kc__yaml_scalar_of(&w->event, &scalar, &ignored) == 0)
        return scalar;
    note_bad_tag(w);
    return (kc__yaml_scalar){0};
}

static void note_marshal_error(go_walk *w, const kc__yaml_scalar *scalar)
{
    kc_buf *out = first_of(&w->marshal);
    if (!out || scalar->type != KC__YAML_FLOAT || isfinite(scalar->f))
        return;
    kc_buf_puts(out, "json: unsupported value: ");
    write_go_float(out, scalar->f);
}

/* ---- anchors ---- */

static void set_anchor(go_walk *w, kc_str name, anchor_state state)
{
    if (name.n)
        kc_map_put(&w->anchors, kc_arena_str(&w->arena, name), (void *)&states[state]);
}

/* An alias; false: it has no anchor. Values of aliases are not printed. */
static bool check_alias(go_walk *w)
{
    const anchor_state *state = kc_map_get(&w->anchors, w->event.anchor);
    kc_buf *out = state ? first_of(&w->decode) : &w->parse;
    if (!state)
        kc_buf_printf(out, "yaml: unknown anchor '%.*s' referenced", KC_ARG(w->event.anchor));
    else if (*state == OPEN && out)
        kc_buf_printf(out, "yaml: anchor '%.*s' value contains itself", KC_ARG(w->event.anchor));
    return state != NULL;
}

/* ---- mappings ---- */

static bool is_go_merge(const kc__yaml_event *event)
{
    return event->type == KC__YAML_SCALAR && event->implicit && kc_str_is(event->value, "<<");
}

static void note_bad_key(go_walk *w, const kc_buf *key)
{
    kc_buf *out = first_of(&w->decode);
    if (out && !key->failed)
        kc_buf_printf(out, "yaml: invalid map key: %.*s", (int)key->n, key->p);
}

static void note_null_key(go_walk *w, const kc_buf *value)
{
    kc_buf *out = first_of(&w->convert);
    if (out && !value->failed)
        kc_buf_printf(out, "unsupported map key of type: %%!s(<nil>), key: <nil>, value: %.*s",
                      (int)value->n, value->p);
}

/* The value of a merge key must be a mapping, an alias, or a list of these. */
static void note_bad_merge(go_walk *w)
{
    kc_buf *out = first_of(&w->decode);
    if (out)
        kc_buf_puts(out, "yaml: map merge requires map or sequence of maps as the value");
}

/* The current event is the value of a merge key; afterwards it is its last. */
static bool walk_go_merge(go_walk *w)
{
    if (w->event.type == KC__YAML_SCALAR)
        note_bad_merge(w);
    if (w->event.type != KC__YAML_SEQUENCE)
        return walk_go_node(w, NULL);
    while (next_go_event(w)) {
        if (w->event.type == KC__YAML_SEQUENCE_END)
            return true;
        if (w->event.type == KC__YAML_SCALAR || w->event.type == KC__YAML_SEQUENCE)
            note_bad_merge(w);
        if (!walk_go_node(w, NULL))
            return false;
    }
    return false;
}

/* A key and its value. `go` gets both, if it is not NULL. */
static bool walk_go_member(go_walk *w, kc_buf *go)
{
    kc_scoped(kc_buf) key = {.limit = MAX_GO_VALUE}, value = {.limit = MAX_GO_VALUE};
    const bool collection = w->event.type == KC__YAML_MAPPING || w->event.type == KC__YAML_SEQUENCE;
    const bool merges = is_go_merge(&w->event);
    const bool null = w->event.type == KC__YAML_SCALAR && scalar_of_event(w).type == KC__YAML_NULL;
    if (!walk_go_node(w, collection || go ? &key : NULL) || !next_go_event(w))
        return false;
    if (merges)
        return walk_go_merge(w);
    if (!walk_go_node(w, null || go ? &value : NULL))
        return false;
    if (collection)
        note_bad_key(w, &key);
    if (null)
        note_null_key(w, &value);
    if (go)
        kc_buf_printf(go, "%.*s:%.*s", (int)key.n, key.p, (int)value.n, value.p);
    return true;
}

static bool walk_go_mapping(go_walk *w, kc_buf *go)
{
    if (go)
        kc_buf_puts(go, "map[interface {}]interface {}{");
    for (size_t n = 0; next_go_event(w); n++) {
        if (w->event.type == KC__YAML_MAPPING_END) {
            if (go)
                kc_buf_putc(go, '}');
            return true;
        }
        if (go && n)
            kc_buf_puts(go, ", ");
        if (!walk_go_member(w, go))
            return false;
    }
    return false;
}

/* ---- nodes ---- */

static bool walk_go_sequence(go_walk *w, kc_buf *go)
{
    if (go)
        kc_buf_puts(go, "[]interface {}{");
    for (size_t n = 0; next_go_event(w); n++) {
        if (w->event.type == KC__YAML_SEQUENCE_END) {
            if (go)
                kc_buf_putc(go, '}');
            return true;
        }
        if (go && n)
            kc_buf_puts(go, ", ");
        if (!walk_go_node(w, go))
            return false;
    }
    return false;
}

static bool walk_go_collection(go_walk *w, kc_buf *go)
{
    const kc_str anchor = kc_arena_str(&w->arena, w->event.anchor);
    if (++w->depth > KC_JSON_MAX_DEPTH)
        return false;
    w->printed += go != NULL;
    set_anchor(w, anchor, OPEN);
    const bool walked =
        w->event.type == KC__YAML_MAPPING ? walk_go_mapping(w, go) : walk_go_sequence(w, go);
    set_anchor(w, anchor, COMPLETE);
    w->printed -= go != NULL;
    w->depth--;
    return walked;
}

/* The current event is the first of a node; afterwards it is its last. False: stop. */
static bool walk_go_node(go_walk *w, kc_buf *go)
{
    if (w->event.type == KC__YAML_ALIAS)
        return check_alias(w);
    if (w->event.type != KC__YAML_SCALAR)
        return walk_go_collection(w, go);
    const kc__yaml_scalar scalar = scalar_of_event(w);
    set_anchor(w, w->event.anchor, COMPLETE);
    note_marshal_error(w, &scalar);
    if (go)
        write_go_scalar(go, &w->event, &scalar, w->printed ? "interface {}(nil)" : "<nil>");
    return true;
}

static void go_walk_done(go_walk *w)
{
    kc_map_done(&w->anchors);
    kc_arena_done(&w->arena);
    kc_buf_done(&w->parse);
    kc_buf_done(&w->decode);
    kc_buf_done(&w->convert);
    kc_buf_done(&w->marshal);
}

void kc__yaml_go_error(kc_buf *out, kc_str yaml)
{
    kc_auto(kc__yaml_source) *source = kc__yaml_source_new(yaml, 0, NULL);
    go_walk w = {.source = source};
    if (source && next_go_event(&w) && w.event.type == KC__YAML_DOCUMENT && next_go_event(&w) &&
        walk_go_node(&w, NULL))
        next_go_event(&w);
    const kc_buf *stages[] = {&w.parse, &w.decode, &w.convert, &w.marshal};
    for (size_t i = 0; i < KC_COUNT(stages) && !out->n; i++)
        kc_buf_append(out, kc_buf_str(stages[i]));
    go_walk_done(&w);
}
