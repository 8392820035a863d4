/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static const cel_setup plain = {0};

#define REFUSED "error: no such overload"

static void values_of_an_expression_are_unequal_to_other_types(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"dyn(1) == dyn('1')", "false"},
        {"dyn([1]) == dyn(1)", "false"},
        {"dyn({'a': 1}) == dyn([1])", "false"},
        {"dyn(null) == dyn([1])", "false"},
        {"optional.of(1) == optional.none()", "false"},
    };
    ASSERT_CEL(&plain, rows);
}

static void kubernetes_types_refuse_other_types(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"dyn(ip('1.2.3.4')) == dyn(1)", REFUSED},    {"dyn(1) == dyn(ip('1.2.3.4'))", "false"},
        {"dyn(ip('1.2.3.4')) != dyn(1)", "true"},     {"dyn(ip('1.2.3.4')) in [dyn(1)]", "false"},
        {"[dyn(ip('1.2.3.4'))] == [dyn(1)]", "true"}, /* Errors of elements count as equal. */
        {"dyn(ip('1.2.3.4')) == null", "false"},
    };
    ASSERT_CEL(&plain, rows);
}

static void computed_quantity_is_comparable_on_the_left_only(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"quantity('50k').add(quantity('20k')) == quantity('70k')", "true"},
        {"quantity('70k') == quantity('50k').add(quantity('20k'))", REFUSED},
        {"quantity('70k') != quantity('50k').add(quantity('20k'))", "true"},
        {"quantity('70k').compareTo(quantity('50k').add(20000))", "0"},
        {"quantity('70001') in [quantity('70k').add(1)]", "false"},
        {"[quantity('2')].indexOf(quantity('1').add(1))", "-1"},
    };
    ASSERT_CEL(&plain, rows);
}

static void values_of_a_schema_refuse_other_types(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const cel_row rows[] = {
        {"dyn(self.tags) == dyn(1)", REFUSED},
        {"dyn(self.inner) == dyn([1])", REFUSED},
        {"dyn(1) == dyn(self.inner)", "false"},
        {"self.inner == self.inner", "true"},
        {"self.tags == ['b', 'a']", "true"},
        {"['b', 'a'] == self.tags", "false"},
        {"dyn(self.items) == dyn([self.items[1], self.items[0]])", "true"},
        {"self == self", "true"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(values_of_an_expression_are_unequal_to_other_types, kubernetes_types_refuse_other_types,
      computed_quantity_is_comparable_on_the_left_only, values_of_a_schema_refuse_other_types)
