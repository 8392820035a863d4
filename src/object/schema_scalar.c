/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_scalar.c: judging one value: its type, length, pattern, format, bounds, whether an enum
 * has it, how many members it has.
 *
 * Numbers follow Kubernetes: what fits int64_t is whole, everything else is floating point; a
 * floating point number without a fraction is an integer up to 2^53.
 */
#include "object/schema_validate_internal.h"

#include "kc/number.h"
#include "object/go_json.h"
#include "object/go_quote.h"

#include <math.h>
#include <stdio.h>

/* ---- Types ---- */

bool kc__has_type(const kc_schema *schema)
{
    return schema->types ||
           (schema->checks && schema->checks->text && schema->checks->text->format);
}

/* Whole up to a relative error, as computed quotients are. */
static bool is_whole(double f)
{
    const double largest = 9007199254740991.0, epsilon = 1e-9;
    if (!(f >= -largest && f <= largest))
        return false;
    double g = trunc(f);
    if (f == g)
        return true;
    return f > 0 && g > 0 && (f - g) / (f + g) < epsilon;
}

static const char *name_of(uint8_t bits)
{
    switch (bits) {
    case KC__BOOLEAN: return "boolean";
    case KC__INTEGER: return "integer";
    case KC__NUMBER: return "number";
    case KC__STRING: return "string";
    case KC__ARRAY: return "array";
    default: return "object";
    }
}

/* A known format speaks for the type, about values that cannot have one. */
static bool report_format_type(kc__validator *v, const kc_schema *schema, const kc__frame *at,
                               uint8_t bits)
{
    const char *found = bits == KC__INTEGER ? "int64" : bits == KC__NUMBER ? "float64" : "";
    kc_scoped(kc_buf) quoted = {0};
    kc_buf_printf(&quoted, "\"%s\"", found);
    return kc__report(v, at, KC_FIELD_TYPE_INVALID, kc_buf_str(&quoted), "must be of type %s: %s",
                      schema->checks->text->format_name, kc_buf_cstr(&quoted));
}

bool kc__check_type(kc__validator *v, const kc_schema *schema, yyjson_val *value,
                    const kc__frame *at, uint8_t bits)
{
    double number = 0;
    if (bits == KC__NUMBER && kc_as_f64(value, &number) && schema->types & KC__INTEGER &&
        is_whole(number))
        return true;
    bool format = schema->checks && schema->checks->text && schema->checks->text->format;
    if (format && !(bits & (KC__STRING | KC__ARRAY)))
        return report_format_type(v, schema, at, bits);
    return kc__report_type(v, schema, name_of(bits), at);
}

/* ---- Strings ---- */

static int64_t code_points(kc_str text)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

static bool check_length(kc__validator *v, const kc__text_rules *rules, yyjson_val *value,
                         const kc__frame *at)
{
    kc_str text = kc_as_str(value);
    int64_t bytes = (int64_t)text.n;
    /* A code point has one to four bytes, which often decides. */
    if (rules->max >= 0 && bytes > rules->max && code_points(text) > rules->max)
        return kc__report_plain(v, at, KC_FIELD_TOO_LONG, (kc_str){0},
                                "may not be more than %lld byte%s", (long long)rules->max,
                                rules->max == 1 ? "" : "s");
    if (rules->min >= 0 &&
        (bytes < rules->min || (bytes / 4 < rules->min && code_points(text) < rules->min)))
        return kc__report_value(v, at, KC_FIELD_INVALID, value,
                                "should be at least %lld chars long", (long long)rules->min);
    return true;
}

static bool check_pattern(kc__validator *v, const kc__pattern *pattern, yyjson_val *value,
                          const kc__frame *at)
{
    switch (kc__pattern_match(pattern, &v->matcher, kc_as_str(value))) {
    case KC__MATCHES: return true;
    case KC__NO_MATCH:
        return kc__report_value(v, at, KC_FIELD_INVALID, value, "should match '%.*s'",
                                KC_ARG(pattern->source));
    default:
        return kc__report_value(v, at, KC_FIELD_INVALID, value,
                                "should match '%.*s', but matching was given up: it takes too long",
                                KC_ARG(pattern->source));
    }
}

static bool check_format(kc__validator *v, const kc__text_rules *rules, yyjson_val *value,
                         const kc__frame *at)
{
    kc_str text = kc_as_str(value);
    v->matches++;
    if (rules->format->valid(text) &&
        (!rules->format_pattern ||
         kc__pattern_match(rules->format_pattern, &v->matcher, text) == KC__MATCHES))
        return true;
    if (!v->errors)
        return false;
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, text);
    return kc__report(v, at, KC_FIELD_TYPE_INVALID, kc_buf_str(&quoted), "must be of type %s: %s",
                      rules->format_name, kc_buf_cstr(&quoted));
}

