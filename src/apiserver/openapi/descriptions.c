/* SPDX-License-Identifier: Apache-2.0 */
/* descriptions.c: none yet. */
#include "apiserver/openapi/descriptions.h"

kc__descriptions *kc__descriptions_open(void)
{
    return NULL;
}
kc__descriptions *kc__descriptions_close(kc__descriptions *texts)
{
    (void)texts;
    return NULL;
}
kc_str kc__describe_message(const kc__descriptions *texts, const kc__message *message)
{
    (void)texts, (void)message;
    return (kc_str){0};
}
kc_str kc__describe_field(const kc__descriptions *texts, const kc__field *field)
{
    (void)texts, (void)field;
    return (kc_str){0};
}
kc_str kc__describe_special(const kc__descriptions *texts, kc__field_kind kind)
{
    (void)texts, (void)kind;
    return (kc_str){0};
}
