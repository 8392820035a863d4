/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_validate.c: does a value obey a schema, and if not, why not.
 *
 * Two passes of the same walk. The first is quiet: it stops at the first thing wrong, builds no
 * text and allocates nothing; nearly all writes end there. Only if it found something does the
 * second pass look at everything and report: every error, in the words, order and with the choices
 * of kube-openapi, whose errors Kubernetes shows. Its choices need a count: when no branch of anyOf
 * or oneOf fits, the errors of the branch with the most checks passed are shown, so the second pass
 * counts checks as kube-openapi does (`matches`).
 *
 * anyOf and oneOf may look at a value many times, and recursive definitions can make that
 * exponential: values looked at inside of branches draw on a budget, and an empty one is an error.
 *
 * A value that replaces another may keep what is wrong with it. That too concerns only the second
 * pass, which then knows of every value what stood in its place (schema_ratchet.c).
 *
 * Where Kubernetes' behaviour is an accident it is not followed; docs/internals/schema.md lists
 * these places. Checks of single values are in schema_scalar.c.
 */
#include "object/schema_validate_internal.h"

#include "kc/diff.h"

enum { BUDGET = 10 * 1000 * 1000, MOST_NESTING = KC_JSON_MAX_DEPTH + 128 };

static bool check(kc__validator *v, const kc_schema *schema, yyjson_val *value,
                  const kc__frame *at);

/* Right at first sight, as most values are: a scalar of the right type with no rules. Only the
 * quiet pass may skip it, since the other counts. */
static inline bool is_plain(const kc__validator *v, const kc_schema *schema,
                            const yyjson_val *value)
{
    uint8_t bits = kc__bits_of(value);
    return !v->errors && !schema->checks && bits & schema->accepts &&
           !(bits & (KC__ARRAY | KC__OBJECT)) && !kc__is_beyond_int64(value);
}

/* ---- Branches ---- */

/* A quiet answer, whatever the pass. */
static bool fits(kc__validator *v, const kc_schema *schema, yyjson_val *value, const kc__frame *at)
{
    kc_field_errors *errors = v->errors;
    uint64_t matches = v->matches;
    v->errors = NULL;
    bool ok = check(v, schema, value, at);
    v->errors = errors;
    v->matches = matches;
    return ok;
}

/* What one branch said, in the second pass. */
typedef struct verdict {
    bool ok;
    uint64_t matches;
    kc_field_errors errors;
} verdict;

static void verdict_done(verdict *this)
{
    kc_field_errors_done(&this->errors);
}

static void judge(kc__validator *v, const kc_schema *branch, yyjson_val *value, const kc__frame *at,
                  verdict *ret)
{
    kc_field_errors *errors = v->errors;
    uint64_t matches = v->matches;
    *ret = (verdict){0};
    v->errors = &ret->errors;
    v->matches = 0;
    ret->ok = check(v, branch, value, at);
    ret->matches = v->matches;
    v->errors = errors;
    v->matches = matches;
}

static void keep_best(verdict *best, verdict *other, bool *have)
{
    if (!*have || other->matches > best->matches) {
        verdict_done(best);
        *best = *other;
        *have = true;
    } else {
        verdict_done(other);
    }
}

static void adopt(kc__validator *v, const verdict *best)
{
    v->matches += best->matches;
    kc_field_errors_merge(v->errors, &best->errors);
}

static bool any_fits(kc__validator *v, const kc__branches *any, yyjson_val *value,
                     const kc__frame *at)
{
    for (size_t i = 0; i < any->n; i++)
        if (fits(v, any->list[i], value, at))
            return true;
    return false;
}

static bool check_any(kc__validator *v, const kc__branches *any, yyjson_val *value,
                      const kc__frame *at)
{
    kc_scoped(verdict) best = {0};
    bool have = false;
    if (!v->errors)
        return any_fits(v, any, value, at);
    for (size_t i = 0; i < any->n; i++) {
        verdict one;
        judge(v, any->list[i], value, at, &one);
        if (one.ok) {
            v->matches += one.matches;
            verdict_done(&one);
            return true;
        }
        keep_best(&best, &one, &have);
    }
    kc__report_composite(v, at, "must validate at least one schema (anyOf)");
    adopt(v, &best);
    return false;
}

