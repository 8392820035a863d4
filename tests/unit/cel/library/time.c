/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void times_are_parsed_written_and_taken_apart(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"string(timestamp('2020-01-02T03:04:05.5+02:00'))", "\"2020-01-02T03:04:05.5+02:00\""},
        {"timestamp('2020-01-02T03:04:05Z').getHours('+02:30')", "5"},
        {"timestamp('2020-07-01T12:00:00Z').getHours('Europe/Berlin')", "14"},
        {"timestamp('2020-01-01T12:00:00Z').getHours('Europe/Berlin')", "13"},
        {"timestamp('2100-07-01T12:00:00Z').getHours('Europe/Berlin')", "14"},
        {"timestamp('2020-01-01T12:00:00Z').getHours('No/Where')",
         "error: unknown time zone No/Where"},
        {"timestamp('2020-03-01T00:00:00Z').getDayOfYear()", "60"},
        {"timestamp('2020-03-01T00:00:00Z').getDayOfWeek()", "0"},
        {"timestamp('2020-03-01T00:00:00Z') + duration('36h')",
         "timestamp(\"2020-03-02T12:00:00Z\")"},
        {"timestamp('2020-03-02T00:00:00Z') - timestamp('2020-03-01T00:00:00Z')",
         "duration(\"86400s\")"},
        {"duration('1h30m').getMinutes()", "90"},
        {"string(duration('1.5s'))", "\"1.5s\""},
        {"timestamp('9999-12-31T23:59:59Z') + duration('1s')", "error: timestamp overflow"},
        {"timestamp(0)", "timestamp(\"1970-01-01T00:00:00Z\")"},
        {"int(timestamp('1970-01-01T00:01:00Z'))", "60"},
    };
    ASSERT_CEL(&plain, rows);
}

static void times_beyond_their_range_are_errors(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"duration('2562047h47m16.854775807s') + duration('1s')", "error: integer overflow"},
        {"timestamp('2020-01-01T10:00:00Z').getHours('Local')", "10"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(times_are_parsed_written_and_taken_apart, times_beyond_their_range_are_errors)
