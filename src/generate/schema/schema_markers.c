/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_markers.c: applies markers to schemas.
 *
 * Most markers set one piece after a check of the type: a row each. The order is controller-gen's:
 * lower priorities first, and in source order among equals; Type goes before markers that check the
 * type, listType before listMapKey, +default before +kubebuilder:default, which wins.
 *
 * To add a marker: a row of `rows` (its name without "kubebuilder:validation:"), and a function if
 * it does more than set a piece.
 */
#include "generate/schema/make.h"

#include "kc/json.h"

#include <math.h>

#define V     "kubebuilder:validation:"
#define ITEMS V "items:"

enum { FIRST = 9, NORMAL = 10, AT_MOST = 11, EXACTLY = 12, AT_LEAST = 13 };

typedef enum demand { ANYTHING, A_NUMBER, A_TEXT, AN_ARRAY, AN_OBJECT } demand;

/* A marker being applied. */
typedef struct gen_schema_markers_work {
    kc__gen_schema_maker *maker;
    const kc__gen_marker *marker;
    kc__gen_schema *schema;
    const kc__gen_schema *resolved;
} gen_schema_markers_work;

typedef struct effect {
    const char *name;
    int priority;
    demand demand;
    int piece; /* Set to the value, or to true if there is none; -1: `apply` does it. */
    void (*apply)(const gen_schema_markers_work *w);
} effect;

/* ---- type checks ---- */

static kc_str piece_of(const gen_schema_markers_work *w, kc__gen_schema_piece piece)
{
    const kc_str own = w->schema->pieces[piece];
    return own.p || !w->resolved ? own : w->resolved->pieces[piece];
}

static bool type_is(const gen_schema_markers_work *w, const char *json)
{
    return kc_str_is(piece_of(w, KC__GEN_SCHEMA_TYPE), json);
}

static bool meets(const gen_schema_markers_work *w, demand what)
{
    switch (what) {
    case A_NUMBER: return type_is(w, "\"integer\"") || type_is(w, "\"number\"");
    case A_TEXT: return type_is(w, "\"string\"") || piece_of(w, KC__GEN_SCHEMA_INT_OR_STRING).p;
    case AN_ARRAY: return type_is(w, "\"array\"");
    case AN_OBJECT: return type_is(w, "\"object\"");
    default: return true;
    }
}

static bool check_demand(const gen_schema_markers_work *w, demand what)
{
    static const char *const wanted[] = {"", "a number", "text", "a list", "an object"};
    const kc_str type = piece_of(w, KC__GEN_SCHEMA_TYPE);
    if (meets(w, what))
        return true;
    kc__gen_schema_maker_fail(w->maker, w->marker->at, "'+%.*s' applies to %s; this is %s%.*s",
                              KC_ARG(w->marker->name), wanted[what],
                              type.p ? "of type " : "of no type", KC_ARG(type));
    return false;
}

/* Bounds of an integer must be integers. */
static bool check_whole(const gen_schema_markers_work *w, demand what, kc_str json)
{
    if (what != A_NUMBER || !type_is(w, "\"integer\"") || !json.n ||
        (json.p[0] != '-' && (json.p[0] < '0' || json.p[0] > '9')))
        return true;
    kc_autofree char *text = kc_str_dup(json);
    const double value = strtod(text, NULL);
    if (value == trunc(value))
        return true;
    kc__gen_schema_maker_fail(w->maker, w->marker->at,
                              "'+%.*s': %s is not an integer, but the field is",
                              KC_ARG(w->marker->name), text);
    return false;
}

/* ---- markers with a function ---- */

static void apply_default(const gen_schema_markers_work *w)
{
    const kc_str json = kc__gen_marker_json(w->marker, "");
    const bool list = type_is(w, "\"array\"") && kc_str_is(json, "{}") &&
                      kc_str_is(w->marker->name, "kubebuilder:default");
    if (json.n)
        kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_DEFAULT, list ? KC_STR("[]") : json,
                                w->maker->arena);
}

static void apply_title(const gen_schema_markers_work *w)
{
    const kc_str json = kc__gen_marker_json(w->marker, "");
    if (json.n && json.p[0] == '"')
        kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_TITLE, json, w->maker->arena);
    else
        kc__gen_schema_maker_fail(w->maker, w->marker->at,
                                  "'+kubebuilder:title' must be a string; quote %.*s",
                                  KC_ARG(json));
}

