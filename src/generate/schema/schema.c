/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c: sets, merges and writes schemas.
 *
 * Merging follows controller-gen when it resolves the reference of a field to a named type: both
 * may have constraints. A piece that only one has is taken; if both have it, the table of pieces
 * decides. Two limits cannot be merged, so both go into allOf and the server checks both. A few of
 * controller-gen's results are accidents (equal numbers are kept twice because Go compares
 * pointers) and kept: users compare CRDs byte by byte when they migrate.
 *
 * To add a piece: a row of KC__GEN_SCHEMA_PIECES; a marker that sets it in schema_markers.c.
 */
#include "generate/schema/schema.h"

#include "kc/json.h"

static const struct piece {
    const char *name;
    kc__gen_schema_merge merge;
} pieces[] = {
#define PIECE(id, name, merge) {name, KC__GEN_MERGE_##merge},
    KC__GEN_SCHEMA_PIECES(PIECE)
#undef PIECE
};

kc__gen_schema *kc__gen_schema_new(kc_arena *arena)
{
    return kc_arena_new(arena, kc__gen_schema);
}

void kc__gen_schema_set_json(kc__gen_schema *schema, kc__gen_schema_piece piece, kc_str json,
                             kc_arena *arena)
{
    schema->pieces[piece] = kc_arena_str(arena, json);
}

void kc__gen_schema_set_text(kc__gen_schema *schema, kc__gen_schema_piece piece, kc_str text,
                             kc_arena *arena)
{
    kc_scoped(kc_buf) json = {0};
    kc_json_quote(&json, text);
    kc__gen_schema_set_json(schema, piece, kc_buf_str(&json), arena);
}

/* ---- lists ---- */

/* Lists grow in the arena, where room doubles at each power of two. */
static void *grown(void *items, size_t n, size_t size, kc_arena *arena)
{
    if (n & (n - 1))
        return items;
    void *more = kc_arena_alloc(arena, (n ? 2 * n : 1) * size);
    if (n)
        memcpy(more, items, n * size);
    return more;
}

#define ADD(list, count, arena, value)                             \
    do {                                                           \
        (list) = grown((list), (count), sizeof(*(list)), (arena)); \
        (list)[(count)++] = (value);                               \
    } while (0)

void kc__gen_schema_add_property(kc__gen_schema *schema, kc_str name, kc__gen_schema *property,
                                 kc_arena *arena)
{
    ADD(schema->properties, schema->n_properties, arena,
        ((kc__gen_schema_property){name, property}));
}

void kc__gen_schema_require(kc__gen_schema *schema, kc_str name, kc_arena *arena)
{
    size_t at = 0;
    while (at < schema->n_required && kc_str_cmp(schema->required[at], name) < 0)
        at++;
    if (at < schema->n_required && kc_str_eq(schema->required[at], name))
        return;
    ADD(schema->required, schema->n_required, arena, name);
    memmove(schema->required + at + 1, schema->required + at,
            (schema->n_required - 1 - at) * sizeof(kc_str));
    schema->required[at] = name;
}

void kc__gen_schema_add_rule(kc__gen_schema *schema, kc_str json, kc__gen_at at, kc_arena *arena)
{
    ADD(schema->rules, schema->n_rules, arena,
        ((kc__gen_schema_cel_rule){kc_arena_str(arena, json), at}));
}

/* ---- merging ---- */

/* Two schemas being merged; pieces that cannot be merged go into the two rests. */
typedef struct gen_schema_merging {
    kc__gen_schema *to;
    const kc__gen_schema *from;
    kc__gen_schema *rest_to, *rest_from;
    kc_arena *arena;
    bool apart, contradict;
} gen_schema_merging;

static void merge_piece(gen_schema_merging *m, size_t i)
{
    const kc_str from = m->from->pieces[i];
    kc_str *to = &m->to->pieces[i];
    const bool equal = kc_str_eq(*to, from);
    if (pieces[i].merge == KC__GEN_MERGE_BEFORE || !from.p)
        return;
    if (!to->p || pieces[i].merge == KC__GEN_MERGE_LAST) {
        *to = from;
        return;
    }
    switch (pieces[i].merge) {
    case KC__GEN_MERGE_ALIKE: m->contradict |= !equal; return;
    case KC__GEN_MERGE_FIRST: return;
    case KC__GEN_MERGE_EQUAL:
        if (equal)
            return;
        break;
    default: break;
    }
    m->rest_to->pieces[i] = *to;
    m->rest_from->pieces[i] = from;
    *to = (kc_str){0};
    m->apart = true;
}