static bool one_fits(kc__validator *v, const kc__branches *one, yyjson_val *value,
                     const kc__frame *at)
{
    size_t fit = 0;
    for (size_t i = 0; i < one->n && fit < 2; i++)
        fit += fits(v, one->list[i], value, at);
    return fit == 1;
}

static bool check_one(kc__validator *v, const kc__branches *one, yyjson_val *value,
                      const kc__frame *at)
{
    kc_scoped(verdict) best = {0};
    bool have = false;
    size_t fit = 0;
    uint64_t matches = 0;
    if (!v->errors)
        return one_fits(v, one, value, at);
    for (size_t i = 0; i < one->n; i++) {
        verdict this;
        judge(v, one->list[i], value, at, &this);
        matches = this.ok && !fit ? this.matches : matches;
        fit += this.ok;
        if (!this.ok && !fit)
            keep_best(&best, &this, &have);
        else
            verdict_done(&this);
    }
    if (fit == 1) {
        v->matches += matches;
        return true;
    }
    if (fit) {
        kc__report_composite(
            v, at, "must validate one and only one schema (oneOf). Found %zu valid alternatives",
            fit);
        return false;
    }
    kc__report_composite(v, at, "must validate one and only one schema (oneOf). Found none valid");
    adopt(v, &best);
    return false;
}

static bool check_all(kc__validator *v, const kc__branches *all, yyjson_val *value,
                      const kc__frame *at)
{
    size_t fit = 0;
    for (size_t i = 0; i < all->n; i++) {
        kc_scoped(verdict) one = {0};
        if (!v->errors) {
            if (!check(v, all->list[i], value, at))
                return false;
            fit++;
            continue;
        }
        judge(v, all->list[i], value, at, &one);
        fit += one.ok;
        adopt(v, &one);
    }
    if (fit < all->n && v->errors)
        kc__report_composite(v, at, "must validate all the schemas (allOf)%s",
                             fit ? "" : ". None validated");
    return fit == all->n;
}

static bool check_none(kc__validator *v, const kc_schema *none, yyjson_val *value,
                       const kc__frame *at)
{
    if (!fits(v, none, value, at))
        return !v->exhausted;
    kc__report_composite(v, at, "must not validate the schema (not)");
    return false;
}

static __attribute__((noinline)) bool check_logic(kc__validator *v, const kc__logic *logic,
                                                  yyjson_val *value, const kc__frame *at)
{
    bool ok = true;
    v->inside++;
    if (logic->any)
        ok &= check_any(v, logic->any, value, at);
    if (logic->one && (ok || v->errors))
        ok &= check_one(v, logic->one, value, at);
    if (logic->all && (ok || v->errors))
        ok &= check_all(v, logic->all, value, at);
    if (logic->none && (ok || v->errors))
        ok &= check_none(v, logic->none, value, at);
    v->inside--;
    return ok;
}

/* ---- Arrays and objects ---- */

static bool check_array(kc__validator *v, const kc_schema *schema, yyjson_val *array,
                        const kc__frame *at)
{
    bool ok = true;
    size_t n = yyjson_arr_size(array);
    yyjson_val *item = unsafe_yyjson_get_first(array);
    const kc_value *old = v->old;
    kc__frame frame = {.parent = at, .step = KC__STEP_INDEX};
    v->matches += 2;
    v->spent += v->inside ? n : 0;
    for (size_t i = 0; schema->items && i < n; i++, item = unsafe_yyjson_get_next(item)) {
        frame.n = i;
        v->old = old ? kc__old_item(v, schema, item) : NULL;
        if (!is_plain(v, schema->items, item) && !check(v, schema->items, item, &frame)) {
            ok = false;
            if (!v->errors)
                break;
        }
    }
    v->old = old;
    if (!ok && !v->errors)
        return false;
    if (schema->checks && schema->checks->size)
        ok &= kc__check_items(v, schema->checks->size, array, at);
    return ok;
}

