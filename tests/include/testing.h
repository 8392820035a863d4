/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testing.h: included by every unit test: cmocka, and helpers for assertions. A test's name states
 * a condition and the result.
 *
 *     static void get_of_missing_field_returns_null(void **state)
 *     {
 *         …
 *     }
 *     TESTS(get_of_missing_field_returns_null, another_test)
 */
#ifndef KC_TESTING_H
#define KC_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sanitizer.h"
#include "kc/edit.h"
#include "kc/object.h"

/* Expands to main(), running the named tests (at most 64) in order. */
#define TESTS(...)                                                                   \
    int main(void)                                                                   \
    {                                                                                \
        const struct CMUnitTest tests[] = {KC__EACH(cmocka_unit_test, __VA_ARGS__)}; \
        return cmocka_run_group_tests(tests, NULL, NULL);                            \
    }

/* How many seeds to run a simulation with, and the step between the writes after which to crash
 * (1: after each). The released build runs all of them. The sanitizers look at memory and at races,
 * not at outcomes, and are slow: a part of the runs reaches the same code. */
#if KC__SANITIZED
#define SEEDS_OF(n) (((n) + 7) / 8)
#define CRASH_STEP  8
#else
#define SEEDS_OF(n) (n)
#define CRASH_STEP  1
#endif

/* First in a long test that has one thread, of a program whose other tests have more: there is
 * nothing in it for ThreadSanitizer to see. */
#define one_thread()  \
    do {              \
        if (KC__TSAN) \
            skip();   \
    } while (0)

/* Asserts that a slice equals a string. */
#define assert_str(slice, text) kc__assert_str(slice, text, __FILE__, __LINE__)
/* Asserts the canonical JSON of an object, a value or a node. */
#define assert_object_json(object, text) assert_str(kc_object_json(object), text)
#define assert_value_json(value, text)   kc__assert_value_json(value, text, __FILE__, __LINE__)
#define assert_node_json(node, text)     kc__assert_node_json(node, text, __FILE__, __LINE__)
/* Asserts the reason of an error, and that its message contains `part`. */
#define assert_error(err, the_reason, part)                                \
    do {                                                                   \
        assert_int_equal((err)->reason, the_reason);                       \
        kc__assert_contains(kc_error_text(err), part, __FILE__, __LINE__); \
    } while (0)
#define assert_contains(text, part) kc__assert_contains(text, part, __FILE__, __LINE__)

/* Parses JSON that must be valid; quotes may be written as ' for readability. */
kc_object *object_of(const char *json);
kc_view *view_of(const char *json);
kc_edit *edit_of(const char *json);

void kc__assert_str(kc_str actual, const char *expected, const char *file, int line);
void kc__assert_value_json(const kc_value *value, const char *expected, const char *file, int line);
void kc__assert_node_json(const kc_node *node, const char *expected, const char *file, int line);
void kc__assert_contains(const char *text, const char *part, const char *file, int line);

/* KC__EACH(f, a, b, c) is f(a), f(b), f(c), */
#define KC__PARENS                   ()
#define KC__EXPAND(...)              KC__EXPAND3(KC__EXPAND3(KC__EXPAND3(KC__EXPAND3(KC__EXPAND3(__VA_ARGS__)))))
#define KC__EXPAND3(...)             KC__EXPAND2(KC__EXPAND2(KC__EXPAND2(__VA_ARGS__)))
#define KC__EXPAND2(...)             KC__EXPAND1(KC__EXPAND1(KC__EXPAND1(__VA_ARGS__)))
#define KC__EXPAND1(...)             __VA_ARGS__
#define KC__EACH(f, ...)             __VA_OPT__(KC__EXPAND(KC__EACH_NEXT(f, __VA_ARGS__)))
#define KC__EACH_NEXT(f, first, ...) f(first), __VA_OPT__(KC__EACH_AGAIN KC__PARENS(f, __VA_ARGS__))
#define KC__EACH_AGAIN()             KC__EACH_NEXT

#endif
