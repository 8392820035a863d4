/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats.c: named formats: format.dns1123Label().validate("…") yields the violations.
 *
 * To add a format, add a row to FORMATS.
 */
#include "cel/library/library_internal.h"

#include "kc/names.h"
#include "object/gofmt/go_url.h"
#include "object/schema/schema_internal.h"

typedef struct named_format {
    const char *name;      /* In expressions. */
    kc_name_rule rule;     /* KC_N_NAME_RULES for a format of schemas. */
    bool prefix;           /* A name to which a suffix will be appended. */
    const char *schema;    /* Format of schemas. */
    const char *violation; /* Its message; NULL: the error of Go's net/url. */
    uint64_t pattern_size; /* For the cost. */
} named_format;

/* identifier, rule, prefix, format of schemas, its message, size of the pattern */
#define FORMATS(X)                                                                \
    X(dns1123Label, KC_NAME_DNS_LABEL, false, NULL, NULL, 30)                     \
    X(dns1123Subdomain, KC_NAME_DNS_SUBDOMAIN, false, NULL, NULL, 60)             \
    X(dns1035Label, KC_NAME_DNS_1035_LABEL, false, NULL, NULL, 30)                \
    X(qualifiedName, KC_NAME_QUALIFIED, false, NULL, NULL, 60)                    \
    X(dns1123LabelPrefix, KC_NAME_DNS_LABEL, true, NULL, NULL, 30)                \
    X(dns1123SubdomainPrefix, KC_NAME_DNS_SUBDOMAIN, true, NULL, NULL, 60)        \
    X(dns1035LabelPrefix, KC_NAME_DNS_1035_LABEL, true, NULL, NULL, 30)           \
    X(labelValue, KC_NAME_LABEL_VALUE, false, NULL, NULL, 40)                     \
    X(uri, KC_N_NAME_RULES, false, "uri", NULL, 1103)                             \
    X(uuid, KC_N_NAME_RULES, false, "uuid", "does not match the UUID format", 70) \
    X(byte, KC_N_NAME_RULES, false, "byte", "invalid base64", 84)                 \
    X(date, KC_N_NAME_RULES, false, "date", "invalid date", 71)                   \
    X(datetime, KC_N_NAME_RULES, false, "datetime", "invalid datetime", 71)

static const named_format formats[] = {
#define FORMAT_ROW(name, rule, prefix, schema, violation, size) \
    {#name, rule, prefix, schema, violation, size},
    FORMATS(FORMAT_ROW)
#undef FORMAT_ROW
};

static kc__cel_equality equal_formats(const void *a, const void *b)
{
    return kc__cel_equality_of(a == b);
}

static void write_format(const void *data, kc_buf *out)
{
    kc_buf_printf(out, "format.%s()", ((const named_format *)data)->name);
}

const kc_cel_type kc__cel_type_format =
    KC__CEL_OPAQUE("kubernetes.NamedFormat", equal_formats, write_format);

static kc_cel_value format_value(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(formats); i++)
        if (strcmp(formats[i].name, name) == 0)
            return (kc_cel_value){.kind = KC_CEL_OPAQUE,
                                  .opaque = {&kc__cel_type_format, &formats[i]}};
    return kc__cel_no_such_overload();
}

#define FORMAT_FUNCTION(name, rule, prefix, schema, violation, size) \
    KC__CEL_FUNCTION(format_##name)                                  \
    {                                                                \
        (void)a;                                                     \
        return format_value(#name);                                  \
    }
FORMATS(FORMAT_FUNCTION)
#undef FORMAT_FUNCTION

KC__CEL_FUNCTION(format_named)
{
    for (size_t i = 0; i < KC_COUNT(formats); i++)
        if (kc_str_is(a[0].text, formats[i].name))
            return kc__cel_optional_of(ev, format_value(formats[i].name));
    return kc__cel_none();
}

/* `why` keeps a message that depends on the text. */
static size_t violations_of(const named_format *format, kc_str text, kc_buf *why,
                            const char *ret[KC_NAME_MESSAGES])
{
    if (format->rule != KC_N_NAME_RULES)
        return format->prefix ? kc_name_check_prefix(format->rule, text, ret)
                              : kc_name_check(format->rule, text, ret);
    const kc__schema_format *schema = kc__schema_format_find(kc_cstr(format->schema));
    bool valid = !schema || !schema->valid || schema->valid(text);
    if (!valid && !format->violation) {
        kc__go_url url;
        kc__go_url_parse(text, KC__GO_URL_REQUEST, &url, why);
    }
    ret[0] = format->violation ? format->violation : kc_buf_cstr(why);
    return !valid;
}

KC__CEL_FUNCTION(format_validate)
{
    const char *messages[KC_NAME_MESSAGES];
    kc_scoped(kc_buf) why = {0};
    size_t count = violations_of(a[0].opaque.data, a[1].text, &why, messages);
    kc__cel_list *list = count ? kc__cel_strings_new(ev, count) : NULL;
    for (size_t i = 0; i < count && list; i++)
        kc__cel_list_append(ev, list, kc__cel_copy_text(ev, KC_CEL_STRING, kc_cstr(messages[i])));
    return list ? kc__cel_optional_of(ev, kc__cel_list_value(list)) : kc__cel_none();
}

static uint64_t validate_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)n, (void)result;
    if (a[0].kind != KC_CEL_OPAQUE)
        return 1;
    return kc__cel_cost_factor(1 + kc__cel_size(a[1]), KC__CEL_STRING_FACTOR) *
           kc__cel_cost_factor(((const named_format *)a[0].opaque.data)->pattern_size,
                               KC__CEL_REGEX_FACTOR);
}

static kc__cel_estimate estimate_validate(const kc__cel_estimate_args *args)
{
    enum { LONGEST_PATTERN = 128 };
    kc__cel_estimate estimate = kc__cel_estimate_traversal(args->sizes[1]);
    estimate.cost = kc__cel_range_factor(estimate.cost, LONGEST_PATTERN * KC__CEL_REGEX_FACTOR);
    return estimate;
}

static const kc_cel_type optional_format = {.kind = KC_CEL_OPTIONAL,
                                            .name = "optional_type",
                                            .params = {&kc__cel_type_format},
                                            .n_params = 1};
static const kc_cel_type optional_strings = {.kind = KC_CEL_OPTIONAL,
                                             .name = "optional_type",
                                             .params = {&kc__cel_type_list_string},
                                             .n_params = 1};

static const kc__cel_overload overloads[] = {
#define FORMAT_OVERLOAD(name_, rule_, prefix_, schema_, violation_, size_) \
    {.function = "format." #name_,                                         \
     .id = "format." #name_,                                               \
     .impl = format_##name_,                                               \
     .result = &kc__cel_type_format},
    FORMATS(FORMAT_OVERLOAD)
#undef FORMAT_OVERLOAD
        KC__CEL_ROW("format.named", "format-named", false, format_named, NULL, NULL,
                    &optional_format, T_STRING),
    KC__CEL_ROW("validate", "format-validate", true, format_validate, validate_cost,
                estimate_validate, &optional_strings, &kc__cel_type_format, T_STRING),
};

const kc__cel_library kc__cel_library_formats = {overloads, KC_COUNT(overloads),
                                                 KC__CEL_FORMATS_31};
