/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h: encodings of objects.
 *
 * A codec is a const table. kc_codec_for finds one by media type, so one function maps a request's
 * Content-Type or a file name extension to an encoding. JSON and YAML are implemented. A protobuf
 * codec would be a third table: its decoder needs the field numbers of a kind, which `context`
 * carries.
 */
#ifndef KC_CODEC_H
#define KC_CODEC_H

#include "kc/object.h"

typedef struct kc_decode_opts {
    kc_json_opts json;   /* Limits, and the list that receives duplicate fields. */
    const void *context; /* Further input of the codec; NULL for JSON and YAML. */
} kc_decode_opts;

/* Receives each decoded object and owns it. A negative return stops decoding and is returned. */
typedef int (*kc_decoded_fn)(kc_object *object, void *user);

typedef struct kc_codec {
    const char *name;        /* "json" */
    const char *media_types; /* Space-separated; responses use the first. */
    bool streams;            /* One text may contain several objects. */
    /* Decodes objects, in order. Objects before an invalid one have already been passed to the
     * callback when the error is returned. */
    int (*decode)(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each, void *user,
                  kc_error *err);
    /* Appends the encoding of an object. */
    int (*encode)(const kc_object *object, kc_buf *out, kc_error *err);
} kc_codec;

extern const kc_codec kc_codec_json, kc_codec_yaml;

/* Finds a codec by media type, ignoring parameters ("application/json; charset=utf-8"). NULL if
 * none matches. */
const kc_codec *kc_codec_for(kc_str media_type);
/* By file name extension: .json, .yaml, .yml. NULL otherwise. */
const kc_codec *kc_codec_for_file(kc_str path);

/* Decodes exactly one object: none or several is an error. opts may be NULL. The caller owns the
 * result. */
kc_object *kc_codec_decode_one(const kc_codec *codec, kc_str bytes, const kc_decode_opts *opts,
                               kc_error *err);

#endif
