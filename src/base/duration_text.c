/* SPDX-License-Identifier: Apache-2.0 */
/* duration_text.c: formats a duration as Go does. */
#include "kc/clock.h"

/* value / unit, as a decimal without trailing zeros; the unit is a power of ten. */
static void put_fraction(kc_buf *out, uint64_t value, uint64_t unit, const char *suffix)
{
    kc_buf_printf(out, "%llu", (unsigned long long)(value / unit));
    uint64_t rest = value % unit;
    if (rest)
        kc_buf_putc(out, '.');
    for (uint64_t digit = unit / 10; rest; rest %= digit, digit /= 10)
        kc_buf_putc(out, (char)('0' + rest / digit));
    kc_buf_puts(out, suffix);
}

void kc_duration_write(kc_buf *out, int64_t ns)
{
    uint64_t left = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        kc_buf_putc(out, '-');
    if (left && left < KC_SECOND) {
        uint64_t unit = left < KC_MICROSECOND ? 1 : left < KC_MILLISECOND ? 1000 : 1000000;
        put_fraction(out, left, unit, unit == 1 ? "ns" : unit == 1000 ? "µs" : "ms");
        return;
    }
    uint64_t hours = left / KC_HOUR, minutes = left % KC_HOUR / KC_MINUTE;
    if (hours)
        kc_buf_printf(out, "%lluh", (unsigned long long)hours);
    if (hours || minutes)
        kc_buf_printf(out, "%llum", (unsigned long long)minutes);
    put_fraction(out, left % KC_MINUTE, KC_SECOND, "s");
}
