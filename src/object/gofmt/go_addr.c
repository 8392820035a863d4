/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_addr.c: IP addresses like net/netip of Go 1.24, step by step, so that results and errors are
 * the same. inet_pton accepts other texts, and inet_ntop writes some addresses differently.
 */
#include "object/gofmt/go_addr.h"

#include "kc/ascii.h"
#include "object/gofmt/go_quote.h"

enum { GROUPS = 8, ADDRESS_BYTES = 16 };

/* `at` is the rest of the text where parsing stopped; empty: not shown. */
static bool addr_fails(kc_str text, const char *message, kc_str at, kc_buf *why)
{
    kc_buf_puts(why, "ParseAddr(");
    kc__go_quote(why, text);
    kc_buf_printf(why, "): %s", message);
    if (at.n) {
        kc_buf_puts(why, " (at ");
        kc__go_quote(why, at);
        kc_buf_putc(why, ')');
    }
    return false;
}

/* ---- IPv4 ---- */

typedef struct v4_octet {
    unsigned value, digits;
} v4_octet;

/* Adds a digit; the message of an error, or NULL. */
static const char *add_octet_digit(v4_octet *octet, char c)
{
    if (octet->digits == 1 && octet->value == 0)
        return "IPv4 field has octet with leading zero";
    octet->value = octet->value * 10 + (unsigned)(c - '0');
    octet->digits++;
    return octet->value > 255 ? "IPv4 field has value >255" : NULL;
}

/* Parses `part` of the text into four bytes. */
static bool parse_v4(kc_str text, kc_str part, uint8_t *ret, kc_buf *why)
{
    v4_octet octet = {0};
    size_t n = 0;
    for (size_t i = 0; i < part.n; i++) {
        char c = part.p[i];
        kc_str rest = kc_str_sub(part, i, part.n);
        const char *wrong = kc_is_digit(c) ? add_octet_digit(&octet, c) : NULL;
        if (wrong)
            return addr_fails(text, wrong, (kc_str){0}, why);
        if (kc_is_digit(c))
            continue;
        if (c != '.')
            return addr_fails(text, "unexpected character", rest, why);
        if (i == 0 || i == part.n - 1 || part.p[i - 1] == '.')
            return addr_fails(text, "IPv4 field must have at least one digit", rest, why);
        if (n == 3)
            return addr_fails(text, "IPv4 address too long", (kc_str){0}, why);
        ret[n++] = (uint8_t)octet.value;
        octet = (v4_octet){0};
    }
    if (n < 3)
        return addr_fails(text, "IPv4 address too short", (kc_str){0}, why);
    ret[3] = (uint8_t)octet.value;
    return true;
}

/* ---- IPv6 ---- */

typedef struct v6_parse {
    kc_str text, rest;
    uint8_t *bytes;
    size_t n;     /* Bytes so far. */
    int ellipsis; /* Byte at which "::" stands; -1: nowhere. */
    kc_buf *why;
} v6_parse;

static bool v6_fails(v6_parse *p, const char *message)
{
    return addr_fails(p->text, message, p->rest, p->why);
}

/* The hexadecimal number at the start of the rest. */
static bool parse_group(v6_parse *p, size_t *ret_digits, unsigned *ret)
{
    unsigned value = 0;
    size_t n = 0;
    for (; n < p->rest.n && kc_is_hex(p->rest.p[n]); n++) {
        value = value << 4 | (unsigned)kc_hex_value(p->rest.p[n]);
        if (n > 3)
            return v6_fails(p, "each group must have 4 or less digits");
    }
    *ret_digits = n;
    *ret = value;
    return n || v6_fails(p, "each colon-separated field must have at least one digit");
}

static bool parse_embedded_v4(v6_parse *p)
{
    if (p->ellipsis < 0 && p->n != 12)
        return v6_fails(p, "embedded IPv4 address must replace the final 2 fields of the address");
    if (p->n + 4 > ADDRESS_BYTES)
        return v6_fails(p, "too many hex fields to fit an embedded IPv4 at the end of the address");
    if (!parse_v4(p->text, p->rest, p->bytes + p->n, p->why))
        return false;
    p->rest = KC_STR("");
    p->n += 4;
    return true;
}

/* The colon after a group, and a second one. */
static bool parse_colons(v6_parse *p)
{
    if (p->rest.p[0] != ':')
        return v6_fails(p, "unexpected character, want colon");
    if (p->rest.n == 1)
        return v6_fails(p, "colon must be followed by more characters");
    p->rest = kc_str_sub(p->rest, 1, p->rest.n);
    if (p->rest.p[0] != ':')
        return true;
    if (p->ellipsis >= 0)
        return v6_fails(p, "multiple :: in address");
    p->ellipsis = (int)p->n;
    p->rest = kc_str_sub(p->rest, 1, p->rest.n);
    return true;
}

static bool parse_groups(v6_parse *p)
{
    while (p->n < ADDRESS_BYTES) {
        size_t digits = 0;
        unsigned value = 0;
        if (!parse_group(p, &digits, &value))
            return false;
        if (digits < p->rest.n && p->rest.p[digits] == '.')
            return parse_embedded_v4(p);
        p->bytes[p->n++] = (uint8_t)(value >> 8);
        p->bytes[p->n++] = (uint8_t)value;
        p->rest = kc_str_sub(p->rest, digits, p->rest.n);
        if (!p->rest.n || !parse_colons(p))
            return !p->rest.n;
        if (!p->rest.n)
            return true;
    }
    return true;
}

