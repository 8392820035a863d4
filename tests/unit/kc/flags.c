/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flags of every verb: what the tables say is what the parser accepts, and what --help, the
 * completion scripts and the man pages show. The tests iterate over kc__cli_verbs, so a new flag is
 * covered by its row.
 */
#include "command.h"
#include "testing.h"

#include "kc/buf.h"
#include "kc/file.h"

#include <stdio.h>
#include <unistd.h>

/* ---- helpers ---- */

/* Calls `check` for each flag of each verb. */
static void each_flag(void (*check)(const kc__cli_flag_set *set, const kc__cli_flag *flag))
{
    kc__cli_flag flag;
    for (size_t i = 0; i < kc__cli_n_verbs; i++)
        for (size_t j = 0; kc__cli_flag_at(kc__cli_verbs[i].flags, j, &flag); j++)
            check(kc__cli_verbs[i].flags, &flag);
}

/* Parses `--FLAG=VALUE` alone. */
static int parse_one(const kc__cli_flag_set *set, const kc__cli_flag *flag, const char *value,
                     kc_error *err)
{
    kc_autofree char *argument = kc_asprintf("--%s=%s", flag->name, value);
    kc_autofree void *options = kc_calloc(1, set->size ? set->size : 1);
    char *argv[] = {(char *)set->verb, argument, NULL};
    return kc__cli_flags_parse(set, 2, argv, options, err);
}

static char *text_of(const kc__cli_flag_set *set,
                     void (*print)(const kc__cli_flag_set *set, FILE *out))
{
    enum { ROOM = 1 << 17 };
    char *text = kc_calloc(1, ROOM);
    FILE *out = fmemopen(text, ROOM, "w");
    assert_non_null(out);
    print(set, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *help_of(const kc__cli_flag_set *set)
{
    return text_of(set, kc__cli_flags_help);
}

/* Is `at`, the dashes of a flag, at the beginning of a row: "\n  --flag" or "\n  -f, --flag"? */
static bool begins_row(const char *help, const char *at)
{
    if (at - help >= 3 && !strncmp(at - 3, "\n  ", 3))
        return true;
    return at - help >= 7 && !strncmp(at - 7, "\n  -", 4) && !strncmp(at - 2, ", ", 2);
}

/* The lines about one flag. */
static char *help_block(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    kc_autofree char *help = help_of(set);
    const size_t n = strlen(flag->name);
    for (char *at = strstr(help, "--"); at; at = strstr(at + 2, "--")) {
        if (!begins_row(help, at) || strncmp(at + 2, flag->name, n) != 0 ||
            !strchr("= \n", at[2 + n]))
            continue;
        const char *end = strstr(at, "\n  -");
        return kc_strndup(at, end ? (size_t)(end - at) : strlen(at));
    }
    fail_msg("kc %s --help does not list --%s", set->verb, flag->name);
    return NULL;
}

static bool is_word_char(char c)
{
    return c == '-' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
}

/* Has `text` the word, not as a part of a longer one? */
static bool has_word(const char *text, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !is_word_char(at[-1])) && !is_word_char(at[n]))
            return true;
    return false;
}

/* What a function prints to standard output. */
static char *printed_by(int (*run)(int argc, char **argv), int argc, char **argv)
{
    char path[] = "/tmp/kc-flags-XXXXXX";
    const int file = mkstemp(path), out = dup(STDOUT_FILENO);
    kc_scoped(kc_buf) text = {0};
    assert_true(file >= 0 && out >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    const int code = run(argc, argv);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(out);
    close(file);
    assert_int_equal(kc_file_read(path, KC_FILE_MAX, &text, NULL), 0);
    unlink(path);
    assert_int_equal(code, 0);
    return kc_buf_take(&text);
}

/* ---- closed sets ---- */

static void check_choices_accepted(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    const char *name;
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++) {
        kc_scoped(kc_error) err = {0};
        if (parse_one(set, flag, name, &err) != 0)
            fail_msg("kc %s --%s=%s: %s", set->verb, flag->name, name, kc_error_text(&err));
    }
}

static void every_listed_value_is_accepted(void **state)
{
    (void)state;
    each_flag(check_choices_accepted);
}

