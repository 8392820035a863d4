/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml_scalar.c: the values of scalars, and their JSON.
 *
 * The rules are those of the YAML library behind kubectl: YAML 1.1 with some deviations. Text
 * without quotes may be a word of the table below, a timestamp (which stays a string) or a number
 * (number.c); any other text is a string. A tag requires a type, and the text must match it. To add
 * a word, add a line. Pure functions, any thread.
 */
#include "kc/ascii.h"
#include "kc/number.h"
#include "object/yaml/yaml_internal.h"

#include <math.h>

static const struct yaml_scalar_word {
    kc_str text;
    kc__yaml_scalar means;
} words[] = {
#define WORD(text, ...)      {KC_STR_INIT(text), __VA_ARGS__}
#define TRUE_WORD(text)      WORD(text, {KC__YAML_BOOL, {.boolean = true}})
#define FALSE_WORD(text)     WORD(text, {KC__YAML_BOOL, {.boolean = false}})
#define NULL_WORD(text)      WORD(text, {KC__YAML_NULL, {0}})
#define FLOAT_WORD(text, is) WORD(text, {KC__YAML_FLOAT, {.f = is}})
    TRUE_WORD("y"),
    TRUE_WORD("Y"),
    TRUE_WORD("yes"),
    TRUE_WORD("Yes"),
    TRUE_WORD("YES"),
    TRUE_WORD("true"),
    TRUE_WORD("True"),
    TRUE_WORD("TRUE"),
    TRUE_WORD("on"),
    TRUE_WORD("On"),
    TRUE_WORD("ON"),
    FALSE_WORD("n"),
    FALSE_WORD("N"),
    FALSE_WORD("no"),
    FALSE_WORD("No"),
    FALSE_WORD("NO"),
    FALSE_WORD("false"),
    FALSE_WORD("False"),
    FALSE_WORD("FALSE"),
    FALSE_WORD("off"),
    FALSE_WORD("Off"),
    FALSE_WORD("OFF"),
    NULL_WORD(""),
    NULL_WORD("~"),
    NULL_WORD("null"),
    NULL_WORD("Null"),
    NULL_WORD("NULL"),
    FLOAT_WORD(".nan", NAN),
    FLOAT_WORD(".NaN", NAN),
    FLOAT_WORD(".NAN", NAN),
    FLOAT_WORD(".inf", INFINITY),
    FLOAT_WORD(".Inf", INFINITY),
    FLOAT_WORD(".INF", INFINITY),
    FLOAT_WORD("+.inf", INFINITY),
    FLOAT_WORD("+.Inf", INFINITY),
    FLOAT_WORD("+.INF", INFINITY),
    FLOAT_WORD("-.inf", -INFINITY),
    FLOAT_WORD("-.Inf", -INFINITY),
    FLOAT_WORD("-.INF", -INFINITY),
};

enum { LONGEST_WORD = 5 };

static const struct yaml_scalar_word *word_of(kc_str text)
{
    if (text.n > LONGEST_WORD)
        return NULL;
    for (size_t i = 0; i < KC_COUNT(words); i++)
        if (kc_str_eq(text, words[i].text))
            return &words[i];
    return NULL;
}

/* ---- timestamps ---- */

static size_t yaml_scalar_skip_digits(kc_str s, size_t at)
{
    while (at < s.n && kc_is_digit(s.p[at]))
        at++;
    return at;
}

/* One or two digits, from 0 to `most`; moves *s behind them. */
static bool yaml_scalar_take_number(kc_str *s, int most, int *ret)
{
    size_t n = yaml_scalar_skip_digits(kc_str_sub(*s, 0, 2), 0);
    if (!n)
        return false;
    *ret = n == 2 ? (s->p[0] - '0') * 10 + s->p[1] - '0' : s->p[0] - '0';
    *s = kc_str_sub(*s, n, s->n);
    return *ret <= most;
}

static bool yaml_scalar_take(kc_str *s, char c)
{
    if (!s->n || s->p[0] != c)
        return false;
    *s = kc_str_sub(*s, 1, s->n);
    return true;
}

static bool take_date(kc_str *s)
{
    static const int days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 0, month, day;
    if (yaml_scalar_skip_digits(*s, 0) != 4)
        return false;
    for (size_t i = 0; i < 4; i++)
        year = year * 10 + s->p[i] - '0';
    *s = kc_str_sub(*s, 4, s->n);
    if (!yaml_scalar_take(s, '-') || !yaml_scalar_take_number(s, 12, &month) || month < 1 ||
        !yaml_scalar_take(s, '-') || !yaml_scalar_take_number(s, 31, &day) || day < 1)
        return false;
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] - (month == 2 && !leap);
}

