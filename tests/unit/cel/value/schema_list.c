/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

#define UNHASHABLE "error: internal error: runtime error: hash of unhashable type "

static void set_compares_elements_as_a_go_map_does(void **state)
{
    (void)state;
    typed_self self = declare_lists();
    static const cel_row rows[] = {
        {"self.tags == ['b', 'a']", "true"},
        {"self.tags == ['b', 'b']", "true"},
        {"self.tags + ['b', 'c', 'c']", "[\"a\", \"b\", \"c\"]"},
        {"self.ratios == self.ratios", "false"}, /* The integer 1 is an int64, and 1.0 is none. */
        {"self.ratios + self.ratios", "[1.0, 2.5, 1.0]"},
        {"self.pairs == self.pairs", UNHASHABLE "[]interface {}"},
        {"self.pairs + [[2]]", UNHASHABLE "[]interface {}"},
        {"dyn(self.tags) == dyn([b'a', b'b'])", UNHASHABLE "[]uint8"},
        {"dyn(self.tags) + dyn([[1]])", UNHASHABLE "[]ref.Val"},
        {"self.tags + ''.split('') == self.tags", "true"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

static void map_list_merges_by_keys(void **state)
{
    (void)state;
    typed_self self = declare_lists();
    static const cel_row rows[] = {
        {"(self.items + self.items).size()", "2"},
        {"dyn(self.items) == dyn([self.items[1], self.items[0]])", "true"},
        /* A map of an expression has no keys to Kubernetes, and is no object. */
        {"(dyn(self.items) + dyn([{'k': dyn('p'), 'v': dyn(5)}])).size()", "3"},
        {"(dyn(self.items) + dyn([{'k': dyn('p'), 'v': dyn(5)}]))[2]",
         "error: invalid data, expected a map for the provided schema with type=object"},
        {"dyn(self.items) == dyn([{'k': dyn('p'), 'v': dyn(1)}, {'k': dyn('q'), 'v': dyn(2)}])",
         "false"},
        /* Elements without the key have the same one, but only keys of the left list count. */
        {"(dyn(self.items) + dyn([self.inner, self.inner])).size()", "4"},
        /* Kubernetes looks for the escaped name of the key, which no element has. */
        {"self.reserved == [self.reserved[1], self.reserved[1]]", "true"},
        {"self.reserved + self.reserved",
         "[{\"__in__\": \"a\", \"v\": 1}, {\"__in__\": \"b\", \"v\": 2}]"},
        {"self.reserved + [self.reserved[0]]",
         "[{\"__in__\": \"a\", \"v\": 1}, {\"__in__\": \"a\", \"v\": 1}]"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(set_compares_elements_as_a_go_map_does, map_list_merges_by_keys)
