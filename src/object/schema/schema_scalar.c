/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_scalar.c: validates one value: its type, length, pattern, format, bounds, enum, number of
 * members.
 *
 * Numbers follow Kubernetes: a number that fits int64_t is an integer, others are floating point; a
 * floating-point number without a fraction is an integer up to 2^53.
 */
#include "object/schema/schema_validate_internal.h"

#include "kc/number.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <math.h>
#include <stdio.h>

/* ---- types ---- */

bool kc__schema_has_type(const kc_schema *schema)
{
    return schema->types ||
           (schema->checks && schema->checks->text && schema->checks->text->format);
}

/* An integer up to a relative error, as computed quotients are. */
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

static const char *schema_scalar_name_of(uint8_t bits)
{
    switch (bits) {
    case KC__SCHEMA_BOOLEAN: return "boolean";
    case KC__SCHEMA_INTEGER: return "integer";
    case KC__SCHEMA_NUMBER: return "number";
    case KC__SCHEMA_STRING: return "string";
    case KC__SCHEMA_ARRAY: return "array";
    default: return "object";
    }
}

/* A known format implies the type, for values that cannot have a format. */
static bool report_format_type(kc__schema_validator *v, const kc_schema *schema,
                               const kc__schema_path_frame *at, uint8_t bits)
{
    const char *found = bits == KC__SCHEMA_INTEGER  ? "int64"
                        : bits == KC__SCHEMA_NUMBER ? "float64"
                                                    : "";
    kc_scoped(kc_buf) quoted = {0};
    kc_buf_printf(&quoted, "\"%s\"", found);
    return kc__schema_report(v, at, KC_FIELD_TYPE_INVALID, kc_buf_str(&quoted),
                             "must be of type %s: %s", schema->checks->text->format_name,
                             kc_buf_cstr(&quoted));
}

bool kc__schema_check_type(kc__schema_validator *v, const kc_schema *schema, yyjson_val *value,
                           const kc__schema_path_frame *at, uint8_t bits)
{
    double number = 0;
    if (bits == KC__SCHEMA_NUMBER && kc_value_as_f64(value, &number) &&
        schema->types & KC__SCHEMA_INTEGER && is_whole(number))
        return true;
    bool format = schema->checks && schema->checks->text && schema->checks->text->format;
    if (format && !(bits & (KC__SCHEMA_STRING | KC__SCHEMA_ARRAY)))
        return report_format_type(v, schema, at, bits);
    return kc__schema_report_type(v, schema, schema_scalar_name_of(bits), at);
}

/* ---- strings ---- */

static int64_t code_points(kc_str text)
{
    int64_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

static bool schema_scalar_check_length(kc__schema_validator *v, const kc__schema_text_rules *rules,
                                       yyjson_val *value, const kc__schema_path_frame *at)
{
    kc_str text = kc_value_as_str(value);
    int64_t bytes = (int64_t)text.n;
    /* A code point has one to four bytes, which often decides. */
    if (rules->max >= 0 && bytes > rules->max && code_points(text) > rules->max)
        return kc__schema_report_plain(v, at, KC_FIELD_TOO_LONG, (kc_str){0},
                                       "may not be more than %lld byte%s", (long long)rules->max,
                                       rules->max == 1 ? "" : "s");
    if (rules->min >= 0 &&
        (bytes < rules->min || (bytes / 4 < rules->min && code_points(text) < rules->min)))
        return kc__schema_report_value(v, at, KC_FIELD_INVALID, value,
                                       "should be at least %lld chars long", (long long)rules->min);
    return true;
}

static bool check_pattern(kc__schema_validator *v, const kc__pattern *pattern, yyjson_val *value,
                          const kc__schema_path_frame *at)
{
    switch (kc__pattern_match(pattern, kc_value_as_str(value), &v->pattern_steps)) {
    case KC__PATTERN_MATCHES: return true;
    case KC__PATTERN_NO_MATCH:
        return kc__schema_report_value(v, at, KC_FIELD_INVALID, value, "should match '%.*s'",
                                       KC_ARG(pattern->source));
    default:
        return kc__schema_report_value(v, at, KC_FIELD_INVALID, value,
                                       "should match '%.*s', but matching exceeded its time limit",
                                       KC_ARG(pattern->source));
    }
}

static bool check_format(kc__schema_validator *v, const kc__schema_text_rules *rules,
                         yyjson_val *value, const kc__schema_path_frame *at)
{
    kc_str text = kc_value_as_str(value);
    v->matches++;
    if (rules->format->valid(text) &&
        (!rules->format_pattern ||
         kc__pattern_match(rules->format_pattern, text, &v->pattern_steps) == KC__PATTERN_MATCHES))
        return true;
    if (!v->errors)
        return false;
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, text);
    return kc__schema_report(v, at, KC_FIELD_TYPE_INVALID, kc_buf_str(&quoted),
                             "must be of type %s: %s", rules->format_name, kc_buf_cstr(&quoted));
}