/* Reports what is required and not there: only now is it worth finding out. */
static bool report_missing(kc__validator *v, const kc__table *table, yyjson_val *object,
                           const kc__frame *at)
{
    if (!v->errors)
        return false;
    kc_autofree bool *there = kc_calloc(table->n_required, sizeof(*there));
    kc_members (object, name, value) {
        (void)value;
        const kc__row *row = kc__table_find(table, name.p, name.n);
        if (row && row < table->rows + table->n_required)
            there[row - table->rows] = true;
    }
    for (size_t i = 0; i < table->n_required; i++)
        if (!there[i])
            kc__report_required(v, at, &table->rows[i]);
    return false;
}

/* What an object is, is never forgiven: old and new have been made the same in it. */
static bool is_kind(const kc__frame *at, const char *name, size_t n)
{
    kc_str text = kc_str_of(name, n);
    return !at && (kc_str_is(text, "kind") || kc_str_is(text, "apiVersion"));
}

static __attribute__((noinline)) bool check_member(kc__validator *v, const kc_schema *schema,
                                                   const kc_schema *property, yyjson_val *key,
                                                   const kc__frame *at)
{
    const kc_schema *child = property ? property : schema->additional;
    kc__frame frame = {.parent = at, .name = unsafe_yyjson_get_str(key)};
    frame.n = unsafe_yyjson_get_len(key);
    frame.step = property ? KC__STEP_PROPERTY : KC__STEP_ADDITIONAL;
    if (!child && schema->flags & KC__CLOSED)
        return kc__report_forbidden(v, at, kc_str_of(frame.name, frame.n));
    if (!child || !v->old)
        return !child || check(v, child, key + 1, &frame);
    const kc_value *old = v->old;
    v->old =
        is_kind(at, frame.name, frame.n) ? NULL : kc__old_member(v, kc_str_of(frame.name, frame.n));
    bool ok = check(v, child, key + 1, &frame);
    v->old = old;
    return ok;
}

