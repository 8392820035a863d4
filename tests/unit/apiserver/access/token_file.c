/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/access/token_file.h"

#include "testing.h"

#include "kc/buf.h"

#include <stdio.h>
#include <unistd.h>

static void collect(kc_str line, void *user)
{
    kc_buf_append(user, line);
}

static kc__token_file *parse(const char *text, kc_log *log, kc_error *err)
{
    kc_autofree char *copy = kc_strdup(text);
    return kc__token_file_parse("tokens.csv", copy, strlen(text), log, err);
}

static kc__token_file *parsed(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc__token_file *file = parse(text, NULL, &err);
    if (!file)
        fail_msg("%s", kc_error_text(&err));
    return file;
}

/* "user uid group group" of a token, "nobody" for one that is not known. */
static char *owner_of(const kc__token_file *file, const char *token)
{
    const kc__user *user = kc__token_file_find(file, kc_cstr(token));
    if (!user)
        return kc_strdup("nobody");
    kc_buf text = {0};
    kc_buf_printf(&text, "%.*s %.*s", KC_ARG(user->name), KC_ARG(user->uid));
    for (size_t i = 0; i < user->n_groups; i++)
        kc_buf_printf(&text, " %.*s", KC_ARG(user->groups[i]));
    return kc_buf_take(&text);
}

static void check_owner(const kc__token_file *file, const char *token, const char *expected)
{
    kc_autofree char *owner = owner_of(file, token);
    assert_string_equal(owner, expected);
}

#define assert_owner(text, token, expected)            \
    do {                                               \
        kc_auto(kc__token_file) *file_ = parsed(text); \
        check_owner(file_, token, expected);           \
    } while (0)

static void check_refusal(const char *text, const char *part)
{
    kc_scoped(kc_error) err = {0};
    assert_null(parse(text, NULL, &err));
    assert_error(&err, KC_INVALID, part);
    assert_contains(kc_error_text(&err), "token file tokens.csv: ");
}

static void token_maps_to_its_user(void **state)
{
    (void)state;
    assert_owner("t1,alice,1\nt2,bob,2\n", "t1", "alice 1 system:authenticated");
    assert_owner("t1,alice,1\nt2,bob,2\n", "t2", "bob 2 system:authenticated");
}

static void unknown_token_has_no_user(void **state)
{
    (void)state;
    assert_owner("t1,alice,1\n", "t2", "nobody");
    assert_owner("t1,alice,1\n", "", "nobody");
    assert_owner("t1,alice,1\n", "T1", "nobody");
    assert_owner("t1,alice,1\n", "t1 ", "nobody");
}

static void empty_file_has_no_tokens(void **state)
{
    (void)state;
    assert_owner("", "t1", "nobody");
    assert_owner("\n\r\n\n", "t1", "nobody");
}

static void quoted_column_holds_several_groups(void **state)
{
    (void)state;
    assert_owner("t1,alice,1,\"a,b\"\n", "t1", "alice 1 a b system:authenticated");
    assert_owner("t1,alice,1,a", "t1", "alice 1 a system:authenticated");
}

static void empty_groups_are_dropped(void **state)
{
    (void)state;
    assert_owner("t1,alice,1,\",a,,b,\"\n", "t1", "alice 1 a b system:authenticated");
    assert_owner("t1,alice,1,\n", "t1", "alice 1 system:authenticated");
}

static void columns_beyond_the_fourth_are_ignored(void **state)
{
    (void)state;
    assert_owner("t,alice,1,a,x,y,z,1,2,3,4\n", "t", "alice 1 a system:authenticated");
}

static void quotes_are_unescaped(void **state)
{
    (void)state;
    assert_owner("\"t,\"\"1\"\"\",\"al\nice\",\"\"\n", "t,\"1\"", "al\nice  system:authenticated");
    assert_owner("\"t\",\"al\r\nice\",1\r\n", "t", "al\nice 1 system:authenticated");
}

static void crlf_line_endings_are_accepted(void **state)
{
    (void)state;
    assert_owner("t1,alice,1\r\nt2,bob,2\r\n", "t1", "alice 1 system:authenticated");
    assert_owner("t1,alice,1\r\nt2,bob,2", "t2", "bob 2 system:authenticated");
}

static void system_authenticated_is_not_added_twice(void **state)
{
    (void)state;
    assert_owner("t,alice,1,\"system:authenticated,a\"\n", "t", "alice 1 system:authenticated a");
    assert_owner("t,alice,1,system:unauthenticated\n", "t", "alice 1 system:unauthenticated");
    assert_owner("t,system:anonymous,1\n", "t", "system:anonymous 1");
}

