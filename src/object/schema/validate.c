/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c: validates a value against a schema.
 *
 * There are two passes of the same traversal. The first is quiet: it stops at the first error,
 * builds no text and allocates nothing; nearly all writes end there. Only if it found an error, the
 * second pass visits everything and reports every error, with the messages, order and choices of
 * kube-openapi, whose errors Kubernetes shows. Its choices need a count: when no branch of anyOf or
 * oneOf matches, the errors of the branch with the most passed checks are shown, so the second pass
 * counts checks as kube-openapi does (`matches`).
 *
 * anyOf and oneOf may visit a value many times, and recursive definitions can make that
 * exponential: values and text inside of branches are charged to a budget, and exceeding it is an
 * error. The second pass compares branches by their counts alone, and reports errors only for the
 * chosen one.
 *
 * A value that replaces another may keep its errors (ratcheting). That, too, concerns only the
 * second pass, which knows the replaced value of every value (ratchet.c).
 *
 * Accidental behaviour of Kubernetes is not reproduced; docs/internals/schema.md lists these cases.
 * schema_scalar.c validates single values.
 */
#include "object/schema/schema_validate_internal.h"

#include "kc/diff.h"

enum { MOST_NESTING = KC_JSON_MAX_DEPTH + 128 };

static bool schema_validate_check(kc__schema_validator *v, const kc_schema *schema,
                                  yyjson_val *value, const kc__schema_path_frame *at);

enum {
    SCHEMA_CONTAINERS = KC__SCHEMA_ARRAY | KC__SCHEMA_OBJECT,
    SCHEMA_NUMBERS = KC__SCHEMA_INTEGER | KC__SCHEMA_NUMBER,
};

/* True for a scalar of a type that the schema declares; `bits` are those of the value. */
static inline bool is_scalar_of_type(const kc_schema *schema, const yyjson_val *value, uint8_t bits)
{
    return bits & schema->accepts & ~SCHEMA_CONTAINERS && !kc__schema_is_beyond_int64(value);
}

/* What the quiet pass knows of a member or element without a frame of its own. */
typedef enum schema_validate_leaf {
    LEAF_VALID,
    LEAF_INVALID,
    LEAF_UNKNOWN, /* To be checked as any value. */
} schema_validate_leaf;

/* A list without rules: valid if its elements are scalars without rules. */
static schema_validate_leaf check_plain_list(const kc_schema *schema, yyjson_val *list)
{
    const kc_schema *items = schema->items;
    if (!(schema->accepts & KC__SCHEMA_ARRAY) || schema->checks || !items || items->checks)
        return LEAF_UNKNOWN;
    yyjson_val *item = unsafe_yyjson_get_first(list);
    for (size_t i = 0, n = yyjson_arr_size(list); i < n; i++, item = unsafe_yyjson_get_next(item))
        if (!is_scalar_of_type(items, item, kc__schema_bits_of(item)))
            return LEAF_UNKNOWN;
    return LEAF_VALID;
}

/* The rules for texts, numbers and enums. */
static schema_validate_leaf check_leaf_rules(kc__schema_validator *v,
                                             const kc__schema_checks *checks, yyjson_val *value,
                                             uint8_t bits)
{
    bool ok = true;
    if (checks->text && bits & KC__SCHEMA_STRING)
        ok = kc__schema_check_text(v, checks->text, value, NULL);
    if (ok && checks->number && bits & SCHEMA_NUMBERS &&
        !kc__schema_is_in_bounds(checks->number, value))
        ok = kc__schema_check_number(v, checks->number, value, NULL);
    if (ok && checks->choice)
        ok = kc__schema_check_enum(v, checks->choice, value, NULL);
    return ok ? LEAF_VALID : LEAF_INVALID;
}

/* Checks a scalar of the right type, as most values are, with rules for texts, numbers or enums
 * alone, or a list of scalars without rules. Only in the quiet pass, since the other pass counts.
 * Outside of branches, nothing but the result counts: neither the position nor the number of
 * checks. */
