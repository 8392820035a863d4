/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_internal.h: the compiled form of a schema, shared by the files schema*.c.
 *
 * A document (what a CRD version or a set of definitions compiles to) owns an arena with nodes. A
 * node is small; what only some nodes have hangs off it:
 *
 *     kc_schema ─┬─ fields ───▶ table of properties ──▶ kc_schema …
 *                ├─ items, additional ──▶ kc_schema
 *                ├─ checks ─┬─ text, number, size, choice     what values must be like
 *                │          └─ logic ──▶ allOf, anyOf, oneOf, not
 *                └─ extras                                    default, CEL rules, merge keys
 *
 * All of these are interned: equal parts of one document are one piece of memory, so nodes may be
 * compared by address and a schema that repeats a pod template five times holds it once. Nothing is
 * written after compiling, except the compiled code of patterns (pattern_internal.h).
 */
#ifndef KC_SCHEMA_INTERNAL_H
#define KC_SCHEMA_INTERNAL_H

#include "kc/arena.h"
#include "kc/map.h"
#include "kc/schema.h"
#include "object/object_internal.h"
#include "object/pattern_internal.h"

/* Types of values and of schemas, as bits. */
enum {
    KC__NULL = 1,
    KC__BOOLEAN = 2,
    KC__INTEGER = 4,
    KC__NUMBER = 8, /* Of a value: not a whole one. */
    KC__STRING = 16,
    KC__ARRAY = 32,
    KC__OBJECT = 64,
};

enum {
    KC__NULLABLE = 1,
    KC__PRESERVE = 2,
    KC__EMBEDDED = 4,
    KC__INT_OR_STRING = 8,
    KC__ADDITIONAL = 16,     /* additionalProperties is there: true, false or a schema. */
    KC__CLOSED = 32,         /* It is false. */
    KC__DEFAULTS_BELOW = 64, /* A member, at any depth, may have a default. */
    KC__LISTS_BELOW = 128,   /* This or a part of it, at any depth, may be a set or a map. */
    KC__NAMED = 256,         /* A definition: not interned, and may be recursive. */
    KC__IS_ROOT = 512,       /* Of its document; the one that may be unreferenced. */
};

typedef struct kc__table kc__table;
typedef struct kc__checks kc__checks;
typedef struct kc__extras kc__extras;

struct kc_schema {
    uint8_t types;   /* Declared; 0 for none. */
    uint8_t accepts; /* Types of values that are right without a closer look; 0: all. */
    uint8_t list_type, map_type;
    uint16_t flags;
    uint16_t patch;
    const kc__table *fields;
    const kc_schema *items, *additional;
    const kc__checks *checks;
    const kc__extras *extras;
};

/* One name of a table: a property, or a name that is only required (schema NULL). */
typedef struct kc__row {
    const char *name;
    uint32_t n;
    uint32_t hash;
    const kc_schema *schema;
} kc__row;

/* A hash table that never changes. Rows [0, n_required) are required, in the order of `required`.
 * Slots hold positions in rows, plus one; they follow the rows in memory. */
struct kc__table {
    uint32_t n, n_required;
    uint32_t mask;
    uint32_t n_defaults; /* Rows whose schema has, or may have, a default. */
    uint64_t seed;
    kc__row rows[];
};

enum { KC__TABLE_MAX = 60000 };

typedef struct kc__format kc__format;

typedef struct kc__text_rules {
    int64_t min, max; /* Code points. -1 for none. */
    const kc__pattern *pattern;
    const kc__format *format;
    const char *format_name; /* As it was written. */
    const kc__pattern *format_pattern;
} kc__text_rules;

enum { KC__MIN = 1, KC__MAX = 2, KC__ABOVE_MIN = 4, KC__BELOW_MAX = 8, KC__MULTIPLE = 16 };

typedef struct kc__number_rules {
    uint64_t has; /* KC__MIN and so on. */
    double min, max, multiple;
    int64_t whole_min, whole_max; /* For whole numbers: the bounds without their fraction. */
} kc__number_rules;

typedef struct kc__size_rules {
    int64_t min_items, max_items, min_properties, max_properties; /* -1 for none. */
    uint64_t unique_items;
} kc__size_rules;

typedef struct kc__choice {
    const kc_value *values; /* The array of `enum`. */
    const kc__table *table; /* Their keys, when there are many. */
} kc__choice;

/* Puts what a value is looked up by into `out`: a string itself, other values as JSON, marked. */
void kc__choice_key(kc_buf *out, const kc_value *value);

typedef struct kc__branches {
    size_t n;
    const kc_schema *list[];
} kc__branches;

typedef struct kc__logic {
    const kc__branches *any, *one, *all;
    const kc_schema *none; /* not */
} kc__logic;

struct kc__checks {
    const kc__text_rules *text;
    const kc__number_rules *number;
    const kc__size_rules *size;
    const kc__choice *choice;
    const kc__logic *logic;
};

struct kc__extras {
    const kc_value *default_value;
    const kc_value *validations;
    const kc_value *list_map_keys;
    const char *merge_key; /* "" for none. */
};

