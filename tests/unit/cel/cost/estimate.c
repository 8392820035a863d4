/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_schema_testing.h"

static const cel_setup plain = {0};

static void estimates_follow_the_libraries(void **state)
{
    (void)state;
    static const struct {
        const char *expression;
        uint64_t min, max;
    } rows[] = {
        {"quantity('1') == quantity('2')", 3, 3},
        {"ip('10.0.0.1') == ip('10.0.0.1')", 3, 3},
        {"format.uuid() == format.uuid()", 3, 9},
        {"'abc'.replace('a', 'bb').size()", 2, 2},
        {"['ab', 'c'].join(',').size()", 12, 1844674407370955275}, /* Elements have no bound. */
        {"'hello'.find('l+')", 1, 1},
        {"[1, 2, 3].sort()", 39, 39},
        {"sets.contains([1, 2], [1])", 23, 23},
        {"'%s'.format(['a']).size()", 12, 12},
        {"[1, 2].map(x, x + 1)", 49, 49},
        {"optional.of(1).optMap(x, x + 1)", 3, 17},
    };
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_cel_cost estimate = {0};
        cel_evaluate_into(env, &plain, rows[i].expression, &out, NULL, &estimate);
        if (estimate.min != rows[i].min || estimate.max != rows[i].max)
            fail_msg("%s: have %llu to %llu, want %llu to %llu", rows[i].expression,
                     (unsigned long long)estimate.min, (unsigned long long)estimate.max,
                     (unsigned long long)rows[i].min, (unsigned long long)rows[i].max);
    }
}

static void estimates_use_bounds_of_the_schema(void **state)
{
    (void)state;
    typed_self self = declare_self();
    static const struct {
        const char *expression;
        uint64_t max;
    } rows[] = {
        {"self.replicas <= self.maxReplicas", 5},
        {"type(self.port) == int", 4}, /* A name of a type has the size of self. */
        {"self.name == 'abc'", 3},     /* 1 + 1 + ceil(min(40, 3) * 0.1) */
        {"self.name.startsWith('a')", 3},
        {"self.name.contains('abc')", 6},      /* 2 + ceil(40 * 0.1) * 1 */
        {"self.name.matches('^[a-z]+$')", 12}, /* 2 + ceil(41 * 0.1) * ceil(8 * 0.25) */
        {"self.mode == 'x'", 3},
        {"self.tags.all(t, t == 'a')", 28}, /* 2 + 5 * (2 + 3) + 1 */
        {"has(self.name)", 1},
        {"self.tags.size()", 3},
        {"self.free == self.free", 314577}, /* 4 + ceil((3 Mi - 2) * 0.1) */
    };
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_cel_cost estimate = {0};
        cel_evaluate_into(env, &self.setup, rows[i].expression, &out, NULL, &estimate);
        if (estimate.max != rows[i].max)
            fail_msg("%s: have %llu, want %llu", rows[i].expression,
                     (unsigned long long)estimate.max, (unsigned long long)rows[i].max);
    }
    release_self(&self);
}

TESTS(estimates_follow_the_libraries, estimates_use_bounds_of_the_schema)
