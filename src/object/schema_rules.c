/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_rules.c: compiling what values must be like: lengths, bounds, patterns, formats, enums and
 * the combinations allOf, anyOf, oneOf and not. Each group of keywords becomes one small struct,
 * and a node without any of them has none.
 */
#include "object/schema_internal.h"

#include "object/go_json.h"
#include "object/go_quote.h"

#include <math.h>

enum { MANY_VALUES = 8, MOST_BRANCHES = 10000 };

/* A number of things: whole and not negative. *ret becomes -1 when it is absent. */
static int compile_count(kc__compiler *c, const kc_value *json, const char *name, int64_t *ret)
{
    const kc_value *value = kc_get(json, name);
    kc_type type = kc_type_of(value);
    *ret = -1;
    if (type == KC_ABSENT || type == KC_NULL)
        return 0;
    if (kc_as_i64(value, ret) && *ret >= 0)
        return 0;
    kc__enter(c, "%s", name);
    return kc__compile_error(c, "must be a whole number that is not negative");
}

static int compile_bound(kc__compiler *c, const kc_value *json, const char *name, uint64_t flag,
                         kc__number_rules *rules, double *ret)
{
    const kc_value *value = kc_get(json, name);
    kc_type type = kc_type_of(value);
    if (type == KC_ABSENT || type == KC_NULL)
        return 0;
    if (!kc_as_f64(value, ret)) {
        kc__enter(c, "%s", name);
        return kc__compile_error(c, "must be a number");
    }
    rules->has |= flag;
    return 0;
}

/* Bounds of whole numbers lose their fraction, as in Kubernetes. */
static int64_t without_fraction(double bound)
{
    if (bound >= 0x1p63)
        return INT64_MAX;
    return bound < -0x1p63 ? INT64_MIN : (int64_t)bound;
}

static int compile_number(kc__compiler *c, const kc_value *json, kc__checks *checks)
{
    bool above = false, below = false;
    kc__number_rules rules;
    memset(&rules, 0, sizeof(rules));
    if (compile_bound(c, json, "minimum", KC__MIN, &rules, &rules.min) < 0 ||
        compile_bound(c, json, "maximum", KC__MAX, &rules, &rules.max) < 0 ||
        compile_bound(c, json, "multipleOf", KC__MULTIPLE, &rules, &rules.multiple) < 0 ||
        kc__keyword_bool(c, json, "exclusiveMinimum", &above) < 0 ||
        kc__keyword_bool(c, json, "exclusiveMaximum", &below) < 0)
        return -1;
    if (!rules.has)
        return 0;
    rules.has |= (above ? KC__ABOVE_MIN : 0) | (below ? KC__BELOW_MAX : 0);
    rules.whole_min = without_fraction(rules.min);
    rules.whole_max = without_fraction(rules.max);
    checks->number = kc__intern(&c->in, KC__K_NUMBER, &rules, sizeof(rules));
    return 0;
}

static int compile_pattern(kc__compiler *c, kc_str source, const kc__pattern **ret)
{
    kc_scoped(kc_buf) why = {0};
    *ret = kc__intern_pattern(&c->in, source, &why);
    if (*ret)
        return 0;
    kc__enter(c, "pattern");
    return kc__compile_error(c, "must be a valid regular expression, but isn't: %s",
                             kc_buf_cstr(&why));
}

static int compile_format(kc__compiler *c, kc_str name, kc__text_rules *rules, kc_schema *node)
{
    rules->format = kc__format_find(name);
    if (!rules->format)
        return 0;
    rules->format_name = kc__intern_str(&c->in, name);
    if (!node->types)
        node->accepts = KC__STRING | KC__ARRAY | KC__NULL;
    if (!rules->format->pattern)
        return 0;
    return compile_pattern(c, kc_cstr(rules->format->pattern), &rules->format_pattern);
}

static int compile_text(kc__compiler *c, const kc_value *json, kc__checks *checks, kc_schema *node)
{
    const kc_value *pattern = NULL, *format = NULL;
    kc__text_rules rules;
    memset(&rules, 0, sizeof(rules));
    if (compile_count(c, json, "minLength", &rules.min) < 0 ||
        compile_count(c, json, "maxLength", &rules.max) < 0 ||
        kc__keyword(c, json, "pattern", KC_STRING, &pattern) < 0 ||
        kc__keyword(c, json, "format", KC_STRING, &format) < 0)
        return -1;
    if (kc_as_str(pattern).n && compile_pattern(c, kc_as_str(pattern), &rules.pattern) < 0)
        return -1;
    if (compile_format(c, kc_as_str(format), &rules, node) < 0)
        return -1;
    if (rules.min < 0 && rules.max < 0 && !rules.pattern && !rules.format)
        return 0;
    checks->text = kc__intern(&c->in, KC__K_TEXT, &rules, sizeof(rules));
    return 0;
}

static int compile_size(kc__compiler *c, const kc_value *json, kc__checks *checks)
{
    bool unique = false;
    kc__size_rules rules;
    memset(&rules, 0, sizeof(rules));
    if (compile_count(c, json, "minItems", &rules.min_items) < 0 ||
        compile_count(c, json, "maxItems", &rules.max_items) < 0 ||
        compile_count(c, json, "minProperties", &rules.min_properties) < 0 ||
        compile_count(c, json, "maxProperties", &rules.max_properties) < 0 ||
        kc__keyword_bool(c, json, "uniqueItems", &unique) < 0)
        return -1;
    rules.unique_items = unique;
    if (rules.min_items < 0 && rules.max_items < 0 && rules.min_properties < 0 &&
        rules.max_properties < 0 && !unique)
        return 0;
    checks->size = kc__intern(&c->in, KC__K_SIZE, &rules, sizeof(rules));
    return 0;
}

