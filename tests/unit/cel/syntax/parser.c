/* SPDX-License-Identifier: Apache-2.0 */
#include "cel_testing.h"

static const cel_setup plain = {0};

static void syntax_errors_have_the_words_of_the_reference(void **state)
{
    (void)state;
#define START                                                                                        \
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, " \
    "BYTES, IDENTIFIER}"
    static const cel_row rows[] = {
        {"1 +", "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting " START
                "\n | 1 +\n | ...^"},
        {"1 2",
         "ERROR: <input>:1:3: Syntax error: extraneous input '2' expecting <EOF>\n | 1 2\n | "
         "..^"},
        {"(1", "ERROR: <input>:1:3: Syntax error: missing ')' at '<EOF>'\n | (1\n | ..^"},
        {"[1 2]", "ERROR: <input>:1:4: Syntax error: extraneous input '2' expecting {']', ','}\n | "
                  "[1 2]\n | ...^"},
        {"a..b",
         "ERROR: <input>:1:3: Syntax error: no viable alternative at input '..'\n | a..b\n | "
         "..^"},
        {"a | b",
         "ERROR: <input>:1:3: Syntax error: token recognition error at: '| '\n | a | b\n | "
         "..^\nERROR: <input>:1:5: Syntax error: extraneous input 'b' expecting <EOF>\n | a "
         "| b\n | ....^"},
        {"for", "ERROR: <input>:1:1: reserved identifier: for\n | for\n | ^"},
        {"99999999999999999999", "ERROR: <input>:1:1: invalid int literal\n | "
                                 "99999999999999999999\n | ^"},
        {"has(1)", "ERROR: <input>:1:5: invalid argument to has() macro\n | has(1)\n | ....^"},
        {"int{}", "ERROR: <input>:1:4: 'int' is not a message type\n | int{}\n | ...^"},
        {"'é' + x", "ERROR: <input>:1:7: undeclared reference to 'x' (in container '')\n | 'é' + "
                    "x\n | .．....^"},
    };
    ASSERT_CEL(&plain, rows);
}

static void deep_and_large_expressions_are_refused(void **state)
{
    (void)state;
    kc_auto(kc_cel_env) *env = kc_cel_env_new(NULL);
    kc_scoped(kc_buf) deep = {0}, sum = {0}, maps = {0}, large = {0};
    for (int i = 0; i < 300; i++) {
        kc_buf_putc(&deep, '(');
        kc_buf_puts(&sum, "1+");
    }
    kc_buf_puts(&sum, "1");
    kc_buf_puts(&maps, "optional.of(1)");
    for (int i = 0; i < 40; i++)
        kc_buf_puts(&maps, ".optMap(x, x)");
    for (int i = 0; i < 100001; i++)
        kc_buf_putc(&large, '1');
    static const char *const messages[] = {
        "expression recursion limit exceeded: 250", "expression recursion limit exceeded: 250",
        "expression exceeds limit of 100000 nodes",
        "expression code point size exceeds limit: size: 100001, limit 100000"};
    const kc_buf *const all[] = {&deep, &sum, &maps, &large};
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        kc_scoped(kc_cel_errors) errors = {0};
        assert_null(kc_cel_compile(env, kc_buf_str(all[i]), NULL, &errors));
        assert_string_equal(errors.items.items[0].message, messages[i]);
    }
}

TESTS(syntax_errors_have_the_words_of_the_reference, deep_and_large_expressions_are_refused)
