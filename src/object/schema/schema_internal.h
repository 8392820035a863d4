/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_internal.h: the compiled form of a schema, shared by the files of src/object/schema.
 *
 * A document (the result of compiling a CRD version or a set of definitions) owns an arena with
 * nodes. A node is small; optional parts are separate:
 *
 *     kc_schema ─┬─ fields ───▶ table of properties ──▶ kc_schema …
 *                ├─ items, additional ──▶ kc_schema
 *                ├─ checks ─┬─ text, number, size, choice     value validation
 *                │          └─ logic ──▶ allOf, anyOf, oneOf, not
 *                └─ extras                                    default, CEL rules, merge keys
 *
 * All of these are interned: equal parts of one document share memory, so nodes can be compared by
 * address, and a schema that repeats a pod template five times stores it once. Nothing is written
 * after compilation, except the compiled code of patterns (pattern_internal.h).
 */
#ifndef KC_SCHEMA_INTERNAL_H
#define KC_SCHEMA_INTERNAL_H

#include "kc/arena.h"
#include "kc/map.h"
#include "kc/schema.h"
#include "object/model/object_internal.h"
#include "object/schema/pattern_internal.h"

/* Types of values and of schemas, as bits. */
enum {
    KC__SCHEMA_NULL = 1,
    KC__SCHEMA_BOOLEAN = 2,
    KC__SCHEMA_INTEGER = 4,
    KC__SCHEMA_NUMBER = 8, /* For a value: not an integer. */
    KC__SCHEMA_STRING = 16,
    KC__SCHEMA_ARRAY = 32,
    KC__SCHEMA_OBJECT = 64,
};

enum {
    KC__SCHEMA_NULLABLE = 1,
    KC__SCHEMA_PRESERVE = 2,
    KC__SCHEMA_EMBEDDED = 4,
    KC__SCHEMA_IS_INT_OR_STRING = 8,
    KC__SCHEMA_ADDITIONAL = 16,     /* additionalProperties is present: true, false or a schema. */
    KC__SCHEMA_CLOSED = 32,         /* It is false. */
    KC__SCHEMA_DEFAULTS_BELOW = 64, /* A member, at any depth, may have a default. */
    KC__SCHEMA_LISTS_BELOW = 128,   /* This or a part of it, at any depth, may be a set or a map. */
    KC__SCHEMA_NAMED = 256,         /* A definition: not interned, and may be recursive. */
    KC__SCHEMA_IS_ROOT = 512,       /* Root of its document, which may be unreferenced. */
};

typedef struct kc__schema_property_table kc__schema_property_table;
typedef struct kc__schema_checks kc__schema_checks;
typedef struct kc__schema_extras kc__schema_extras;

struct kc_schema {
    uint8_t types;   /* Declared; 0 for none. */
    uint8_t accepts; /* Types of values that are valid without further checks; 0: all. */
    uint8_t list_type, map_type;
    uint16_t flags;
    uint16_t patch;
    const kc__schema_property_table *fields;
    const kc_schema *items, *additional;
    const kc__schema_checks *checks;
    const kc__schema_extras *extras;
};

/* One name of a table: a property, or a name that is only required (schema NULL). */
typedef struct kc__schema_property_row {
    const char *name;
    uint32_t n;
    uint32_t hash;
    const kc_schema *schema;
} kc__schema_property_row;

/* Size of JSON text and number of values (with names). Sums saturate. */
typedef struct kc__schema_size {
    uint32_t bytes, values;
} kc__schema_size;

/* An immutable hash table. Rows [0, n_required) are required, in the order of `required`. Slots
 * contain positions in rows, plus one; they follow the rows in memory. After them, if any row's
 * schema has, or may have, a default: the total size of all defaults for an empty object (named
 * schemas do not count), and the positions of these rows, so that finding missing members does not
 * visit all rows for each object. */
struct kc__schema_property_table {
    uint32_t n, n_required;
    uint32_t mask;
    uint32_t n_defaults;
    uint64_t seed;
    kc__schema_property_row rows[];
};

enum { KC__SCHEMA_TABLE_MAX = 60000 };

typedef struct kc__schema_format kc__schema_format;

