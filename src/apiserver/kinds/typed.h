/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.h: an object of a built-in kind as Kubernetes would hold and repeat it.
 *
 * A Kubernetes API server reads JSON into a Go struct and writes the struct again. On the way
 * unknown fields go, nulls and empty optional fields go, required ones appear, times and quantities
 * take their one form, maps are sorted, fields stand in the order of the struct. Clients compare
 * the answers, and an update that changes nothing must be seen as one, so every write passes here:
 *
 *     kc_auto(kc_object) *body = kc_object_parse(text, &(kc_json_opts){.duplicates = &twice}, err);
 *     kc_auto(kc_object) *typed = body ? kc__typed_decode(resource->type, body, &unknown, err) :
 * NULL; if (!typed) return kc_error_wrap(err, "%s in version \"%s\" cannot be handled as a %s", …);
 *     if (strict && (unknown.n || twice.n))
 *         kc__typed_complaints(resource->type, text, &complaints);
 *
 * The result is a fixed point: decoding it again gives the same object.
 */
#ifndef KC_APISERVER_TYPED_H
#define KC_APISERVER_TYPED_H

#include "apiserver/kinds/definition.h"
#include "kc/json.h"
#include "kc/object.h"

/* As many complaints about one object as Kubernetes makes. */
#define KC__TYPED_MAX_COMPLAINTS 100

/*
 * The object as a value of the type; `given` itself, counted once more, when nothing changes.
 * `unknown`, which may be NULL, gets the paths of fields the type does not have ("spec.foo",
 * "spec.containers[0].bar"), in the order of the text, at most KC__TYPED_MAX_COMPLAINTS. NULL on
 * error: KC_BAD_REQUEST in the words of Go's decoder ("json: cannot unmarshal …"), or KC_TOO_LARGE
 * when required fields make it larger than KC_JSON_MAX_BYTES. The caller drops the reference. Any
 * thread; one pass, no tree.
 */
kc_object *kc__typed_decode(const kc__message *type, const kc_object *given, kc_paths *unknown,
                            kc_error *err);

/*
 * What strict decoding says about a text, one sentence each, in the order of the text and each
 * once: `unknown field "spec.foo"`, `duplicate field "spec.replicas"`. `json` is the body as it
 * came, because duplicates are no longer there in an object; it must be one that kc_object_parse
 * accepted. At most KC__TYPED_MAX_COMPLAINTS are appended to `ret`.
 */
void kc__typed_complaints(const kc__message *type, kc_str json, kc_paths *ret);

#endif
