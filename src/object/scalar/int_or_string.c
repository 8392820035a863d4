/* SPDX-License-Identifier: Apache-2.0 */
/*
 * int_or_string.c: values that are integers or strings.
 *
 * Percentages are computed in 128 bits, not with doubles as in Kubernetes: the results are the same
 * where a double is exact, and correct where it is not.
 */
#include "kc/int_or_string.h"

#include "object/gofmt/go_quote.h"

#include <inttypes.h>
#include <stdio.h>

int kc_int_or_string_from(const kc_value *value, kc_int_or_string *ret, kc_error *err)
{
    int64_t number = 0;
    kc_json_type type = kc_value_type(value);
    if (type == KC_JSON_STRING) {
        *ret = (kc_int_or_string){.is_string = true, .text = (char *)kc_value_as_cstr(value, NULL)};
        return 0;
    }
    if (type != KC_JSON_INT && type != KC_JSON_NULL)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "an integer or a string is needed, not a value of type %s",
                            kc_json_type_name(type));
    if (type == KC_JSON_INT &&
        (!kc_value_as_i64(value, &number) || number < INT32_MIN || number > INT32_MAX))
        return kc_error_set(err, KC_BAD_REQUEST, "the integer does not fit 32 bits");
    *ret = (kc_int_or_string){.number = (int32_t)number};
    return 0;
}

/* Parses as Go's strconv does: a '+' is allowed. */
static bool int_or_string_read_number(kc_str text, int64_t *ret)
{
    if (text.n > 1 && text.p[0] == '+' && text.p[1] != '-')
        text = kc_str_sub(text, 1, text.n);
    return kc_str_to_i64(text, ret);
}

kc_int_or_string kc_int_or_string_of(const char *text)
{
    int64_t number;
    if (int_or_string_read_number(kc_cstr(text), &number) && number >= INT32_MIN &&
        number <= INT32_MAX)
        return (kc_int_or_string){.number = (int32_t)number};
    return (kc_int_or_string){.is_string = true, .text = (char *)text};
}

kc_str kc_int_or_string_print(kc_int_or_string v, char out[KC_INT_OR_STRING_TEXT])
{
    if (v.is_string)
        return kc_cstr(v.text);
    return kc_str_of(out, (size_t)snprintf(out, KC_INT_OR_STRING_TEXT, "%" PRId32, v.number));
}

static bool int_or_string_is_number(kc_str digits)
{
    if (digits.n && (digits.p[0] == '-' || digits.p[0] == '+'))
        digits = kc_str_sub(digits, 1, digits.n);
    for (size_t i = 0; i < digits.n; i++)
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return false;
    return digits.n > 0;
}

static int wrong_number(kc_str text, kc_str digits, kc_error *err)
{
    kc_scoped(kc_buf) quoted = {0};
    kc_scoped(kc_buf) quoted_digits = {0};
    kc__go_quote(&quoted, text);
    kc__go_quote(&quoted_digits, digits);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "invalid value for IntOrString: invalid value %s: strconv.Atoi: parsing "
                        "%s: %s",
                        kc_buf_cstr(&quoted), kc_buf_cstr(&quoted_digits),
                        int_or_string_is_number(digits) ? "value out of range" : "invalid syntax");
}

static __int128 divide_by_100(__int128 number, bool round_up)
{
    __int128 result = number / 100, left = number % 100;
    if (left > 0 && round_up)
        result++;
    if (left < 0 && !round_up)
        result--;
    return result;
}

int kc_int_or_string_scaled(kc_int_or_string v, int64_t total, bool round_up, int64_t *ret,
                            kc_error *err)
{
    const kc_str text = kc_cstr(v.text);
    int64_t percent;
    if (!v.is_string) {
        *ret = v.number;
        return 0;
    }
    if (!kc_str_ends(text, KC_STR("%")))
        return kc_error_set(
            err, KC_BAD_REQUEST,
            "invalid value for IntOrString: invalid type: string is not a percentage");
    kc_str digits = kc_str_sub(text, 0, text.n - 1);
    if (!int_or_string_read_number(digits, &percent))
        return wrong_number(text, digits, err);
    __int128 scaled = divide_by_100((__int128)percent * total, round_up);
    if (scaled > INT64_MAX || scaled < INT64_MIN)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "invalid value for IntOrString: %" PRId64 "%% of %" PRId64
                            " does not fit 64 bits",
                            percent, total);
    *ret = (int64_t)scaled;
    return 0;
}
