/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.c: compiles value validation: lengths, bounds, patterns, formats, enums and the
 * combinations allOf, anyOf, oneOf and not. Each group of keywords becomes one small struct; a node
 * without such keywords has none.
 */
#include "object/schema/schema_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <math.h>

enum { MANY_VALUES = 8, MOST_BRANCHES = 10000 };

/* A non-negative integer. *ret becomes -1 when it is absent. */
static int compile_count(kc__schema_compiler *c, const kc_value *json, const char *name,
                         int64_t *ret)
{
    const kc_value *value = kc_value_get(json, name);
    kc_json_type type = kc_value_type(value);
    *ret = -1;
    if (type == KC_JSON_ABSENT || type == KC_JSON_NULL)
        return 0;
    if (kc_value_as_i64(value, ret) && *ret >= 0)
        return 0;
    kc__schema_enter_child(c, "%s", name);
    return kc__schema_compile_error(c, "must be a non-negative integer");
}

static int compile_bound(kc__schema_compiler *c, const kc_value *json, const char *name,
                         uint64_t flag, kc__schema_number_rules *rules, double *ret)
{
    const kc_value *value = kc_value_get(json, name);
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_ABSENT || type == KC_JSON_NULL)
        return 0;
    if (!kc_value_as_f64(value, ret)) {
        kc__schema_enter_child(c, "%s", name);
        return kc__schema_compile_error(c, "must be a number");
    }
    rules->has |= flag;
    return 0;
}

/* Bounds of integers lose their fraction, as in Kubernetes. */
static int64_t without_fraction(double bound)
{
    if (bound >= 0x1p63)
        return INT64_MAX;
    return bound < -0x1p63 ? INT64_MIN : (int64_t)bound;
}

static int compile_number(kc__schema_compiler *c, const kc_value *json, kc__schema_checks *checks)
{
    bool above = false, below = false;
    kc__schema_number_rules rules;
    memset(&rules, 0, sizeof(rules));
    rules.min = -INFINITY;
    rules.max = INFINITY;
    if (compile_bound(c, json, "minimum", KC__SCHEMA_MIN, &rules, &rules.min) < 0 ||
        compile_bound(c, json, "maximum", KC__SCHEMA_MAX, &rules, &rules.max) < 0 ||
        compile_bound(c, json, "multipleOf", KC__SCHEMA_MULTIPLE, &rules, &rules.multiple) < 0 ||
        kc__schema_keyword_bool(c, json, "exclusiveMinimum", &above) < 0 ||
        kc__schema_keyword_bool(c, json, "exclusiveMaximum", &below) < 0)
        return -1;
    if (!rules.has)
        return 0;
    rules.has |= (above ? KC__SCHEMA_ABOVE_MIN : 0) | (below ? KC__SCHEMA_BELOW_MAX : 0);
    rules.whole_min = without_fraction(rules.min);
    rules.whole_max = without_fraction(rules.max);
    checks->number = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_NUMBER, &rules, sizeof(rules));
    return 0;
}

static int compile_pattern(kc__schema_compiler *c, kc_str source, const kc__pattern **ret)
{
    kc_scoped(kc_buf) why = {0};
    *ret = kc__schema_intern_pattern(&c->in, source, &why);
    if (*ret)
        return 0;
    kc__schema_enter_child(c, "pattern");
    return kc__schema_compile_error(c, "must be a valid regular expression, but isn't: %s",
                                    kc_buf_cstr(&why));
}

static int compile_format(kc__schema_compiler *c, kc_str name, kc__schema_text_rules *rules,
                          kc_schema *node)
{
    rules->format = kc__schema_format_find(name);
    if (!rules->format)
        return 0;
    rules->format_name = kc__schema_intern_str(&c->in, name);
    if (!node->types)
        node->accepts = KC__SCHEMA_STRING | KC__SCHEMA_ARRAY | KC__SCHEMA_NULL;
    if (!rules->format->pattern)
        return 0;
    return compile_pattern(c, kc_cstr(rules->format->pattern), &rules->format_pattern);
}

