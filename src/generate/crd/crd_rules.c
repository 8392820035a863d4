/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_rules.c: checks the CEL rules of a schema (+kubebuilder:validation:XValidation) as the API
 * server does, so that a mistake is an error at its marker instead of a rejected CRD.
 *
 * The check names a rule by its path in the schema; the path leads to the marker.
 */
#include "generate/crd/crd_internal.h"

#include "kc/cel_rules.h"

#include <stdlib.h>

/* The schema that a step of a path leads to: "items", "additionalProperties", "properties[NAME]".
 * NULL when there is none. */
static const kc__gen_schema *schema_of_step(const kc__gen_schema *schema, kc_str step)
{
    if (kc_str_is(step, "items"))
        return schema->items;
    if (kc_str_is(step, "additionalProperties"))
        return schema->values;
    for (size_t i = 0; i < schema->n_properties; i++) {
        const kc_str name = schema->properties[i].name;
        if (step.n == name.n + 12 && kc_str_starts(step, KC_STR("properties[")) &&
            memcmp(step.p + 11, name.p, name.n) == 0)
            return schema->properties[i].schema;
    }
    return NULL;
}

/* The next step of a path; dots in the brackets of a property belong to its name. */
static kc_str next_step(kc_str *rest)
{
    size_t n = 0;
    bool inside = false;
    for (; n < rest->n && (inside || rest->p[n] != '.'); n++)
        inside = inside ? rest->p[n] != ']' : rest->p[n] == '[';
    kc_str step = kc_str_sub(*rest, 0, n);
    *rest = kc_str_sub(*rest, KC_MIN(n + 1, rest->n), rest->n);
    return step;
}

/* The rule that a path names; NULL for an error about the whole schema. */
static const kc__gen_schema_cel_rule *find_rule(const kc__gen_schema *schema, kc_str path)
{
    static const char rules[] = "x-kubernetes-validations[";
    while (schema && path.n) {
        kc_str step = next_step(&path);
        if (kc_str_starts(step, kc_cstr(rules))) {
            size_t i = strtoul(step.p + sizeof(rules) - 1, NULL, 10);
            return i < schema->n_rules ? &schema->rules[i] : NULL;
        }
        schema = schema_of_step(schema, step);
    }
    return NULL;
}

/* An error at the marker of its rule. */
static void report_rule(kc__gen_schema_maker *maker, const kc__gen_crd_version *version,
                        const kc_field_error *error)
{
    kc_str path = kc_str_sub(kc_cstr(error->field), sizeof("schema"), strlen(error->field));
    const kc__gen_schema_cel_rule *rule = find_rule(version->schema, path);
    kc__gen_schema_maker_fail(maker, rule && rule->at.file ? rule->at : version->type->at,
                              "rule of %.*s: %s", KC_ARG(path), error->body);
}

/* Reports the form of rules: messages with line breaks, a fieldPath that leads to no field. Other
 * checks report the other errors of a schema. */
static void check_rule_forms(kc__gen_schema_maker *maker, const kc__gen_crd_version *version,
                             const kc_value *openapi)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_schema_check(openapi, &(kc_schema_check_opts){.base = "schema"}, &errors);
    kc_vec_each (&errors.list, error)
        if (strstr(error->field, ".x-kubernetes-validations["))
            report_rule(maker, version, error);
}

void kc__gen_crd_check_rules(kc__gen_schema_maker *maker, const kc__gen_crd_version *version)
{
    kc_scoped(kc_buf) json = {0};
    kc_scoped(kc_field_errors) errors = {0};
    kc__gen_schema_write(version->schema, &json);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&json), NULL, NULL);
    kc_auto(kc_schema) *schema = view ? kc_schema_compile(kc_view_root(view), NULL, NULL) : NULL;
    if (!schema)
        return; /* Other checks report why. */
    kc_cel_rules_check(kc_view_root(view), schema, &(kc_cel_rules_check_opts){.base = "schema"},
                       &errors);
    kc_vec_each (&errors.list, error)
        report_rule(maker, version, error);
    check_rule_forms(maker, version, kc_view_root(view));
}
