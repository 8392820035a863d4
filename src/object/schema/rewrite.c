/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.c: prunes an object, drops its nulls and sets its defaults in one traversal.
 *
 * The source has two forms: canonical text, and the cells that were parsed from it, in the same
 * order. The traversal moves through both at once. Most of an object stays as it is, so an edit (a
 * member is removed, a default is added) first copies the run before it, as one block of cells and
 * one block of text:
 *
 *     {"image":"a","colour":"blue","stages":[{"name":"x"}]}
 *      ╰── run ──╯╰── removed ──╯╰────── run ─────────╯╰ default is added, then the last run
 *
 * An object without edits is not copied at all. Cells of containers have a length and the distance
 * to their end; those around an edit get new ones when the traversal leaves them (a container whose
 * cell is in the run that has not been copied yet has no edit). Strings are never copied: cells of
 * the result refer to the view of the source and to the schema, which the new view holds.
 *
 * The rules are those of unknown.c and prune.c (which members stay) and schema_default.c (which are
 * added), which apply to trees. Their order is kept: a member is pruned, or is a null that is
 * dropped, or stays and gets its defaults; missing members are added last.
 */
#include "object/schema/schema_rewrite.h"

#include "object/json/json_cursor.h"
#include "object/json/json_plain.h"
#include "object/model/canonical.h"
#include "object/schema/schema_default_internal.h"

/* What happens to members that the schema does not know. */
typedef enum rewrite_mode {
    REWRITE_KEEP,     /* All stay, at any depth. */
    REWRITE_PRESERVE, /* Those of this object stay: an element of a list that preserves them. */
    REWRITE_PRUNE,
    REWRITE_PRUNE_WHOLE, /* The root: apiVersion, kind and metadata stay. */
} rewrite_mode;

/* Cells and text that are traversed together: the object, or a default inside of it. */
typedef struct rewrite_source {
    const kc_value *cell; /* Where the run starts that has not been copied. */
    const char *text;     /* The same in the text. */
    const char *at;       /* The current position. */
    const char *end;
    bool escapes; /* The text of a string may differ from its value. */
    bool nulls;   /* There may be nulls to drop. */
} rewrite_source;

/* The members of the root that an object indexes. */
enum { ROOT_API_VERSION, ROOT_KIND, ROOT_METADATA, N_ROOT_PARTS };

typedef struct rewriting {
    const kc__schema_rewrite_opts *opts;
    rewrite_source source;
    KC_VEC(kc_value) cells; /* The result. */
    kc_buf text;
    kc__schema_budget budget;
    const char *origin; /* Of the object's text. */
    size_t n_cells;     /* Of the object. */
    size_t n_paths;     /* Limit of the unknown paths. */
    unsigned depth;
    kc__schema_last_rows *last_rows; /* Of the upper levels. */
    bool edited;
    bool nested;                  /* A default that is a container was added. */
    uint32_t moved[N_ROOT_PARTS]; /* By how much members of the root moved; may wrap. */
    bool parts_changed;           /* One of them is new, removed or edited. */
} rewriting;

static int rewrite_value(rewriting *r, const kc_schema *schema, rewrite_mode mode,
                         const kc_value *value, const kc__schema_path_frame *at);

/* ---- moving through the text ---- */

static const char *after_json(const rewriting *r, const char *at)
{
    kc__json_cursor cursor = {at, r->source.end};
    kc_str raw = {0};
    kc__json_cursor_item(&cursor, &raw);
    return at + raw.n;
}

static inline const char *after_quoted(const rewriting *r, const char *at, const kc_value *string)
{
    return r->source.escapes ? after_json(r, at)
                             : at + unsafe_yyjson_get_len((kc_value *)string) + 2;
}

static inline const char *after_number(const char *at)
{
    while (*at != ',' && *at != '}' && *at != ']')
        at++;
    return at;
}

static inline const char *after_value_text(const rewriting *r, const kc_value *value)
{
    const char *at = r->source.at;
    switch (unsafe_yyjson_get_type((kc_value *)value)) {
    case YYJSON_TYPE_STR: return after_quoted(r, at, value);
    case YYJSON_TYPE_NUM: return after_number(at);
    case YYJSON_TYPE_NULL: return at + 4;
    case YYJSON_TYPE_BOOL: return at + (unsafe_yyjson_is_true((kc_value *)value) ? 4 : 5);
    default: return after_json(r, at);
    }
}

/* ---- the result ---- */

