/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flag_values.c: the parsers of flag values, and the closed sets that several verbs share. A parser
 * reports an error through kc__cli_flag_invalid, and flags.c prepends the flag:
 *
 *     --secure-port: invalid value 'x': must be a port from 0 to 65535
 *
 * To add a type of value: a parser here, its declaration with the field's type in flags.h.
 */
#include "flags.h"

#include "kc/duration.h"
#include "kc/log.h"
#include "kc/quantity.h"

#include <arpa/inet.h>

int kc__cli_flag_text(const char *text, void *ret, kc_error *err)
{
    (void)err;
    *(const char **)ret = text;
    return 0;
}

static int add_to_list(kc__cli_flag_list *list, kc_str item, kc_error *err)
{
    if (!item.n)
        return kc_error_set(err, KC_INVALID, "invalid value '': must not be empty");
    for (size_t i = 0; i < list->n; i++)
        if (kc_str_eq(list->items[i], item))
            return kc_error_set(err, KC_INVALID, "'%.*s' is already specified", KC_ARG(item));
    if (list->n == KC__CLI_FLAG_LIST_MAX)
        return kc_error_set(err, KC_INVALID, "more than %d values", KC__CLI_FLAG_LIST_MAX);
    list->items[list->n++] = item;
    return 0;
}

int kc__cli_flag_repeated(const char *text, void *ret, kc_error *err)
{
    return add_to_list(ret, kc_cstr(text), err);
}

int kc__cli_flag_words(const char *text, void *ret, kc_error *err)
{
    kc_str rest = kc_cstr(text);
    do {
        const int failed = add_to_list(ret, kc_str_trim(kc_str_cut(&rest, ',')), err);
        if (failed)
            return failed;
    } while (rest.p);
    return 0;
}

int kc__cli_flag_switch(const char *text, void *ret, kc_error *err)
{
    static const char *const yes[] = {"true", "1", "t", "T", "TRUE", "True"};
    static const char *const no[] = {"false", "0", "f", "F", "FALSE", "False"};
    for (size_t i = 0; i < KC_COUNT(yes); i++) {
        if (!strcmp(text, yes[i]) || !strcmp(text, no[i])) {
            *(bool *)ret = !strcmp(text, yes[i]);
            return 0;
        }
    }
    return kc__cli_flag_invalid(text, "true or false", err);
}

int kc__cli_flag_port(const char *text, void *ret, kc_error *err)
{
    uint64_t n;
    if (!kc_str_to_u64(kc_cstr(text), &n) || n > UINT16_MAX)
        return kc__cli_flag_invalid(text, "a port from 0 to 65535", err);
    *(int *)ret = (int)n;
    return 0;
}

int kc__cli_flag_limit(const char *text, void *ret, kc_error *err)
{
    uint64_t n;
    if (!kc_str_to_u64(kc_cstr(text), &n))
        return kc__cli_flag_invalid(text, "an integer of 0 or more", err);
    *(size_t *)ret = n;
    return 0;
}

int kc__cli_flag_bytes(const char *text, void *ret, kc_error *err)
{
    kc_quantity q;
    int64_t n = 0;
    if (kc_quantity_parse(kc_cstr(text), &q, NULL) < 0 || !kc_quantity_as_i64(q, &n) || n < 1)
        return kc__cli_flag_invalid(text, "a number of bytes, such as 1048576 or 1Mi", err);
    *(size_t *)ret = (size_t)n;
    return 0;
}

int kc__cli_flag_address(const char *text, void *ret, kc_error *err)
{
    struct in6_addr address;
    if (inet_pton(AF_INET, text, &address) != 1 && inet_pton(AF_INET6, text, &address) != 1)
        return kc__cli_flag_invalid(text, "an IP address, such as 127.0.0.1 or ::1", err);
    *(const char **)ret = text;
    return 0;
}

int kc__cli_flag_duration(const char *text, void *ret, kc_error *err)
{
    int64_t ns;
    if (kc_duration_parse(kc_cstr(text), &ns, NULL) < 0 || ns <= 0)
        return kc__cli_flag_invalid(text, "a duration of more than 0, such as 30s, 1m or 1h30m",
                                    err);
    *(int64_t *)ret = ns;
    return 0;
}

int kc__cli_flag_interval(const char *text, void *ret, kc_error *err)
{
    if (strcmp(text, "0") != 0 && strcmp(text, "0s") != 0)
        return kc__cli_flag_duration(text, ret, err);
    *(int64_t *)ret = 0;
    return 0;
}

int kc__cli_flag_resync(const char *text, void *ret, kc_error *err)
{
    int64_t ns;
    if (kc_duration_parse(kc_cstr(text), &ns, NULL) < 0 || ns < KC_MINUTE)
        return kc__cli_flag_invalid(text, "a duration of at least 1m, such as 5m or 1h", err);
    *(int64_t *)ret = ns;
    return 0;
}

int kc__cli_flag_count(const char *text, void *ret, kc_error *err)
{
    int64_t n;
    if (!kc_str_to_i64(kc_cstr(text), &n) || n < 1 || n > 1000000000)
        return kc__cli_flag_invalid(text, "an integer from 1 to 1000000000", err);
    *(size_t *)ret = (size_t)n;
    return 0;
}

const kc__cli_flag_choice kc__cli_flag_log_formats[] = {
    {"console", KC_LOG_CONSOLE, "readable lines"},
    {"json", KC_LOG_JSON, "one JSON object per line"},
    {NULL},
};

const kc__cli_flag_choice kc__cli_flag_verbosities[] = {
    {"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}, {"4", 4},   {"5", 5},
    {"6", 6}, {"7", 7}, {"8", 8}, {"9", 9}, {"10", 10}, {NULL},
};
_Static_assert(KC_LOG_MAX_V == 10, "kc__cli_flag_verbosities lists every level");