static void check_others_refused(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    kc_scoped(kc_error) err = {0};
    const char *name;
    if (!kc__cli_flag_choice_at(flag, 0))
        return;
    kc_autofree char *typed = kc_asprintf("--%s: invalid value 'zzzzzzzz': must be ", flag->name);
    assert_true(parse_one(set, flag, "zzzzzzzz", &err) < 0);
    assert_contains(kc_error_text(&err), typed);
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++)
        if (!has_word(kc_error_text(&err), name))
            fail_msg("kc %s: '%s' does not name %s", set->verb, kc_error_text(&err), name);
}

static void other_values_are_refused_with_flag_and_accepted_values(void **state)
{
    (void)state;
    each_flag(check_others_refused);
}

static void check_nearest(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    const char *name;
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++) {
        kc_scoped(kc_error) err = {0};
        if (strlen(name) < 4) /* Too short for a nearest name. */
            continue;
        kc_autofree char *typed = kc_asprintf("%sd", name);
        kc_autofree char *hint = kc_asprintf("; did you mean '%s'?", name);
        assert_true(parse_one(set, flag, typed, &err) < 0);
        assert_contains(kc_error_text(&err), hint);
    }
}

static void misspelled_value_suggests_the_nearest(void **state)
{
    (void)state;
    each_flag(check_nearest);
}

static void check_help_values(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    kc_autofree char *block = help_block(set, flag);
    const char *name;
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++)
        if (!has_word(block, name))
            fail_msg("kc %s --help does not list %s of --%s:\n%s", set->verb, name, flag->name,
                     block);
}

static void help_lists_every_accepted_value(void **state)
{
    (void)state;
    each_flag(check_help_values);
}

static void completion_offers_every_accepted_value(void **state)
{
    char verb[] = "completion", shell[] = "fish", *argv[] = {verb, shell, NULL};
    (void)state;
    kc_autofree char *script = printed_by(kc__cli_command_completion, 2, argv);
    for (size_t i = 0; i < kc__cli_n_verbs; i++) {
        kc__cli_flag flag;
        const char *name;
        for (size_t j = 0; kc__cli_flag_at(kc__cli_verbs[i].flags, j, &flag); j++) {
            kc_autofree char *begin =
                kc_asprintf("from %s' -l %s ", kc__cli_verbs[i].name, flag.name);
            const char *at = strstr(script, begin);
            assert_non_null(at);
            kc_autofree char *line = kc_strndup(at, strcspn(at, "\n"));
            for (size_t k = 0; (name = kc__cli_flag_choice_at(&flag, k)); k++)
                if (!has_word(line, name))
                    fail_msg("completion of kc %s --%s lacks %s", kc__cli_verbs[i].name, flag.name,
                             name);
        }
    }
}

/* ---- switches and defaults ---- */

static void check_switch(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    kc_scoped(kc_error) err = {0};
    if (flag->argument)
        return;
    assert_int_equal(parse_one(set, flag, "true", NULL), 0);
    assert_int_equal(parse_one(set, flag, "false", NULL), 0);
    kc_autofree char *text =
        kc_asprintf("--%s: invalid value 'maybe': must be true or false", flag->name);
    assert_true(parse_one(set, flag, "maybe", &err) < 0);
    assert_contains(kc_error_text(&err), text);
}

static void switches_accept_true_and_false_only(void **state)
{
    (void)state;
    each_flag(check_switch);
}

static void check_default(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    if (!flag->initial || !*flag->initial)
        return;
    kc_autofree char *block = help_block(set, flag);
    kc_autofree char *text = kc_asprintf(" (default %s)", flag->initial);
    assert_contains(block, text);
    assert_int_equal(parse_one(set, flag, flag->initial, NULL), 0);
}

static void help_shows_every_default(void **state)
{
    (void)state;
    each_flag(check_default);
}

/* ---- operands ---- */

typedef struct few_options {
    kc__cli_flag_operands operands;
    const char *text;
} few_options;

static const kc__cli_flag few_flags[] = {
    {"text", 't', "TEXT", .parse = kc__cli_flag_text, .offset = offsetof(few_options, text)},
};

static const kc__cli_flag_set few = {
    .verb = "few",
    .operands = "[WORD…]",
    .operands_at = offsetof(few_options, operands),
    KC__CLI_FLAGS(few_flags),
    .size = sizeof(few_options),
};

