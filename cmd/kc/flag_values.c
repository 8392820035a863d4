/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flag_values.c: how values of flags are read. Each parser says what is wrong in words that follow
 * the flag's name: "--secure-port: 'x' is not a port, a number from 0 to 65535".
 */
#include "flags.h"

#include "kc/duration.h"
#include "kc/log.h"

#include <arpa/inet.h>

int kc_flag_text(const char *text, void *ret, kc_error *err)
{
    (void)err;
    *(const char **)ret = text;
    return 0;
}

int kc_flag_switch(const char *text, void *ret, kc_error *err)
{
    static const char *const yes[] = {"true", "1", "t", "T", "TRUE", "True"};
    static const char *const no[] = {"false", "0", "f", "F", "FALSE", "False"};
    for (size_t i = 0; i < KC_COUNT(yes); i++) {
        if (!strcmp(text, yes[i]) || !strcmp(text, no[i])) {
            *(bool *)ret = !strcmp(text, yes[i]);
            return 0;
        }
    }
    return kc_error_set(err, KC_INVALID, "'%s' is neither true nor false", text);
}

static bool read_number(const char *text, uint64_t most, int *ret)
{
    uint64_t n;
    if (!kc_str_to_u64(kc_cstr(text), &n) || n > most)
        return false;
    *ret = (int)n;
    return true;
}

int kc_flag_port(const char *text, void *ret, kc_error *err)
{
    if (!read_number(text, UINT16_MAX, ret))
        return kc_error_set(err, KC_INVALID, "'%s' is not a port, a number from 0 to 65535", text);
    return 0;
}

int kc_flag_verbosity(const char *text, void *ret, kc_error *err)
{
    if (!read_number(text, KC_LOG_MAX_V, ret))
        return kc_error_set(err, KC_INVALID, "'%s' is not a number from 0 to %d", text,
                            KC_LOG_MAX_V);
    return 0;
}

int kc_flag_address(const char *text, void *ret, kc_error *err)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, text, &address) != 1 && inet_pton(AF_INET6, text, &address) != 1)
        return kc_error_set(err, KC_INVALID, "'%s' is not an IP address, such as 127.0.0.1 or ::1",
                            text);
    *(const char **)ret = text;
    return 0;
}

int kc_flag_duration(const char *text, void *ret, kc_error *err)
{
    int64_t ns;
    if (kc_duration_parse(kc_cstr(text), &ns, NULL) < 0)
        return kc_error_set(err, KC_INVALID, "'%s' is not a duration, such as 30s, 1m or 1h30m",
                            text);
    if (ns <= 0)
        return kc_error_set(err, KC_INVALID, "'%s' is not longer than nothing", text);
    *(int64_t *)ret = ns;
    return 0;
}

int kc_flag_log_format(const char *text, void *ret, kc_error *err)
{
    if (!kc_log_format_from(kc_cstr(text), ret))
        return kc_error_set(err, KC_INVALID, "'%s' is neither console nor json", text);
    return 0;
}