static inline schema_validate_leaf check_leaf(kc__schema_validator *v, const kc_schema *schema,
                                              yyjson_val *value)
{
    const uint8_t bits = kc__schema_bits_of(value);
    const kc__schema_checks *checks = schema->checks;
    if (v->errors)
        return LEAF_UNKNOWN;
    if (bits == KC__SCHEMA_ARRAY && !v->inside)
        return check_plain_list(schema, value);
    if (!is_scalar_of_type(schema, value, bits))
        return LEAF_UNKNOWN;
    if (!checks)
        return LEAF_VALID;
    if (v->inside || checks->logic || bits == KC__SCHEMA_NULL)
        return LEAF_UNKNOWN;
    if (bits & SCHEMA_NUMBERS && checks->number && !checks->choice &&
        kc__schema_is_in_bounds(checks->number, value))
        return LEAF_VALID;
    return check_leaf_rules(v, checks, value, bits);
}

/* ---- branches ---- */

/* A quiet result, in either pass. */
static bool schema_validate_fits(kc__schema_validator *v, const kc_schema *schema,
                                 yyjson_val *value, const kc__schema_path_frame *at)
{
    kc_field_errors *errors = v->errors;
    uint64_t matches = v->matches;
    v->errors = NULL;
    bool ok = schema_validate_check(v, schema, value, at);
    v->errors = errors;
    v->matches = matches;
    return ok;
}

/* The result of one branch, in the second pass. */
typedef struct schema_validate_verdict {
    bool ok;
    uint64_t matches;
    kc_field_errors errors;
} schema_validate_verdict;

static void schema_validate_verdict_done(schema_validate_verdict *this)
{
    kc_field_errors_done(&this->errors);
}

static void schema_validate_evaluate(kc__schema_validator *v, const kc_schema *branch,
                                     yyjson_val *value, const kc__schema_path_frame *at,
                                     schema_validate_verdict *ret)
{
    kc_field_errors *errors = v->errors;
    uint64_t matches = v->matches;
    *ret = (schema_validate_verdict){0};
    v->errors = &ret->errors;
    v->matches = 0;
    ret->ok = schema_validate_check(v, branch, value, at);
    ret->matches = v->matches;
    v->errors = errors;
    v->matches = matches;
}

/* Whether the branch matches, and the number of passed checks; without reports. */
static bool schema_validate_count(kc__schema_validator *v, const kc_schema *branch,
                                  yyjson_val *value, const kc__schema_path_frame *at,
                                  uint64_t *ret_matches)
{
    kc_scoped(schema_validate_verdict) this = {0};
    bool counting = v->counting;
    v->counting = true;
    schema_validate_evaluate(v, branch, value, at, &this);
    v->counting = counting;
    *ret_matches = this.matches;
    return this.ok;
}

/* Merging compares every error with every other, which is charged, too. */
static void charge_merge(kc__schema_validator *v, const kc_field_errors *from)
{
    size_t text = from->arena.used + v->errors->arena.used;
    size_t n = from->list.n + v->errors->list.n + 1;
    v->spent += from->list.n * v->errors->list.n / 4 * (1 + text / n / 256);
}

static void adopt(kc__schema_validator *v, const schema_validate_verdict *this)
{
    v->matches += this->matches;
    charge_merge(v, &this->errors);
    kc_field_errors_merge(v->errors, &this->errors);
}

/* Reports the errors of the chosen branch. */
static void report_branch(kc__schema_validator *v, const kc_schema *branch, yyjson_val *value,
                          const kc__schema_path_frame *at)
{
    kc_scoped(schema_validate_verdict) this = {0};
    schema_validate_evaluate(v, branch, value, at, &this);
    adopt(v, &this);
}

static bool any_fits(kc__schema_validator *v, const kc__schema_branches *any, yyjson_val *value,
                     const kc__schema_path_frame *at)
{
    for (size_t i = 0; i < any->n && !v->exhausted; i++)
        if (schema_validate_fits(v, any->list[i], value, at))
            return true;
    return false;
}