static void record_with_fewer_than_three_columns_is_refused_with_its_line(void **state)
{
    (void)state;
    check_refusal("t1,alice,1\n\nt2,bob\n", "line 3: at least 3 columns");
    check_refusal("t1\n", "found 1");
}

static void invalid_quotes_are_refused_with_their_line(void **state)
{
    (void)state;
    check_refusal("t1,alice,1\nt2,\"bob,2\n\n", "line 2: unterminated quoted field");
    check_refusal("t1,\"a\"\"", "line 1: unterminated quoted field");
    check_refusal("t1,\"", "line 1: unterminated quoted field");
    check_refusal("t1,\"a\nb\"c,1\n", "line 2: text after a closing quote");
    check_refusal("t1,a\"b,1\n", "line 1: quote in an unquoted field");
}

static void too_many_groups_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "t,alice,1,\"");
    for (int i = 0; i <= KC__TOKEN_FILE_MAX_GROUPS; i++)
        kc_buf_printf(&text, "g%d,", i);
    kc_buf_puts(&text, "\"\n");
    check_refusal(kc_buf_cstr(&text), "line 1: 1001 groups exceed the limit of 1000");
}

static void record_without_token_is_skipped_with_a_warning(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.write = collect, .user = &out});
    kc_auto(kc__token_file) *file = parse("t1,alice,1\n,bob,2\n", log, NULL);
    assert_int_equal(kc__token_file_count(file), 1);
    check_owner(file, "", "nobody");
    assert_contains(kc_buf_cstr(&out), "without a token");
    assert_contains(kc_buf_cstr(&out), "line=2");
}

static void duplicate_token_uses_the_last_record_with_a_warning(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.write = collect, .user = &out});
    kc_auto(kc__token_file) *file = parse("t1,alice,1\nt1,bob,2\n", log, NULL);
    assert_int_equal(kc__token_file_count(file), 1);
    check_owner(file, "t1", "bob 2 system:authenticated");
    assert_contains(kc_buf_cstr(&out), "duplicate token");
    assert_null(strstr(kc_buf_cstr(&out), "t1"));
}

static void parsed_text_is_wiped(void **state)
{
    (void)state;
    char text[] = "secret,alice,1\n";
    kc_auto(kc__token_file) *file =
        kc__token_file_parse("tokens.csv", text, sizeof(text) - 1, NULL, NULL);
    assert_non_null(file);
    assert_true(strlen(text) == 0);
    check_owner(file, "secret", "alice 1 system:authenticated");
}

static void token_file_is_read_from_disk(void **state)
{
    (void)state;
    char path[] = "/tmp/kc-tokens-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(write(fd, "t1,alice,1\n", 11) == 11);
    close(fd);
    kc_auto(kc__token_file) *file = kc__token_file_read(path, NULL, NULL);
    unlink(path);
    assert_non_null(file);
    check_owner(file, "t1", "alice 1 system:authenticated");
}

static void missing_file_is_named_in_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc__token_file_read("/no/such/tokens.csv", NULL, &err));
    assert_error(&err, KC_NOT_FOUND, "cannot open /no/such/tokens.csv: No such file");
}

static void lookup_finds_one_of_100000_tokens(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 100000; i++)
        kc_buf_printf(&text, "token-%d,user-%d,%d\n", i, i, i);
    kc_auto(kc__token_file) *file = parsed(kc_buf_cstr(&text));
    assert_int_equal(kc__token_file_count(file), 100000);
    check_owner(file, "token-77777", "user-77777 77777 system:authenticated");
}

TESTS(token_maps_to_its_user, unknown_token_has_no_user, empty_file_has_no_tokens,
      quoted_column_holds_several_groups, empty_groups_are_dropped,
      columns_beyond_the_fourth_are_ignored, quotes_are_unescaped, crlf_line_endings_are_accepted,
      system_authenticated_is_not_added_twice,
      record_with_fewer_than_three_columns_is_refused_with_its_line,
      invalid_quotes_are_refused_with_their_line, too_many_groups_are_refused,
      record_without_token_is_skipped_with_a_warning,
      duplicate_token_uses_the_last_record_with_a_warning, parsed_text_is_wiped,
      token_file_is_read_from_disk, missing_file_is_named_in_error,
      lookup_finds_one_of_100000_tokens)
