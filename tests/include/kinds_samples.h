/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds_samples.h: tables of invalid objects with their validation errors, in the words of
 * Kubernetes 1.34, one line each.
 */
#ifndef KC_KINDS_SAMPLES_H
#define KC_KINDS_SAMPLES_H

#include "kinds_testing.h"

/* Messages of Kubernetes about names. */
#define QUALIFIED                                                              \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and " \
    "must start and end with an alphanumeric character (e.g. 'MyName',  or "   \
    "'my.name',  or '123-abc', regex used for validation is "                  \
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define SUBDOMAIN                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric " \
    "characters, '-' or '.', and must start and end with an alphanumeric "    \
    "character (e.g. 'example.com', regex used for validation is "            \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define LABEL                                                                   \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric "       \
    "characters or '-', and must start and end with an alphanumeric character " \
    "(e.g. 'my-name',  or '123-abc', regex used for validation is "             \
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define VALUE                                                                      \
    "a valid label must be an empty string or consist of alphanumeric characters," \
    " '-', '_' or '.', and must start and end with an alphanumeric character "     \
    "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "  \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
/* Names of two members. */
#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

#define POD_OF(spec)         "{'kind':'Pod','apiVersion':'v1','metadata':{'name':'p'},'spec':{" spec "}}"
#define POD_WITH(rest)       POD_OF("'containers':[{'name':'c','image':'busybox:1'}]" rest)
#define CONTAINER_WITH(rest) POD_OF("'containers':[{'name':'c','image':'busybox:1'," rest "}]")

typedef struct sample {
    const char *object;   /* With ' for quotes. */
    const char *expected; /* One line per error. */
} sample;

static inline void assert_samples(const char *type, const kc__strategy *strategy,
                                  const sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_new(type, strategy, samples[i].object, samples[i].expected);
}

#endif
