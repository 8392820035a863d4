/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format.c: the validated string formats, one row each. They are those that Kubernetes validates;
 * the behaviour of its library for unusual input (an ISBN with blanks, a date in a timestamp) is
 * preserved, because objects that are valid there must be valid here. Names are compared without
 * dashes, so "date-time" is "datetime". Formats that are not in the table allow everything.
 *
 * To add one: a function that validates a text, and a row.
 */
#include "kc/ascii.h"
#include "object/schema/schema_internal.h"

static bool schema_format_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

static bool all(kc_str text, bool (*is)(char))
{
    for (size_t i = 0; i < text.n; i++)
        if (!is(text.p[i]))
            return false;
    return true;
}

static bool anything(kc_str text)
{
    (void)text;
    return true;
}

static bool is_object_id(kc_str text)
{
    return text.n == 24 && all(text, kc_is_hex);
}

/* Groups of 8, 4, 4, 4 and 12 digits; each dash is optional. `version` is the 13th digit, or 0 for
 * any; `variant` requires 8, 9, a or b as the 17th. */
static bool is_uuid_of(kc_str text, char version, bool variant)
{
    static const size_t groups[] = {8, 4, 4, 4, 12};
    char digits[32];
    size_t n = 0, at = 0;
    for (size_t g = 0; g < KC_COUNT(groups); g++) {
        if (g && at < text.n && text.p[at] == '-')
            at++;
        for (size_t i = 0; i < groups[g]; i++, at++) {
            if (at >= text.n || !kc_is_hex(text.p[at]))
                return false;
            digits[n++] = text.p[at];
        }
    }
    return at == text.n && (!version || digits[12] == version) &&
           (!variant || memchr("89abAB", digits[16], 6));
}

static bool is_uuid(kc_str text)
{
    return is_uuid_of(text, 0, false);
}

static bool is_uuid3(kc_str text)
{
    return is_uuid_of(text, '3', false);
}

static bool is_uuid4(kc_str text)
{
    return is_uuid_of(text, '4', true);
}

static bool is_uuid5(kc_str text)
{
    return is_uuid_of(text, '5', true);
}

/* The text without blanks and dashes, if that has at most `most` bytes. */
static bool squeeze(kc_str text, char *out, size_t most, size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (schema_format_is_space(text.p[i]) || text.p[i] == '-')
            continue;
        if (n == most)
            return false;
        out[n++] = text.p[i];
    }
    *ret_n = n;
    return true;
}

static bool is_isbn10(kc_str text)
{
    char d[10];
    size_t n;
    int sum = 0;
    if (!squeeze(text, d, sizeof(d), &n) || n != 10 || !all(kc_str_of(d, 9), kc_is_digit) ||
        !(kc_is_digit(d[9]) || d[9] == 'X'))
        return false;
    for (int i = 0; i < 9; i++)
        sum += (i + 1) * (d[i] - '0');
    sum += 10 * (d[9] == 'X' ? 10 : d[9] - '0');
    return sum % 11 == 0;
}

static bool is_isbn13(kc_str text)
{
    char d[13];
    size_t n;
    int sum = 0;
    if (!squeeze(text, d, sizeof(d), &n) || n != 13 || !all(kc_str_of(d, 13), kc_is_digit))
        return false;
    for (int i = 0; i < 12; i++)
        sum += (i % 2 ? 3 : 1) * (d[i] - '0');
    return d[12] - '0' == (10 - sum % 10) % 10;
}

static bool is_isbn(kc_str text)
{
    return is_isbn10(text) || is_isbn13(text);
}

static unsigned number_at(const char *p, size_t digits)
{
    unsigned n = 0;
    for (size_t i = 0; i < digits; i++)
        n = n * 10 + (unsigned)(p[i] - '0');
    return n;
}

/* Visa, MasterCard, Discover, American Express, Diners Club, JCB: first digits and length. */
static bool is_card_number(const char *d, size_t n)
{
    static const struct {
        unsigned from, to;
        size_t digits, length;
    } cards[] = {
        {4, 4, 1, 13},       {4, 4, 1, 16},   {51, 55, 2, 16},     {6011, 6011, 4, 16},
        {6500, 6599, 4, 16}, {34, 34, 2, 15}, {37, 37, 2, 15},     {300, 305, 3, 14},
        {36, 36, 2, 14},     {38, 38, 2, 14}, {2131, 2131, 4, 15}, {1800, 1800, 4, 15},
        {35, 35, 2, 16},
    };
    for (size_t i = 0; i < KC_COUNT(cards); i++) {
        unsigned prefix = n == cards[i].length ? number_at(d, cards[i].digits) : 0;
        if (n == cards[i].length && prefix >= cards[i].from && prefix <= cards[i].to)
            return true;
    }
    return false;
}