typedef struct kc__schema_text_rules {
    int64_t min, max; /* Code points. -1 for none. */
    const kc__pattern *pattern;
    const kc__schema_format *format;
    const char *format_name; /* As written. */
    const kc__pattern *format_pattern;
} kc__schema_text_rules;

enum {
    KC__SCHEMA_MIN = 1,
    KC__SCHEMA_MAX = 2,
    KC__SCHEMA_ABOVE_MIN = 4,
    KC__SCHEMA_BELOW_MAX = 8,
    KC__SCHEMA_MULTIPLE = 16
};

/* Bounds that are absent allow every number. */
typedef struct kc__schema_number_rules {
    uint64_t has; /* KC__SCHEMA_MIN and so on. */
    double min, max, multiple;
    int64_t whole_min, whole_max; /* For integers: the bounds without their fraction. */
} kc__schema_number_rules;

typedef struct kc__schema_size_rules {
    int64_t min_items, max_items, min_properties, max_properties; /* -1 for none. */
    uint64_t unique_items;
} kc__schema_size_rules;

typedef struct kc__schema_enum {
    const kc_value *values;                 /* The array of `enum`. */
    const kc__schema_property_table *table; /* Their keys, if there are many. */
} kc__schema_enum;

/* Writes the lookup key of a value to `out`: a string itself, other values as JSON, marked. */
void kc__schema_enum_key(kc_buf *out, const kc_value *value);

typedef struct kc__schema_branches {
    size_t n;
    const kc_schema *list[];
} kc__schema_branches;

typedef struct kc__schema_logic {
    const kc__schema_branches *any, *one, *all;
    const kc_schema *none; /* not */
} kc__schema_logic;

struct kc__schema_checks {
    const kc__schema_text_rules *text;
    const kc__schema_number_rules *number;
    const kc__schema_size_rules *size;
    const kc__schema_enum *choice;
    const kc__schema_logic *logic;
};

struct kc__schema_extras {
    const kc_value *default_value;
    const char *default_text;     /* As canonical JSON. */
    kc__schema_size default_size; /* Of the default alone … */
    kc__schema_size filled_size;  /* … and with all nested defaults. For a named node, which may be
                                   * recursive, a lower bound. */
    const kc_value *validations;
    const kc_value *list_map_keys;
    const char *merge_key; /* "" for none. */
};

/* The owner of the memory. A kc_schema_defs is one without a root. */
struct kc_schema_defs {
    kc_ref refs;
    kc_arena arena;
    kc__pattern *patterns;
    const kc_schema_defs *uses; /* Targets of $ref; a reference. */
    kc_map names;               /* Definitions by name. */
    kc_schema root;
};

/* ---- table.c ---- */

/* Size of a table with n rows of which n_defaults may have defaults. */
size_t kc__schema_table_size(size_t n, size_t n_defaults);
/* Fills the data after the rows of a zeroed table whose header and rows (without hashes) are set.
 */
void kc__schema_table_index(kc__schema_property_table *table);
/* The total of all defaults; only if there are some. The number of slots keeps it aligned. */
static inline const kc__schema_size *kc__schema_table_sum(const kc__schema_property_table *table)
{
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    return (const kc__schema_size *)(const void *)(slots + table->mask + 1);
}

static inline const uint16_t *kc__schema_table_defaults(const kc__schema_property_table *table)
{
    return (const uint16_t *)(kc__schema_table_sum(table) + 1);
}
const kc__schema_property_row *kc__schema_table_find_slowly(const kc__schema_property_table *table,
                                                            const char *p, size_t n, uint32_t hash);

