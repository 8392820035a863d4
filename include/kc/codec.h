/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h: the encodings an object can arrive in and leave in.
 *
 * A codec is a const table; kc_codec_for finds one by media type, so a request's Content-Type or a
 * file's ending decides in one place. JSON and YAML are here. Protobuf will be a third table: its
 * decode needs a kind's field numbers, which `context` carries.
 */
#ifndef KC_CODEC_H
#define KC_CODEC_H

#include "kc/object.h"

typedef struct kc_decode_opts {
    kc_json_opts json;   /* Limits, and where duplicate fields are reported. */
    const void *context; /* What the codec needs beyond the bytes; NULL for JSON and YAML. */
} kc_decode_opts;

/* Gets each decoded object, now its own. A negative return stops decoding and is returned. */
typedef int (*kc_decoded_fn)(kc_object *object, void *user);

typedef struct kc_codec {
    const char *name;        /* "json" */
    const char *media_types; /* Space-separated; the first is the one answers carry. */
    bool streams;            /* One text may hold several objects. */
    /* Bytes to objects, in order. Objects before a bad one have been handed over when the error is
     * returned. */
    int (*decode)(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each, void *user,
                  kc_error *err);
    /* Appends an object's encoding. */
    int (*encode)(const kc_object *object, kc_buf *out, kc_error *err);
} kc_codec;

extern const kc_codec kc_codec_json, kc_codec_yaml;

/* By media type, parameters ignored ("application/json; charset=utf-8"). NULL when none serves it.
 */
const kc_codec *kc_codec_for(kc_str media_type);
/* By a file's ending: .json, .yaml, .yml. NULL otherwise. */
const kc_codec *kc_codec_for_file(kc_str path);

/* The one object in `bytes`: none or several is an error. opts may be NULL. The caller owns the
 * result. */
kc_object *kc_codec_decode_one(const kc_codec *codec, kc_str bytes, const kc_decode_opts *opts,
                               kc_error *err);

#endif