/* The position that a cell of the current run has, or will have, in the result. */
static size_t cell_position(const rewriting *r, const kc_value *cell)
{
    return r->cells.n + (size_t)(cell - r->source.cell);
}

static uint32_t text_position(const rewriting *r, const char *at)
{
    return (uint32_t)(r->text.n + (size_t)(at - r->source.text));
}

static void append_cells(rewriting *r, const kc_value *cells, size_t n)
{
    kc_vec_reserve(&r->cells, n);
    memcpy(r->cells.items + r->cells.n, cells, n * sizeof(*cells));
    r->cells.n += n;
}

/* Nearly always enough for an object and its defaults. */
static void reserve_result(rewriting *r)
{
    enum { CELLS_OF_DEFAULTS = 64, TEXT_OF_DEFAULTS = 512 };
    const size_t text = (size_t)(r->source.end - r->origin) + TEXT_OF_DEFAULTS;
    kc_vec_reserve(&r->cells, r->n_cells + CELLS_OF_DEFAULTS);
    kc_buf_reserve(&r->text, KC_MIN(text, r->text.limit - 1));
    r->edited = true;
}

/* Copies the run up to this cell and this position. */
static void copy_run(rewriting *r, const kc_value *cell, const char *at)
{
    const rewrite_source *s = &r->source;
    if (!r->edited)
        reserve_result(r);
    if (cell > s->cell)
        append_cells(r, s->cell, (size_t)(cell - s->cell));
    if (at > s->text)
        kc_buf_append(&r->text, kc_str_of(s->text, (size_t)(at - s->text)));
}

/* Starts a run after an edit. */
static void start_run(rewriting *r, const kc_value *cell, const char *at)
{
    r->source.cell = cell;
    r->source.text = at;
}

/* Ends a container: `position` is that of its cell, `end` the cell after it. */
static void close_container(rewriting *r, size_t position, const kc_value *end, size_t len)
{
    if (r->cells.n <= position)
        return;
    kc_value *cell = &r->cells.items[position];
    cell->tag = (cell->tag & YYJSON_TAG_MASK) | (uint64_t)len << YYJSON_TAG_BIT;
    cell->uni.ofs = (cell_position(r, end) - position) * sizeof(*cell);
}

/* ---- defaults ---- */

static void append_default(rewriting *r, const kc_value *value, kc_str text)
{
    append_cells(r, value, kc_value_count(value));
    kc_buf_append(&r->text, text);
}

/* Adds the default of a schema, with all nested defaults, to the result. */
static int add_default(rewriting *r, const kc_schema *schema, size_t name,
                       const kc__schema_path_frame *at)
{
    const kc_value *value = kc__schema_default_node(schema);
    const kc_str text = kc_cstr(schema->extras->default_text);
    int failed = kc__schema_budget_charge(&r->budget, schema, name, at);
    if (failed < 0)
        return failed;
    r->nested |= unsafe_yyjson_is_ctn((kc_value *)value);
    if (!unsafe_yyjson_is_ctn((kc_value *)value) || !kc__schema_has_defaults_below(schema)) {
        append_default(r, value, text);
        return 0;
    }
    const rewrite_source outer = r->source;
    const kc_value *end = value + kc_value_count(value);
    r->source =
        (rewrite_source){.cell = value, .text = text.p, .at = text.p, .end = text.p + text.n};
    r->source.escapes = memchr(text.p, '\\', text.n) != NULL;
    failed = rewrite_value(r, schema, REWRITE_KEEP, value, at);
    copy_run(r, end, r->source.end);
    r->source = outer;
    return failed;
}

/* Appends a name and the text of its value. */
static void append_member_text(kc_buf *out, kc_str name, kc_str value, bool first)
{
    enum { AROUND = sizeof(",\"\":") - 1 };
    const size_t most = name.n + value.n + AROUND;
    char *to = kc__json_plain_length(name) == name.n ? kc_buf_reserve(out, most) : NULL;
    if (!to) {
        kc_buf_puts(out, first ? "" : ",");
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        kc_buf_append(out, value);
        return;
    }
    *to = ',';
    to += !first;
    *to++ = '"';
    memcpy(to, name.p, name.n);
    memcpy(to + name.n, "\":", 2);
    memcpy(to + name.n + 2, value.p, value.n);
    out->n += most - first;
}

static kc_value name_cell(const kc__schema_property_row *row)
{
    return (kc_value){.tag = (uint64_t)row->n << YYJSON_TAG_BIT | YYJSON_TYPE_STR,
                      .uni.str = row->name};
}