static int compile_text(kc__schema_compiler *c, const kc_value *json, kc__schema_checks *checks,
                        kc_schema *node)
{
    const kc_value *pattern = NULL, *format = NULL;
    kc__schema_text_rules rules;
    memset(&rules, 0, sizeof(rules));
    if (compile_count(c, json, "minLength", &rules.min) < 0 ||
        compile_count(c, json, "maxLength", &rules.max) < 0 ||
        kc__schema_keyword(c, json, "pattern", KC_JSON_STRING, &pattern) < 0 ||
        kc__schema_keyword(c, json, "format", KC_JSON_STRING, &format) < 0)
        return -1;
    if (kc_value_as_str(pattern).n &&
        compile_pattern(c, kc_value_as_str(pattern), &rules.pattern) < 0)
        return -1;
    if (compile_format(c, kc_value_as_str(format), &rules, node) < 0)
        return -1;
    if (rules.min < 0 && rules.max < 0 && !rules.pattern && !rules.format)
        return 0;
    checks->text = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_TEXT, &rules, sizeof(rules));
    return 0;
}

static int compile_size(kc__schema_compiler *c, const kc_value *json, kc__schema_checks *checks)
{
    bool unique = false;
    kc__schema_size_rules rules;
    memset(&rules, 0, sizeof(rules));
    if (compile_count(c, json, "minItems", &rules.min_items) < 0 ||
        compile_count(c, json, "maxItems", &rules.max_items) < 0 ||
        compile_count(c, json, "minProperties", &rules.min_properties) < 0 ||
        compile_count(c, json, "maxProperties", &rules.max_properties) < 0 ||
        kc__schema_keyword_bool(c, json, "uniqueItems", &unique) < 0)
        return -1;
    rules.unique_items = unique;
    if (rules.min_items < 0 && rules.max_items < 0 && rules.min_properties < 0 &&
        rules.max_properties < 0 && !unique)
        return 0;
    checks->size = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_SIZE, &rules, sizeof(rules));
    return 0;
}

void kc__schema_enum_key(kc_buf *out, const kc_value *value)
{
    kc_buf_clear(out);
    if (kc_value_type(value) == KC_JSON_STRING) {
        kc_buf_append(out, kc_value_as_str(value));
        return;
    }
    kc_buf_putc(out, '\xFF'); /* Not part of any string. */
    kc__go_json(out, value);
}

static const kc__schema_property_table *choice_table(kc__schema_compiler *c, const kc_value *values)
{
    kc_scoped(kc_map) seen = {0};
    kc_scoped(kc_buf) key = {0};
    KC_VEC(kc__schema_property_row) rows = {0};
    kc_value_each_item (values, value) {
        kc__schema_enum_key(&key, value);
        if (kc_map_get(&seen, kc_buf_str(&key)))
            continue;
        const char *name = kc__schema_intern_str(&c->in, kc_buf_str(&key));
        kc_map_put(&seen, kc_str_of(name, key.n), (void *)value);
        kc_vec_push(&rows, (kc__schema_property_row){.name = name, .n = (uint32_t)key.n});
    }
    const kc__schema_property_table *table = kc__schema_intern_table(&c->in, rows.items, rows.n, 0);
    kc_vec_done(&rows);
    return table;
}

