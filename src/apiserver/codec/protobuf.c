/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.c: decodes the envelope of a protobuf body, and its message to an object.
 *
 *     6b 38 73 00 │ 1 typeMeta {1 apiVersion, 2 kind}   2 raw   3 contentEncoding   4 contentType
 *
 * Only the envelope names the kind of the message; without it the bytes cannot be decoded. The
 * decoder first writes the message as JSON text, and the JSON parser then parses that text. So an
 * object from protobuf has passed every check that an object from JSON has.
 *
 * Kubernetes ignores contentEncoding and contentType and decodes any content. This decoder rejects
 * a body that declares another content.
 */
#include "apiserver/codec/protobuf_internal.h"

static const char magic[] = {'k', '8', 's', 0};

typedef struct envelope {
    kc__protobuf_root type;
    kc_str raw;
} envelope;

static void kc__protobuf_decoder_done(kc__protobuf_decoder *d)
{
    kc_buf_done(&d->out);
    kc_vec_done(&d->elements);
    kc_vec_done(&d->heads);
}

kc_str kc__protobuf_magic(void)
{
    return kc_str_of(magic, sizeof(magic));
}

bool kc__protobuf_recognizes(kc_str bytes)
{
    return kc_str_starts(bytes, kc__protobuf_magic());
}

static int check_start(kc__protobuf_decoder *d, kc_str bytes, size_t max_bytes)
{
    if (bytes.n > max_bytes)
        return kc_error_set(d->err, KC_TOO_LARGE, "protobuf: the body is larger than %zu bytes",
                            max_bytes);
    if (!bytes.n)
        return kc_error_set(d->err, KC_BAD_REQUEST, "empty data");
    if (!kc__protobuf_recognizes(bytes))
        return kc_error_set(d->err, KC_BAD_REQUEST,
                            "provided data does not appear to be a protobuf message, expected "
                            "prefix [107 56 115 0]");
    if (bytes.n == sizeof(magic))
        return kc_error_set(d->err, KC_BAD_REQUEST, "empty body");
    return 0;
}

static int check_content(kc__protobuf_decoder *d, kc_str encoding, kc_str type)
{
    if (encoding.n)
        return kc__protobuf_fail(d, "the content encoding '%.*s' is not supported",
                                 KC_ARG(encoding));
    if (type.n && !kc_str_is(type, KC__PROTOBUF_MEDIA_TYPE))
        return kc__protobuf_fail(d, "the content type '%.*s' is not supported", KC_ARG(type));
    return 0;
}

/* Reads the four fields of the envelope. The first is a message of two fields and is merged if
 * it occurs several times. */
static int read_envelope(kc__protobuf_decoder *d, kc_str rest, envelope *ret)
{
    static const kc__protobuf_wire wires[] = {KC__PROTOBUF_DELIMITED, KC__PROTOBUF_DELIMITED};
    kc__protobuf_element parts[4] = {0}, type[2] = {0};
    while (rest.n) {
        uint32_t number;
        kc__protobuf_element e;
        int r = kc__protobuf_element_next(d, &rest, &number, &e);
        if (r == 0 && number <= KC_COUNT(parts))
            r = kc__protobuf_element_expect(d, &e, KC__PROTOBUF_DELIMITED);
        if (r == 0 && number == 1)
            r = kc__protobuf_elements_read(d, (kc__protobuf_input){.bytes = e.bytes}, wires, 2,
                                           type);
        if (r < 0)
            return r;
        if (number <= KC_COUNT(parts))
            parts[number - 1] = e;
    }
    *ret = (envelope){{type[0].bytes, type[1].bytes}, parts[1].bytes};
    return check_content(d, parts[2].bytes, parts[3].bytes);
}

static int missing(kc__protobuf_decoder *d, const char *what, const kc__protobuf_root *type)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "runtime.TypeMeta{APIVersion:");
    kc_json_quote(&text, type->api_version);
    kc_buf_puts(&text, ", Kind:");
    kc_json_quote(&text, type->kind);
    kc_buf_putc(&text, '}');
    return kc_error_set(d->err, KC_BAD_REQUEST, "Object '%s' is missing in '%s'", what,
                        kc_buf_cstr(&text));
}

static int find_message(kc__protobuf_decoder *d, const kc__protobuf_opts *opts,
                        kc__protobuf_root *type, const kc__type_message **ret)
{
    kc__protobuf_root read = *type;
    if (!type->kind.n)
        type->kind = opts->kind;
    if (!type->api_version.n)
        type->api_version = opts->api_version;
    if (!type->kind.n)
        return missing(d, "Kind", &read);
    if (!type->api_version.n)
        return missing(d, "apiVersion", &read);
    const kc__type_message *found = opts->type_of
                                        ? opts->type_of(type->api_version, type->kind, opts->user)
                                        : kc__type_lookup_kind(type->api_version, type->kind);
    if (!found)
        return kc_error_set(d->err, KC_BAD_REQUEST,
                            "no kind \"%.*s\" is registered for version \"%.*s\"",
                            KC_ARG(type->kind), KC_ARG(type->api_version));
    *ret = found;
    return 0;
}

static int write_protobuf_codec(kc__protobuf_decoder *d, kc_str bytes,
                                const kc__protobuf_opts *opts)
{
    envelope body = {0};
    const kc__type_message *message = NULL;
    int r = check_start(d, bytes, opts->max_bytes ? opts->max_bytes : KC__PROTOBUF_MAX_BYTES);
    if (r == 0)
        r = read_envelope(d, kc_str_sub(bytes, sizeof(magic), bytes.n), &body);
    if (r == 0)
        r = find_message(d, opts, &body.type, &message);
    if (r == 0 && bytes.n < d->out.limit / 4)
        kc_buf_reserve(&d->out, bytes.n * 3); /* Estimated size of the JSON. */
    if (r == 0)
        r = kc__protobuf_write_message(d, message, (kc__protobuf_input){.bytes = body.raw},
                                       &body.type);
    return r;
}

kc_object *kc__protobuf_decode(kc_str bytes, const kc__protobuf_opts *opts, kc_error *err)
{
    static const kc__protobuf_opts defaults = {0};
    opts = opts ? opts : &defaults;
    size_t max_json = opts->max_json_bytes ? opts->max_json_bytes : KC_JSON_MAX_BYTES;
    kc_scoped(kc__protobuf_decoder) d = {.err = err, .out.limit = max_json};
    d.elements_left = opts->max_elements ? opts->max_elements : KC__PROTOBUF_MAX_ELEMENTS;
    if (write_protobuf_codec(&d, bytes, opts) < 0)
        return NULL;
    if (opts->ret_has_unknown)
        *opts->ret_has_unknown = d.has_unknown;
    return kc_object_parse(kc_buf_str(&d.out), &(kc_json_opts){.max_bytes = max_json}, err);
}

static int decode_protobuf_codec(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each,
                                 void *user, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_object *object = kc__protobuf_decode(bytes, opts ? opts->context : NULL, &why);
    return object ? each(object, user) : kc_error_move(err, &why);
}

static int encode(const kc_object *object, kc_buf *out, kc_error *err)
{
    (void)object;
    (void)out;
    return kc_error_set(err, KC_NOT_ACCEPTABLE, "responses in %s are not supported",
                        KC__PROTOBUF_MEDIA_TYPE);
}

const kc_codec kc__protobuf_codec = {
    .name = "protobuf",
    .media_types = KC__PROTOBUF_MEDIA_TYPE,
    .decode = decode_protobuf_codec,
    .encode = encode,
};
