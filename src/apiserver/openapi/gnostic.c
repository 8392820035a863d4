/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnostic.c: encodes OpenAPI v2 as protobuf.
 *
 * The messages are those of gnostic's OpenAPIv2.proto, one for each kind of JSON object, as tables:
 * the member's name, its field number, its type. Objects with arbitrary member names (paths,
 * definitions, properties) are lists of pairs; "x-…" members are pairs of a name and YAML, of which
 * JSON is a subset. Where a message is a union (a parameter in the body or elsewhere), `wrap`
 * chooses the member. To publish one more member: a row of its table.
 *
 * A length precedes what it measures: a message is written behind reserved space for its length,
 * and moved up if the length turns out to be shorter. The recursion is as deep as the JSON, which
 * the server has written itself.
 */
#include "apiserver/openapi/gnostic.h"
#include "kc/json.h"

typedef enum shape {
    TEXT,
    TEXTS, /* One string, or a list of them. */
    FLAG,
    INTEGER,
    MESSAGE,
    MESSAGES, /* A list of messages. */
    ANY,      /* YAML. */
    ANYS,
} shape;

typedef struct gnostic_message gnostic_message;

typedef struct gnostic_member {
    const char *name;
    unsigned number;
    shape shape;
    const gnostic_message *message;
} gnostic_member;

struct gnostic_message {
    const gnostic_member *members;
    size_t n_members;
    unsigned extensions; /* Field number of "x-…" members; 0: none. */
    unsigned pairs;      /* Field number of all members, as pairs; 0: the table lists them. */
    const gnostic_message *value; /* Message of a pair's value. */
    /* Returns the field number of the value and its message. NULL: the message is no union. */
    unsigned (*wrap)(const kc_value *value, const gnostic_message **ret_inner);
};

#define MEMBERS(table) .members = (table), .n_members = KC_COUNT(table)

/* ---- message tables, inner messages first ---- */

static const gnostic_message schema;

static unsigned wrap_first_schema(const kc_value *value, const gnostic_message **ret_inner)
{
    (void)value;
    *ret_inner = &schema;
    return 1;
}

static const gnostic_message strings = {.pairs = 0}; /* StringArray, TypeItem: see put_strings. */
static const gnostic_message schema_item = {.wrap = wrap_first_schema}; /* Also ItemsItem. */
static const gnostic_message schemas = {.pairs = 1, .value = &schema};

static const gnostic_member schema_members[] = {
    {"$ref", 1, TEXT, NULL},
    {"format", 2, TEXT, NULL},
    {"title", 3, TEXT, NULL},
    {"description", 4, TEXT, NULL},
    {"default", 5, ANY, NULL},
    {"maxLength", 11, INTEGER, NULL},
    {"minLength", 12, INTEGER, NULL},
    {"pattern", 13, TEXT, NULL},
    {"maxItems", 14, INTEGER, NULL},
    {"minItems", 15, INTEGER, NULL},
    {"uniqueItems", 16, FLAG, NULL},
    {"maxProperties", 17, INTEGER, NULL},
    {"minProperties", 18, INTEGER, NULL},
    {"required", 19, TEXTS, NULL},
    {"enum", 20, ANYS, NULL},
    {"additionalProperties", 21, MESSAGE, &schema_item},
    {"type", 22, MESSAGE, &strings},
    {"items", 23, MESSAGE, &schema_item},
    {"allOf", 24, MESSAGES, &schema},
    {"properties", 25, MESSAGE, &schemas},
};
static const gnostic_message schema = {MEMBERS(schema_members), .extensions = 31};

static const gnostic_member body_members[] = {
    {"description", 1, TEXT, NULL}, {"name", 2, TEXT, NULL},         {"in", 3, TEXT, NULL},
    {"required", 4, FLAG, NULL},    {"schema", 5, MESSAGE, &schema},
};
static const gnostic_member query_members[] = {
    {"required", 1, FLAG, NULL}, {"in", 2, TEXT, NULL},   {"description", 3, TEXT, NULL},
    {"name", 4, TEXT, NULL},     {"type", 6, TEXT, NULL}, {"uniqueItems", 20, FLAG, NULL},
};
static const gnostic_member path_parameter_members[] = {
    {"required", 1, FLAG, NULL}, {"in", 2, TEXT, NULL},   {"description", 3, TEXT, NULL},
    {"name", 4, TEXT, NULL},     {"type", 5, TEXT, NULL}, {"uniqueItems", 19, FLAG, NULL},
};
static const gnostic_member reference_members[] = {{"$ref", 1, TEXT, NULL}};
static const gnostic_message body_parameter = {MEMBERS(body_members)};
static const gnostic_message query_parameter = {MEMBERS(query_members)};
static const gnostic_message path_parameter = {MEMBERS(path_parameter_members)};
static const gnostic_message reference = {MEMBERS(reference_members)};

