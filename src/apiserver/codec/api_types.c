/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_types.c: looks up messages and fields in the tables that tools/definitions generates.
 *
 * All lookups are binary searches in constant data: no state, any thread. Inline structs are few
 * and nested at most three deep, so a lookup searches their fields struct by struct, after the
 * message's own fields.
 */
#include "apiserver/codec/api_types.h"

#include <stdio.h>

static int compare_definition(const void *name, const void *item)
{
    return kc_str_cmp(*(const kc_str *)name, (*(const kc__type_message *const *)item)->name);
}

const kc__type_message *kc__type_lookup(kc_str name)
{
    const kc__type_message *const *found =
        bsearch(&name, kc__type_messages, kc__type_n_messages, sizeof(kc__type_messages[0]),
                compare_definition);
    return found ? *found : NULL;
}

static const kc__type_field *own_field(const kc__type_message *message, kc_str name)
{
    size_t from = 0, to = message->n_fields;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const kc__type_field *field = &message->fields[message->by_name[middle]];
        int order = kc_str_cmp(name, field->name);
        if (order == 0)
            return field;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

const kc__type_field *kc__type_message_field(const kc__type_message *message, kc_str name)
{
    if (!name.n)
        return NULL; /* Inline structs have no name. */
    const kc__type_field *found = own_field(message, name);
    for (size_t i = 0; !found && i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[message->by_name[i]];
        if (!(field->marks & KC__INLINE))
            break;
        found = kc__type_message_field(field->message, name);
    }
    return found;
}

const kc__type_field *kc__type_message_field_by_number(const kc__type_message *message,
                                                       uint32_t number)
{
    size_t from = 0, to = number ? message->n_fields : 0;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const kc__type_field *field = &message->fields[message->by_number[middle]];
        if (field->number == number)
            return field;
        if (number < field->number)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

/* Whether the message has a TypeMeta, which is always the first field. */
static bool is_kind(const kc__type_message *message)
{
    return message && message->n_fields && message->fields[0].number == 0 &&
           (message->fields[0].marks & KC__INLINE);
}

/* Returns the package of a group: "api.apps" for "apps/v1", "api.rbac" for
 * "rbac.authorization.k8s.io/v1", "api.core" for "v1". */
static int package_of_group(kc_str group, char *out, size_t size)
{
    if (kc_str_is(group, "internal.apiserver.k8s.io"))
        return snprintf(out, size, "api.apiserverinternal");
    if (kc_str_is(group, "apiregistration.k8s.io"))
        return snprintf(out, size, "kube-aggregator.pkg.apis.apiregistration");
    kc_str first = group.n ? kc_str_cut(&group, '.') : KC_STR("core");
    return snprintf(out, size, "api.%.*s", KC_ARG(first));
}

const kc__type_message *kc__type_lookup_kind(kc_str api_version, kc_str kind)
{
    char text[256], package[128];
    ptrdiff_t slash = kc_str_rfind(api_version, '/');
    kc_str group = slash < 0 ? (kc_str){0} : kc_str_sub(api_version, 0, (size_t)slash);
    kc_str version = kc_str_sub(api_version, (size_t)(slash + 1), api_version.n);
    int n = package_of_group(group, package, sizeof(package));
    const kc__type_message *found = NULL;
    if (n > 0 && (size_t)n < sizeof(package))
        n = snprintf(text, sizeof(text), "io.k8s.%s.%.*s.%.*s", package, KC_ARG(version),
                     KC_ARG(kind));
    if (n > 0 && (size_t)n < sizeof(text))
        found = kc__type_lookup(kc_str_of(text, (size_t)n));
    if (is_kind(found))
        return found;
    n = snprintf(text, sizeof(text), "io.k8s.apimachinery.pkg.apis.meta.v1.%.*s", KC_ARG(kind));
    if (n > 0 && (size_t)n < sizeof(text))
        found = kc__type_lookup(kc_str_of(text, (size_t)n));
    return is_kind(found) ? found : NULL;
}
