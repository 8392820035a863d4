/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static void json_reads_by_its_own_types(void **state)
{
    (void)state;
    static const cel_setup object = {
        .json = "{'a':1,'b':2.5,'c':'x','d':[1,2,3],'e':{'f':null},'g':true}"};
    static const cel_row rows[] = {
        {"self.a + 1", "2"},
        {"self.b * 2.0", "5.0"},
        {"self.c + 'y'", "\"xy\""},
        {"self.d.all(x, x < 4)", "true"},
        {"self.d[2]", "3"},
        {"self.e.f", "null"},
        {"has(self.e.f)", "true"},
        {"has(self.nope)", "false"},
        {"has(self.e.nope)", "false"},
        {"self.nope", "error: no such key: nope"},
        {"self.nope.deeper", "error: no such key: nope"},
        {"self['c']", "\"x\""},
        {"'c' in self", "true"},
        {"self.a == self.d[0]", "true"},
        {"self.c.size()", "1"},
        {"self.a.size()", "error: no such overload: size(int)"},
        {"self.map(k, k).size()", "6"},
        {"self.d + [4]", "[1, 2, 3, 4]"},
        {"self.g", "true"},
    };
    ASSERT_CEL(&object, rows);
}

TESTS(json_reads_by_its_own_types)
