/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void quantities_are_parsed_compared_and_added(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"quantity('1.5Gi').isLessThan(quantity('2Gi'))", "true"},
        {"quantity('50k').add(quantity('20k')) == quantity('70k')", "true"},
        {"quantity('50k').sub(20).isLessThan(quantity('100k'))", "true"},
        {"quantity('50k').asInteger()", "50000"},
        {"quantity('50.5').asInteger()", "error: cannot convert value to integer"},
        {"quantity('50k').asApproximateFloat()", "50000.0"},
        {"isQuantity('1.3Gi')", "true"},
        {"isQuantity('10 Mi')", "false"},
        {"sign(quantity('-1'))", "-1"},
        {"quantity('1').compareTo(quantity('2'))", "-1"},
    };
    ASSERT_CEL(&plain, rows);
}

static void large_quantities_are_integers_as_in_kubernetes(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"quantity('10Ti').isInteger()", "true"},
        {"quantity('1Pi').isInteger()", "false"}, /* Kubernetes keeps it as a decimal. */
        {"quantity('-1.5M').asInteger()", "-1500000"},
        {"quantity('Ki').asInteger()", "0"},
        {"quantity('1000000000000000001').isInteger()", "false"},
        {"quantity('9Ei').asInteger()", "error: cannot convert value to integer"},
    };
    ASSERT_CEL(&plain, rows);
}

static void conversions_follow_how_kubernetes_keeps_a_number(void **state)
{
    (void)state;
    static const cel_row rows[] = {
        {"quantity('1.0').isInteger()", "false"},
        {"quantity('1000m').isInteger()", "false"},
        {"quantity('5.').isInteger()", "true"},
        {"quantity('1k').asInteger()", "1000"},
        {"quantity('0.1').asApproximateFloat()", "0.1"},
        {"quantity('1.1').sub(quantity('1')).isInteger()", "false"},
        {"quantity('0.3Ki').asApproximateFloat()", "307.20000000000005"},
        {"quantity('9Ei').asApproximateFloat()", "9.223372036854776e+18"},
        {"quantity('0e400').asApproximateFloat()", "NaN"},
    };
    ASSERT_CEL(&plain, rows);
}

TESTS(conversions_follow_how_kubernetes_keeps_a_number, quantities_are_parsed_compared_and_added,
      large_quantities_are_integers_as_in_kubernetes)
