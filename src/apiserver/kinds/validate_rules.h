/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate_rules.h: the validation rules of a type's fields, as a constant table; a function where
 * a rule depends on several fields. A row is one field. The checks of a row run in the order of the
 * members below, and rows run in table order, which is the order of Kubernetes' error messages. For
 * a list of scalars each item is checked.
 *
 *     static const kc__validate_rule port[] = {
 *         {"containerPort", .required = ""},
 *         {"protocol", .one_of = protocols},
 *         {.code = check_host_port},
 *     };
 *     static const kc__validate_rule_table port_rules = KC__VALIDATE_RULES(port);
 */
#ifndef KC_APISERVER_RULES_H
#define KC_APISERVER_RULES_H

#include "apiserver/kinds/location.h"
#include "kc/mem.h"

typedef struct kc__validate_rule_table kc__validate_rule_table;

typedef enum kc__validate_number_rule {
    KC__VALIDATE_ANY_NUMBER,
    KC__VALIDATE_AT_LEAST_0,
    KC__VALIDATE_ABOVE_0
} kc__validate_number_rule;

typedef struct kc__validate_rule {
    const char *field;    /* NULL: the object itself, for `code`. */
    const char *required; /* The field is required; the detail of the error, or "". If the field is
                             absent, the rest of the row is skipped. NULL: optional. */
    const char *const *one_of; /* Allowed values, NULL-terminated. */
    const kc_name_rule *name;  /* Name rule of the text, if the field is set. */
    kc__validate_number_rule number;
    int64_t low, high;                 /* Range of a number; both 0: no range. */
    const kc__validate_rule_table *of; /* Rules of the object, or of each item of the list. */
    void (*code)(const kc__location *location);
} kc__validate_rule;

struct kc__validate_rule_table {
    const kc__validate_rule *list;
    size_t n;
};

#define KC__VALIDATE_RULES(of) {.list = of, .n = KC_COUNT(of)}

/* Validates the members of the location's value; adds field errors. */
void kc__validate_by_rules(const kc__validate_rule_table *rules, const kc__location *location);
/* The same for the object itself, or for each item of the list. */
void kc__validate_items_by_rules(const kc__validate_rule_table *rules,
                                 const kc__location *location);
/* The value must be one of `values`, which ends with NULL. */
void kc__validate_one_of(const kc__location *location, const char *const *values);

/* Name rules for rows of tables: &kc__validate_name_dns_label, … */
extern const kc_name_rule kc__validate_name_dns_label, kc__validate_name_dns_subdomain,
    kc__validate_name_label_value, kc__validate_name_qualified, kc__validate_name_path_segment,
    kc__validate_name_annotation_key;

#endif