static void double_dash_ends_the_flags(void **state)
{
    static const char *const expected[] = {"one", "-1", "--text=b", "--", "--help"};
    const char *argv[] = {"few", "one", "-t", "a", "--", "-1", "--text=b", "--", "--help", NULL};
    few_options o;
    kc_scoped(kc_error) err = {0};
    (void)state;
    assert_int_equal(kc__cli_flags_parse(&few, KC_COUNT(argv) - 1, (char **)argv, &o, &err), 0);
    assert_string_equal(o.text, "a");
    assert_int_equal(o.operands.n, KC_COUNT(expected));
    for (size_t i = 0; i < KC_COUNT(expected); i++)
        assert_string_equal(o.operands.items[i], expected[i]);
    argv[4] = "-";
    assert_true(kc__cli_flags_parse(&few, 6, (char **)argv, &o, &err) < 0);
    assert_contains(kc_error_text(&err), "unknown flag '-1'");
}

/* ---- texts ---- */

static void check_first_word(const kc__cli_flag_set *set, const kc__cli_flag *flag)
{
    static const char *const vague[] = {"which", "where", "how", "what",  "whose", "who",
                                        "its",   "it",    "of",  "their", "same",  "if"};
    kc_autofree char *first = kc_strndup(flag->help, strcspn(flag->help, " "));
    for (size_t i = 0; i < KC_COUNT(vague); i++)
        if (!strcmp(first, vague[i]))
            fail_msg("kc %s --%s: \"%s\" does not begin with what the flag sets", set->verb,
                     flag->name, flag->help);
    if (flag->help[strlen(flag->help) - 1] == '.')
        fail_msg("kc %s --%s: the help ends with a full stop", set->verb, flag->name);
}

static void help_of_a_flag_begins_with_what_it_sets(void **state)
{
    (void)state;
    each_flag(check_first_word);
}

static void help_lines_fit_120_columns(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__cli_n_verbs; i++) {
        kc_autofree char *help = help_of(kc__cli_verbs[i].flags);
        for (kc_str rest = kc_cstr(help); rest.p;) {
            const kc_str line = kc_str_cut(&rest, '\n');
            if (line.n > 120)
                fail_msg("kc %s --help: %.*s", kc__cli_verbs[i].name, KC_ARG(line));
        }
    }
}

static void help_of_every_verb_has_synopsis_and_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__cli_n_verbs; i++) {
        kc_autofree char *help = help_of(kc__cli_verbs[i].flags);
        kc_autofree char *usage = kc_asprintf("\nUsage: kc %s", kc__cli_verbs[i].name);
        kc_autofree char *example = kc_asprintf("kc %s", kc__cli_verbs[i].name);
        assert_string_equal(kc__cli_verbs[i].name, kc__cli_verbs[i].flags->verb);
        assert_contains(help, usage);
        const char *examples = strstr(help, "\nExamples:\n");
        assert_non_null(examples);
        assert_contains(examples, example);
    }
}

/* The flag sections of the page, which scripts/man writes. */
static void man_page_has_the_flags_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__cli_n_verbs; i++) {
        const char *verb = kc__cli_verbs[i].name;
        kc_scoped(kc_buf) page = {0};
        kc_autofree char *section_1 = kc_asprintf("../docs/man/kc-%s.1", verb);
        kc_autofree char *section_8 = kc_asprintf("../docs/man/kc-%s.8", verb);
        if (kc_file_read(section_1, KC_FILE_MAX, &page, NULL) < 0 &&
            kc_file_read(section_8, KC_FILE_MAX, &page, NULL) < 0)
            continue; /* kc.1 and kc-hub.8 describe the others. */
        kc_autofree char *mdoc = text_of(kc__cli_verbs[i].flags, kc__cli_flags_mdoc);
        if (!strstr(kc_buf_cstr(&page), mdoc))
            fail_msg("the man page of kc %s is outdated: run scripts/man", verb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_listed_value_is_accepted),
        cmocka_unit_test(other_values_are_refused_with_flag_and_accepted_values),
        cmocka_unit_test(misspelled_value_suggests_the_nearest),
        cmocka_unit_test(help_lists_every_accepted_value),
        cmocka_unit_test(completion_offers_every_accepted_value),
        cmocka_unit_test(switches_accept_true_and_false_only),
        cmocka_unit_test(help_shows_every_default),
        cmocka_unit_test(double_dash_ends_the_flags),
        cmocka_unit_test(help_of_a_flag_begins_with_what_it_sets),
        cmocka_unit_test(help_lines_fit_120_columns),
        cmocka_unit_test(help_of_every_verb_has_synopsis_and_examples),
        cmocka_unit_test(man_page_has_the_flags_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