bool kc__check_text(kc__validator *v, const kc__text_rules *rules, yyjson_val *value,
                    const kc__frame *at)
{
    /* Of length and pattern the first that fails is reported. */
    bool ok = check_length(v, rules, value, at) &&
              (!rules->pattern || check_pattern(v, rules->pattern, value, at));
    if (rules->format && (ok || v->errors))
        ok &= check_format(v, rules, value, at);
    return ok;
}

/* ---- Numbers ---- */

static const char *bound_words(bool is_max, bool exclusive)
{
    if (is_max)
        return exclusive ? "less than" : "less than or equal to";
    return exclusive ? "greater than" : "greater than or equal to";
}

static bool report_bound(kc__validator *v, const kc__frame *at, yyjson_val *value, bool is_max,
                         bool exclusive, const char *bound)
{
    return kc__report_value(v, at, KC_FIELD_INVALID, value, "should be %s %s",
                            bound_words(is_max, exclusive), bound);
}

static bool check_whole_bound(kc__validator *v, const kc__number_rules *rules, yyjson_val *value,
                              int64_t number, bool is_max, const kc__frame *at)
{
    int64_t bound = is_max ? rules->whole_max : rules->whole_min;
    bool exclusive = rules->has & (is_max ? KC__BELOW_MAX : KC__ABOVE_MIN);
    bool ok = is_max ? number <= bound : number >= bound;
    if (ok && !(exclusive && number == bound))
        return true;
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)bound);
    return report_bound(v, at, value, is_max, exclusive, text);
}

static bool check_bound(kc__validator *v, const kc__number_rules *rules, yyjson_val *value,
                        double number, bool is_max, const kc__frame *at)
{
    double bound = is_max ? rules->max : rules->min;
    bool exclusive = rules->has & (is_max ? KC__BELOW_MAX : KC__ABOVE_MIN);
    bool ok = is_max ? number <= bound : number >= bound;
    if (ok && !(exclusive && number == bound))
        return true;
    kc_scoped(kc_buf) text = {0};
    kc_double_write(&text, bound, false);
    return report_bound(v, at, value, is_max, exclusive, kc_buf_cstr(&text));
}

static bool is_multiple(const kc__number_rules *rules, bool whole, int64_t i, double f)
{
    double factor = rules->multiple;
    if (whole && factor >= 1 && factor < 0x1p63 && factor == trunc(factor))
        return i % (int64_t)factor == 0;
    return is_whole(factor < 1 ? 1 / factor * f : f / factor);
}

static bool check_multiple(kc__validator *v, const kc__number_rules *rules, yyjson_val *value,
                           bool whole, int64_t i, double f, const kc__frame *at)
{
    kc_scoped(kc_buf) factor = {0};
    if (rules->multiple > 0 && is_multiple(rules, whole, i, f))
        return true;
    if (!v->errors)
        return false;
    if (whole && rules->multiple == trunc(rules->multiple) && fabs(rules->multiple) < 0x1p63)
        kc_buf_printf(&factor, "%lld", (long long)rules->multiple);
    else
        kc_double_write(&factor, rules->multiple, false);
    if (rules->multiple > 0)
        return kc__report_value(v, at, KC_FIELD_INVALID, value, "should be a multiple of %s",
                                kc_buf_cstr(&factor));
    kc_scoped(kc_buf) path = {0};
    kc__path_write(&path, at, KC__PATH_BODY);
    return kc__report_plain(v, at, KC_FIELD_INVALID, kc_buf_str(&factor),
                            "factor MultipleOf declared for %s must be positive: %s",
                            kc_buf_cstr(&path), kc_buf_cstr(&factor));
}

bool kc__check_number(kc__validator *v, const kc__number_rules *rules, yyjson_val *value,
                      const kc__frame *at)
{
    int64_t i = 0;
    double f = 0;
    bool ok = true;
    bool whole = kc_type_of(value) == KC_INT && kc_as_i64(value, &i);
    kc_as_f64(value, &f);
    if (rules->has & KC__MULTIPLE)
        ok = check_multiple(v, rules, value, whole, i, f, at);
    if (rules->has & KC__MIN && (ok || v->errors))
        ok &= whole ? check_whole_bound(v, rules, value, i, false, at)
                    : check_bound(v, rules, value, f, false, at);
    if (rules->has & KC__MAX && (ok || v->errors))
        ok &= whole ? check_whole_bound(v, rules, value, i, true, at)
                    : check_bound(v, rules, value, f, true, at);
    return ok;
}

