/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h: decodes request bodies in application/vnd.kubernetes.protobuf, which typed clients
 * send for built-in kinds, and encodes and decodes the values that Kubernetes stores. Responses are
 * JSON.
 *
 *     kc_object *pod = kc__protobuf_decode(
 *         body, &(kc__protobuf_opts){.kind = KC_STR("Pod"), .api_version = KC_STR("v1")}, err);
 *
 * The result is the JSON that Go would write after decoding the body: Go's field order, nulls and
 * zero values of fields that are not omitted, base64, times, sorted maps.
 */
#ifndef KC_APISERVER_PROTOBUF_H
#define KC_APISERVER_PROTOBUF_H

#include "apiserver/codec/api_types.h"
#include "kc/codec.h"

#define KC__PROTOBUF_MEDIA_TYPE   "application/vnd.kubernetes.protobuf"
#define KC__PROTOBUF_MAX_BYTES    ((size_t)3 << 20)
#define KC__PROTOBUF_MAX_ELEMENTS ((size_t)1 << 20)
#define KC__PROTOBUF_MAX_DEPTH    64u

typedef struct kc__protobuf_opts {
    /* Used for a body without apiVersion or without kind. Default: such a body is an error. */
    kc_str api_version, kind;
    /* Returns the message of a kind, NULL if there is none. Defaults to kc__type_lookup_kind. */
    const kc__type_message *(*type_of)(kc_str api_version, kc_str kind, void *user);
    void *user;
    size_t max_bytes;      /* Size limit of the body. Defaults to KC__PROTOBUF_MAX_BYTES. */
    size_t max_elements;   /* Limit on the fields read in total. Defaults to
                              KC__PROTOBUF_MAX_ELEMENTS. */
    size_t max_json_bytes; /* Size limit of the resulting JSON. Defaults to KC_JSON_MAX_BYTES. */
    bool *ret_has_unknown; /* Set to whether a field that its type does not have was skipped. */
} kc__protobuf_opts;

/*
 * Decodes a body: four magic bytes, and an envelope (runtime.Unknown) that names the kind and
 * contains the message. `opts` may be NULL. The caller owns the result. NULL on error:
 * KC_BAD_REQUEST with the path of the field, or KC_TOO_LARGE. Any thread; does not block.
 */
kc_object *kc__protobuf_decode(kc_str bytes, const kc__protobuf_opts *opts, kc_error *err);

/*
 * Appends the object as Kubernetes stores it: with magic and envelope, under `api_version`, without
 * its resource version. `type` is the message of that version, or one with the same fields. Returns
 * 0, or negative with `out` unchanged: a value that does not fit its type, or has no protobuf form.
 * Any thread; does not block.
 */
int kc__protobuf_encode(const kc_object *object, const kc__type_message *type, kc_str api_version,
                        kc_buf *out, kc_error *err);

/*
 * Appends `value`, a body that was encoded from a `type`, with the unknown fields of `older`, a
 * body of the same type: each in the message where `older` has it, as far as `value` has that
 * message. Items of lists are matched by their keys, or by their position if the list has none.
 * Returns 0, or negative with `out` unchanged: a body that cannot be read.
 */
int kc__protobuf_graft(const kc__type_message *type, kc_str value, kc_str older, kc_buf *out,
                       kc_error *err);

/* The decoder as a codec; its `context` is a kc__protobuf_opts or NULL. It does not encode. */
extern const kc_codec kc__protobuf_codec;

/* Whether the bytes start with the magic of a protobuf body. */
bool kc__protobuf_recognizes(kc_str bytes);

#endif
