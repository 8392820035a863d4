/* SPDX-License-Identifier: Apache-2.0 */
/* quantity_internal.h: shared by parsing and arithmetic of quantities. */
#ifndef KC_QUANTITY_INTERNAL_H
#define KC_QUANTITY_INTERNAL_H

#include "kc/quantity.h"

#include <assert.h>

enum {
    KC__QUANTITY_NANO = -9,
    KC__QUANTITY_DIGITS = 38,
};

/* 10^38, the first mantissa that is too large. */
static inline unsigned __int128 kc__quantity_limit(void)
{
    return (unsigned __int128)10000000000000000000u * 10000000000000000000u;
}

/* The same number without factors of ten in its mantissa. */
kc_quantity kc__quantity_reduced(kc_quantity q);

#endif
