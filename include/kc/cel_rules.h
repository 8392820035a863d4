/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cel_rules.h: the rules of a structural schema (x-kubernetes-validations), with the messages,
 * costs and limits of Kubernetes v1.34.
 *
 *     kc_auto(kc_cel_rules) *rules = kc_cel_rules_compile(openapi, schema, NULL);
 *     …
 *     kc_scoped(kc_field_errors) errors = {0};
 *     if (rules && kc_cel_rules_validate(rules, value, &(kc_cel_rules_opts){.old = old}, &errors)
 *                      == KC_CEL_RULES_INVALID)
 *         return kc_field_errors_to_error(&errors, group, kind, name, err);
 *
 * Compiled rules are immutable and reference-counted; any number of threads may use them. A
 * validation belongs to one thread and never blocks; the budget bounds its time.
 */
#ifndef KC_CEL_RULES_H
#define KC_CEL_RULES_H

#include "kc/field_error.h"
#include "kc/json.h"
#include "kc/map.h"
#include "kc/schema.h"

typedef struct kc_cel_rules kc_cel_rules;

enum {
    KC_CEL_RULE_COST_MAX = 10000000,    /* Estimated cost of one rule in all its places. */
    KC_CEL_RULES_COST_MAX = 100000000,  /* Estimated cost of all rules of a schema. */
    KC_CEL_OBJECT_COST_MAX = 10000000,  /* Cost of all rules for one object. */
    KC_CEL_RULES_MEMORY_MAX = 16 << 20, /* Bytes of the compiled rules of a schema. */
};

/* ---- compilation ---- */

typedef struct kc_cel_rules_compile_opts {
    bool fragment; /* The schema is not that of a resource: rules do not see metadata. */
} kc_cel_rules_compile_opts;

/*
 * Compiles the rules of a schema: `openapi` is the text, `schema` the same schema compiled. The
 * functions of the newest version are available, as for stored rules. Returns NULL when the schema
 * has no rules. A rule that cannot be compiled fails each validation of its value;
 * kc_cel_rules_check finds such rules before. opts may be NULL. The schema must outlive the result.
 * The caller drops the reference.
 */
kc_cel_rules *kc_cel_rules_compile(const kc_value *openapi, const kc_schema *schema,
                                   const kc_cel_rules_compile_opts *opts);
kc_cel_rules *kc_cel_rules_ref(const kc_cel_rules *rules);
kc_cel_rules *kc_cel_rules_unref(const kc_cel_rules *rules);
KC_AUTO_DEFINE(kc_cel_rules, kc_cel_rules_unref)

/* Bytes of memory, types and cached states of regular expressions included. */
size_t kc_cel_rules_memory(const kc_cel_rules *rules);
/* The number of rules. */
size_t kc_cel_rules_count(const kc_cel_rules *rules);

/* ---- checking ---- */

typedef struct kc_cel_rules_check_opts {
    const char *base; /* Path of the schema. Defaults to "spec.validation.openAPIV3Schema". */
    /* Errors of the list from this one on are about the keywords of the schema. Rules at or above
     * such an error are not checked. */
    size_t first_error;
    /* Rules and message expressions that are already stored, by text: they may use the functions of
     * the newest version. Others may use those of the version before. Default to none. */
    const kc_map *stored_rules, *stored_messages;
    bool ignores_rule_costs; /* The schema is unchanged: costs of single rules are not limited. */
} kc_cel_rules_check_opts;

/*
 * Adds an error for each rule of a valid structural schema that cannot be compiled, costs too much,
 * or uses oldSelf where old values have no counterpart. True when nothing was added. opts may be
 * NULL.
 */
bool kc_cel_rules_check(const kc_value *openapi, const kc_schema *schema,
                        const kc_cel_rules_check_opts *opts, kc_field_errors *errors);

/* ---- validation ---- */

typedef struct kc_cel_rules_opts {
    const char *base;    /* Path prefix of every field, such as "default". Defaults to none. */
    const kc_value *old; /* The value that is replaced. Defaults to none. */
    /* Rules without oldSelf that unchanged values break do not fail: their errors become warnings.
     * Only with `old`. */
    bool ratchets;
    kc_paths *warnings; /* Receives them. May be NULL. */
    /* Units of cost; receives what is left, negative when the budget is exceeded. Defaults to
     * KC_CEL_OBJECT_COST_MAX. */
    int64_t *budget;
    /* Stop with KC_CEL_RULES_UNFINISHED beyond this cost, for callers that must not take long.
     * Defaults to none. */
    uint64_t stop_at;
} kc_cel_rules_opts;

typedef enum kc_cel_rules_result {
    KC_CEL_RULES_VALID,
    KC_CEL_RULES_INVALID,
    KC_CEL_RULES_UNFINISHED, /* Errors and warnings are incomplete. */
} kc_cel_rules_result;

/* Evaluates the rules and adds an error for each that the value breaks. opts may be NULL. */
kc_cel_rules_result kc_cel_rules_validate(const kc_cel_rules *rules, const kc_value *value,
                                          const kc_cel_rules_opts *opts, kc_field_errors *errors);

#endif
