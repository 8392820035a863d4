/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definition.c: finds messages and fields in the tables that tools/definitions wrote.
 *
 * All lookups are binary searches in constant data: no state, any thread. Inline structs are few
 * and at most three deep, so their fields are looked for one struct after the other, after the
 * message's own.
 */
#include "apiserver/kinds/definition.h"

#include <stdio.h>

static int compare_definition(const void *name, const void *item)
{
    return kc_str_cmp(*(const kc_str *)name, (*(const kc__message *const *)item)->name);
}

const kc__message *kc__definition_find(kc_str name)
{
    const kc__message *const *found = bsearch(&name, kc__definitions, kc__n_definitions,
                                              sizeof(kc__definitions[0]), compare_definition);
    return found ? *found : NULL;
}

static const kc__field *own_field(const kc__message *message, kc_str name)
{
    size_t from = 0, to = message->n_fields;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const kc__field *field = &message->fields[message->by_name[middle]];
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

const kc__field *kc__message_field(const kc__message *message, kc_str name)
{
    if (!name.n)
        return NULL; /* As inline structs are called. */
    const kc__field *found = own_field(message, name);
    for (size_t i = 0; !found && i < message->n_fields; i++) {
        const kc__field *field = &message->fields[message->by_name[i]];
        if (!(field->marks & KC__INLINE))
            break;
        found = kc__message_field(field->message, name);
    }
    return found;
}

const kc__field *kc__message_numbered(const kc__message *message, uint32_t number)
{
    size_t from = 0, to = number ? message->n_fields : 0;
    while (from < to) {
        size_t middle = (from + to) / 2;
        const kc__field *field = &message->fields[message->by_number[middle]];
        if (field->number == number)
            return field;
        if (number < field->number)
            to = middle;
        else
            from = middle + 1;
    }
    return NULL;
}

/* Whether it has a TypeMeta, which stands first where there is one. */
static bool is_kind(const kc__message *message)
{
    return message && message->n_fields && message->fields[0].number == 0 &&
           (message->fields[0].marks & KC__INLINE);
}

/* "apps" of "apps/v1", "rbac" of "rbac.authorization.k8s.io/v1", "core" of "v1". */
static kc_str package_of_group(kc_str group)
{
    if (kc_str_is(group, "internal.apiserver.k8s.io"))
        return KC_STR("apiserverinternal");
    return group.n ? kc_str_cut(&group, '.') : KC_STR("core");
}

const kc__message *kc__definition_of_kind(kc_str api_version, kc_str kind)
{
    char text[256];
    ptrdiff_t slash = kc_str_rfind(api_version, '/');
    kc_str group = slash < 0 ? (kc_str){0} : kc_str_sub(api_version, 0, (size_t)slash);
    kc_str version = kc_str_sub(api_version, (size_t)(slash + 1), api_version.n);
    kc_str package = package_of_group(group);
    int n = snprintf(text, sizeof(text), "io.k8s.api.%.*s.%.*s.%.*s", KC_ARG(package),
                     KC_ARG(version), KC_ARG(kind));
    const kc__message *found = NULL;
    if (n > 0 && (size_t)n < sizeof(text))
        found = kc__definition_find(kc_str_of(text, (size_t)n));
    if (is_kind(found))
        return found;
    n = snprintf(text, sizeof(text), "io.k8s.apimachinery.pkg.apis.meta.v1.%.*s", KC_ARG(kind));
    if (n > 0 && (size_t)n < sizeof(text))
        found = kc__definition_find(kc_str_of(text, (size_t)n));
    return is_kind(found) ? found : NULL;
}