void kc__choice_key(kc_buf *out, const kc_value *value)
{
    kc_buf_clear(out);
    if (kc_type_of(value) == KC_STRING) {
        kc_buf_append(out, kc_as_str(value));
        return;
    }
    kc_buf_putc(out, '\xFF'); /* In no string. */
    kc__go_json(out, value);
}

static const kc__table *choice_table(kc__compiler *c, const kc_value *values)
{
    kc_scoped(kc_map) seen = {0};
    kc_scoped(kc_buf) key = {0};
    KC_VEC(kc__row) rows = {0};
    kc_items (values, value) {
        kc__choice_key(&key, value);
        if (kc_map_get(&seen, kc_buf_str(&key)))
            continue;
        const char *name = kc__intern_str(&c->in, kc_buf_str(&key));
        kc_map_put(&seen, kc_str_of(name, key.n), (void *)value);
        kc_vec_push(&rows, (kc__row){.name = name, .n = (uint32_t)key.n});
    }
    const kc__table *table = kc__intern_table(&c->in, rows.items, rows.n, 0);
    kc_vec_done(&rows);
    return table;
}

static int compile_choice(kc__compiler *c, const kc_value *json, kc__checks *checks)
{
    const kc_value *values = NULL;
    kc__choice choice;
    memset(&choice, 0, sizeof(choice));
    if (kc__keyword(c, json, "enum", KC_ARRAY, &values) < 0)
        return -1;
    if (!kc_len(values))
        return 0;
    if (kc_len(values) > KC__TABLE_MAX) {
        kc__enter(c, "enum");
        return kc__compile_error(c, "has %zu values: limit is %d", kc_len(values), KC__TABLE_MAX);
    }
    choice.values = kc__intern_value(&c->in, values);
    if (kc_len(values) > MANY_VALUES)
        choice.table = choice_table(c, values);
    checks->choice = kc__intern(&c->in, KC__K_CHOICE, &choice, sizeof(choice));
    return 0;
}

static int compile_branches(kc__compiler *c, const kc_value *json, const char *name,
                            const kc__branches **ret)
{
    const kc_value *list = NULL;
    if (kc__keyword(c, json, name, KC_ARRAY, &list) < 0)
        return -1;
    size_t n = kc_len(list), i = 0;
    if (!n)
        return 0;
    if (n > MOST_BRANCHES) {
        kc__enter(c, "%s", name);
        return kc__compile_error(c, "has %zu schemas: limit is %d", n, MOST_BRANCHES);
    }
    size_t size = sizeof(kc__branches) + n * sizeof(const kc_schema *);
    kc_autofree kc__branches *branches = kc_calloc(1, size);
    branches->n = n;
    kc_items (list, branch) {
        size_t before = kc__enter(c, "%s[%zu]", name, i);
        branches->list[i] = kc__compile_node(c, branch);
        if (!branches->list[i++])
            return -1;
        kc__leave(c, before);
    }
    *ret = kc__intern(&c->in, KC__K_BRANCHES, branches, size);
    return 0;
}

static int compile_not(kc__compiler *c, const kc_value *json, kc__logic *logic)
{
    const kc_value *value = NULL;
    if (kc__keyword(c, json, "not", KC_OBJECT, &value) < 0)
        return -1;
    if (!value)
        return 0;
    size_t before = kc__enter(c, "not");
    logic->none = kc__compile_node(c, value);
    if (!logic->none)
        return -1;
    kc__leave(c, before);
    return 0;
}

static int compile_logic(kc__compiler *c, const kc_value *json, kc__checks *checks)
{
    kc__logic logic;
    memset(&logic, 0, sizeof(logic));
    if (compile_branches(c, json, "anyOf", &logic.any) < 0 ||
        compile_branches(c, json, "oneOf", &logic.one) < 0 ||
        compile_branches(c, json, "allOf", &logic.all) < 0 || compile_not(c, json, &logic) < 0)
        return -1;
    if (logic.any || logic.one || logic.all || logic.none)
        checks->logic = kc__intern(&c->in, KC__K_LOGIC, &logic, sizeof(logic));
    return 0;
}

/* allOf that stands for "$ref" is no check: kc__follow_ref has seen to it. */
static bool is_ref(const kc_value *json)
{
    const kc_value *all = kc_get(json, "allOf");
    return kc_len(all) == 1 && !kc_get(json, "type") && !kc_get(json, "properties") &&
           kc_get(kc_at(all, 0), "$ref");
}

int kc__compile_checks(kc__compiler *c, const kc_value *json, kc_schema *node)
{
    kc__checks checks;
    memset(&checks, 0, sizeof(checks));
    if (compile_text(c, json, &checks, node) < 0 || compile_number(c, json, &checks) < 0 ||
        compile_size(c, json, &checks) < 0 || compile_choice(c, json, &checks) < 0 ||
        (!is_ref(json) && compile_logic(c, json, &checks) < 0))
        return -1;
    if (checks.text || checks.number || checks.size || checks.choice || checks.logic)
        node->checks = kc__intern(&c->in, KC__K_CHECKS, &checks, sizeof(checks));
    return 0;
}