static void apply_external_docs(const gen_schema_markers_work *w)
{
    const kc_str url = kc__gen_marker_arg(w->marker, "url");
    const kc_str description = kc__gen_marker_json(w->marker, "description");
    kc_scoped(kc_buf) json = {0};
    if (!kc_str_contains(url, KC_STR("://")) && !(url.n && url.p[0] == '/')) {
        kc__gen_schema_maker_fail(w->maker, w->marker->at,
                                  "'+kubebuilder:externalDocs': '%.*s' is not a URL", KC_ARG(url));
        return;
    }
    kc_buf_puts(&json, "{\"url\":");
    kc_json_quote(&json, url);
    if (description.n > 2)
        kc_buf_printf(&json, ",\"description\":%.*s", KC_ARG(description));
    kc_buf_putc(&json, '}');
    kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_EXTERNAL_DOCS, kc_buf_str(&json),
                            w->maker->arena);
}

static bool one_of(const gen_schema_markers_work *w, const char *const *allowed, size_t n)
{
    const kc_str value = kc__gen_marker_arg(w->marker, "");
    kc_scoped(kc_buf) all = {0};
    for (size_t i = 0; i < n; i++) {
        if (kc_str_is(value, allowed[i]))
            return true;
        kc_buf_printf(&all, "%s%s", i ? " or " : "", allowed[i]);
    }
    kc__gen_schema_maker_fail(w->maker, w->marker->at, "'+%.*s' must be %s, not '%.*s'",
                              KC_ARG(w->marker->name), kc_buf_cstr(&all), KC_ARG(value));
    return false;
}

static void apply_list_type(const gen_schema_markers_work *w)
{
    static const char *const allowed[] = {"map", "set", "atomic"};
    if (one_of(w, allowed, KC_COUNT(allowed)))
        kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_LIST_TYPE,
                                kc__gen_marker_json(w->marker, ""), w->maker->arena);
}

static void apply_map_type(const gen_schema_markers_work *w)
{
    static const char *const allowed[] = {"granular", "atomic"};
    if (one_of(w, allowed, KC_COUNT(allowed)))
        kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_MAP_TYPE,
                                kc__gen_marker_json(w->marker, ""), w->maker->arena);
}

static void apply_list_map_key(const gen_schema_markers_work *w)
{
    const kc_str key = kc__gen_marker_json(w->marker, "");
    const kc_str before = w->schema->pieces[KC__GEN_SCHEMA_LIST_MAP_KEYS];
    if (!kc_str_is(piece_of(w, KC__GEN_SCHEMA_LIST_TYPE), "\"map\"")) {
        kc__gen_schema_maker_fail(w->maker, w->marker->at,
                                  "'+listMapKey' requires '+listType=map'");
        return;
    }
    kc_autofree char *json =
        before.p ? kc_asprintf("%.*s,%.*s]", (int)before.n - 1, before.p, KC_ARG(key))
                 : kc_asprintf("[%.*s]", KC_ARG(key));
    kc__gen_schema_set_json(w->schema, KC__GEN_SCHEMA_LIST_MAP_KEYS, kc_cstr(json),
                            w->maker->arena);
}

kc_str kc__gen_schema_rule(kc_arena *arena, kc_str rule, kc_str message)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_puts(&json, "{\"rule\":");
    kc_json_quote(&json, rule);
    if (message.n) {
        kc_buf_puts(&json, ",\"message\":");
        kc_json_quote(&json, message);
    }
    kc_buf_putc(&json, '}');
    return kc_arena_str(arena, kc_buf_str(&json));
}

static bool check_reason(const gen_schema_markers_work *w)
{
    static const char *const reasons[] = {"FieldValueRequired", "FieldValueInvalid",
                                          "FieldValueForbidden", "FieldValueDuplicate"};
    const kc_str reason = kc__gen_marker_arg(w->marker, "reason");
    for (size_t i = 0; i < KC_COUNT(reasons); i++)
        if (kc_str_is(reason, reasons[i]))
            return true;
    if (reason.n)
        kc__gen_schema_maker_fail(w->maker, w->marker->at,
                                  "'+%.*s': the reason must be %s, %s, %s or %s, not '%.*s'",
                                  KC_ARG(w->marker->name), reasons[0], reasons[1], reasons[2],
                                  reasons[3], KC_ARG(reason));
    return !reason.n;
}