/* What owns the memory. kc_schema_defs is one without a root. */
struct kc_schema_defs {
    kc_ref refs;
    kc_arena arena;
    kc__pattern *patterns;
    const kc_schema_defs *uses; /* Where $ref leads; a reference. */
    kc_map names;               /* Definitions by name. */
    kc_schema root;
};

/* ---- schema_table.c ---- */

/* Bytes of a table with n rows, slots included. */
size_t kc__table_size(size_t n);
/* Fills the slots of a zeroed table whose header and rows (without hashes) are set. */
void kc__table_index(kc__table *table);
const kc__row *kc__table_find_slowly(const kc__table *table, const char *p, size_t n,
                                     uint32_t hash);

static inline uint64_t kc__load(const char *p, size_t n)
{
    uint64_t word = 0;
    memcpy(&word, p, n);
    return word;
}

/* Of all bytes; short names, which nearly all are, without a loop. */
static inline uint32_t kc__name_hash(const char *p, size_t n, uint64_t seed)
{
    uint64_t a, b;
    if (n > 16)
        return (uint32_t)kc_str_hash(kc_str_of(p, n), seed);
    if (n >= 8) {
        a = kc__load(p, 8);
        b = kc__load(p + n - 8, 8);
    } else if (n >= 4) {
        a = kc__load(p, 4);
        b = kc__load(p + n - 4, 4);
    } else {
        a = n ? (unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 : 0;
        b = n ? (unsigned char)p[n - 1] : 0;
    }
    __uint128_t product = (__uint128_t)(a ^ seed) * (b ^ (0x9e3779b97f4a7c15u + n));
    return (uint32_t)(product ^ (product >> 64));
}

/* The row of a name, or NULL. The table must not be NULL. */
static inline const kc__row *kc__table_find(const kc__table *table, const char *p, size_t n)
{
    uint32_t hash = kc__name_hash(p, n, table->seed);
    const uint16_t *slots = (const uint16_t *)(table->rows + table->n);
    uint16_t at = slots[hash & table->mask];
    if (!at)
        return NULL;
    const kc__row *row = &table->rows[at - 1];
    if (row->hash == hash && row->n == n && memcmp(row->name, p, n) == 0)
        return row;
    return kc__table_find_slowly(table, p, n, hash);
}

/* ---- schema_intern.c ---- */

/* Kinds of interned things: equal bytes of one kind are stored once. */
typedef enum kc__kind {
    KC__K_NODE,
    KC__K_TABLE,
    KC__K_CHECKS,
    KC__K_TEXT,
    KC__K_NUMBER,
    KC__K_SIZE,
    KC__K_CHOICE,
    KC__K_LOGIC,
    KC__K_BRANCHES,
    KC__K_EXTRAS,
    KC__K_STRING,
    KC__K_VALUE,
    KC__K_PATTERN,
    KC__N_KINDS,
} kc__kind;

typedef struct kc__interner {
    kc_schema_defs *document;
    kc_map seen[KC__N_KINDS];
    kc_arena keys;
    uint64_t seed; /* Of the document's tables. */
} kc__interner;

void kc__interner_done(kc__interner *interner);
/* The one copy of these bytes, in the document's arena. */
const void *kc__intern(kc__interner *interner, kc__kind kind, const void *bytes, size_t n);
/* The one terminated copy of a text. */
const char *kc__intern_str(kc__interner *interner, kc_str text);
/* A copy of a value that needs no view. NULL gives NULL. */
const kc_value *kc__intern_value(kc__interner *interner, const kc_value *value);
/* NULL when it is not valid; `why` then has words. */
const kc__pattern *kc__intern_pattern(kc__interner *interner, kc_str source, kc_buf *why);
/* From rows whose names and schemas are interned; required ones first. */
const kc__table *kc__intern_table(kc__interner *interner, const kc__row *rows, size_t n,
                                  size_t n_required);

/* ---- schema_compile.c, schema_rules.c, schema_defs.c ---- */

/* A node that takes the rest of itself from another, once that is complete. */
typedef struct kc__pending {
    struct kc__pending *next;
    kc_schema *node;
    const kc_schema *target;
    enum { KC__WAITING, KC__BEING_FILLED, KC__FILLED } state;
} kc__pending;

typedef struct kc__compiler {
    kc__interner in;
    const kc_schema_defs *outside; /* Where $ref leads besides the document itself. */
    bool making_defs;
    size_t nodes, max_nodes;
    kc_buf path; /* Of the keyword being read, for errors. */
    kc__pending *pending;
    kc_map pending_by_node;
    kc_error *err;
} kc__compiler;

void kc__compiler_init(kc__compiler *c, const kc_schema_opts *opts, kc_error *err);
/* Leaves the document, which is the caller's. */
void kc__compiler_done(kc__compiler *c);

/* Goes into a keyword; the result is what kc__leave takes. */
size_t kc__enter(kc__compiler *c, const char *fmt, ...) KC_PRINTF(2, 3);
void kc__leave(kc__compiler *c, size_t before);
/* An error about where it is. */
int kc__compile_error(kc__compiler *c, const char *fmt, ...) KC_PRINTF(2, 3);

/* A keyword's value if it is there, not null, and of the type; *ret is left alone otherwise. -1
 * when the type is another. */
int kc__keyword(kc__compiler *c, const kc_value *json, const char *name, kc_type type,
                const kc_value **ret);
int kc__keyword_bool(kc__compiler *c, const kc_value *json, const char *name, bool *ret);

/* A subschema, interned or named; NULL on error. */
const kc_schema *kc__compile_node(kc__compiler *c, const kc_value *json);
/* Fills node->checks. */
int kc__compile_checks(kc__compiler *c, const kc_value *json, kc_schema *node);
/* What a "$ref" of this subschema leads to. NULL when it has none (and *ret_failed is left alone),
 * or when it leads nowhere. */
const kc_schema *kc__follow_ref(kc__compiler *c, const kc_value *json, bool *ret_failed);
/* Remembers that `node` completes itself from `target`. */
void kc__complete_later(kc__compiler *c, kc_schema *node, const kc_schema *target);
/* Does so for all. */
int kc__complete_all(kc__compiler *c);

/* ---- schema.c ---- */

kc_schema_defs *kc__document_new(void);

/* ---- schema_format.c ---- */

struct kc__format {
    const char *name;    /* Without dashes. */
    const char *pattern; /* If it needs one. */
    bool (*valid)(kc_str text);
};

/* A format that is checked; NULL for others, which allow everything. Dashes do not count. */
const kc__format *kc__format_find(kc_str name);
/* schema_format_net.c */
bool kc__is_ipv4(kc_str text);
bool kc__is_ipv6(kc_str text);
bool kc__is_cidr(kc_str text);
bool kc__is_mac(kc_str text);
bool kc__is_uri(kc_str text);
bool kc__is_hostname(kc_str text); /* Besides the pattern. */
/* schema_format_mail.c */
bool kc__is_email(kc_str text);
/* schema_format_time.c */
bool kc__is_date(kc_str text);
bool kc__is_datetime(kc_str text);
bool kc__is_duration(kc_str text);

/* ---- schema_path.c: where a walk is, as a chain of stack frames ---- */

typedef enum kc__step { KC__STEP_PROPERTY, KC__STEP_ADDITIONAL, KC__STEP_INDEX } kc__step;

typedef struct kc__frame {
    const struct kc__frame *parent; /* NULL at the root, which has no step. */
    const char *name;
    size_t n; /* Of the name, or the index. */
    kc__step step;
} kc__frame;

typedef enum kc__path_style {
    KC__PATH_BODY,  /* spec.map.key, and .key below a root that is a map. */
    KC__PATH_FIELD, /* spec.map[key] */
    KC__PATH_PLAIN, /* spec.map.key */
} kc__path_style;

/* Appends the path of a frame; nothing for the root (NULL). */
void kc__path_write(kc_buf *out, const kc__frame *frame, kc__path_style style);

/* ---- schema_unique.c ---- */

/*
 * Which of n keys are equal to an earlier one: puts the position of each second appearance (not of
 * further ones) into `again`, which has room for n, and returns how many. A key may be NULL
 * (absent), which equals only NULL. Without allocation when there are few and all are scalar.
 */
size_t kc__find_repeated(const kc_value *const *keys, size_t n, size_t *again);
/* How often a text was asked about before: 0, 1, or 2 for more. A zeroed one is ready. */
typedef struct kc__seen {
    kc_map times;
    kc_arena texts;
} kc__seen;

void kc__seen_done(kc__seen *seen);
unsigned kc__seen_before(kc__seen *seen, kc_str text);

/* Numbers by value, objects whatever the order of their members. */
bool kc__same_value(const kc_value *a, const kc_value *b);

/* ---- shared small things ---- */

/* Type bits by the low bits (type and subtype) of a yyjson tag. */
extern const uint8_t kc__type_bits[32];

static inline uint8_t kc__bits_of(const yyjson_val *value)
{
    return kc__type_bits[value->tag & 31];
}

static inline bool kc__is_meta(const char *p, size_t n)
{
    return (n == 4 && !memcmp(p, "kind", 4)) || (n == 8 && !memcmp(p, "metadata", 8)) ||
           (n == 10 && !memcmp(p, "apiVersion", 10));
}

static inline const kc_value *kc__default_of(const kc_schema *schema)
{
    return schema && schema->extras ? schema->extras->default_value : NULL;
}

/* The schema of a member, or NULL; properties come first. */
static inline const kc_schema *kc__member_schema(const kc_schema *schema, const char *p, size_t n)
{
    const kc__row *row = schema->fields ? kc__table_find(schema->fields, p, n) : NULL;
    return row && row->schema ? row->schema : schema->additional;
}

/* Walks over values and over edits; `spare_meta` for the root of a whole object. */
size_t kc__count_unknown(const kc_schema *schema, const kc_value *value, bool spare_meta,
                         bool first_only, kc_paths *paths, size_t limit);
void kc__prune_node(const kc_schema *schema, kc_node *node, bool spare_meta);

#endif