static bool check_any(kc__schema_validator *v, const kc__schema_branches *any, yyjson_val *value,
                      const kc__schema_path_frame *at)
{
    const kc_schema *best = NULL;
    uint64_t most = 0;
    if (!v->errors)
        return any_fits(v, any, value, at);
    for (size_t i = 0; i < any->n && !v->exhausted; i++) {
        uint64_t matches;
        if (schema_validate_count(v, any->list[i], value, at, &matches)) {
            v->matches += matches;
            return true;
        }
        if (!best || matches > most) {
            best = any->list[i];
            most = matches;
        }
    }
    kc__schema_report_composite(v, at, "must validate at least one schema (anyOf)");
    if (best)
        report_branch(v, best, value, at);
    return false;
}

static bool one_fits(kc__schema_validator *v, const kc__schema_branches *one, yyjson_val *value,
                     const kc__schema_path_frame *at)
{
    size_t fit = 0;
    for (size_t i = 0; i < one->n && fit < 2 && !v->exhausted; i++)
        fit += schema_validate_fits(v, one->list[i], value, at);
    return fit == 1;
}

static bool schema_validate_check_one(kc__schema_validator *v, const kc__schema_branches *one,
                                      yyjson_val *value, const kc__schema_path_frame *at)
{
    const kc_schema *best = NULL;
    size_t fit = 0;
    uint64_t most = 0, fitting = 0;
    if (!v->errors)
        return one_fits(v, one, value, at);
    for (size_t i = 0; i < one->n && !v->exhausted; i++) {
        uint64_t matches;
        bool ok = schema_validate_count(v, one->list[i], value, at, &matches);
        fitting = ok && !fit ? matches : fitting;
        fit += ok;
        if (!ok && !fit && (!best || matches > most)) {
            best = one->list[i];
            most = matches;
        }
    }
    if (fit == 1) {
        v->matches += fitting;
        return true;
    }
    if (fit) {
        kc__schema_report_composite(
            v, at, "must validate one and only one schema (oneOf). Found %zu valid alternatives",
            fit);
        return false;
    }
    kc__schema_report_composite(v, at,
                                "must validate one and only one schema (oneOf). Found none valid");
    if (best)
        report_branch(v, best, value, at);
    return false;
}

static bool check_all(kc__schema_validator *v, const kc__schema_branches *all, yyjson_val *value,
                      const kc__schema_path_frame *at)
{
    size_t fit = 0;
    for (size_t i = 0; i < all->n && !v->exhausted; i++) {
        kc_scoped(schema_validate_verdict) one = {0};
        if (!v->errors) {
            if (!schema_validate_check(v, all->list[i], value, at))
                return false;
            fit++;
            continue;
        }
        schema_validate_evaluate(v, all->list[i], value, at, &one);
        fit += one.ok;
        adopt(v, &one);
    }
    if (fit < all->n && v->errors)
        kc__schema_report_composite(v, at, "must validate all the schemas (allOf)%s",
                                    fit ? "" : ". None validated");
    return fit == all->n;
}

static bool check_none(kc__schema_validator *v, const kc_schema *none, yyjson_val *value,
                       const kc__schema_path_frame *at)
{
    if (!schema_validate_fits(v, none, value, at))
        return !v->exhausted;
    kc__schema_report_composite(v, at, "must not validate the schema (not)");
    return false;
}

static __attribute__((noinline)) bool check_logic(kc__schema_validator *v,
                                                  const kc__schema_logic *logic, yyjson_val *value,
                                                  const kc__schema_path_frame *at)
{
    bool ok = true;
    v->inside++;
    if (logic->any)
        ok &= check_any(v, logic->any, value, at);
    if (logic->one && (ok || v->errors))
        ok &= schema_validate_check_one(v, logic->one, value, at);
    if (logic->all && (ok || v->errors))
        ok &= check_all(v, logic->all, value, at);
    if (logic->none && (ok || v->errors))
        ok &= check_none(v, logic->none, value, at);
    v->inside--;
    return ok;
}

