/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h: request bodies in application/vnd.kubernetes.protobuf, which typed clients send for
 * built-in kinds. Answers are JSON, so there is no encoder.
 *
 *     kc_object *pod = kc__protobuf_decode(body, &(kc__protobuf_opts){.kind = KC_STR("Pod"),
 *                                                                      .api_version =
 * KC_STR("v1")}, err);
 *
 * The result is what Go would write as JSON had it decoded the body: the order of fields, nulls
 * and zeros of what may not be left out, base64, times, sorted maps.
 */
#ifndef KC_APISERVER_PROTOBUF_H
#define KC_APISERVER_PROTOBUF_H

#include "apiserver/kinds/definition.h"
#include "kc/codec.h"

#define KC__PROTOBUF_MEDIA_TYPE   "application/vnd.kubernetes.protobuf"
#define KC__PROTOBUF_MAX_BYTES    ((size_t)3 << 20)
#define KC__PROTOBUF_MAX_ELEMENTS ((size_t)1 << 20)
#define KC__PROTOBUF_MAX_DEPTH    64u

typedef struct kc__protobuf_opts {
    /* What a body without apiVersion, or without kind, is. Default to an error. */
    kc_str api_version, kind;
    /* The message of a kind, NULL when there is none. Defaults to kc__definition_of_kind. */
    const kc__message *(*type_of)(kc_str api_version, kc_str kind, void *user);
    void *user;
    size_t max_bytes;      /* Of the body. Defaults to KC__PROTOBUF_MAX_BYTES. */
    size_t max_elements;   /* Fields read in all. Defaults to KC__PROTOBUF_MAX_ELEMENTS. */
    size_t max_json_bytes; /* Of the result's text. Defaults to KC_JSON_MAX_BYTES. */
} kc__protobuf_opts;

/*
 * Decodes a body: four bytes of magic, and an envelope (runtime.Unknown) that names the kind and
 * holds the message. opts may be NULL. The caller owns the result. NULL on error: KC_BAD_REQUEST
 * with the path of the field it is about, or KC_TOO_LARGE. Any thread; does not block.
 */
kc_object *kc__protobuf_decode(kc_str bytes, const kc__protobuf_opts *opts, kc_error *err);

/* The same as a codec, whose `context` is a kc__protobuf_opts or NULL. It does not encode. */
extern const kc_codec kc__codec_protobuf;

/* Whether bytes begin as a body does. */
bool kc__protobuf_recognizes(kc_str bytes);

#endif
