/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/license.h"
#include "scaffold/files.h"
#include "testing.h"

#include <unistd.h>

static void known_licenses_have_a_text(void **state)
{
    (void)state;
    kc_scoped(kc_buf) apache = {0}, none = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__scaffold_license_text(
                         &(kc__scaffold_license_opts){.owner = "Us", .year = 2026}, &apache, NULL),
                     0);
    assert_str(kc_buf_str(&apache),
               "/* SPDX-License-Identifier: Apache-2.0 */\n/* Copyright 2026 Us */\n");
    assert_int_equal(
        kc__scaffold_license_text(&(kc__scaffold_license_opts){.license = "none"}, &none, NULL), 0);
    assert_int_equal(none.n, 0);
    assert_true(
        kc__scaffold_license_text(&(kc__scaffold_license_opts){.license = "gpl"}, &none, &err) < 0);
    assert_error(&err, KC_INVALID, "unknown license 'gpl'");
}

/* What becomes of a file with this text. */
static int read_text(const char *text, kc_buf *out, kc_error *err)
{
    char path[] = "/tmp/kc-license-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    const int done =
        kc__scaffold_license_text(&(kc__scaffold_license_opts){.file = path}, out, err);
    unlink(path);
    return done;
}

static void license_file_must_be_a_comment(void **state)
{
    (void)state;
    static const char *const good[] = {
        "", "\n", "/* a */", "// a\n// b\n", "/*\n * a\n */\n", "/* a */\n// b\n/* c */"};
    static const char *const bad[] = {"a", "/* a", "/* a */ int x;", "// a\nb", "# a", "/*/"};
    for (size_t i = 0; i < KC_COUNT(good); i++) {
        kc_scoped(kc_buf) out = {0};
        assert_int_equal(read_text(good[i], &out, NULL), 0);
        assert_true(out.n == 0 || out.p[out.n - 1] == '\n');
    }
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_scoped(kc_buf) out = {0};
        kc_scoped(kc_error) err = {0};
        assert_true(read_text(bad[i], &out, &err) < 0);
        assert_error(&err, KC_INVALID, "is not a C comment");
    }
}

static void missing_license_file_is_an_error(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    kc_scoped(kc_error) err = {0};
    assert_true(kc__scaffold_license_text(&(kc__scaffold_license_opts){.file = "/nowhere/x"}, &out,
                                          &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "file /nowhere/x not found");
}

TESTS(known_licenses_have_a_text, license_file_must_be_a_comment, missing_license_file_is_an_error)