bool kc__schema_check_text(kc__schema_validator *v, const kc__schema_text_rules *rules,
                           yyjson_val *value, const kc__schema_path_frame *at)
{
    if (v->inside)
        kc__schema_charge_bytes(v, 4 * unsafe_yyjson_get_len(value));
    /* Reports only the first failure of length and pattern. */
    bool ok = schema_scalar_check_length(v, rules, value, at) &&
              (!rules->pattern || check_pattern(v, rules->pattern, value, at));
    if (rules->format && (ok || v->errors))
        ok &= check_format(v, rules, value, at);
    return ok;
}

/* ---- numbers ---- */

static const char *bound_words(bool is_max, bool exclusive)
{
    if (is_max)
        return exclusive ? "less than" : "less than or equal to";
    return exclusive ? "greater than" : "greater than or equal to";
}

static bool report_bound(kc__schema_validator *v, const kc__schema_path_frame *at,
                         yyjson_val *value, bool is_max, bool exclusive, const char *bound)
{
    return kc__schema_report_value(v, at, KC_FIELD_INVALID, value, "should be %s %s",
                                   bound_words(is_max, exclusive), bound);
}

static bool check_whole_bound(kc__schema_validator *v, const kc__schema_number_rules *rules,
                              yyjson_val *value, int64_t number, bool is_max,
                              const kc__schema_path_frame *at)
{
    int64_t bound = is_max ? rules->whole_max : rules->whole_min;
    bool exclusive = rules->has & (is_max ? KC__SCHEMA_BELOW_MAX : KC__SCHEMA_ABOVE_MIN);
    bool ok = is_max ? number <= bound : number >= bound;
    if (ok && !(exclusive && number == bound))
        return true;
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)bound);
    return report_bound(v, at, value, is_max, exclusive, text);
}

static bool check_bound(kc__schema_validator *v, const kc__schema_number_rules *rules,
                        yyjson_val *value, double number, bool is_max,
                        const kc__schema_path_frame *at)
{
    double bound = is_max ? rules->max : rules->min;
    bool exclusive = rules->has & (is_max ? KC__SCHEMA_BELOW_MAX : KC__SCHEMA_ABOVE_MIN);
    bool ok = is_max ? number <= bound : number >= bound;
    if (ok && !(exclusive && number == bound))
        return true;
    kc_scoped(kc_buf) text = {0};
    kc_double_write(&text, bound, false);
    return report_bound(v, at, value, is_max, exclusive, kc_buf_cstr(&text));
}

static bool is_multiple(const kc__schema_number_rules *rules, bool whole, int64_t i, double f)
{
    double factor = rules->multiple;
    if (whole && factor >= 1 && factor < 0x1p63 && factor == trunc(factor))
        return i % (int64_t)factor == 0;
    return is_whole(factor < 1 ? 1 / factor * f : f / factor);
}

