/* SPDX-License-Identifier: Apache-2.0 */
/* testing.c: the helpers of testing.h. */
#include "testing.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* As in kc: a peer that closes its connection makes a write fail, and does not end the program. */
__attribute__((constructor)) static void ignore_broken_pipes(void)
{
    signal(SIGPIPE, SIG_IGN);
}

/*
 * libcrypto guards what it computes lazily (the extensions of a shared certificate) by atomic
 * operations that ThreadSanitizer does not see, since the library is not built with it. Only
 * accesses that libcrypto itself makes are left out.
 */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:libcrypto.so\n";
}

/*
 * Every assertion of cmocka that does not hold ends here. On the first thread it leaves the test by
 * a jump. Another thread has nowhere to jump to: cmocka would end the program without a word, so it
 * is made to print what it has to say, and to abort.
 */
void _fail(const char *const file, const int line)
{
    void (*cmocka_fail)(const char *, int);
    *(void **)&cmocka_fail = dlsym(RTLD_NEXT, "_fail");
    if (gettid() != getpid()) {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof(name));
        fprintf(stderr, "an assertion on the thread \"%s\" failed:\n", name);
        setenv("CMOCKA_TEST_ABORT", "1", 1);
    }
    cmocka_fail(file, line);
    abort();
}

void kc__assert_str(kc_str actual, const char *expected, const char *file, int line)
{
    if (kc_str_is(actual, expected))
        return;
    print_error("expected: %s\n  actual: %.*s\n", expected, KC_ARG(actual));
    _fail(file, line);
}

void kc__assert_contains(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part))
        return;
    print_error("expected to find: %s\n              in: %s\n", part, text);
    _fail(file, line);
}

static kc_str double_quotes(const char *json, kc_buf *buf)
{
    for (const char *p = json; *p; p++)
        kc_buf_putc(buf, *p == '\'' ? '"' : *p);
    return kc_buf_str(buf);
}

void kc__assert_value_json(const kc_value *value, const char *expected, const char *file, int line)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) wanted = {0};
    double_quotes(expected, &wanted);
    kc_json_write(&text, value);
    kc__assert_str(kc_buf_str(&text), kc_buf_cstr(&wanted), file, line);
}

void kc__assert_node_json(const kc_node *node, const char *expected, const char *file, int line)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) wanted = {0};
    double_quotes(expected, &wanted);
    kc_node_write(&text, node);
    kc__assert_str(kc_buf_str(&text), kc_buf_cstr(&wanted), file, line);
}

kc_object *object_of(const char *json)
{
    kc_scoped(kc_buf) buf = {0};
    kc_scoped(kc_error) err = {0};
    kc_object *object = kc_object_parse(double_quotes(json, &buf), NULL, &err);
    if (!object)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return object;
}

kc_view *view_of(const char *json)
{
    kc_scoped(kc_buf) buf = {0};
    kc_scoped(kc_error) err = {0};
    kc_view *view = kc_view_parse(double_quotes(json, &buf), NULL, &err);
    if (!view)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return view;
}

kc_edit *edit_of(const char *json)
{
    kc_auto(kc_view) *view = view_of(json);
    return kc_edit_of_value(kc_view_root(view));
}