static void apply_rule(const gen_schema_markers_work *w)
{
    kc_scoped(kc_buf) json = {0};
    if (!check_reason(w))
        return;
    for (size_t i = 0; i < w->marker->n_args; i++) {
        const kc__gen_arg *arg = &w->marker->args[i];
        if (arg->value.n || kc_str_is(arg->name, "rule"))
            kc_buf_printf(&json, "%s\"%.*s\":%.*s", json.n ? "," : "{", KC_ARG(arg->name),
                          KC_ARG(arg->json));
    }
    kc_buf_putc(&json, '}');
    kc__gen_schema_add_rule(w->schema, kc_buf_str(&json), w->marker->at, w->maker->arena);
}

static void apply_immutable(const gen_schema_markers_work *w)
{
    kc__gen_schema_add_rule(w->schema,
                            kc__gen_schema_rule(w->maker->arena, KC_STR("self == oldSelf"),
                                                KC_STR("field is immutable")),
                            w->marker->at, w->maker->arena);
}

/* ---- oneOf markers ---- */

/* The contribution of each field to the rule, and the rule's form. */
static void put_one_of(const gen_schema_markers_work *w, const char *between, const char *before,
                       const char *behind, const char *end, const char *message,
                       const char *message_end)
{
    kc_scoped(kc_buf) rule = {0};
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = kc_view_parse(kc__gen_marker_json(w->marker, ""), NULL, NULL);
    kc_buf_puts(&text, message);
    kc_value_each_item (kc_view_root(view), item) {
        const kc_str name = kc_value_as_str(item);
        kc_buf_printf(&rule, "%s%s%.*s%s", rule.n ? between : "", before, KC_ARG(name), behind);
        kc_buf_printf(&text, "%s%.*s", text.p[text.n - 1] == '[' ? "" : " ", KC_ARG(name));
    }
    if (!rule.n)
        return;
    kc_buf_puts(&rule, end);
    kc_buf_puts(&text, message_end);
    kc__gen_schema_add_rule(
        w->schema, kc__gen_schema_rule(w->maker->arena, kc_buf_str(&rule), kc_buf_str(&text)),
        w->marker->at, w->maker->arena);
}

static void apply_at_most(const gen_schema_markers_work *w)
{
    put_one_of(w, "+", "(has(self.", ")?1:0)", " <= 1", "at most one of the fields in [",
               "] may be set");
}

static void apply_exactly(const gen_schema_markers_work *w)
{
    put_one_of(w, "+", "(has(self.", ")?1:0)", " == 1", "exactly one of the fields in [",
               "] must be set");
}

static void apply_at_least(const gen_schema_markers_work *w)
{
    put_one_of(w, "||", "has(self.", ")", "", "at least one of the fields in [", "] must be set");
}

/* ---- the table ---- */

#define PIECE(p) KC__GEN_SCHEMA_##p, NULL

static const effect rows[] = {
    {V "Type", FIRST, ANYTHING, PIECE(TYPE)},
    {V "XIntOrString", FIRST, ANYTHING, PIECE(INT_OR_STRING)},
    {V "Maximum", NORMAL, A_NUMBER, PIECE(MAXIMUM)},
    {V "Minimum", NORMAL, A_NUMBER, PIECE(MINIMUM)},
    {V "ExclusiveMaximum", NORMAL, A_NUMBER, PIECE(EXCLUSIVE_MAXIMUM)},
    {V "ExclusiveMinimum", NORMAL, A_NUMBER, PIECE(EXCLUSIVE_MINIMUM)},
    {V "MultipleOf", NORMAL, A_NUMBER, PIECE(MULTIPLE_OF)},
    {V "MinProperties", NORMAL, AN_OBJECT, PIECE(MIN_PROPERTIES)},
    {V "MaxProperties", NORMAL, AN_OBJECT, PIECE(MAX_PROPERTIES)},
    {V "MaxLength", NORMAL, A_TEXT, PIECE(MAX_LENGTH)},
    {V "MinLength", NORMAL, A_TEXT, PIECE(MIN_LENGTH)},
    {V "Pattern", NORMAL, A_TEXT, PIECE(PATTERN)},
    {V "MaxItems", NORMAL, AN_ARRAY, PIECE(MAX_ITEMS)},
    {V "MinItems", NORMAL, AN_ARRAY, PIECE(MIN_ITEMS)},
    {V "UniqueItems", NORMAL, AN_ARRAY, PIECE(UNIQUE_ITEMS)},
    {V "Enum", NORMAL, ANYTHING, PIECE(ENUM)},
    {V "Format", NORMAL, ANYTHING, PIECE(FORMAT)},
    {V "XPreserveUnknownFields", NORMAL, ANYTHING, PIECE(PRESERVE_UNKNOWN)},
    {V "XEmbeddedResource", NORMAL, ANYTHING, PIECE(EMBEDDED_RESOURCE)},
    {V "EmbeddedResource", NORMAL, ANYTHING, PIECE(EMBEDDED_RESOURCE)},
    {V "XValidation", NORMAL, ANYTHING, -1, apply_rule},
    {V "AtMostOneOf", AT_MOST, ANYTHING, -1, apply_at_most},
    {V "ExactlyOneOf", EXACTLY, ANYTHING, -1, apply_exactly},
    {V "AtLeastOneOf", AT_LEAST, ANYTHING, -1, apply_at_least},
    {"nullable", NORMAL, ANYTHING, PIECE(NULLABLE)},
    {"kubebuilder:default", NORMAL, ANYTHING, -1, apply_default},
    {"default", FIRST, ANYTHING, -1, apply_default},
    {"kubebuilder:example", NORMAL, ANYTHING, PIECE(EXAMPLE)},
    {"kubebuilder:title", NORMAL, ANYTHING, -1, apply_title},
    {"kubebuilder:externalDocs", NORMAL, ANYTHING, -1, apply_external_docs},
    {"kubebuilder:pruning:PreserveUnknownFields", NORMAL, ANYTHING, PIECE(PRESERVE_UNKNOWN)},
    {"k8s:immutable", NORMAL, ANYTHING, -1, apply_immutable},
    {"listType", FIRST, AN_ARRAY, -1, apply_list_type},
    {"k8s:listType", FIRST, AN_ARRAY, -1, apply_list_type},
    {"listMapKey", NORMAL, AN_ARRAY, -1, apply_list_map_key},
    {"k8s:listMapKey", NORMAL, AN_ARRAY, -1, apply_list_map_key},
    {"mapType", NORMAL, AN_OBJECT, -1, apply_map_type},
    {"structType", NORMAL, AN_OBJECT, -1, apply_map_type},
};

