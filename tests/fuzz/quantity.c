/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused or is a quantity whose canonical text parses to the same number and prints
 * the same again; the halves of the input, as two quantities, obey the laws of arithmetic.
 */
#include "fuzzing.h"

#include "kc/quantity.h"

static void check_text(kc_quantity q)
{
    char out[KC_QUANTITY_MAX], again[KC_QUANTITY_MAX];
    kc_quantity back;
    kc_str text = kc_quantity_print(q, out);
    assert(text.n < KC_QUANTITY_MAX);
    int read = kc_quantity_parse(text, &back, NULL);
    assert(read == 0);
    assert(kc_quantity_cmp(q, back) == 0);
    assert(back.mantissa == q.mantissa && back.scale == q.scale);
    back.form = q.form; /* 64000 may be the text of a binary number; alone it is a decimal one. */
    assert(kc_str_eq(kc_quantity_print(back, again), text));
    (void)read;
}

static void check_sum(kc_quantity a, kc_quantity b)
{
    kc_quantity sum = a, other = b;
    bool fits = kc_quantity_add(&sum, b);
    assert(fits == kc_quantity_add(&other, a));
    assert(kc_quantity_cmp(a, b) == -kc_quantity_cmp(b, a));
    if (!fits)
        return;
    assert(kc_quantity_cmp(sum, other) == 0);
    int order = kc_quantity_cmp(sum, a);
    assert((order > 0) - (order < 0) == kc_quantity_sign(b));
    assert(kc_quantity_sub(&sum, b));
    assert(kc_quantity_cmp(sum, a) == 0);
    (void)order;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_str text = kc_str_of((const char *)data, size), rest = text, rewritten;
    char out[KC_QUANTITY_MAX];
    kc_quantity q, a, b;
    if (kc_quantity_parse(text, &q, NULL) == 0) {
        check_text(q);
        kc_quantity_value(q);
        kc_quantity_milli_value(q);
        assert(kc_quantity_rewrite(text, out, &rewritten, NULL) == 0);
    }
    kc_str first = kc_str_cut(&rest, ' ');
    if (rest.p && kc_quantity_parse(first, &a, NULL) == 0 && kc_quantity_parse(rest, &b, NULL) == 0)
        check_sum(a, b);
    return 0;
}
