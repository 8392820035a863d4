/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static void conversions_check_ranges(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"int('42')", "42"},
        {"int(self)", "error: type conversion error from 'string' to 'int'"},
        {"int(1.9)", "1"},
        {"int('x')", "program instantiation failed: type conversion error from "
                     "'string' to 'int'"},
        {"[1e30].map(x, int(x))", "error: integer overflow"},
        {"[-1].map(x, uint(x))", "error: unsigned integer overflow"},
        {"double('1.5')", "1.5"},
        {"string(1.0)", "\"1\""},
        {"string(1e100)", "\"1e+100\""},
        {"string(true)", "\"true\""},
        {"string(b'abc')", "\"abc\""},
        {"[b'\\xff'].map(x, string(x))", "error: invalid UTF-8 in bytes, cannot convert to string"},
        {"bytes('é')", "b\"é\""},
        {"bool('true')", "true"},
    };
    ASSERT_CEL(&(cel_setup){.json = "'x'"}, rows);
}

static const cel_setup plain = {0};

static void doubles_are_written_as_in_go(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"string(100000.0)", "\"100000\""},
        {"string(1000000.0)", "\"1e+06\""},
        {"string(123456789.125)", "\"1.23456789125e+08\""},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(conversions_check_ranges, doubles_are_written_as_in_go)