static bool check_object(kc__validator *v, const kc_schema *schema, yyjson_val *object,
                         const kc__frame *at)
{
    bool ok = true;
    const kc__table *table = schema->fields;
    size_t n = yyjson_obj_size(object), required = 0;
    v->matches++;
    v->spent += v->inside ? n : 0;
    if (schema->checks && schema->checks->size)
        ok = kc__check_properties(v, schema->checks->size, n, at);
    if (!ok && !v->errors)
        return false;
    if (!table && !schema->additional && !(schema->flags & KC__CLOSED))
        return ok;
    yyjson_val *key = unsafe_yyjson_get_first(object);
    for (size_t i = 0; i < n; i++, key = unsafe_yyjson_get_next(key + 1)) {
        const kc_schema *property = NULL;
        if (table) {
            const kc__row *row =
                kc__table_find(table, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
            required += row && row < table->rows + table->n_required;
            property = row ? row->schema : NULL;
        }
        const kc_schema *child = property ? property : schema->additional;
        if (child && is_plain(v, child, key + 1))
            continue;
        if (!check_member(v, schema, property, key, at)) {
            ok = false;
            if (!v->errors)
                return false;
        }
    }
    if (table && required < table->n_required)
        ok = report_missing(v, table, object, at);
    return ok;
}

/* ---- One value ---- */

/* The parts of a value that replaces another, each with what it replaces. */
static __attribute__((noinline)) bool check_parts(kc__validator *v, const kc_schema *schema,
                                                  yyjson_val *value, const kc__frame *at,
                                                  uint8_t bits)
{
    kc__old_things things;
    bool is_array = bits & KC__ARRAY;
    if (is_array)
        kc__old_enter_list(v, schema, &things);
    else
        kc__old_enter_object(v, &things);
    bool ok = is_array ? check_array(v, schema, value, at) : check_object(v, schema, value, at);
    kc__old_leave(v, &things);
    return ok;
}

static bool check_content(kc__validator *v, const kc_schema *schema, yyjson_val *value,
                          const kc__frame *at, uint8_t bits)
{
    const kc__checks *checks = schema->checks;
    bool ok = true;
    v->matches += 4; /* Two validators that always apply, one that counts itself, and the whole. */
    if (checks && checks->logic)
        ok = check_logic(v, checks->logic, value, at);
    if (bits & KC__STRING)
        v->matches++;
    if (bits & (KC__INTEGER | KC__NUMBER))
        v->matches += 2;
    if (checks && checks->text && bits & KC__STRING && (ok || v->errors))
        ok &= kc__check_text(v, checks->text, value, at);
    if (checks && checks->number && bits & (KC__INTEGER | KC__NUMBER) && (ok || v->errors))
        ok &= kc__check_number(v, checks->number, value, at);
    if (bits & KC__ARRAY && (ok || v->errors))
        ok &= v->old ? check_parts(v, schema, value, at, bits) : check_array(v, schema, value, at);
    if (checks && checks->choice && (ok || v->errors))
        ok &= kc__check_choice(v, checks->choice, value, at);
    if (bits & KC__OBJECT && (ok || v->errors))
        ok &= v->old ? check_parts(v, schema, value, at, bits) : check_object(v, schema, value, at);
    return ok;
}

static __attribute__((noinline)) bool check_null(kc__validator *v, const kc_schema *schema,
                                                 yyjson_val *value, const kc__frame *at)
{
    bool ok = schema->accepts & KC__NULL;
    v->matches += ok;
    if (!ok)
        kc__report_type(v, schema, "null", at);
    if (schema->checks && schema->checks->choice && (ok || v->errors))
        ok &= kc__check_choice(v, schema->checks->choice, value, at);
    return ok;
}

static bool within_budget(kc__validator *v)
{
    if (v->exhausted)
        return false;
    if (v->depth < MOST_NESTING && (!v->inside || ++v->spent < BUDGET))
        return true;
    v->exhausted = true;
    return false;
}

static bool check_value(kc__validator *v, const kc_schema *schema, yyjson_val *value,
                        const kc__frame *at)
{
    uint8_t bits = kc__bits_of(value);
    if (bits == KC__INTEGER && kc__is_beyond_int64(value))
        bits = KC__NUMBER;
    bool typed = bits & schema->accepts;
    if (!within_budget(v))
        return false;
    if (bits == KC__NULL)
        return check_null(v, schema, value, at);
    if (!typed)
        typed = kc__check_type(v, schema, value, at, bits);
    if (!typed && !v->errors)
        return false;
    if (kc__has_type(schema))
        v->matches += 1 + typed;
    v->depth++;
    bool ok = check_content(v, schema, value, at, bits);
    v->depth--;
    return ok && typed;
}

/*
 * A value that replaces another: what is wrong with it is forgiven when it is the same. Where a
 * part of it is known to be new, it is not; so each value is compared once at most, however deep.
 */
static __attribute__((noinline)) bool check_change(kc__validator *v, const kc_schema *schema,
                                                   yyjson_val *value, const kc__frame *at)
{
    bool outer = v->differs;
    size_t n = v->errors ? v->errors->list.n : 0, dropped = v->errors ? v->errors->dropped : 0;
    v->differs = false;
    bool ok = check_value(v, schema, value, at);
    if (!ok && !v->exhausted && !v->differs) {
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

static bool check(kc__validator *v, const kc_schema *schema, yyjson_val *value, const kc__frame *at)
{
    return v->old ? check_change(v, schema, value, at) : check_value(v, schema, value, at);
}

/* The second pass. Its errors are gathered apart, since one thing may be found twice. */
static bool report_all(kc__validator *v, const kc_schema *schema, const kc_value *value,
                       kc_field_errors *errors)
{
    bool ok = false;
    kc_scoped(kc_field_errors) found = {.limit = errors->limit};
    v->errors = &found;
    v->spent = 0;
    if (!v->exhausted)
        ok = check(v, schema, (yyjson_val *)value, NULL);
    if (v->exhausted) {
        ok = false;
        kc_field_errors_done(&found);
        kc__report_composite(v, NULL,
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
    kc__validator v;
    if (!schema || !value)
        return true;
    kc__validator_init(&v, opts);
    bool ok = check(&v, schema, (yyjson_val *)value, NULL);
    v.old = opts ? opts->old : NULL;
    if (!ok)
        ok = report_all(&v, schema, value, errors);
    kc__matcher_done(&v.matcher);
    return ok;
}
