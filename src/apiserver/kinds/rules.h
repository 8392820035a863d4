/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h: what a type's fields must be, as a constant table; code where a rule looks at several
 * fields. A line is one field; its checks run in the order of the members below, and lines in the
 * order of the table, which is that of Kubernetes' own messages. Of a list of scalars each one is
 * checked.
 *
 *     static const kc__rule port[] = {
 *         {"containerPort", .required = ""},
 *         {"protocol", .one_of = protocols},
 *         {.code = check_host_port},
 *     };
 *     static const kc__rules port_rules = KC__RULES(port);
 */
#ifndef KC_APISERVER_RULES_H
#define KC_APISERVER_RULES_H

#include "apiserver/kinds/place.h"
#include "kc/mem.h"

typedef struct kc__rules kc__rules;

typedef enum kc__number_rule { KC__ANY_NUMBER, KC__AT_LEAST_0, KC__ABOVE_0 } kc__number_rule;

typedef struct kc__rule {
    const char *field;         /* NULL: the object itself, for `code`. */
    const char *required;      /* Must be there; what is said about it, or "". If it is not, the
                                  line ends here. NULL: it may be absent. */
    const char *const *one_of; /* Ended by NULL. */
    const kc_name_rule *name;  /* Its text, where there is one. */
    kc__number_rule number;
    int64_t low, high;   /* The range of a number; no range when both are 0. */
    const kc__rules *of; /* For the object, or each one of the list. */
    void (*code)(const kc__place *place);
} kc__rule;

struct kc__rules {
    const kc__rule *list;
    size_t n;
};

#define KC__RULES(of) {.list = of, .n = KC_COUNT(of)}

/* Adds to the place's errors what is wrong with its members. */
void kc__rules_check(const kc__rules *rules, const kc__place *place);
/* The same for the object, or for each one of the list. */
void kc__rules_check_below(const kc__rules *rules, const kc__place *place);
/* Is one of the texts, which end with NULL. */
void kc__check_one_of(const kc__place *place, const char *const *values);

/* For lines of tables: &kc__dns_label, … */
extern const kc_name_rule kc__dns_label, kc__dns_subdomain, kc__label_value, kc__qualified_name,
    kc__path_segment, kc__annotation_key;

#endif