/* ---- arrays and objects ---- */

static bool check_array(kc__schema_validator *v, const kc_schema *schema, yyjson_val *array,
                        const kc__schema_path_frame *at)
{
    bool ok = true;
    size_t n = yyjson_arr_size(array);
    yyjson_val *item = unsafe_yyjson_get_first(array);
    const kc_value *old = v->old;
    kc__schema_path_frame frame = {.parent = at, .step = KC__SCHEMA_STEP_INDEX};
    v->matches += 2;
    v->spent += v->inside ? n : 0;
    for (size_t i = 0; schema->items && i < n; i++, item = unsafe_yyjson_get_next(item)) {
        frame.n = i;
        v->old = old ? kc__schema_old_item(v, schema, item) : NULL;
        const schema_validate_leaf leaf = check_leaf(v, schema->items, item);
        if (leaf != LEAF_VALID &&
            (leaf == LEAF_INVALID || !schema_validate_check(v, schema->items, item, &frame))) {
            ok = false;
            if (!v->errors)
                break;
        }
    }
    v->old = old;
    if (!ok && !v->errors)
        return false;
    if (schema->checks && schema->checks->size)
        ok &= kc__schema_check_items(v, schema->checks->size, array, at);
    return ok;
}

/* Reports the missing required members, which the quiet pass only counted. */
static bool report_missing(kc__schema_validator *v, const kc__schema_property_table *table,
                           yyjson_val *object, const kc__schema_path_frame *at)
{
    if (!v->errors)
        return false;
    kc_autofree bool *there = kc_calloc(table->n_required, sizeof(*there));
    kc_value_each_member (object, name, value) {
        (void)value;
        const kc__schema_property_row *row = kc__schema_table_find(table, name.p, name.n);
        if (row && row < table->rows + table->n_required)
            there[row - table->rows] = true;
    }
    for (size_t i = 0; i < table->n_required; i++)
        if (!there[i])
            kc__schema_report_required(v, at, &table->rows[i]);
    return false;
}

/* Errors in apiVersion and kind are never ignored: old and new were made equal in them. */
static bool schema_validate_is_kind(const kc__schema_path_frame *at, const char *name, size_t n)
{
    kc_str text = kc_str_of(name, n);
    return !at && (kc_str_is(text, "kind") || kc_str_is(text, "apiVersion"));
}

static __attribute__((noinline)) bool check_member(kc__schema_validator *v, const kc_schema *schema,
                                                   const kc_schema *property, yyjson_val *key,
                                                   const kc__schema_path_frame *at)
{
    const kc_schema *child = property ? property : schema->additional;
    kc__schema_path_frame frame = {.parent = at, .name = unsafe_yyjson_get_str(key)};
    frame.n = unsafe_yyjson_get_len(key);
    frame.step = property ? KC__SCHEMA_STEP_PROPERTY : KC__SCHEMA_STEP_ADDITIONAL;
    if (!child && schema->flags & KC__SCHEMA_CLOSED)
        return kc__schema_report_forbidden(v, at, kc_str_of(frame.name, frame.n));
    if (!child || !v->old)
        return !child || schema_validate_check(v, child, key + 1, &frame);
    const kc_value *old = v->old;
    v->old = schema_validate_is_kind(at, frame.name, frame.n)
                 ? NULL
                 : kc__schema_old_member(v, kc_str_of(frame.name, frame.n));
    bool ok = schema_validate_check(v, child, key + 1, &frame);
    v->old = old;
    return ok;
}

