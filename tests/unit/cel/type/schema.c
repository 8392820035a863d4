/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static void fields_read_as_declared(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const cel_row rows[] = {
        {"self.replicas <= self.maxReplicas", "true"},
        {"self.ratio == 1.0", "true"},
        {"self.when.getHours()", "3"},
        {"self.day.getDate()", "2"},
        {"self.wait == duration('1m30s')", "true"},
        {"self.data == b'abc'", "true"},
        {"self.port == 8080", "true"},
        {"type(self.port) == int", "true"},
        {"self.__in__ + self.a__dash__b__dot__c__slash__d__underscores__e", "\"xy\""},
        {"self.tags == ['b', 'a']", "true"},
        {"self.items == [self.items[1], self.items[0]]", "true"},
        {"self.tags + ['b', 'c']", "[\"a\", \"b\", \"c\"]"},
        {"(self.tags + ['c']) == ['c', 'b', 'a']", "true"},
        {"(self.items + self.items).size()", "2"},
        {"self.items.exists(i, i.k == 'q' && i.v == 2)", "true"},
        {"self.labels.l", "\"m\""},
        {"self.labels['l']", "\"m\""},
        {"has(self.labels.none)", "false"},
        {"self.limits.cpu + 1", "4"},
        {"has(self.maybe)", "false"},
        {"has(self.free)", "false"},
        {"self.free", "error: no such key: free"},
        {"self.opaque", "ERROR: <input>:1:5: undefined field 'opaque'\n | self.opaque\n | ....^"},
        {"self.nope", "ERROR: <input>:1:5: undefined field 'nope'\n | self.nope\n | ....^"},
        {"self.inner == self.other",
         "ERROR: <input>:1:12: found no matching overload for '_==_' applied to '(self_type.inner, "
         "self_type.other)'\n | self.inner == self.other\n | ...........^"},
        {"self.inner == self.inner", "true"},
        {"self.replicas == 'x'",
         "ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(int, string)'\n | "
         "self.replicas == 'x'\n | ..............^"},
        {"self == self", "true"},
        {"optional.ofNonZeroValue(self.tags.filter(t, false)).hasValue()", "false"},
        /* A list whose elements the checker does not know is taken for one of integers. */
        {"dyn(self.tags).reverse().isSorted()", "error: no such overload: isSorted(list)"},
        {"dyn([2, 1]).reverse().isSorted()", "true"},
        {"self.tags[dyn(self.tags)]", "error: invalid qualifier type: *common.unstructuredSetList"},
        {"dyn(1).all(x, y, true)", "error: unsupported comprehension range type: types.Int"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(fields_read_as_declared)
