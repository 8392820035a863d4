/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_text.c: escaping and times, common to all formats.
 *
 * People read a log on terminals, and programs read it line by line; its values come from anywhere.
 * So besides the ASCII controls (a newline would start a forged line) some characters are always
 * escaped: the C1 controls, which terminals interpret, and characters that are invisible or change
 * the direction of text.
 */
#include "base/log_internal.h"
#include "kc/utf8.h"

#include <time.h>

/* Ranges of characters that are escaped; all below U+10000. */
static const struct {
    uint16_t from, to;
} escaped[] = {
    {0x0000, 0x001f}, /* ASCII controls */
    {0x007f, 0x009f}, /* DEL, C1 controls */
    {0x061c, 0x061c}, /* Arabic letter mark */
    {0x200b, 0x200f}, /* zero width, direction marks */
    {0x2028, 0x202e}, /* line and paragraph separator, direction overrides */
    {0x2060, 0x206f}, /* invisible operators, direction isolates */
    {0xfeff, 0xfeff}, /* byte order mark */
    {0xfff9, 0xfffb}, /* interlinear annotation */
};

static bool must_escape(uint32_t c)
{
    for (size_t i = 0; i < KC_COUNT(escaped) && c >= escaped[i].from; i++)
        if (c <= escaped[i].to)
            return true;
    return false;
}

bool kc__log_is_plain(kc_str text)
{
    uint32_t c;
    for (size_t at = 0, n; at < text.n; at += n) {
        n = kc_utf8_next(kc_str_sub(text, at, text.n), &c);
        if (n == 0 || must_escape(c))
            return false;
    }
    return true;
}

/* At most KC_LOG_MAX_VALUE bytes of text, not ending within a character. */
static kc_str cut(kc_str text)
{
    if (text.n <= KC_LOG_MAX_VALUE)
        return text;
    size_t n = KC_LOG_MAX_VALUE;
    while (n > KC_LOG_MAX_VALUE - 3 && ((unsigned char)text.p[n] & 0xc0) == 0x80)
        n--;
    return kc_str_sub(text, 0, n);
}

static void append_text_character(kc_buf *out, kc_str bytes, uint32_t c,
                                  const kc__log_escapes *escapes)
{
    if (must_escape(c)) {
        escapes->character(out, c);
        return;
    }
    if (escapes->quoted && (c == '"' || c == '\\'))
        kc_buf_putc(out, '\\');
    kc_buf_append(out, bytes);
}

void kc__log_append_escaped(kc_buf *out, kc_str text, const kc__log_escapes *escapes)
{
    kc_str rest = cut(text);
    size_t left_out = text.n - rest.n;
    while (rest.n) {
        uint32_t c;
        size_t n = kc_utf8_next(rest, &c);
        if (n)
            append_text_character(out, kc_str_sub(rest, 0, n), c, escapes);
        else
            escapes->invalid(out, (unsigned char)rest.p[0]);
        rest = kc_str_sub(rest, n ? n : 1, rest.n);
    }
    if (left_out)
        kc_buf_printf(out, "… (%zu more bytes)", left_out);
}

void kc__log_append_time(kc_buf *out, int64_t wall)
{
    int64_t ms = wall / KC_MILLISECOND - (wall % KC_MILLISECOND < 0);
    int64_t fraction = ((ms % 1000) + 1000) % 1000;
    time_t seconds = (time_t)((ms - fraction) / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    kc_buf_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                  utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, (int)fraction);
}

const char *kc__log_level_text(kc_log_level level)
{
    static const char *const texts[] = {"error", "warn", "info", "debug"};
    return texts[level - KC_LOG_ERROR];
}