static kc__gen_schema *copy_of(const kc__gen_schema *schema, kc_arena *arena)
{
    kc__gen_schema *copy = kc__gen_schema_new(arena);
    *copy = *schema;
    /* Lists grow in place, so a copy has its own. */
#define OWN(list, count)                                          \
    do {                                                          \
        copy->list = NULL;                                        \
        copy->count = 0;                                          \
        for (size_t i = 0; i < schema->count; i++)                \
            ADD(copy->list, copy->count, arena, schema->list[i]); \
    } while (0)
    OWN(properties, n_properties);
    OWN(required, n_required);
    OWN(rules, n_rules);
    OWN(all_of, n_all_of);
#undef OWN
    return copy;
}

static kc__gen_schema_property *find_property(kc__gen_schema *schema, kc_str name)
{
    for (size_t i = 0; i < schema->n_properties; i++)
        if (kc_str_eq(schema->properties[i].name, name))
            return &schema->properties[i];
    return NULL;
}

static void merge_properties(gen_schema_merging *m)
{
    kc_scoped(kc_map) there = {0};
    for (size_t i = 0; i < m->to->n_properties; i++)
        kc_map_put(&there, m->to->properties[i].name, m->to);
    for (size_t i = 0; i < m->from->n_properties; i++) {
        const kc__gen_schema_property *from = &m->from->properties[i];
        if (!kc_map_get(&there, from->name)) {
            kc__gen_schema_add_property(m->to, from->name, from->schema, m->arena);
            continue;
        }
        kc__gen_schema_property *to = find_property(m->to, from->name);
        to->schema = copy_of(to->schema, m->arena);
        m->contradict |= !kc__gen_schema_merge_into(to->schema, from->schema, m->arena);
    }
    for (size_t i = 0; i < m->from->n_required; i++)
        kc__gen_schema_require(m->to, m->from->required[i], m->arena);
}

static void merge_child(gen_schema_merging *m, kc__gen_schema **to, const kc__gen_schema *from)
{
    if (!from)
        return;
    if (!*to) {
        *to = (kc__gen_schema *)from;
        return;
    }
    *to = copy_of(*to, m->arena);
    m->contradict |= !kc__gen_schema_merge_into(*to, from, m->arena);
}

/* The field's rules come before the type's. */
static void merge_rules(gen_schema_merging *m)
{
    const kc__gen_schema_cel_rule *mine = m->to->rules;
    const size_t n = m->to->n_rules;
    if (!m->from->n_rules)
        return;
    m->to->rules = NULL;
    m->to->n_rules = 0;
    for (size_t i = 0; i < m->from->n_rules; i++)
        ADD(m->to->rules, m->to->n_rules, m->arena, m->from->rules[i]);
    for (size_t i = 0; i < n; i++)
        ADD(m->to->rules, m->to->n_rules, m->arena, mine[i]);
}

bool kc__gen_schema_merge_into(kc__gen_schema *to, const kc__gen_schema *from, kc_arena *arena)
{
    gen_schema_merging m = {.to = to,
                            .from = from,
                            .rest_to = kc__gen_schema_new(arena),
                            .rest_from = kc__gen_schema_new(arena),
                            .arena = arena};
    for (size_t i = 0; i < from->n_all_of; i++)
        m.contradict |= !kc__gen_schema_merge_into(to, from->all_of[i], arena);
    for (size_t i = 0; i < KC__GEN_SCHEMA_N_PIECES; i++)
        merge_piece(&m, i);
    merge_properties(&m);
    merge_child(&m, &to->items, from->items);
    merge_child(&m, &to->values, from->values);
    merge_rules(&m);
    if (m.apart) {
        ADD(to->all_of, to->n_all_of, arena, m.rest_to);
        ADD(to->all_of, to->n_all_of, arena, m.rest_from);
    }
    return !m.contradict;
}

bool kc__gen_schema_combine(const kc__gen_schema *type, const kc__gen_schema *field,
                            kc__gen_schema **ret, kc_arena *arena)
{
    kc__gen_schema *both = kc__gen_schema_new(arena);
    for (size_t i = 0; i < KC__GEN_SCHEMA_N_PIECES; i++)
        if (pieces[i].merge == KC__GEN_MERGE_BEFORE)
            both->pieces[i] = field->pieces[i].p ? field->pieces[i] : type->pieces[i];
    if (!kc__gen_schema_merge_into(both, type, arena) ||
        !kc__gen_schema_merge_into(both, field, arena))
        return false;
    *ret = both;
    return true;
}