static void append_name(rewriting *r, const kc__schema_property_row *row, bool first)
{
    const kc_value key = name_cell(row);
    append_cells(r, &key, 1);
    append_member_text(&r->text, kc_str_of(row->name, row->n), KC_STR(""), first);
}

/* Adds a member with its default, which nearly always is a scalar: two cells. */
static int add_default_member(rewriting *r, const kc__schema_property_row *row, bool first,
                              const kc__schema_path_frame *at)
{
    const kc_value *value = kc__schema_default_node(row->schema);
    if (unsafe_yyjson_is_ctn((kc_value *)value)) {
        append_name(r, row, first);
        return add_default(r, row->schema, row->n, at);
    }
    const int failed = kc__schema_budget_charge(&r->budget, row->schema, row->n, at);
    if (failed < 0)
        return failed;
    kc_vec_reserve(&r->cells, 2);
    r->cells.items[r->cells.n++] = name_cell(row);
    r->cells.items[r->cells.n++] = *value;
    append_member_text(&r->text, kc_str_of(row->name, row->n),
                       kc_cstr(row->schema->extras->default_text), first);
    return 0;
}

/* Adds the members with a default that an object lacks; `end` is the cell after it. */
static int add_missing(rewriting *r, const kc__schema_property_table *table,
                       const kc__schema_row_set *there, const kc_value *end, size_t *len,
                       const kc__schema_path_frame *at)
{
    const uint16_t *defaults = kc__schema_table_defaults(table);
    for (uint32_t i = 0; i < table->n_defaults; i++) {
        const kc__schema_property_row *row = &table->rows[defaults[i]];
        if (kc__schema_row_set_has(there, defaults[i]) || !kc__schema_row_has_default(row))
            continue;
        kc__schema_path_frame here = {.parent = at, .name = row->name, .n = row->n};
        copy_run(r, end, r->source.at);
        start_run(r, end, r->source.at);
        r->parts_changed |= !at && kc__schema_is_meta(row->name, row->n);
        const int failed = add_default_member(r, row, *len == 0, &here);
        if (failed < 0)
            return failed;
        ++*len;
    }
    return 0;
}

/* Replaces a null. */
static int replace_null(rewriting *r, const kc_schema *schema, const kc_value *null,
                        const kc__schema_path_frame *at)
{
    copy_run(r, null, r->source.at);
    r->source.at += 4;
    start_run(r, null + 1, r->source.at);
    return add_default(r, schema, 0, at);
}

/* A value in its place. */
static int rewrite_place(rewriting *r, const kc_schema *schema, rewrite_mode mode,
                         const kc_value *value, const kc__schema_path_frame *at)
{
    if (r->opts->defaults &&
        kc__schema_takes_default(schema, unsafe_yyjson_is_null((kc_value *)value)))
        return replace_null(r, schema, value, at);
    return rewrite_value(r, schema, mode, value, at);
}

/* ---- members ---- */

/* What the schema says about a member. */
typedef struct rewrite_member {
    const kc__schema_property_row *row; /* NULL: none has its name. */
    const kc_schema *schema;
    rewrite_mode mode; /* Inside the member. */
    bool unknown;      /* To be removed. */
} rewrite_member;

static rewrite_member member_of(const kc_schema *schema, rewrite_mode mode, const kc_value *key,
                                kc__schema_last_rows *last, size_t place)
{
    const char *name = unsafe_yyjson_get_str((kc_value *)key);
    const size_t n = unsafe_yyjson_get_len((kc_value *)key);
    rewrite_member m = {.mode = REWRITE_KEEP};
    if (!schema) {
        m.unknown = mode >= REWRITE_PRUNE;
        return m;
    }
    m.row = schema->fields ? kc__schema_table_find_at(schema->fields, last, place, name, n) : NULL;
    const bool property = m.row && m.row->schema;
    m.schema = property ? m.row->schema : schema->additional;
    if (mode == REWRITE_KEEP)
        return m;
    const bool whole = mode == REWRITE_PRUNE_WHOLE || schema->flags & KC__SCHEMA_EMBEDDED;
    if (whole && kc__schema_is_meta(name, n))
        return m;
    if (property || schema->flags & KC__SCHEMA_ADDITIONAL)
        m.mode = REWRITE_PRUNE;
    else
        m.unknown = mode != REWRITE_PRESERVE && !(schema->flags & KC__SCHEMA_PRESERVE);
    return m;
}