static int compile_choice(kc__schema_compiler *c, const kc_value *json, kc__schema_checks *checks)
{
    const kc_value *values = NULL;
    kc__schema_enum choice;
    memset(&choice, 0, sizeof(choice));
    if (kc__schema_keyword(c, json, "enum", KC_JSON_ARRAY, &values) < 0)
        return -1;
    if (!kc_value_len(values))
        return 0;
    if (kc_value_len(values) > KC__SCHEMA_TABLE_MAX) {
        kc__schema_enter_child(c, "enum");
        return kc__schema_compile_error(c, "has %zu values: limit is %d", kc_value_len(values),
                                        KC__SCHEMA_TABLE_MAX);
    }
    choice.values = kc__schema_intern_value(&c->in, values, NULL);
    if (kc_value_len(values) > MANY_VALUES)
        choice.table = choice_table(c, values);
    checks->choice = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_ENUM, &choice, sizeof(choice));
    return 0;
}

static int compile_branches(kc__schema_compiler *c, const kc_value *json, const char *name,
                            const kc__schema_branches **ret)
{
    const kc_value *list = NULL;
    if (kc__schema_keyword(c, json, name, KC_JSON_ARRAY, &list) < 0)
        return -1;
    size_t n = kc_value_len(list), i = 0;
    if (!n)
        return 0;
    if (n > MOST_BRANCHES) {
        kc__schema_enter_child(c, "%s", name);
        return kc__schema_compile_error(c, "has %zu schemas: limit is %d", n, MOST_BRANCHES);
    }
    size_t size = sizeof(kc__schema_branches) + n * sizeof(const kc_schema *);
    kc_autofree kc__schema_branches *branches = kc_calloc(1, size);
    branches->n = n;
    kc_value_each_item (list, branch) {
        size_t before = kc__schema_enter_child(c, "%s[%zu]", name, i);
        branches->list[i] = kc__schema_compile_node(c, branch);
        if (!branches->list[i++])
            return -1;
        kc__schema_leave_child(c, before);
    }
    *ret = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_BRANCHES, branches, size);
    return 0;
}

static int compile_not(kc__schema_compiler *c, const kc_value *json, kc__schema_logic *logic)
{
    const kc_value *value = NULL;
    if (kc__schema_keyword(c, json, "not", KC_JSON_OBJECT, &value) < 0)
        return -1;
    if (!value)
        return 0;
    size_t before = kc__schema_enter_child(c, "not");
    logic->none = kc__schema_compile_node(c, value);
    if (!logic->none)
        return -1;
    kc__schema_leave_child(c, before);
    return 0;
}

static int compile_logic(kc__schema_compiler *c, const kc_value *json, kc__schema_checks *checks)
{
    kc__schema_logic logic;
    memset(&logic, 0, sizeof(logic));
    if (compile_branches(c, json, "anyOf", &logic.any) < 0 ||
        compile_branches(c, json, "oneOf", &logic.one) < 0 ||
        compile_branches(c, json, "allOf", &logic.all) < 0 || compile_not(c, json, &logic) < 0)
        return -1;
    if (logic.any || logic.one || logic.all || logic.none)
        checks->logic = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_LOGIC, &logic, sizeof(logic));
    return 0;
}

/* An allOf that only wraps a "$ref" is no check: kc__schema_follow_ref resolved it. */
static bool is_ref(const kc_value *json)
{
    const kc_value *all = kc_value_get(json, "allOf");
    return kc_value_len(all) == 1 && !kc_value_get(json, "type") &&
           !kc_value_get(json, "properties") && kc_value_get(kc_value_at(all, 0), "$ref");
}

int kc__schema_compile_checks(kc__schema_compiler *c, const kc_value *json, kc_schema *node)
{
    kc__schema_checks checks;
    memset(&checks, 0, sizeof(checks));
    if (compile_text(c, json, &checks, node) < 0 || compile_number(c, json, &checks) < 0 ||
        compile_size(c, json, &checks) < 0 || compile_choice(c, json, &checks) < 0 ||
        (!is_ref(json) && compile_logic(c, json, &checks) < 0))
        return -1;
    if (checks.text || checks.number || checks.size || checks.choice || checks.logic)
        node->checks = kc__schema_intern(&c->in, KC__SCHEMA_BLOCK_CHECKS, &checks, sizeof(checks));
    return 0;
}
