/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: the rules for names, label keys and label values, with Kubernetes' messages.
 *
 *     if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, name))
 *         …
 *     kc_validate_name(&errors, "metadata.name", KC_NAME_DNS_SUBDOMAIN, name);
 *
 * A check allocates nothing and takes one pass. Messages are constants, identical to those of
 * Kubernetes; the regular expressions in them are only text and are never executed.
 */
#ifndef KC_NAMES_H
#define KC_NAMES_H

#include "kc/field_error.h"
#include "kc/rand.h"

typedef enum kc_name_rule {
    KC_NAME_DNS_SUBDOMAIN,   /* my-name.example.com, max. 253: names of most objects. */
    KC_NAME_DNS_LABEL,       /* my-name, max. 63: namespaces. */
    KC_NAME_DNS_1035_LABEL,  /* The same, starting with a letter: services. */
    KC_NAME_PATH_SEGMENT,    /* Anything valid in a URL path segment: RBAC objects. */
    KC_NAME_QUALIFIED,       /* example.com/MyName: label keys, finalizers. */
    KC_NAME_ANNOTATION_KEY,  /* The same with a prefix of any case. */
    KC_NAME_LABEL_VALUE,     /* MyValue or empty, max. 63. */
    KC_NAME_WILDCARD,        /* *.example.com */
    KC_NAME_SUBDOMAIN_LOOSE, /* A subdomain that may contain underscores. */
    KC_NAME_CONFIG_KEY,      /* Keys of ConfigMaps and Secrets. */
    KC_NAME_ENV_VAR,         /* MY_ENV.NAME */
    KC_NAME_PORT,            /* http-2, max. 15. */
    KC_NAME_C_IDENTIFIER,    /* my_name */
    KC_NAME_HTTP_HEADER,     /* X-Header-Name */
    KC_NAME_PERCENT,         /* 93% */
    KC_N_NAME_RULES,
} kc_name_rule;

/* The maximum number of messages for one name. */
#define KC_NAME_MESSAGES 6

/* True when the name satisfies the rule. */
bool kc_name_valid(kc_name_rule rule, kc_str text);
/* Returns the violations: the number of messages, and the messages. */
size_t kc_name_check(kc_name_rule rule, kc_str text, const char *ret_messages[KC_NAME_MESSAGES]);
/* The same for a generateName, to which a suffix will be appended: it may end with a dash. */
size_t kc_name_check_prefix(kc_name_rule rule, kc_str text,
                            const char *ret_messages[KC_NAME_MESSAGES]);

/* Adds an Invalid error for each message. */
void kc_validate_name(kc_field_errors *errors, const char *field, kc_name_rule rule, kc_str text);
void kc_validate_generate_name(kc_field_errors *errors, const char *field, kc_name_rule rule,
                               kc_str text);

/* Field managers: 128 bytes at most, printable. Empty is allowed. */
#define KC_FIELD_MANAGER_MAX 128
void kc_validate_field_manager(kc_field_errors *errors, const char *field, kc_str manager);

/* Size of a buffer for a generated name, with its terminator. */
#define KC_GENERATED_NAME 64

/*
 * A name for a generateName: its first 58 bytes and 5 random letters and digits (without vowels, to
 * avoid words). Terminated.
 */
kc_str kc_generate_name(kc_str base, kc_rand *rand, char out[KC_GENERATED_NAME]);

#endif