static bool is_dropped_null(const rewriting *r, const rewrite_member *m, const kc_value *value)
{
    return r->source.nulls && m->schema && unsafe_yyjson_is_null((kc_value *)value) &&
           !(m->schema->flags & KC__SCHEMA_NULLABLE) && !kc__schema_default_node(m->schema);
}

static void report_unknown(const rewriting *r, const kc__schema_path_frame *at)
{
    kc_paths *paths = r->opts->unknown;
    kc_scoped(kc_buf) path = {0};
    if (!paths || paths->n >= r->n_paths)
        return;
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_PLAIN);
    kc_vec_push(paths, kc_buf_take(&path));
}

/* Leaves a member out that starts at this position of the text, behind a comma unless it is the
 * first one. */
static void remove_member(rewriting *r, const kc_value *key, const char *start, bool first)
{
    const kc_value *value = key + 1;
    copy_run(r, key, first ? start : start - 1);
    r->source.at = after_value_text(r, value);
    start_run(r, value + kc_value_count(value), r->source.at);
}

/* Records where a member of the root that objects index is, which starts at this position. */
static void note_root_member(rewriting *r, const kc_value *key, const char *start)
{
    const char first = *unsafe_yyjson_get_str((kc_value *)key);
    const int part = first == 'a' ? ROOT_API_VERSION : first == 'k' ? ROOT_KIND : ROOT_METADATA;
    r->moved[part] = text_position(r, start) - (uint32_t)(start - r->origin);
}

static int rewrite_member_value(rewriting *r, const rewrite_member *m, const kc_value *key,
                                const char *start, const kc__schema_path_frame *here)
{
    const bool indexed = !here->parent && kc__schema_is_meta(here->name, here->n);
    if (!indexed)
        return rewrite_place(r, m->schema, m->mode, key + 1, here);
    const size_t copied = r->cells.n;
    note_root_member(r, key, start);
    const int failed = rewrite_place(r, m->schema, m->mode, key + 1, here);
    r->parts_changed |= r->cells.n != copied;
    return failed;
}

/* A scalar other than null. */
static inline bool is_plain_leaf(const kc_value *value)
{
    return unsafe_yyjson_get_type((kc_value *)value) != YYJSON_TYPE_NULL &&
           !unsafe_yyjson_is_ctn((kc_value *)value);
}

/* Moves past a member that stays as it is: a plain leaf below the root, with a member before it
 * that stays. */
static inline void pass_leaf(rewriting *r, const kc_value *key, size_t *len)
{
    r->source.at = after_quoted(r, r->source.at, key) + 1;
    r->source.at = after_value_text(r, key + 1);
    ++*len;
}

/* Any member of the object at this path. *len counts those that stay; `i` those of the source. */
static int rewrite_one_member(rewriting *r, const rewrite_member *m, const kc_value *key, size_t i,
                              size_t *len, const kc__schema_path_frame *at)
{
    const char *start = r->source.at;
    const kc__schema_path_frame frame = {
        .parent = at,
        .name = unsafe_yyjson_get_str((kc_value *)key),
        .n = unsafe_yyjson_get_len((kc_value *)key),
        .step = m->row && m->row->schema ? KC__SCHEMA_STEP_PROPERTY : KC__SCHEMA_STEP_ADDITIONAL};
    const kc__schema_path_frame *here = &frame;
    r->source.at = after_quoted(r, start, key) + 1;
    if (m->unknown || is_dropped_null(r, m, key + 1)) {
        if (m->unknown)
            report_unknown(r, here);
        r->parts_changed |= !at && kc__schema_is_meta(here->name, here->n);
        remove_member(r, key, start, i == 0);
        return 0;
    }
    /* All members before it were removed: so is the comma. */
    if (i && !*len)
        r->source.text = start;
    ++*len;
    return rewrite_member_value(r, m, key, start, here);
}

/* ---- containers ---- */