static bool take_time(kc_str *s)
{
    int part;
    if (!yaml_scalar_take_number(s, 23, &part) || !yaml_scalar_take(s, ':') ||
        !yaml_scalar_take_number(s, 59, &part) || !yaml_scalar_take(s, ':') ||
        !yaml_scalar_take_number(s, 59, &part))
        return false;
    if (s->n > 1 && (s->p[0] == '.' || s->p[0] == ',') && kc_is_digit(s->p[1]))
        *s = kc_str_sub(*s, yaml_scalar_skip_digits(*s, 1), s->n);
    return true;
}

static bool take_zone(kc_str *s)
{
    int hours, minutes;
    if (yaml_scalar_take(s, 'Z'))
        return true;
    if (s->n != 6 || !(yaml_scalar_take(s, '+') || yaml_scalar_take(s, '-')))
        return false;
    return yaml_scalar_skip_digits(*s, 0) == 2 && yaml_scalar_take_number(s, 24, &hours) &&
           yaml_scalar_take(s, ':') && yaml_scalar_skip_digits(*s, 0) == 2 &&
           yaml_scalar_take_number(s, 60, &minutes);
}

/* 2001-1-2, 2001-1-2T3:4:5.6Z and 2001-1-2 3:4:5.6. */
static bool is_timestamp(kc_str s)
{
    if (!take_date(&s))
        return false;
    if (!s.n)
        return true;
    if (yaml_scalar_take(&s, 'T') || yaml_scalar_take(&s, 't'))
        return take_time(&s) && take_zone(&s) && !s.n;
    if (!yaml_scalar_take(&s, ' '))
        return false;
    while (yaml_scalar_take(&s, ' '))
        continue;
    return take_time(&s) && !s.n;
}

/* ---- resolution ---- */

/* The first character decides for most text. */
kc__yaml_scalar kc__yaml_resolve(kc_str text)
{
    static const char starts_word[] = "yYnNtTfFoO~";
    char first = text.n ? text.p[0] : '~';
    bool starts_number = kc_is_digit(first) || first == '+' || first == '-' || first == '.';
    if (!starts_number && (!first || !strchr(starts_word, first)))
        return (kc__yaml_scalar){0};
    const struct yaml_scalar_word *word = word_of(text);
    if (word)
        return word->means;
    if (!starts_number)
        return (kc__yaml_scalar){0};
    if (is_timestamp(text))
        return (kc__yaml_scalar){KC__YAML_TIMESTAMP, {0}};
    return kc__yaml_number(text);
}

#define TAG_PREFIX "tag:yaml.org,2002:"

static const struct {
    const char *tag;
    kc__yaml_type type;
    const char *what;
} known_tags[] = {
    {TAG_PREFIX "str", KC__YAML_STRING, "a string"},
    {TAG_PREFIX "null", KC__YAML_NULL, "null"},
    {TAG_PREFIX "bool", KC__YAML_BOOL, "a boolean"},
    {TAG_PREFIX "int", KC__YAML_INT, "an integer"},
    {TAG_PREFIX "float", KC__YAML_FLOAT, "a number"},
    {TAG_PREFIX "timestamp", KC__YAML_TIMESTAMP, "a timestamp"},
    {TAG_PREFIX "binary", KC__YAML_BINARY, "base64"},
};

static bool yaml_scalar_fits(kc__yaml_type wanted, kc__yaml_scalar *scalar)
{
    if (wanted == KC__YAML_FLOAT && scalar->type == KC__YAML_INT)
        *scalar = (kc__yaml_scalar){KC__YAML_FLOAT, {.f = (double)scalar->i}};
    return scalar->type == wanted || scalar->type == KC__YAML_TOO_BIG ||
           (wanted == KC__YAML_INT && scalar->type == KC__YAML_UINT);
}

