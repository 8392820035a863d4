/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: what names, label keys and label values may look like, and what Kubernetes says about
 * those that do not.
 *
 *     if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, name))
 *         …
 *     kc_validate_name(&errors, "metadata.name", KC_NAME_DNS_SUBDOMAIN, name);
 *
 * Checking allocates nothing and takes one pass. Messages are constants, word for word those of
 * Kubernetes, regular expressions included (which are only text here: nothing runs them).
 */
#ifndef KC_NAMES_H
#define KC_NAMES_H

#include "kc/field_error.h"
#include "kc/rand.h"

typedef enum kc_name_rule {
    KC_NAME_DNS_SUBDOMAIN,   /* my-name.example.com, 253 at most: most objects' names. */
    KC_NAME_DNS_LABEL,       /* my-name, 63 at most: namespaces. */
    KC_NAME_DNS_1035_LABEL,  /* The same, starting with a letter: services. */
    KC_NAME_PATH_SEGMENT,    /* Anything that can be part of a URL's path: RBAC objects. */
    KC_NAME_QUALIFIED,       /* example.com/MyName: label keys, finalizers. */
    KC_NAME_ANNOTATION_KEY,  /* The same with a prefix in whatever case. */
    KC_NAME_LABEL_VALUE,     /* MyValue or nothing, 63 at most. */
    KC_NAME_WILDCARD,        /* *.example.com */
    KC_NAME_SUBDOMAIN_LOOSE, /* A subdomain with underscores. */
    KC_NAME_CONFIG_KEY,      /* Keys of ConfigMaps and Secrets. */
    KC_NAME_ENV_VAR,         /* MY_ENV.NAME */
    KC_NAME_PORT,            /* http-2, 15 at most. */
    KC_NAME_C_IDENTIFIER,    /* my_name */
    KC_NAME_HTTP_HEADER,     /* X-Header-Name */
    KC_NAME_PERCENT,         /* 93% */
    KC_N_NAME_RULES,
} kc_name_rule;

/* The most messages one name can get. */
#define KC_NAME_MESSAGES 6

/* True when nothing is wrong with it. */
bool kc_name_valid(kc_name_rule rule, kc_str text);
/* What is wrong with it: how many messages, and the messages. */
size_t kc_name_check(kc_name_rule rule, kc_str text, const char *ret_messages[KC_NAME_MESSAGES]);
/* The same for a generateName, to whose end more will be added: it may end with a dash. */
size_t kc_name_check_prefix(kc_name_rule rule, kc_str text,
                            const char *ret_messages[KC_NAME_MESSAGES]);

/* Adds an Invalid error for each message. */
void kc_validate_name(kc_field_errors *errors, const char *field, kc_name_rule rule, kc_str text);
void kc_validate_generate_name(kc_field_errors *errors, const char *field, kc_name_rule rule,
                               kc_str text);

/* Field managers: 128 bytes at most, printable. Empty is allowed. */
#define KC_FIELD_MANAGER_MAX 128
void kc_validate_field_manager(kc_field_errors *errors, const char *field, kc_str manager);

/* Room for a generated name and a NUL. */
#define KC_GENERATED_NAME 64

/*
 * A name for a generateName: its first 58 bytes and 5 random letters and digits (no vowels, so that
 * no words come out). Terminated.
 */
kc_str kc_generate_name(kc_str base, kc_rand *rand, char out[KC_GENERATED_NAME]);

#endif