/* ---- Enums ---- */

static bool is_in_table(const kc__table *table, yyjson_val *value)
{
    kc_str text = kc_as_str(value);
    if (yyjson_is_str(value))
        return kc__table_find(table, text.p, text.n);
    kc_scoped(kc_buf) key = {0};
    kc__choice_key(&key, value);
    return kc__table_find(table, key.p, key.n);
}

static bool is_chosen(const kc__choice *choice, yyjson_val *value)
{
    if (yyjson_is_null(value))
        return false;
    if (choice->table)
        return is_in_table(choice->table, value);
    kc_items (choice->values, allowed)
        if (kc__same_value(allowed, value))
            return true;
    return false;
}

bool kc__check_choice(kc__validator *v, const kc__choice *choice, yyjson_val *value,
                      const kc__frame *at)
{
    if (is_chosen(choice, value))
        return true;
    if (!v->errors || kc_field_errors_is_full(v->errors))
        return kc__report_plain(v, at, KC_FIELD_NOT_SUPPORTED, (kc_str){0}, "%s", "");
    kc_scoped(kc_buf) shown = {0};
    kc_scoped(kc_buf) values = {0};
    kc_scoped(kc_buf) one = {0};
    kc__go_value(&shown, value);
    kc_items (choice->values, allowed) {
        kc_buf_clear(&one);
        if (kc_type_of(allowed) == KC_STRING)
            kc_buf_append(&one, kc_as_str(allowed));
        else
            kc__go_json(&one, allowed);
        kc_buf_puts(&values, values.n ? ", " : "");
        kc__go_quote(&values, kc_buf_str(&one));
    }
    return kc__report_plain(v, at, KC_FIELD_NOT_SUPPORTED, kc_buf_str(&shown),
                            "supported values: %s", kc_buf_cstr(&values));
}

/* ---- Sizes ---- */

static bool has_repeated(yyjson_val *array)
{
    size_t n = yyjson_arr_size(array), i = 0;
    const kc_value *few[16];
    size_t few_again[16];
    bool many = n > KC_COUNT(few);
    const kc_value **keys = many ? kc_calloc(n, sizeof(*keys)) : few;
    size_t *again = many ? kc_calloc(n, sizeof(*again)) : few_again;
    kc_items (array, item)
        keys[i++] = item;
    bool found = kc__find_repeated(keys, n, again) > 0;
    if (many) {
        free(keys);
        free(again);
    }
    return found;
}

static kc_str number_text(char *text, size_t size, size_t n)
{
    return kc_str_of(text, (size_t)snprintf(text, size, "%zu", n));
}

static bool report_too_many(kc__validator *v, const kc__frame *at, kc_str shown, int64_t max)
{
    return kc__report_plain(v, at, KC_FIELD_TOO_MANY, shown, "must have at most %lld item%s",
                            (long long)max, max == 1 ? "" : "s");
}

bool kc__check_items(kc__validator *v, const kc__size_rules *rules, yyjson_val *array,
                     const kc__frame *at)
{
    char text[24];
    size_t n = yyjson_arr_size(array);
    bool ok = true;
    if (rules->min_items >= 0 && n < (size_t)rules->min_items)
        ok = kc__report(v, at, KC_FIELD_INVALID, number_text(text, sizeof(text), n),
                        "should have at least %lld items", (long long)rules->min_items);
    if (rules->max_items >= 0 && n > (size_t)rules->max_items)
        ok = report_too_many(v, at, number_text(text, sizeof(text), n), rules->max_items);
    if (rules->unique_items && (ok || v->errors) && n > 1 && has_repeated(array))
        ok = kc__report(v, at, KC_FIELD_INVALID, KC_STR("\"\""), "shouldn't contain duplicates");
    return ok;
}

bool kc__check_properties(kc__validator *v, const kc__size_rules *rules, size_t n,
                          const kc__frame *at)
{
    char text[24];
    bool ok = true;
    if (rules->min_properties >= 0 && n < (size_t)rules->min_properties)
        ok = kc__report(v, at, KC_FIELD_INVALID, number_text(text, sizeof(text), n),
                        "should have at least %lld properties", (long long)rules->min_properties);
    if (rules->max_properties >= 0 && n > (size_t)rules->max_properties)
        ok = report_too_many(v, at, number_text(text, sizeof(text), n), rules->max_properties);
    return ok;
}