static bool schema_validate_check_object(kc__schema_validator *v, const kc_schema *schema,
                                         yyjson_val *object, const kc__schema_path_frame *at)
{
    bool ok = true;
    const kc__schema_property_table *table = schema->fields;
    size_t n = yyjson_obj_size(object), required = 0;
    v->matches++;
    v->spent += v->inside ? n : 0;
    if (schema->checks && schema->checks->size)
        ok = kc__schema_check_properties(v, schema->checks->size, n, at);
    if (!ok && !v->errors)
        return false;
    if (!table && !schema->additional && !(schema->flags & KC__SCHEMA_CLOSED))
        return ok;
    yyjson_val *key = unsafe_yyjson_get_first(object);
    kc__schema_last_rows *last =
        table ? kc__schema_last_rows_for(v->last_rows, v->depth, table) : NULL;
    for (size_t i = 0; i < n; i++, key = unsafe_yyjson_get_next(key + 1)) {
        const kc_schema *property = NULL;
        if (table) {
            const kc__schema_property_row *row = kc__schema_table_find_at(
                table, last, i, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
            required += row && row < table->rows + table->n_required;
            property = row ? row->schema : NULL;
        }
        const kc_schema *child = property ? property : schema->additional;
        const schema_validate_leaf leaf = child ? check_leaf(v, child, key + 1) : LEAF_UNKNOWN;
        if (leaf == LEAF_VALID)
            continue;
        if (leaf == LEAF_INVALID || !check_member(v, schema, property, key, at)) {
            ok = false;
            if (!v->errors)
                return false;
        }
    }
    if (table && required < table->n_required)
        ok = report_missing(v, table, object, at);
    return ok;
}

/* ---- one value ---- */

/* The parts of a value that replaces another, each with the value it replaces. */
static __attribute__((noinline)) bool check_parts(kc__schema_validator *v, const kc_schema *schema,
                                                  yyjson_val *value,
                                                  const kc__schema_path_frame *at, uint8_t bits)
{
    kc__schema_old_children things;
    bool is_array = bits & KC__SCHEMA_ARRAY;
    if (v->inside)
        kc__schema_charge_value(v, v->old);
    if (is_array)
        kc__schema_old_enter_list(v, schema, &things);
    else
        kc__schema_old_enter_object(v, &things);
    bool ok = is_array ? check_array(v, schema, value, at)
                       : schema_validate_check_object(v, schema, value, at);
    kc__schema_old_leave(v, &things);
    return ok;
}

static bool check_content(kc__schema_validator *v, const kc_schema *schema, yyjson_val *value,
                          const kc__schema_path_frame *at, uint8_t bits)
{
    const kc__schema_checks *checks = schema->checks;
    bool ok = true;
    v->matches += 4; /* Two validators that always apply, one that counts itself, and the whole. */
    if (checks && checks->logic)
        ok = check_logic(v, checks->logic, value, at);
    if (bits & KC__SCHEMA_STRING)
        v->matches++;
    if (bits & (KC__SCHEMA_INTEGER | KC__SCHEMA_NUMBER))
        v->matches += 2;
    if (checks && checks->text && bits & KC__SCHEMA_STRING && (ok || v->errors))
        ok &= kc__schema_check_text(v, checks->text, value, at);
    if (checks && checks->number && bits & (KC__SCHEMA_INTEGER | KC__SCHEMA_NUMBER) &&
        (ok || v->errors))
        ok &= kc__schema_check_number(v, checks->number, value, at);
    if (bits & KC__SCHEMA_ARRAY && (ok || v->errors))
        ok &= v->old ? check_parts(v, schema, value, at, bits) : check_array(v, schema, value, at);
    if (checks && checks->choice && (ok || v->errors))
        ok &= kc__schema_check_enum(v, checks->choice, value, at);
    if (bits & KC__SCHEMA_OBJECT && (ok || v->errors))
        ok &= v->old ? check_parts(v, schema, value, at, bits)
                     : schema_validate_check_object(v, schema, value, at);
    return ok;
}

static __attribute__((noinline)) bool check_null(kc__schema_validator *v, const kc_schema *schema,
                                                 yyjson_val *value, const kc__schema_path_frame *at)
{
    bool ok = schema->accepts & KC__SCHEMA_NULL;
    v->matches += ok;
    if (!ok)
        kc__schema_report_type(v, schema, "null", at);
    if (schema->checks && schema->checks->choice && (ok || v->errors))
        ok &= kc__schema_check_enum(v, schema->checks->choice, value, at);
    return ok;
}

static bool within_budget(kc__schema_validator *v)
{
    v->spent += v->inside != 0;
    v->exhausted |= v->depth >= MOST_NESTING || v->spent >= KC__SCHEMA_VALIDATE_BUDGET;
    return !v->exhausted;
}

static bool schema_validate_check_value(kc__schema_validator *v, const kc_schema *schema,
                                        yyjson_val *value, const kc__schema_path_frame *at)
{
    uint8_t bits = kc__schema_bits_of(value);
    if (bits == KC__SCHEMA_INTEGER && kc__schema_is_beyond_int64(value))
        bits = KC__SCHEMA_NUMBER;
    bool typed = bits & schema->accepts;
    if (!within_budget(v))
        return false;
    if (bits == KC__SCHEMA_NULL)
        return check_null(v, schema, value, at);
    if (!typed)
        typed = kc__schema_check_type(v, schema, value, at, bits);
    if (!typed && !v->errors)
        return false;
    if (kc__schema_has_type(schema))
        v->matches += 1 + typed;
    v->depth++;
    bool ok = check_content(v, schema, value, at, bits);
    v->depth--;
    return ok && typed;
}

/*
 * A value that replaces another: its errors are ignored if it is unchanged, but not if a part of it
 * is known to be new; so each value is compared at most once, however deep.
 */
static __attribute__((noinline)) bool check_change(kc__schema_validator *v, const kc_schema *schema,
                                                   yyjson_val *value,
                                                   const kc__schema_path_frame *at)
{
    bool outer = v->differs;
    size_t n = v->errors ? v->errors->list.n : 0, dropped = v->errors ? v->errors->dropped : 0;
    v->differs = false;
    bool ok = schema_validate_check_value(v, schema, value, at);
    if (!ok && !v->exhausted && !v->differs) {
        if (v->inside)
            kc__schema_charge_value(v, value);
        ok = kc_value_equal(value, v->old, NULL);
        v->differs = !ok;
    }
    if (ok && v->errors) {
        v->errors->list.n = n;
        v->errors->dropped = dropped;
    }
    v->differs |= outer;
    return ok;
}

static bool schema_validate_check(kc__schema_validator *v, const kc_schema *schema,
                                  yyjson_val *value, const kc__schema_path_frame *at)
{
    return v->old ? check_change(v, schema, value, at)
                  : schema_validate_check_value(v, schema, value, at);
}

/* The second pass. Collects its errors separately, since an error may be found twice. */
static bool report_all(kc__schema_validator *v, const kc_schema *schema, const kc_value *value,
                       kc_field_errors *errors)
{
    bool ok = false;
    kc_scoped(kc_field_errors) found = {.limit = errors->limit};
    v->errors = &found;
    v->spent = 0;
    if (!v->exhausted)
        ok = schema_validate_check(v, schema, (yyjson_val *)value, NULL);
    if (v->exhausted) {
        ok = false;
        kc_field_errors_done(&found);
        kc__schema_report_composite(v, NULL,
                                    "is too complex to validate: there are too many alternatives "
                                    "(allOf, anyOf, oneOf, not) to try");
    }
    assert(ok == (found.list.n + found.dropped == 0));
    kc_field_errors_merge(errors, &found);
    return ok;
}

bool kc_schema_validate(const kc_schema *schema, const kc_value *value,
                        const kc_schema_validate_opts *opts, kc_field_errors *errors)
{
    kc__schema_validator v;
    if (!schema || !value)
        return true;
    kc__schema_validator_init(&v, opts);
    bool ok = schema_validate_check(&v, schema, (yyjson_val *)value, NULL);
    v.old = opts ? opts->old : NULL;
    if (!ok)
        ok = report_all(&v, schema, value, errors);
    return ok;
}
