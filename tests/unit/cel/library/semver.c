/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void versions_are_parsed_and_compared(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"semver('1.2.3').isLessThan(semver('1.10.0'))", "true"},
        {"semver('1.0.0-alpha.1').compareTo(semver('1.0.0'))", "-1"},
        {"semver('v01.2', true) == semver('1.2.0')", "true"},
        {"isSemver('1.2')", "false"},
        {"isSemver('v1.2', true)", "true"},
        {"semver('1.2.3').minor()", "2"},
        {"semver('01.0.0')", "error: Major number must not contain leading zeroes \"01\""},
        {"semver('1..3')", "error: strconv.ParseUint: parsing \"\": invalid syntax"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(versions_are_parsed_and_compared)