static bool is_in(const kc_value *parameter, const char *where)
{
    return kc_str_is(kc_value_as_str(kc_value_get(parameter, "in")), where);
}

static unsigned wrap_other_parameter(const kc_value *value, const gnostic_message **ret_inner)
{
    bool path = is_in(value, "path");
    *ret_inner = path ? &path_parameter : &query_parameter;
    return path ? 4 : 3;
}

static const gnostic_message other_parameter = {.wrap = wrap_other_parameter};

static unsigned wrap_parameter(const kc_value *value, const gnostic_message **ret_inner)
{
    bool body = is_in(value, "body");
    *ret_inner = body ? &body_parameter : &other_parameter;
    return body ? 1 : 2;
}

static const gnostic_message parameter = {.wrap = wrap_parameter};
static const gnostic_message parameters = {.pairs = 1, .value = &parameter};

static unsigned wrap_parameter_item(const kc_value *value, const gnostic_message **ret_inner)
{
    bool refers = kc_value_get(value, "$ref") != NULL;
    *ret_inner = refers ? &reference : &parameter;
    return refers ? 2 : 1;
}

static const gnostic_message parameter_item = {.wrap = wrap_parameter_item};

static const gnostic_member response_members[] = {{"description", 1, TEXT, NULL},
                                                  {"schema", 2, MESSAGE, &schema_item}};
static const gnostic_message response = {MEMBERS(response_members), .extensions = 5};

static unsigned wrap_response(const kc_value *value, const gnostic_message **ret_inner)
{
    (void)value;
    *ret_inner = &response;
    return 1;
}

static const gnostic_message response_value = {.wrap = wrap_response};
static const gnostic_message responses = {.pairs = 1, .value = &response_value};

static const gnostic_member operation_members[] = {
    {"tags", 1, TEXTS, NULL},
    {"description", 3, TEXT, NULL},
    {"operationId", 5, TEXT, NULL},
    {"produces", 6, TEXTS, NULL},
    {"consumes", 7, TEXTS, NULL},
    {"parameters", 8, MESSAGES, &parameter_item},
    {"responses", 9, MESSAGE, &responses},
    {"schemes", 10, TEXTS, NULL},
};
static const gnostic_message operation = {MEMBERS(operation_members), .extensions = 13};

static const gnostic_member path_members[] = {
    {"get", 2, MESSAGE, &operation},     {"put", 3, MESSAGE, &operation},
    {"post", 4, MESSAGE, &operation},    {"delete", 5, MESSAGE, &operation},
    {"options", 6, MESSAGE, &operation}, {"head", 7, MESSAGE, &operation},
    {"patch", 8, MESSAGE, &operation},   {"parameters", 9, MESSAGES, &parameter_item},
};
static const gnostic_message path = {MEMBERS(path_members), .extensions = 10};
static const gnostic_message paths = {.pairs = 2, .value = &path};

static const gnostic_member info_members[] = {{"title", 1, TEXT, NULL}, {"version", 2, TEXT, NULL}};
static const gnostic_message info = {MEMBERS(info_members)};

static const gnostic_member key_members[] = {{"type", 1, TEXT, NULL},
                                             {"name", 2, TEXT, NULL},
                                             {"in", 3, TEXT, NULL},
                                             {"description", 4, TEXT, NULL}};
static const gnostic_message api_key = {MEMBERS(key_members)};

static unsigned wrap_security(const kc_value *value, const gnostic_message **ret_inner)
{
    (void)value;
    *ret_inner = &api_key;
    return 2;
}

static const gnostic_message security_item = {.wrap = wrap_security};
static const gnostic_message security_definitions = {.pairs = 1, .value = &security_item};
static const gnostic_message security_requirement = {.pairs = 1, .value = &strings};

static const gnostic_member document_members[] = {
    {"swagger", 1, TEXT, NULL},
    {"info", 2, MESSAGE, &info},
    {"paths", 8, MESSAGE, &paths},
    {"definitions", 9, MESSAGE, &schemas},
    {"parameters", 10, MESSAGE, &parameters},
    {"security", 12, MESSAGES, &security_requirement},
    {"securityDefinitions", 13, MESSAGE, &security_definitions},
};
static const gnostic_message document = {MEMBERS(document_members)};

/* ---- the wire ---- */

enum { VARINT = 0, BYTES = 2, MAX_LENGTH = 5 /* Maximum bytes of a length below 2^35. */ };

