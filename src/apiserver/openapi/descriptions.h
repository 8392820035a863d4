/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptions.h: what the published definitions say of each type and field, in words.
 *
 * The program holds these texts compressed; they are unpacked for as long as a document is written.
 */
#ifndef KC_APISERVER_DESCRIPTIONS_H
#define KC_APISERVER_DESCRIPTIONS_H

#include "apiserver/kinds/definition.h"

typedef struct kc__descriptions kc__descriptions;

/* NULL when there is no memory to unpack them. Takes about a megabyte. */
kc__descriptions *kc__descriptions_open(void);
kc__descriptions *kc__descriptions_close(kc__descriptions *texts);
KC_AUTO_DEFINE(kc__descriptions, kc__descriptions_close)

/* All of these: empty where nothing is said, or `texts` is NULL. They live as long as `texts`. */
kc_str kc__describe_message(const kc__descriptions *texts, const kc__message *message);
kc_str kc__describe_field(const kc__descriptions *texts, const kc__field *field);
/* Of a kind that is a type of its own: KC__FIELD_TIME, KC__FIELD_QUANTITY, … */
kc_str kc__describe_special(const kc__descriptions *texts, kc__field_kind kind);

/* ---- as tools/definitions writes them ---- */

/* One block of texts, each ended by a NUL, packed by zlib. */
extern const unsigned char kc__descriptions_packed[];
extern const size_t kc__n_descriptions_packed, kc__n_descriptions_unpacked;
/* Where each begins in it: of all messages, of all fields, of all kinds of fields. */
extern const uint32_t kc__description_places[];
extern const size_t kc__n_description_places;

#endif
