/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void formats_validate_by_name(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"format.dns1123Label().validate('abc').hasValue()", "false"},
        {"format.dns1123Label().validate('ABC').value().size()", "1"},
        {"format.named('uuid').hasValue()", "true"},
        {"format.named('nope').hasValue()", "false"},
        {"format.uuid().validate('x').value()", "[\"does not match the UUID format\"]"},
        {"format.dns1123Label() == format.named('dns1123Label').value()", "true"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(formats_validate_by_name)