static int rewrite_object(rewriting *r, const kc_schema *schema, rewrite_mode mode,
                          const kc_value *object, const kc__schema_path_frame *at)
{
    const kc__schema_property_table *table =
        r->opts->defaults && kc__schema_has_defaults_below(schema) ? schema->fields : NULL;
    const bool fills = table && table->n_defaults;
    kc_scoped(kc__schema_row_set) there =
        fills ? kc__schema_row_set_for(table) : (kc__schema_row_set){0};
    const size_t position = cell_position(r, object), n = unsafe_yyjson_get_len((kc_value *)object);
    kc__schema_last_rows *last =
        schema && schema->fields ? kc__schema_last_rows_for(r->last_rows, r->depth, schema->fields)
                                 : NULL;
    const kc_value *key = object + 1;
    size_t len = 0;
    int failed = 0;
    r->source.at++;
    for (size_t i = 0; i < n && failed == 0; i++) {
        r->source.at += i != 0;
        const rewrite_member m = member_of(schema, mode, key, last, i);
        if (fills && m.row)
            kc__schema_row_set_add(&there, (size_t)(m.row - table->rows));
        if (at && len && !m.unknown && is_plain_leaf(key + 1))
            pass_leaf(r, key, &len);
        else
            failed = rewrite_one_member(r, &m, key, i, &len, at);
        key = unsafe_yyjson_get_next((kc_value *)key + 1);
    }
    if (fills && failed == 0)
        failed = add_missing(r, table, &there, key, &len, at);
    r->source.at++;
    close_container(r, position, key, len);
    return failed;
}

static int rewrite_array(rewriting *r, const kc_schema *schema, rewrite_mode mode,
                         const kc_value *array, const kc__schema_path_frame *at)
{
    const kc_schema *items = schema ? schema->items : NULL;
    const size_t position = cell_position(r, array), n = unsafe_yyjson_get_len((kc_value *)array);
    const kc_value *item = array + 1;
    kc__schema_path_frame here = {.parent = at, .step = KC__SCHEMA_STEP_INDEX};
    int failed = 0;
    /* Elements of a list that preserves unknown fields do so, too, unless they have a schema. */
    if (mode >= REWRITE_PRUNE && schema && schema->flags & KC__SCHEMA_PRESERVE)
        mode = REWRITE_PRESERVE;
    if (mode == REWRITE_PRESERVE && !items)
        mode = REWRITE_KEEP;
    else if (mode == REWRITE_PRUNE_WHOLE)
        mode = REWRITE_PRUNE;
    r->source.at++;
    for (; here.n < n && failed == 0; here.n++) {
        r->source.at += here.n != 0;
        if (is_plain_leaf(item))
            r->source.at = after_value_text(r, item);
        else
            failed = rewrite_place(r, items, mode, item, &here);
        item = unsafe_yyjson_get_next((kc_value *)item);
    }
    r->source.at++;
    close_container(r, position, item, n);
    return failed;
}

/* False if no part of a container can change. */
static bool may_change_inside(const rewriting *r, const kc_schema *schema, rewrite_mode mode)
{
    return mode != REWRITE_KEEP || (r->source.nulls && schema) ||
           (r->opts->defaults && kc__schema_has_defaults_below(schema));
}

static int rewrite_value(rewriting *r, const kc_schema *schema, rewrite_mode mode,
                         const kc_value *value, const kc__schema_path_frame *at)
{
    if (!unsafe_yyjson_is_ctn((kc_value *)value) || !may_change_inside(r, schema, mode)) {
        r->source.at = after_value_text(r, value);
        return 0;
    }
    if (r->depth >= KC__SCHEMA_DEFAULT_NESTING)
        return kc__schema_budget_reject(&r->budget, at);
    r->depth++;
    const bool object = unsafe_yyjson_get_type((kc_value *)value) == YYJSON_TYPE_OBJ;
    const int failed = object ? rewrite_object(r, schema, mode, value, at)
                              : rewrite_array(r, schema, mode, value, at);
    r->depth--;
    return failed;
}

/* ---- the whole object ---- */

/* The number of containers inside each other. */
static unsigned levels_of(const kc_value *value)
{
    unsigned below = 0;
    if (!unsafe_yyjson_is_ctn((kc_value *)value))
        return 0;
    const kc_value *end = unsafe_yyjson_get_next((kc_value *)value);
    const bool object = unsafe_yyjson_get_type((kc_value *)value) == YYJSON_TYPE_OBJ;
    for (const kc_value *at = value + 1; at < end; at = unsafe_yyjson_get_next((kc_value *)at)) {
        at += object;
        const unsigned levels = levels_of(at);
        below = KC_MAX(below, levels);
    }
    return below + 1;
}

/* Moves the parts of the object with the members of the root. False if the scanner has to find
 * them. */