static bool check_multiple(kc__schema_validator *v, const kc__schema_number_rules *rules,
                           yyjson_val *value, bool whole, int64_t i, double f,
                           const kc__schema_path_frame *at)
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
        return kc__schema_report_value(v, at, KC_FIELD_INVALID, value, "should be a multiple of %s",
                                       kc_buf_cstr(&factor));
    kc_scoped(kc_buf) path = {0};
    kc__schema_path_write(&path, at, KC__SCHEMA_PATH_BODY);
    return kc__schema_report_plain(v, at, KC_FIELD_INVALID, kc_buf_str(&factor),
                                   "factor MultipleOf declared for %s must be positive: %s",
                                   kc_buf_cstr(&path), kc_buf_cstr(&factor));
}

bool kc__schema_check_number(kc__schema_validator *v, const kc__schema_number_rules *rules,
                             yyjson_val *value, const kc__schema_path_frame *at)
{
    int64_t i = 0;
    double f = 0;
    bool ok = true;
    bool whole = kc_value_type(value) == KC_JSON_INT && kc_value_as_i64(value, &i);
    kc_value_as_f64(value, &f);
    if (rules->has & KC__SCHEMA_MULTIPLE)
        ok = check_multiple(v, rules, value, whole, i, f, at);
    if (rules->has & KC__SCHEMA_MIN && (ok || v->errors))
        ok &= whole ? check_whole_bound(v, rules, value, i, false, at)
                    : check_bound(v, rules, value, f, false, at);
    if (rules->has & KC__SCHEMA_MAX && (ok || v->errors))
        ok &= whole ? check_whole_bound(v, rules, value, i, true, at)
                    : check_bound(v, rules, value, f, true, at);
    return ok;
}

/* ---- enums ---- */

static bool is_in_table(kc__schema_validator *v, const kc__schema_property_table *table,
                        yyjson_val *value)
{
    kc_str text = kc_value_as_str(value);
    kc_scoped(kc_buf) key = {0};
    if (!yyjson_is_str(value)) {
        kc__schema_enum_key(&key, value);
        text = kc_buf_str(&key);
    }
    kc__schema_charge_bytes(v, 4 * text.n);
    return kc__schema_table_find(table, text.p, text.n);
}

/* An array or object: compared as text, which is built once. */
static bool is_container_in(kc__schema_validator *v, const kc_value *list, yyjson_val *value)
{
    kc_scoped(kc_buf) own = {0}, other = {0};
    kc_value_each_item (list, allowed) {
        if (kc_value_type(allowed) != kc_value_type(value) ||
            kc_value_len(allowed) != kc_value_len(value))
            continue;
        if (!own.n)
            kc__go_json(&own, value);
        kc_buf_clear(&other);
        kc__go_json(&other, allowed);
        kc__schema_charge_bytes(v, 4 * (own.n + other.n));
        if (kc_str_eq(kc_buf_str(&own), kc_buf_str(&other)))
            return true;
    }
    return false;
}

/* A string among few values: compared in place. */
static bool is_string_in(const kc_value *list, const yyjson_val *string)
{
    const size_t n = unsafe_yyjson_get_len((void *)string), n_values = kc_value_len(list);
    const yyjson_val *allowed = list + 1;
    for (size_t i = 0; i < n_values; i++) {
        if (unsafe_yyjson_is_str((void *)allowed) && unsafe_yyjson_get_len((void *)allowed) == n &&
            kc__object_same_bytes(allowed->uni.str, string->uni.str, n))
            return true;
        allowed = unsafe_yyjson_get_next((yyjson_val *)allowed);
    }
    return false;
}

static bool is_chosen(kc__schema_validator *v, const kc__schema_enum *choice, yyjson_val *value)
{
    if (yyjson_is_null(value))
        return false;
    if (choice->table)
        return is_in_table(v, choice->table, value);
    if (yyjson_is_ctn(value))
        return is_container_in(v, choice->values, value);
    kc__schema_charge_bytes(v, yyjson_get_len(value));
    if (yyjson_is_str(value))
        return is_string_in(choice->values, value);
    kc_value_each_item (choice->values, allowed)
        if (kc__schema_same_value(allowed, value))
            return true;
    return false;
}

