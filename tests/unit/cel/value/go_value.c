/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static void sum_of_a_schema_list_reads_added_elements_by_the_schema(void **state)
{
    (void)state;
    typed_self self = declare_lists();
    static const cel_row rows[] = {
        {"self.matrix + [[4]]",
         "[[1], [2, 3], invalid data, expected an array for the provided schema with type=array]"},
        {"self.matrix + [[4] + [5]]", "[[1], [2, 3], [4, 5]]"},
        {"(self.matrix + self.matrix)[3]", "[2, 3]"},
        {"(self.matrix + [[4]])[2]",
         "error: invalid data, expected an array for the provided schema with type=array"},
        {"(self.times + self.times)[0] == self.times[0]", "true"},
        {"(self.times + self.times)[1]", "error: invalid data, expected string, got time.Time"},
        {"(self.times + dyn(['2021-01-01T00:00:00Z']))[1]", "timestamp(\"2021-01-01T00:00:00Z\")"},
        {"(self.matrix + [self.matrix[1] + [9]]).map(x, x.size())", "[1, 2, 3]"},
        {"(self.ports + [dyn('http'), dyn(type(1)), dyn(1u)]).map(x, type(x) == string)",
         "error: invalid data, expected XIntOrString value to be either a string or integer"},
        {"dyn(self.none) + [dyn(1), dyn('a'), dyn(null), dyn(optional.none())]",
         "[invalid data, expected string, got int64, \"a\", "
         "invalid data, expected string, got structpb.NullValue, "
         "invalid data, got null for schema with nullable=false]"},
        {"dyn(self.none) + [dyn([1]), dyn({'a': 1}), dyn(b'x'), dyn(1.5), dyn(1u), dyn(true), dyn(duration('1s'))]",
         "[invalid data, expected string, got []ref.Val, "
         "invalid data, expected string, got map[ref.Val]ref.Val, "
         "invalid data, expected string, got []uint8, "
         "invalid data, expected string, got float64, "
         "invalid data, expected string, got uint64, "
         "invalid data, expected string, got bool, "
         "invalid data, expected string, got time.Duration]"},
        {"self.none + []", "[]"},
        {"self.none + ['a']", "[\"a\"]"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

static void sum_in_an_optional_of_a_variable_holds_go_values(void **state)
{
    (void)state;
    typed_self self = declare_lists();
    static const cel_row rows[] = {
        {"[optional.of(self.times + self.times)].map(x, x.value())",
         "[[\"2020-01-02T03:04:05Z\", timestamp(\"2020-01-02T03:04:05Z\")]]"},
        {"self.matrix + [optional.of([1] + [2])].map(x, x.value())", "[[1], [2, 3], [1, 2]]"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(sum_of_a_schema_list_reads_added_elements_by_the_schema,
      sum_in_an_optional_of_a_variable_holds_go_values)