/* Replaces "::" by zeros. */
static bool expand_ellipsis(v6_parse *p)
{
    size_t missing = ADDRESS_BYTES - p->n;
    if (p->rest.n)
        return v6_fails(p, "trailing garbage after address");
    if (!missing)
        return p->ellipsis < 0 || v6_fails(p, "the :: must expand to at least one field of zeros");
    if (p->ellipsis < 0)
        return v6_fails(p, "address string too short");
    uint8_t *gap = p->bytes + p->ellipsis;
    memmove(gap + missing, gap, p->n - (size_t)p->ellipsis);
    memset(gap, 0, missing);
    return true;
}

static bool parse_v6(kc_str text, kc__go_addr *ret, kc_buf *why)
{
    v6_parse p = {.text = text, .rest = text, .bytes = ret->bytes, .ellipsis = -1, .why = why};
    ptrdiff_t zone = kc_str_find(text, '%');
    if (zone >= 0) {
        ret->has_zone = true;
        p.rest = kc_str_sub(text, 0, (size_t)zone);
        if ((size_t)zone + 1 == text.n)
            return addr_fails(text, "zone must be a non-empty string", (kc_str){0}, why);
    }
    if (kc_str_starts(p.rest, KC_STR("::"))) {
        p.ellipsis = 0;
        p.rest = kc_str_sub(p.rest, 2, p.rest.n);
        if (!p.rest.n)
            return true;
    }
    return parse_groups(&p) && expand_ellipsis(&p);
}

/* ---- addresses and prefixes ---- */

bool kc__go_addr_parse(kc_str text, kc__go_addr *ret, kc_buf *why)
{
    *ret = (kc__go_addr){0};
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.') {
            ret->length = 4;
            return parse_v4(text, text, ret->bytes, why);
        }
        if (text.p[i] == ':') {
            ret->length = ADDRESS_BYTES;
            return parse_v6(text, ret, why);
        }
        if (text.p[i] == '%')
            return addr_fails(text, "missing IPv6 address", (kc_str){0}, why);
    }
    return addr_fails(text, "unable to parse IP", (kc_str){0}, why);
}

static bool prefix_fails(kc_str text, const char *message, kc_buf *why)
{
    kc_buf_puts(why, "netip.ParsePrefix(");
    kc__go_quote(why, text);
    kc_buf_printf(why, "): %s", message);
    return false;
}

/* False for what strconv.Atoi rejects, and for signs and leading zeros. */
static bool parse_prefix_bits(kc_str text, uint64_t *ret)
{
    if (text.n > 1 && (text.p[0] < '1' || text.p[0] > '9'))
        return false;
    return kc_str_to_u64(text, ret) && *ret <= INT64_MAX;
}

bool kc__go_addr_parse_prefix(kc_str text, kc__go_addr *ret, kc_buf *why)
{
    kc_scoped(kc_buf) message = {0};
    ptrdiff_t slash = kc_str_rfind(text, '/');
    uint64_t bits = 0;
    *ret = (kc__go_addr){0};
    if (slash < 0)
        return prefix_fails(text, "no '/'", why);
    if (!kc__go_addr_parse(kc_str_sub(text, 0, (size_t)slash), ret, &message))
        return prefix_fails(text, kc_buf_cstr(&message), why);
    if (ret->has_zone)
        return prefix_fails(text, "IPv6 zones cannot be present in a prefix", why);
    kc_str given = kc_str_sub(text, (size_t)slash + 1, text.n);
    if (!parse_prefix_bits(given, &bits)) {
        kc_buf_puts(&message, "bad bits after slash: ");
        kc__go_quote(&message, given);
        return prefix_fails(text, kc_buf_cstr(&message), why);
    }
    if (bits > ret->length * 8u)
        return prefix_fails(text, "prefix length out of range", why);
    ret->bits = (uint8_t)bits;
    return true;
}

bool kc__go_addr_is_mapped(const kc__go_addr *addr)
{
    static const uint8_t mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    return addr->length == ADDRESS_BYTES && memcmp(addr->bytes, mapped, sizeof(mapped)) == 0;
}

/* ---- writing ---- */

static unsigned group_at(const kc__go_addr *addr, size_t i)
{
    return (unsigned)addr->bytes[2 * i] << 8 | addr->bytes[2 * i + 1];
}

/* The first of the longest runs of at least two zero groups; its length is 0 if there is none. */
static size_t longest_zeros(const kc__go_addr *addr, size_t *ret_length)
{
    size_t start = 0, length = 0;
    for (size_t i = 0; i < GROUPS; i++) {
        size_t end = i;
        while (end < GROUPS && group_at(addr, end) == 0)
            end++;
        if (end - i >= 2 && end - i > length) {
            start = i;
            length = end - i;
        }
    }
    *ret_length = length;
    return start;
}

void kc__go_addr_write(const kc__go_addr *addr, kc_buf *out)
{
    size_t zeros, start = longest_zeros(addr, &zeros);
    if (addr->length == 4 || kc__go_addr_is_mapped(addr)) {
        const uint8_t *b = addr->bytes + (addr->length == 4 ? 0 : 12);
        kc_buf_printf(out, "%s%u.%u.%u.%u", addr->length == 4 ? "" : "::ffff:", b[0], b[1], b[2],
                      b[3]);
        return;
    }
    for (size_t i = 0; i < GROUPS; i++) {
        if (zeros && i == start) {
            kc_buf_puts(out, "::");
            i += zeros - 1;
            continue;
        }
        bool first = i == 0 || (zeros && i == start + zeros);
        kc_buf_printf(out, "%s%x", first ? "" : ":", group_at(addr, i));
    }
}
