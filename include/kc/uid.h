/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid.h: UIDs of objects: random UUIDs (version 4 of RFC 9562) in lower case.
 *
 *     uint8_t random[16];
 *     char uid[KC_UID_TEXT];
 *     kc_rand_bytes(rand, random, sizeof(random));
 *     kc_uid_of(random, uid);                          "6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b7"
 */
#ifndef KC_UID_H
#define KC_UID_H

#include "kc/str.h"

/* Size of a buffer for a UUID, with its terminator. */
#define KC_UID_TEXT 37

/* The UUID of 16 random bytes; version and variant replace six bits. Terminated. */
kc_str kc_uid_of(const uint8_t random[16], char out[KC_UID_TEXT]);

/* True for any UUID, of any version and case: 8-4-4-4-12 hexadecimal digits. */
bool kc_uid_valid(kc_str text);

#endif
