/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.c: fields that callers add to requests, of a channel or of one call: a short list with
 * copies of the text. Fields of HTTP/2 and of gRPC itself are not theirs to set.
 */
#include "grpc/grpc_internal.h"

#include "http/message/header.h"

static bool is_lower(kc_str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] >= 'A' && name.p[i] <= 'Z')
            return false;
    return true;
}

bool kc__grpc_field_is_valid(const char *name, kc_str value)
{
    static const char *const reserved[] = {"te",   "content-type",      "user-agent", "connection",
                                           "host", "transfer-encoding", NULL};
    const kc_str text = kc_cstr(name);
    return kc__http_is_header_name(text) && is_lower(text) && kc__http_is_header_value(value) &&
           !kc_str_starts(text, KC_STR("grpc-")) && !kc_str_is_any(text, reserved);
}

void kc__grpc_fields_append(kc__grpc_fields *fields, const char *name, kc_str value)
{
    kc_vec_push(fields, (kc__grpc_field){kc_strdup(name), kc_str_dup(value), value.n});
}

static void free_field(const kc__grpc_field *field)
{
    free(field->name);
    free(field->value);
}

void kc__grpc_fields_set(kc__grpc_fields *fields, const char *name, kc_str value)
{
    for (size_t i = 0; i < fields->n; i++) {
        if (strcmp(fields->items[i].name, name) != 0)
            continue;
        free_field(&fields->items[i]);
        kc_vec_remove(fields, i);
        break;
    }
    if (value.n)
        kc__grpc_fields_append(fields, name, value);
}

void kc__grpc_fields_done(kc__grpc_fields *fields)
{
    kc_vec_each (fields, field)
        free_field(field);
    kc_vec_done(fields);
}