static const effect *find_row(kc_str name, bool items)
{
    const kc_str bare = kc_str_sub(name, sizeof(ITEMS) - 1, name.n);
    if (items != kc_str_starts(name, KC_STR(ITEMS)))
        return NULL;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        const kc_str full_name = kc_cstr(rows[i].name);
        const bool same =
            items ? kc_str_starts(full_name, KC_STR(V)) &&
                        kc_str_eq(kc_str_sub(full_name, sizeof(V) - 1, full_name.n), bare)
                  : kc_str_eq(full_name, name);
        if (same)
            return &rows[i];
    }
    return NULL;
}

static void apply_row(const gen_schema_markers_work *w, const effect *row)
{
    kc_str json = kc__gen_marker_json(w->marker, "");
    if (!check_demand(w, row->demand) || !check_whole(w, row->demand, json))
        return;
    if (row->apply) {
        row->apply(w);
        return;
    }
    if (!w->marker->n_args)
        json = KC_STR("true");
    /* Go omits false and empty values. */
    if (kc_str_is(json, "false") || kc_str_is(json, "\"\""))
        w->schema->pieces[row->piece] = (kc_str){0};
    else
        kc__gen_schema_set_json(w->schema, (kc__gen_schema_piece)row->piece, json, w->maker->arena);
}

static void apply_all(kc__gen_schema_maker *maker, const kc__gen_markers *markers,
                      kc__gen_schema *schema, const kc__gen_schema *resolved, bool items)
{
    for (int priority = FIRST; priority <= AT_LEAST; priority++) {
        for (size_t i = 0; i < markers->n; i++) {
            const effect *row = find_row(markers->items[i].name, items);
            if (row && row->priority == priority)
                apply_row(&(gen_schema_markers_work){maker, &markers->items[i], schema, resolved},
                          row);
        }
    }
}

void kc__gen_schema_apply(kc__gen_schema_maker *maker, const kc__gen_markers *markers,
                          kc__gen_schema *schema, const kc__gen_schema *resolved)
{
    apply_all(maker, markers, schema, resolved, false);
    for (size_t i = 0; i < markers->n && !schema->items; i++)
        if (find_row(markers->items[i].name, true))
            kc__gen_schema_maker_fail(
                maker, markers->items[i].at, "'+%.*s' applies to a list, which this is not%s",
                KC_ARG(markers->items[i].name),
                resolved && resolved->items ? "; put it at the list's typedef" : "");
}

void kc__gen_schema_apply_items(kc__gen_schema_maker *maker, const kc__gen_markers *markers,
                                kc__gen_schema *items, const kc__gen_schema *resolved)
{
    apply_all(maker, markers, items, resolved, true);
}