bool kc__schema_check_enum(kc__schema_validator *v, const kc__schema_enum *choice,
                           yyjson_val *value, const kc__schema_path_frame *at)
{
    if (is_chosen(v, choice, value))
        return true;
    if (!v->errors || v->counting || kc_field_errors_is_full(v->errors))
        return kc__schema_report_plain(v, at, KC_FIELD_NOT_SUPPORTED, (kc_str){0}, "%s", "");
    kc_scoped(kc_buf) shown = {0};
    kc_scoped(kc_buf) values = {0};
    kc_scoped(kc_buf) one = {0};
    kc__go_value(&shown, value);
    kc_value_each_item (choice->values, allowed) {
        kc_buf_clear(&one);
        if (kc_value_type(allowed) == KC_JSON_STRING)
            kc_buf_append(&one, kc_value_as_str(allowed));
        else
            kc__go_json(&one, allowed);
        kc_buf_puts(&values, values.n ? ", " : "");
        kc__go_quote(&values, kc_buf_str(&one));
    }
    return kc__schema_report_plain(v, at, KC_FIELD_NOT_SUPPORTED, kc_buf_str(&shown),
                                   "supported values: %s", kc_buf_cstr(&values));
}

/* ---- sizes ---- */

static bool has_repeated(yyjson_val *array)
{
    size_t n = yyjson_arr_size(array), i = 0;
    const kc_value *few[16];
    size_t few_repeated[16];
    bool many = n > KC_COUNT(few);
    const kc_value **keys = many ? kc_calloc(n, sizeof(*keys)) : few;
    size_t *repeated = many ? kc_calloc(n, sizeof(*repeated)) : few_repeated;
    kc_value_each_item (array, item)
        keys[i++] = item;
    bool found = kc__schema_find_repeated(keys, n, repeated) > 0;
    if (many) {
        free(keys);
        free(repeated);
    }
    return found;
}

static kc_str number_text(char *text, size_t size, size_t n)
{
    return kc_str_of(text, (size_t)snprintf(text, size, "%zu", n));
}

static bool report_too_many(kc__schema_validator *v, const kc__schema_path_frame *at, kc_str shown,
                            int64_t max)
{
    return kc__schema_report_plain(v, at, KC_FIELD_TOO_MANY, shown, "must have at most %lld item%s",
                                   (long long)max, max == 1 ? "" : "s");
}

bool kc__schema_check_items(kc__schema_validator *v, const kc__schema_size_rules *rules,
                            yyjson_val *array, const kc__schema_path_frame *at)
{
    char text[24];
    size_t n = yyjson_arr_size(array);
    bool ok = true;
    if (rules->min_items >= 0 && n < (size_t)rules->min_items)
        ok = kc__schema_report(v, at, KC_FIELD_INVALID, number_text(text, sizeof(text), n),
                               "should have at least %lld items", (long long)rules->min_items);
    if (rules->max_items >= 0 && n > (size_t)rules->max_items)
        ok = report_too_many(v, at, number_text(text, sizeof(text), n), rules->max_items);
    if (rules->unique_items)
        kc__schema_charge_value(v, array);
    if (rules->unique_items && (ok || v->errors) && n > 1 && has_repeated(array))
        ok = kc__schema_report(v, at, KC_FIELD_INVALID, KC_STR("\"\""),
                               "shouldn't contain duplicates");
    return ok;
}

bool kc__schema_check_properties(kc__schema_validator *v, const kc__schema_size_rules *rules,
                                 size_t n, const kc__schema_path_frame *at)
{
    char text[24];
    bool ok = true;
    if (rules->min_properties >= 0 && n < (size_t)rules->min_properties)
        ok = kc__schema_report(v, at, KC_FIELD_INVALID, number_text(text, sizeof(text), n),
                               "should have at least %lld properties",
                               (long long)rules->min_properties);
    if (rules->max_properties >= 0 && n > (size_t)rules->max_properties)
        ok = report_too_many(v, at, number_text(text, sizeof(text), n), rules->max_properties);
    return ok;
}