static inline uint64_t kc__schema_load(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

/* A hash of all bytes; without a loop for short names, which nearly all are. */
static inline uint32_t kc__schema_name_hash(const char *p, size_t n, uint64_t seed)
{
    uint64_t a, b;
    if (n > 16)
        return (uint32_t)kc_str_hash(kc_str_of(p, n), seed);
    if (n >= 8) {
        a = kc__schema_load(p, 8);
        b = kc__schema_load(p + n - 8, 8);
    } else if (n >= 4) {
        a = kc__schema_load(p, 4);
        b = kc__schema_load(p + n - 4, 4);
    } else {
        a = n ? (unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 : 0;
        b = n ? (unsigned char)p[n - 1] : 0;
    }
    __uint128_t product = (__uint128_t)(a ^ seed) * (b ^ (0x9e3779b97f4a7c15u + n));
    return (uint32_t)(product ^ (product >> 64));
}

/* The row of a name, or NULL. The table must not be NULL. */
static inline const kc__schema_property_row *kc__schema_table_find(
    const kc__schema_property_table *table, const char *p, size_t n)
{
    uint32_t hash = kc__schema_name_hash(p, n, table->seed);
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    uint16_t at = slots[hash & table->mask];
    if (!at)
        return NULL;
    const kc__schema_property_row *row = &table->rows[at - 1];
    if (row->hash == hash && row->n == n && kc__object_same_bytes(row->name, p, n))
        return row;
    return kc__schema_table_find_slowly(table, p, n, hash);
}

/*
 * The rows that the last object of a table had, by the places of its members. Items of a list
 * mostly have the same members in the same order: comparing one name then decides a look-up. A
 * traversal has one for each of its upper levels, because all items of a list are on one level.
 */
enum { KC__SCHEMA_LAST_ROWS = 16, KC__SCHEMA_LAST_LEVELS = 8 };

typedef struct kc__schema_last_rows {
    const kc__schema_property_table *table; /* NULL: unused. */
    const kc__schema_property_row *rows[KC__SCHEMA_LAST_ROWS];
} kc__schema_last_rows;

static inline void kc__schema_last_rows_init(kc__schema_last_rows *levels)
{
    for (size_t i = 0; i < KC__SCHEMA_LAST_LEVELS; i++)
        levels[i].table = NULL;
}

/* Those of a level, for objects of this table. NULL for a level that is too deep. */
static inline kc__schema_last_rows *kc__schema_last_rows_for(kc__schema_last_rows *levels,
                                                             unsigned level,
                                                             const kc__schema_property_table *table)
{
    if (level >= KC__SCHEMA_LAST_LEVELS)
        return NULL;
    kc__schema_last_rows *last = &levels[level];
    if (last->table != table)
        *last = (kc__schema_last_rows){.table = table};
    return last;
}

/* As kc__schema_table_find, for the member at this place. `last` may be NULL. */
static inline const kc__schema_property_row *kc__schema_table_find_at(
    const kc__schema_property_table *table, kc__schema_last_rows *last, size_t place, const char *p,
    size_t n)
{
    if (!last || place >= KC__SCHEMA_LAST_ROWS)
        return kc__schema_table_find(table, p, n);
    const kc__schema_property_row *row = last->rows[place];
    if (row && row->n == n && kc__object_same_bytes(row->name, p, n))
        return row;
    return last->rows[place] = kc__schema_table_find(table, p, n);
}

/* ---- intern.c ---- */

/* Kinds of interned data: equal bytes of one kind are stored once. */
typedef enum kc__schema_block_kind {
    KC__SCHEMA_BLOCK_NODE,
    KC__SCHEMA_BLOCK_TABLE,
    KC__SCHEMA_BLOCK_CHECKS,
    KC__SCHEMA_BLOCK_TEXT,
    KC__SCHEMA_BLOCK_NUMBER,
    KC__SCHEMA_BLOCK_SIZE,
    KC__SCHEMA_BLOCK_ENUM,
    KC__SCHEMA_BLOCK_LOGIC,
    KC__SCHEMA_BLOCK_BRANCHES,
    KC__SCHEMA_BLOCK_EXTRAS,
    KC__SCHEMA_BLOCK_STRING,
    KC__SCHEMA_BLOCK_VALUE,
    KC__SCHEMA_BLOCK_PATTERN,
    KC__SCHEMA_N_KINDS,
} kc__schema_block_kind;

typedef struct kc__schema_interner {
    kc_schema_defs *document;
    kc_map seen[KC__SCHEMA_N_KINDS];
    kc_arena keys;
    uint64_t seed; /* For the document's tables. */
} kc__schema_interner;

void kc__schema_interner_done(kc__schema_interner *interner);
/* The only copy of these bytes, in the document's arena. */
const void *kc__schema_intern(kc__schema_interner *interner, kc__schema_block_kind kind,
                              const void *bytes, size_t n);
/* The only terminated copy of a text. */
const char *kc__schema_intern_str(kc__schema_interner *interner, kc_str text);
/* A copy of a value that needs no view. NULL for NULL. `ret_size` may be NULL. */
const kc_value *kc__schema_intern_value(kc__schema_interner *interner, const kc_value *value,
                                        kc__schema_size *ret_size);
/* NULL when it is not valid; `why` then has a message. */
const kc__pattern *kc__schema_intern_pattern(kc__schema_interner *interner, kc_str source,
                                             kc_buf *why);
/* From rows whose names and schemas are interned; required ones first. */
const kc__schema_property_table *kc__schema_intern_table(kc__schema_interner *interner,
                                                         const kc__schema_property_row *rows,
                                                         size_t n, size_t n_required);

/* ---- compile.c, rules.c, defs.c ---- */

/* A node that copies the rest from another one once that is complete. */
typedef struct kc__schema_pending_ref {
    struct kc__schema_pending_ref *next;
    kc_schema *node;
    const kc_schema *target;
    enum { KC__SCHEMA_UNFILLED, KC__SCHEMA_FILLING, KC__SCHEMA_FILLED } state;
} kc__schema_pending_ref;

typedef struct kc__schema_compiler {
    kc__schema_interner in;
    const kc_schema_defs *outside; /* Targets of $ref outside the document. */
    bool making_defs;
    size_t nodes, max_nodes;
    kc_buf path; /* Of the current keyword, for errors. */
    kc__schema_pending_ref *pending;
    kc_map pending_by_node;
    kc_error *err;
} kc__schema_compiler;

void kc__schema_compiler_init(kc__schema_compiler *c, const kc_schema_opts *opts, kc_error *err);
/* Does not free the document, which the caller owns. */
void kc__schema_compiler_done(kc__schema_compiler *c);

/* Enters a keyword; pass the result to kc__schema_leave_child. */
size_t kc__schema_enter_child(kc__schema_compiler *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__schema_leave_child(kc__schema_compiler *c, size_t before);
/* Sets an error about the current path. */
int kc__schema_compile_error(kc__schema_compiler *c, const char *fmt, ...) KC_PRINTF(2, 3);

/* A keyword's value if it is present, not null, and of the type; *ret is untouched otherwise. -1 if
 * the type is wrong. */
int kc__schema_keyword(kc__schema_compiler *c, const kc_value *json, const char *name,
                       kc_json_type type, const kc_value **ret);
int kc__schema_keyword_bool(kc__schema_compiler *c, const kc_value *json, const char *name,
                            bool *ret);

/* A subschema, interned or named; NULL on error. */
const kc_schema *kc__schema_compile_node(kc__schema_compiler *c, const kc_value *json);
/* Fills node->checks. */
int kc__schema_compile_checks(kc__schema_compiler *c, const kc_value *json, kc_schema *node);
/* The target of this subschema's "$ref". NULL when it has none (with *ret_failed untouched), or
 * when the target does not exist. */
const kc_schema *kc__schema_follow_ref(kc__schema_compiler *c, const kc_value *json,
                                       bool *ret_failed);
/* Registers that `node` completes itself from `target`. */
void kc__schema_complete_later(kc__schema_compiler *c, kc_schema *node, const kc_schema *target);
/* Completes all registered nodes. */
int kc__schema_complete_all(kc__schema_compiler *c);

/* ---- schema.c ---- */

kc_schema_defs *kc__schema_document_new(void);

/* ---- schema_default.c ---- */

/* Adds the size of all defaults that would be set inside a value. */
void kc__schema_default_measure(const kc_schema *schema, const kc_value *value,
                                kc__schema_size *size);
/* True if a row may have a default: named schemas are incomplete while others are compiled. */
bool kc__schema_row_may_default(const kc__schema_property_row *row);
/* The size that the rows add to an object without any of them. */
kc__schema_size kc__schema_default_sum(const kc__schema_property_row *rows, size_t n);
/* The size of an empty object with all direct and nested defaults. */
kc__schema_size kc__schema_default_of_empty(const kc_schema *schema);

/* ---- format.c ---- */

struct kc__schema_format {
    const char *name;    /* Without dashes. */
    const char *pattern; /* If it needs one. */
    bool (*valid)(kc_str text);
};

/* A validated format; NULL for others, which allow everything. Ignores dashes. */
const kc__schema_format *kc__schema_format_find(kc_str name);
/* format_net.c */
bool kc__schema_is_ipv4(kc_str text);
bool kc__schema_is_ipv6(kc_str text);
bool kc__schema_is_cidr(kc_str text);
bool kc__schema_is_mac(kc_str text);
bool kc__schema_is_uri(kc_str text);
bool kc__schema_is_hostname(kc_str text); /* In addition to the pattern. */
/* format_mail.c */
bool kc__schema_is_email(kc_str text);
/* format_time.c */
bool kc__schema_is_date(kc_str text);
bool kc__schema_is_datetime(kc_str text);
bool kc__schema_is_duration(kc_str text);

/* ---- schema_path.c: the current path of a traversal, as a chain of stack frames ---- */

typedef enum kc__schema_path_step {
    KC__SCHEMA_STEP_PROPERTY,
    KC__SCHEMA_STEP_ADDITIONAL,
    KC__SCHEMA_STEP_INDEX
} kc__schema_path_step;

typedef struct kc__schema_path_frame {
    const struct kc__schema_path_frame *parent; /* NULL at the root, which has no step. */
    const char *name;
    size_t n; /* Of the name, or the index. */
    kc__schema_path_step step;
} kc__schema_path_frame;

typedef enum kc__schema_path_style {
    KC__SCHEMA_PATH_BODY,  /* spec.map.key, and .key below a root that is a map. */
    KC__SCHEMA_PATH_FIELD, /* spec.map[key] */
    KC__SCHEMA_PATH_PLAIN, /* spec.map.key */
} kc__schema_path_style;

/* Appends the path of a frame; nothing for the root (NULL). */
void kc__schema_path_write(kc_buf *out, const kc__schema_path_frame *frame,
                           kc__schema_path_style style);

/* ---- unique.c ---- */

/*
 * Finds duplicates among n keys: stores the position of each second occurrence (not of further
 * ones) in `repeated`, which has room for n, and returns their number. A key may be NULL (absent),
 * which equals only NULL. Does not allocate when there are few keys and all are scalar.
 */
size_t kc__schema_find_repeated(const kc_value *const *keys, size_t n, size_t *repeated);
/* Counts earlier lookups of a text: 0, 1, or 2 for more. A zeroed one is ready. */
typedef struct kc__schema_seen {
    kc_map times;
    kc_arena texts;
} kc__schema_seen;

void kc__schema_seen_done(kc__schema_seen *seen);
unsigned kc__schema_seen_before(kc__schema_seen *seen, kc_str text);

/* Compares numbers by value and objects in any order of members. */
bool kc__schema_same_value(const kc_value *a, const kc_value *b);

/* ---- shared helpers ---- */

/* Type bits by the low bits (type and subtype) of a yyjson tag. */
extern const uint8_t kc__schema_type_bits[32];

static inline uint8_t kc__schema_bits_of(const yyjson_val *value)
{
    return kc__schema_type_bits[value->tag & 31];
}

static inline bool kc__schema_is_meta(const char *p, size_t n)
{
    return (n == 4 && !memcmp(p, "kind", 4)) || (n == 8 && !memcmp(p, "metadata", 8)) ||
           (n == 10 && !memcmp(p, "apiVersion", 10));
}

static inline const kc_value *kc__schema_default_node(const kc_schema *schema)
{
    return schema && schema->extras ? schema->extras->default_value : NULL;
}

/* The schema of a member, or NULL; properties come first. */
static inline const kc_schema *kc__schema_member_schema(const kc_schema *schema, const char *p,
                                                        size_t n)
{
    const kc__schema_property_row *row =
        schema->fields ? kc__schema_table_find(schema->fields, p, n) : NULL;
    return row && row->schema ? row->schema : schema->additional;
}

/* Traversals of values and of edits; `spare_meta` for the root of a whole object. */
size_t kc__schema_count_unknown(const kc_schema *schema, const kc_value *value, bool spare_meta,
                                bool first_only, kc_paths *paths, size_t limit);
void kc__schema_prune_node(const kc_schema *schema, kc_node *node, bool spare_meta);
/* Sorts the paths from `first` on. */
void kc__schema_sort_paths(kc_paths *paths, size_t first);

#endif