int kc__yaml_scalar_of(const kc__yaml_event *event, kc__yaml_scalar *ret, kc_error *err)
{
    if (!event->tag.n) {
        *ret = event->implicit ? kc__yaml_resolve(event->value) : (kc__yaml_scalar){0};
        return 0;
    }
    for (size_t i = 0; i < KC_COUNT(known_tags); i++) {
        kc__yaml_type wanted = known_tags[i].type;
        if (!kc_str_is(event->tag, known_tags[i].tag))
            continue;
        kc__yaml_scalar scalar = {wanted, {0}};
        if (wanted != KC__YAML_STRING && wanted != KC__YAML_BINARY) {
            scalar = kc__yaml_resolve(event->value);
            if (!yaml_scalar_fits(wanted, &scalar))
                return kc__yaml_fail(event->mark, err, "'%.*s' is not %s, as its tag !!%s says",
                                     KC_ARG(kc_str_sub(event->value, 0, 40)), known_tags[i].what,
                                     known_tags[i].tag + strlen(TAG_PREFIX));
        }
        *ret = scalar;
        return 0;
    }
    *ret = (kc__yaml_scalar){0}; /* Unknown tags yield strings. */
    return 0;
}

/* ---- JSON ---- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Line breaks are skipped, padding is required. */
static bool decode_base64(kc_str text, kc_buf *out)
{
    uint32_t bits = 0;
    unsigned n = 0, padding = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '\n' || c == '\r')
            continue;
        int digit = c == '=' && n >= 2 ? 0 : base64_digit(c);
        padding += c == '=';
        if (digit < 0 || (padding && c != '='))
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (++n < 4)
            continue;
        char bytes[] = {(char)(bits >> 16), (char)(bits >> 8), (char)bits};
        kc_buf_append(out, kc_str_of(bytes, 3 - padding));
        bits = n = 0;
        if (padding) /* Only line breaks may follow. */
            return !kc_str_trim(kc_str_sub(text, i + 1, text.n)).n;
    }
    return n == 0;
}

static int binary_json(const kc__yaml_event *event, kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) bytes = {0};
    if (!decode_base64(event->value, &bytes))
        return kc__yaml_fail(event->mark, err, "the text of !!binary is not base64");
    kc_json_quote(out, kc_buf_str(&bytes));
    return 0;
}

int kc__yaml_scalar_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                         kc_error *err)
{
    switch (scalar->type) {
    case KC__YAML_NULL: kc_buf_puts(out, "null"); return 0;
    case KC__YAML_BOOL: kc_buf_puts(out, scalar->boolean ? "true" : "false"); return 0;
    case KC__YAML_INT: kc_buf_printf(out, "%lld", (long long)scalar->i); return 0;
    case KC__YAML_UINT: kc_buf_printf(out, "%llu", (unsigned long long)scalar->u); return 0;
    case KC__YAML_FLOAT:
        if (!isfinite(scalar->f))
            return kc__yaml_fail(event->mark, err,
                                 "infinity and NaN cannot be written as JSON; quote '%.*s' if it "
                                 "is meant as text",
                                 KC_ARG(event->value));
        if (scalar->f == 0 && signbit(scalar->f))
            kc_buf_puts(out, "-0.0");
        else
            kc_double_write(out, scalar->f, false);
        return 0;
    case KC__YAML_TOO_BIG:
        return kc__yaml_fail(event->mark, err,
                             "the number does not fit 64 bits; quote it if it is meant as text");
    case KC__YAML_BINARY: return binary_json(event, out, err);
    case KC__YAML_STRING:
    case KC__YAML_TIMESTAMP: kc_json_quote(out, event->value); return 0;
    }
    return 0;
}

static void float_key(kc_buf *out, double number)
{
    float single = (float)number;
    kc_buf_putc(out, '"');
    if (isnan(single))
        kc_buf_puts(out, ".nan");
    else if (isinf(single))
        kc_buf_puts(out, single < 0 ? "-.inf" : ".inf");
    else if (single == 0)
        kc_buf_puts(out, signbit(single) ? "-0" : "0");
    else
        kc_double_write(out, number, true);
    kc_buf_putc(out, '"');
}

int kc__yaml_key_json(const kc__yaml_event *event, const kc__yaml_scalar *scalar, kc_buf *out,
                      kc_error *err)
{
    switch (scalar->type) {
    case KC__YAML_NULL:
        return kc__yaml_fail(event->mark, err,
                             "null cannot be a key; quote it if it is meant as text");
    case KC__YAML_UINT:
    case KC__YAML_TOO_BIG:
        return kc__yaml_fail(event->mark, err, "the number is too large for a key; quote it");
    case KC__YAML_BOOL: kc_buf_puts(out, scalar->boolean ? "\"true\"" : "\"false\""); return 0;
    case KC__YAML_INT: kc_buf_printf(out, "\"%lld\"", (long long)scalar->i); return 0;
    case KC__YAML_FLOAT: float_key(out, scalar->f); return 0;
    default: return kc__yaml_scalar_json(event, scalar, out, err);
    }
}
