/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h: decodes an object of a built-in kind to the form in which Kubernetes would store and
 * return it.
 *
 * A Kubernetes API server decodes JSON into a Go struct and encodes the struct again. This drops
 * unknown fields, nulls and empty optional fields, adds required fields, normalizes times and
 * quantities, sorts maps, and orders fields like the struct. Clients compare responses, and an
 * update that changes nothing must be recognized as such, so every write passes through this
 * decoder:
 *
 *     kc_auto(kc_object) *body = kc_object_parse(text, &(kc_json_opts){.duplicates = &twice}, err);
 *     kc_auto(kc_object) *typed = NULL;
 *     if (body)
 *         typed = kc__typed_decode(resource->type, body, &unknown, err);
 *     if (!typed)
 *         return kc_error_wrap(err, "%s in version \"%s\" cannot be handled as a %s", …);
 *     if (strict && (unknown.n || twice.n))
 *         kc__typed_strict_errors(resource->type, text, &complaints);
 *
 * The result is a fixed point: decoding it again returns the same object.
 */
#ifndef KC_APISERVER_TYPED_H
#define KC_APISERVER_TYPED_H

#include "apiserver/codec/api_types.h"
#include "kc/json.h"
#include "kc/object.h"

/* Maximum number of strict decoding errors per object, as in Kubernetes. */
#define KC__TYPED_MAX_STRICT_ERRORS 100

/*
 * Returns the object as a value of the type; a new reference to `input` itself when nothing
 * changes. `unknown`, which may be NULL, gets the paths of fields that the type does not have
 * ("spec.foo", "spec.containers[0].bar"), in text order, at most KC__TYPED_MAX_STRICT_ERRORS. NULL
 * on error: KC_BAD_REQUEST with the message of Go's decoder ("json: cannot unmarshal …"), or
 * KC_TOO_LARGE when required fields make the object larger than KC_JSON_MAX_BYTES. The caller drops
 * the reference. Any thread; one pass, no tree.
 */
kc_object *kc__typed_decode(const kc__type_message *type, const kc_object *input, kc_paths *unknown,
                            kc_error *err);

/* The same for what a client sent, before it is stored: an empty list or map that is not omitted
 * stays empty. Its owner needs that: it has set the field, which is null in an object without it.
 */
kc_object *kc__typed_decode_body(const kc__type_message *type, const kc_object *input,
                                 kc_paths *unknown, kc_error *err);

/*
 * The same for canonical text (json.h) of an object, which may be a part of a larger text. *ret is
 * `text` itself when nothing changes; else it is the contents of `out`, which must be empty and
 * gets a limit. 0 or negative.
 */
int kc__typed_decode_text(const kc__type_message *type, kc_str text, kc_paths *unknown, kc_buf *out,
                          kc_str *ret, kc_error *err) KC_MUST_CHECK;

/*
 * Appends the strict decoding errors of a text to `ret`, in text order and without repetition:
 * `unknown field "spec.foo"`, `duplicate field "spec.replicas"`. `json` is the unmodified body,
 * because an object no longer contains duplicates; kc_object_parse must have accepted it. Appends
 * at most KC__TYPED_MAX_STRICT_ERRORS.
 */
void kc__typed_strict_errors(const kc__type_message *type, kc_str json, kc_paths *ret);

#endif