static bool move_indexed_parts(const rewriting *r, const kc_object *object, kc__object_span *parts)
{
    static const uint8_t root_part[KC__N_PARTS] = {
        [KC__OBJECT_PART_API_VERSION] = 1, [KC__OBJECT_PART_KIND] = 2};
    if (r->parts_changed)
        return false;
    kc__object_parts_unpack(object, parts);
    for (int i = 0; i < KC__N_PARTS; i++) {
        const int part = root_part[i] ? root_part[i] - 1 : ROOT_METADATA;
        if (parts[i].at > object->n)
            return false;
        if (parts[i].at > KC__OBJECT_PART_MISTYPED)
            parts[i].at += r->moved[part];
    }
    return true;
}

static kc_object *rewritten_object(rewriting *r, const kc_object *object, kc_error *err)
{
    kc__object_span parts[KC__N_PARTS];
    const kc_str text = kc_buf_str(&r->text);
    if (r->text.failed) {
        kc_error_set(err, KC_TOO_LARGE, "the object has more than %zu bytes", r->text.limit);
        return NULL;
    }
    /* A text that nests too deeply gets its error from the parser. */
    if (r->nested && levels_of(r->cells.items) > KC_JSON_MAX_DEPTH)
        return kc_object_parse(text, NULL, err);
    return move_indexed_parts(r, object, parts) ? kc__object_of_parts(text, parts)
                                                : kc__object_of_canonical(text, err);
}

static void release_schema(const void *schema)
{
    kc_schema_unref(schema);
}

/* The view of the result: its strings are in the view of the source, and in the schema. */
static kc_view *rewritten_view(rewriting *r, const kc_schema *schema, kc_view *source)
{
    kc_view *view = kc_new(kc_view);
    view->root = r->cells.items;
    view->base = source;
    view->held = kc_schema_ref(schema);
    view->release = release_schema;
    r->cells.items = NULL;
    return view;
}

static void rewriting_done(rewriting *r)
{
    kc_vec_done(&r->cells);
    kc_buf_done(&r->text);
}

static void rewriting_begin(rewriting *r, const kc_object *object, const kc_value *root,
                            const kc__schema_rewrite_opts *opts, kc_error *err)
{
    enum { MOST_PATHS = 100 };
    const kc_str text = kc_object_json(object);
    *r = (rewriting){.opts = opts, .text = {.limit = KC_JSON_MAX_BYTES}};
    r->origin = text.p;
    r->n_cells = kc_value_count(root);
    r->source =
        (rewrite_source){.cell = root, .text = text.p, .at = text.p, .end = text.p + text.n};
    r->source.escapes = memchr(text.p, '\\', text.n) != NULL;
    /* Pruning visits everything in any case. */
    r->source.nulls = opts->drops_nulls && (opts->prunes || kc__value_has_null(root));
    r->n_paths = opts->unknown ? opts->unknown->n + MOST_PATHS : 0;
    kc__schema_budget_init(&r->budget, opts->budget, err);
}

static int rewrite_root(rewriting *r, const kc_schema *schema, const kc_value *root)
{
    static const kc_schema nothing;
    const size_t before = r->opts->unknown ? r->opts->unknown->n : 0;
    const rewrite_mode mode = r->opts->prunes ? REWRITE_PRUNE_WHOLE : REWRITE_KEEP;
    const int failed = rewrite_value(r, schema ? schema : &nothing, mode, root, NULL);
    if (r->opts->unknown)
        kc__schema_sort_paths(r->opts->unknown, before);
    return failed;
}

static kc_object *rewriting_end(rewriting *r, const kc_schema *schema, const kc_object *object,
                                kc_view **view, kc_error *err)
{
    if (!r->edited)
        return kc_object_ref(object);
    copy_run(r, kc_view_root(*view) + r->n_cells, r->source.end);
    kc_object *result = rewritten_object(r, object, err);
    if (result)
        *view = rewritten_view(r, schema, *view);
    return result;
}

kc_object *kc__schema_rewrite(const kc_schema *schema, const kc_object *object, kc_view **view,
                              const kc__schema_rewrite_opts *opts, kc_error *err)
{
    rewriting r;
    kc__schema_last_rows last_rows[KC__SCHEMA_LAST_LEVELS];
    const kc_value *root = kc_view_root(*view);
    rewriting_begin(&r, object, root, opts, err);
    kc__schema_last_rows_init(last_rows);
    r.last_rows = last_rows;
    kc_object *result =
        rewrite_root(&r, schema, root) < 0 ? NULL : rewriting_end(&r, schema, object, view, err);
    rewriting_done(&r);
    return result;
}