static size_t varint(uint64_t number, char out[10])
{
    size_t n = 0;
    do {
        out[n++] = (char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
    } while (number);
    return n;
}

static void put_varint(kc_buf *out, uint64_t number)
{
    char text[10];
    size_t n = varint(number, text);
    kc_buf_append(out, kc_str_of(text, n));
}

static void put_text(kc_buf *out, unsigned number, kc_str text)
{
    put_varint(out, number << 3 | BYTES);
    put_varint(out, text.n);
    kc_buf_append(out, text);
}

/* Opens a field whose length is not known yet; everything appended until it is closed belongs to
 * it. */
static size_t open_field(kc_buf *out, unsigned number)
{
    put_varint(out, number << 3 | BYTES);
    kc_buf_append(out, kc_str_of("\0\0\0\0\0", MAX_LENGTH));
    return out->n;
}

static void close_field(kc_buf *out, size_t begin)
{
    char text[10];
    size_t length = out->n - begin, n = varint(length, text);
    char *room = out->p + begin - MAX_LENGTH;
    memcpy(room, text, n);
    memmove(room + n, out->p + begin, length);
    out->n -= MAX_LENGTH - n;
}

/* ---- values ---- */

static void put_message(kc_buf *out, const gnostic_message *type, const kc_value *value);

/* Any { yaml = 2 } */
static void put_any(kc_buf *out, unsigned number, const kc_value *value)
{
    size_t any = open_field(out, number), yaml = open_field(out, 2);
    kc_json_write(out, value);
    close_field(out, yaml);
    close_field(out, any);
}

static void put_texts(kc_buf *out, unsigned number, const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_STRING)
        put_text(out, number, kc_value_as_str(value));
    kc_value_each_item (value, item)
        put_text(out, number, kc_value_as_str(item));
}

static void put_nested(kc_buf *out, unsigned number, const gnostic_message *type,
                       const kc_value *value)
{
    size_t begin = open_field(out, number);
    put_message(out, type, value);
    close_field(out, begin);
}

static void put_member(kc_buf *out, const gnostic_member *m, const kc_value *value)
{
    switch (m->shape) {
    case TEXT: put_text(out, m->number, kc_value_as_str(value)); break;
    case TEXTS: put_texts(out, m->number, value); break;
    case FLAG:
    case INTEGER:
        put_varint(out, m->number << 3 | VARINT);
        put_varint(out, m->shape == FLAG ? kc_value_as_bool(value, false)
                                         : (uint64_t)kc_value_as_i64_or(value, 0));
        break;
    case MESSAGE: put_nested(out, m->number, m->message, value); break;
    case MESSAGES:
        kc_value_each_item (value, item)
            put_nested(out, m->number, m->message, item);
        break;
    case ANY: put_any(out, m->number, value); break;
    case ANYS:
        kc_value_each_item (value, item)
            put_any(out, m->number, item);
        break;
    }
}

/* NamedThing { name = 1, value = 2 } */
static void put_pair(kc_buf *out, const gnostic_message *type, kc_str name, const kc_value *value)
{
    size_t begin = open_field(out, type->pairs);
    put_text(out, 1, name);
    put_nested(out, 2, type->value, value);
    close_field(out, begin);
}

static void put_extension(kc_buf *out, unsigned number, kc_str name, const kc_value *value)
{
    size_t begin = open_field(out, number);
    put_text(out, 1, name);
    put_any(out, 2, value);
    close_field(out, begin);
}

static void put_members(kc_buf *out, const gnostic_message *type, kc_str name,
                        const kc_value *value)
{
    if (type->pairs) {
        put_pair(out, type, name, value);
        return;
    }
    if (type->extensions && kc_str_starts(name, KC_STR("x-"))) {
        put_extension(out, type->extensions, name, value);
        return;
    }
    for (size_t i = 0; i < type->n_members; i++) {
        if (kc_str_is(name, type->members[i].name))
            put_member(out, &type->members[i], value);
    }
}

static void put_message(kc_buf *out, const gnostic_message *type, const kc_value *value)
{
    const gnostic_message *inner = NULL;
    if (type == &strings) {
        put_texts(out, 1, value);
    } else if (type->wrap) {
        unsigned number = type->wrap(value, &inner);
        put_nested(out, number, inner, value);
    } else {
        kc_value_each_member (value, name, of)
            put_members(out, type, name, of);
    }
}

int kc__openapi_gnostic_v2(kc_str json, kc_buf *out, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, &(kc_json_opts){.max_bytes = json.n + 1}, err);
    if (!view)
        return kc_error_result(err);
    put_message(out, &document, kc_view_root(view));
    return 0;
}
