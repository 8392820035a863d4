/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c: the table of encodings, and the JSON codec. To add an encoding: define its kc_codec in a
 * file of its own and add it to `codecs`.
 */
#include "kc/codec.h"

static int json_decode(kc_str bytes, const kc_decode_opts *opts, kc_decoded_fn each, void *user,
                       kc_error *err)
{
    kc_object *object = kc_object_parse(bytes, opts ? &opts->json : NULL, err);
    return object ? each(object, user) : kc_error_result(err);
}

static int json_encode(const kc_object *object, kc_buf *out, kc_error *err)
{
    (void)err;
    kc_buf_append(out, kc_object_json(object));
    return 0;
}

const kc_codec kc_codec_json = {
    .name = "json",
    .media_types = "application/json",
    .decode = json_decode,
    .encode = json_encode,
};

static const kc_codec *const codecs[] = {&kc_codec_json, &kc_codec_yaml};

const kc_codec *kc_codec_for(kc_str media_type)
{
    kc_str wanted = kc_str_trim(kc_str_cut(&media_type, ';'));
    for (size_t i = 0; i < KC_COUNT(codecs); i++) {
        kc_str types = kc_cstr(codecs[i]->media_types);
        while (types.p)
            if (kc_str_eq_nocase(kc_str_cut(&types, ' '), wanted))
                return codecs[i];
    }
    return NULL;
}

const kc_codec *kc_codec_for_file(kc_str path)
{
    if (kc_str_ends(path, KC_STR(".json")))
        return &kc_codec_json;
    if (kc_str_ends(path, KC_STR(".yaml")) || kc_str_ends(path, KC_STR(".yml")))
        return &kc_codec_yaml;
    return NULL;
}

static int keep_one(kc_object *object, void *user)
{
    kc_object **kept = user;
    if (*kept) {
        kc_object_unref(object);
        return -1;
    }
    *kept = object;
    return 0;
}

kc_object *kc_codec_decode_one(const kc_codec *codec, kc_str bytes, const kc_decode_opts *opts,
                               kc_error *err)
{
    kc_auto(kc_object) *object = NULL;
    kc_scoped(kc_error) why = {0};
    if (codec->decode(bytes, opts, keep_one, &object, &why) < 0) {
        if (why.reason)
            kc_error_move(err, &why);
        else
            kc_error_set(err, KC_BAD_REQUEST, "expected one object, found more");
        return NULL;
    }
    if (!object)
        kc_error_set(err, KC_BAD_REQUEST, "expected one object, found none");
    return kc_take(object);
}
