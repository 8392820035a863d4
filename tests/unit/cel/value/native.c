/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static const cel_setup plain = {0};

static void optional_of_an_optional_is_flat_when_a_variable_holds_it(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"optional.of(optional.of(1))", "optional.of(optional.of(1))"},
        {"[optional.of(optional.of(1))].map(x, x)", "[optional.of(1)]"},
        {"[optional.of(optional.none())].map(x, x)", "[optional.of(null)]"},
        {"optional.of(1).optMap(x, optional.of(x))", "optional.of(1)"},
        {"optional.of(1).optFlatMap(x, optional.of(optional.of(x)))", "optional.of(1)"},
        {"{'a': optional.of(1)}.?a", "optional.of(optional.of(1))"},
        {"optional.of([optional.of(optional.of(1))]).optMap(x, x)",
         "optional.of([optional.of(optional.of(1))])"},
    };
    ASSERT_CEL(&plain, rows);
}

static void branch_of_a_conditional_loses_types_in_optionals(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"true ? optional.of(type(1)) : optional.none()", "optional.of(\"int\")"},
        {"(true ? optional.of(ip('1.2.3.4')) : optional.none()).hasValue()", "true"},
        {"(true ? optional.of(ip('1.2.3.4')) : optional.none()).value()",
         "error: unsupported conversion to ref.Val: (netip.Addr)1.2.3.4"},
        {"[optional.of(quantity('1'))].map(x, x.value())",
         "error: unsupported conversion to ref.Val: (*resource.Quantity)1"},
        {"[optional.of(format.uuid())].map(x, x.value().validate('x').hasValue())", "[true]"},
    };
    ASSERT_CEL(&plain, rows);
}

static void values_of_a_schema_lose_their_types_in_optionals(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const cel_row rows[] = {
        {"[optional.of(self)].map(x, x.value().when)", "[\"2020-01-02T03:04:05Z\"]"},
        {"optional.of(self).value().when == timestamp('2020-01-02T03:04:05Z')", "true"},
        {"(true ? optional.of(self.tags) : optional.none()).value() + ['a']",
         "[\"a\", \"b\", \"a\"]"},
        {"optional.of(self.tags).value() + ['a']", "[\"a\", \"b\"]"},
    };
    ASSERT_CEL(&self.setup, rows);
    release_self(&self);
}

TESTS(optional_of_an_optional_is_flat_when_a_variable_holds_it,
      branch_of_a_conditional_loses_types_in_optionals,
      values_of_a_schema_lose_their_types_in_optionals)