/* ---- descriptions ---- */

static size_t last_of(kc_str text, const char *signs)
{
    size_t at = text.n;
    while (at > 0 && !(text.p[at - 1] && strchr(signs, text.p[at - 1])))
        at--;
    return at ? at - 1 : 0;
}

static kc_str cut_text(kc_str text, size_t most, kc_arena *arena)
{
    kc_str cut = kc_str_sub(text, 0, most);
    const size_t sentence = last_of(cut, ".!?");
    if (sentence)
        return kc_str_sub(cut, 0, sentence + 1);
    const size_t word = last_of(cut, " \t\n\r\v\f");
    if (word)
        cut.n = word;
    while (cut.n && !word && (text.p[cut.n] & 0xc0) == 0x80)
        cut.n--; /* Does not cut inside a character. */
    return kc_cstr(kc_arena_printf(arena, "%.*s...", KC_ARG(cut)));
}

static void cut_description(kc__gen_schema *schema, size_t most, kc_arena *arena)
{
    kc_str *json = &schema->pieces[KC__GEN_SCHEMA_DESCRIPTION];
    if (!json->p)
        return;
    kc_auto(kc_view) *view = kc_view_parse(*json, NULL, NULL);
    const kc_str text = kc_value_as_str(kc_view_root(view));
    if (!most)
        *json = (kc_str){0};
    else if (text.n > most)
        kc__gen_schema_set_text(schema, KC__GEN_SCHEMA_DESCRIPTION, cut_text(text, most, arena),
                                arena);
}

kc__gen_schema *kc__gen_schema_cut(const kc__gen_schema *schema, size_t most, kc_arena *arena)
{
    if (!schema)
        return NULL;
    kc__gen_schema *cut = copy_of(schema, arena);
    cut_description(cut, most, arena);
    cut->items = kc__gen_schema_cut(schema->items, most, arena);
    cut->values = kc__gen_schema_cut(schema->values, most, arena);
    for (size_t i = 0; i < cut->n_properties; i++)
        cut->properties[i].schema = kc__gen_schema_cut(cut->properties[i].schema, most, arena);
    for (size_t i = 0; i < cut->n_all_of; i++)
        cut->all_of[i] = kc__gen_schema_cut(cut->all_of[i], most, arena);
    return cut;
}

/* ---- writing ---- */

static void put_name(kc_buf *out, const char *name)
{
    kc_buf_printf(out, "%s\"%s\":", out->p[out->n - 1] == '{' ? "" : ",", name);
}

static void put_rules(kc_buf *out, const kc__gen_schema_cel_rule *rules, size_t n)
{
    kc_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_buf_append(out, rules[i].json);
    }
    kc_buf_putc(out, ']');
}

static void put_children(const kc__gen_schema *schema, kc_buf *out)
{
    if (schema->items) {
        put_name(out, "items");
        kc__gen_schema_write(schema->items, out);
    }
    if (schema->values) {
        put_name(out, "additionalProperties");
        kc__gen_schema_write(schema->values, out);
    }
    if (schema->n_properties) {
        put_name(out, "properties");
        for (size_t i = 0; i < schema->n_properties; i++) {
            kc_buf_putc(out, i ? ',' : '{');
            kc_json_quote(out, schema->properties[i].name);
            kc_buf_putc(out, ':');
            kc__gen_schema_write(schema->properties[i].schema, out);
        }
        kc_buf_putc(out, '}');
    }
    if (schema->n_all_of) {
        put_name(out, "allOf");
        for (size_t i = 0; i < schema->n_all_of; i++) {
            kc_buf_putc(out, i ? ',' : '[');
            kc__gen_schema_write(schema->all_of[i], out);
        }
        kc_buf_putc(out, ']');
    }
}

void kc__gen_schema_write(const kc__gen_schema *schema, kc_buf *out)
{
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < KC__GEN_SCHEMA_N_PIECES; i++) {
        if (!schema->pieces[i].p)
            continue;
        put_name(out, pieces[i].name);
        kc_buf_append(out, schema->pieces[i]);
    }
    put_children(schema, out);
    if (schema->n_required) {
        put_name(out, "required");
        kc_json_quote_all(out, schema->required, schema->n_required);
    }
    if (schema->n_rules) {
        put_name(out, "x-kubernetes-validations");
        put_rules(out, schema->rules, schema->n_rules);
    }
    kc_buf_putc(out, '}');
}
