/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static void older_versions_lack_newer_functions(void **state)
{
    (void)state;
    static const cel_setup older = {.env = {.version = 33}};
    static const cel_row rows[] = {
        {"[3, 1].sort()", "ERROR: <input>:1:12: undeclared reference to 'sort' (in container '')\n "
                          "| [3, 1].sort()\n | ...........^"},
        {"semver('1.2.3').major()", "1"},
        {"cel.bind(x, 1, x)",
         "ERROR: <input>:1:1: undeclared reference to 'cel' (in container '')\n | cel.bind(x, 1, "
         "x)\n | ^\nERROR: <input>:1:9: undeclared reference to 'bind' (in container '')\n | "
         "cel.bind(x, 1, x)\n | ........^\nERROR: <input>:1:10: undeclared reference to 'x' (in "
         "container '')\n | cel.bind(x, 1, x)\n | .........^\nERROR: <input>:1:16: undeclared "
         "reference to 'x' (in container '')\n | cel.bind(x, 1, x)\n | ...............^"},
    };
    ASSERT_CEL(&older, rows);
    static const cel_setup with_bind = {.env = {.with_bind = true}};
    static const cel_row bound[] = {{"cel.bind(x, 2, x * x)", "4"}};
    ASSERT_CEL(&with_bind, bound);
}

TESTS(older_versions_lack_newer_functions)
