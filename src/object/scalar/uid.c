/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uid.c: UUIDs. The caller provides the random bytes, so that a simulation repeats its UIDs.
 */
#include "kc/uid.h"
#include "kc/ascii.h"

enum { LENGTH = 36 };

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

kc_str kc_uid_of(const uint8_t random[16], char out[KC_UID_TEXT])
{
    static const char hex[] = "0123456789abcdef";
    uint8_t bytes[16];
    memcpy(bytes, random, sizeof(bytes));
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | 0x40); /* Version 4, */
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80); /* variant of the RFC. */
    char *p = out;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        if (is_dash((size_t)(p - out)))
            *p++ = '-';
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    *p = '\0';
    return kc_str_of(out, LENGTH);
}

bool kc_uid_valid(kc_str text)
{
    if (text.n != LENGTH)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (is_dash(i) ? text.p[i] != '-' : !kc_is_hex(text.p[i]))
            return false;
    return true;
}