static bool is_credit_card(kc_str text)
{
    char d[16];
    size_t n = 0;
    unsigned sum = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (!kc_is_digit(text.p[i]))
            continue;
        if (n == sizeof(d))
            return false;
        d[n++] = text.p[i];
    }
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(d[n - 1 - i] - '0') * (i % 2 ? 2 : 1);
        sum += digit > 9 ? digit - 9 : digit;
    }
    return is_card_number(d, n) && sum % 10 == 0;
}

static bool is_ssn(kc_str text)
{
    if (text.n != 11)
        return false;
    for (size_t i = 0; i < 11; i++) {
        bool separator = i == 3 || i == 6;
        char c = text.p[i];
        if (separator ? c != '-' && c != ' ' : !kc_is_digit(c))
            return false;
    }
    return true;
}

static bool is_hex_color(kc_str text)
{
    if (text.n && text.p[0] == '#')
        text = kc_str_sub(text, 1, text.n);
    return (text.n == 3 || text.n == 6) && all(text, kc_is_hex);
}

static const char *schema_format_skip_space(const char *p, const char *end)
{
    while (p < end && schema_format_is_space(*p))
        p++;
    return p;
}

/* 0 to 255 without leading zeros; NULL otherwise. */
static const char *color_part(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && kc_is_digit(*p) && p < from + 4)
        p++;
    size_t n = (size_t)(p - from);
    bool ok = n >= 1 && n <= 3 && (n == 1 || *from != '0') && number_at(from, n) <= 255;
    return ok ? p : NULL;
}

static bool is_rgb_color(kc_str text)
{
    const char *p = text.p + 4, *end = text.p + text.n;
    if (!kc_str_starts(text, KC_STR("rgb(")))
        return false;
    for (int i = 0; i < 3; i++) {
        p = color_part(schema_format_skip_space(p, end), end);
        if (!p)
            return false;
        p = schema_format_skip_space(p, end);
        if (p == end || *p++ != (i < 2 ? ',' : ')'))
            return false;
    }
    return p == end;
}

static bool is_base64_char(char c)
{
    return kc_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' ||
           c == '/';
}

static bool is_base64(kc_str text)
{
    if (!text.n || text.n % 4)
        return false;
    size_t padding = text.p[text.n - 1] != '=' ? 0 : text.p[text.n - 2] != '=' ? 1 : 2;
    return all(kc_str_sub(text, 0, text.n - padding), is_base64_char);
}

static bool is_lower_or_digit(char c)
{
    return kc_is_digit(c) || (c >= 'a' && c <= 'z');
}

static bool is_label(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!is_lower_or_digit(text.p[i]) && !(text.p[i] == '-' && i > 0 && i + 1 < text.n))
            return false;
    return text.n > 0;
}

static bool is_short_name(kc_str text)
{
    return text.n <= 63 && is_label(text);
}

static bool is_long_name(kc_str text)
{
    if (!text.n || text.n > 253)
        return false;
    for (kc_str rest = text; rest.p;)
        if (!is_label(kc_str_cut(&rest, '.')))
            return false;
    return true;
}

/* Labels with letters and symbols of any script; the last of several labels has only letters. */
#define HOSTNAME                                                                                   \
    "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|"                               \
    "([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}" \
    "([a-zA-Z\\p{L}]){2,63})$"

static const kc__schema_format formats[] = {
    {"bsonobjectid", NULL, is_object_id},
    {"uri", NULL, kc__schema_is_uri},
    {"email", NULL, kc__schema_is_email},
    {"hostname", HOSTNAME, kc__schema_is_hostname},
    {"ipv4", NULL, kc__schema_is_ipv4},
    {"ipv6", NULL, kc__schema_is_ipv6},
    {"cidr", NULL, kc__schema_is_cidr},
    {"mac", NULL, kc__schema_is_mac},
    {"uuid", NULL, is_uuid},
    {"uuid3", NULL, is_uuid3},
    {"uuid4", NULL, is_uuid4},
    {"uuid5", NULL, is_uuid5},
    {"isbn", NULL, is_isbn},
    {"isbn10", NULL, is_isbn10},
    {"isbn13", NULL, is_isbn13},
    {"creditcard", NULL, is_credit_card},
    {"ssn", NULL, is_ssn},
    {"hexcolor", NULL, is_hex_color},
    {"rgbcolor", NULL, is_rgb_color},
    {"byte", NULL, is_base64},
    {"password", NULL, anything},
    {"date", NULL, kc__schema_is_date},
    {"duration", NULL, kc__schema_is_duration},
    {"datetime", NULL, kc__schema_is_datetime},
    {"k8sshortname", NULL, is_short_name},
    {"k8slongname", NULL, is_long_name},
};

const kc__schema_format *kc__schema_format_find(kc_str name)
{
    char plain[16];
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '-')
            continue;
        if (n == sizeof(plain))
            return NULL;
        plain[n++] = name.p[i];
    }
    for (size_t i = 0; i < KC_COUNT(formats); i++)
        if (kc_str_is(kc_str_of(plain, n), formats[i].name))
            return &formats[i];
    return NULL;
}
