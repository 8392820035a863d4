/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are read again when they change. */
#include "base/file_watch.h"

#include "kc/file.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

typedef struct stage {
    char dir[32], path[64], other[64];
    kc_metrics *metrics;
    kc__file_watch *watch;
    kc_buf text; /* What the last reload read. */
    bool refuse; /* Reloads fail. */
    int reloads; /* Number of them. */
} stage;

static int reload_text(void *user, kc_error *err)
{
    stage *s = user;
    kc_scoped(kc_buf) text = {0};
    s->reloads++;
    if (kc_file_read(s->path, 1 << 20, &text, err) < 0)
        return kc_error_result(err);
    if (s->refuse)
        return kc_error_set(err, KC_INVALID, "broken");
    kc_buf_clear(&s->text);
    kc_buf_append(&s->text, kc_buf_str(&text));
    return 0;
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(kc_file_put(path, kc_cstr(text), NULL), 0);
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    snprintf(s->dir, sizeof(s->dir), "/tmp/kc-watch-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/a", s->dir);
    snprintf(s->other, sizeof(s->other), "%s/b", s->dir);
    write_text(s->path, "first");
    write_text(s->other, "key");
    s->metrics = kc_metrics_new();
    s->watch = kc__file_watch_new(&(kc__file_watch_opts){.metrics = s->metrics});
    kc__file_watch_add(s->watch,
                       &(kc__file_watch_entry){"flag", {s->path, s->other}, reload_text, s});
    return s;
}

static void stage_free(stage *s)
{
    kc__file_watch_free(s->watch);
    kc_metrics_free(s->metrics);
    kc_buf_done(&s->text);
    unlink(s->path);
    unlink(s->other);
    rmdir(s->dir);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static void poll_times(stage *s, int n)
{
    for (int i = 0; i < n; i++)
        kc__file_watch_poll(s->watch);
}

static bool metrics_have(const stage *s, const char *line)
{
    kc_scoped(kc_buf) text = {0};
    kc_metrics_write(s->metrics, &text);
    return strstr(kc_buf_cstr(&text), line) != NULL;
}

static void unchanged_file_is_not_reloaded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    poll_times(s, 5);
    assert_int_equal(s->reloads, 0);
}

static void changed_file_is_reloaded_once(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    write_text(s->path, "second");
    poll_times(s, 5);
    assert_int_equal(s->reloads, 1);
    assert_string_equal(kc_buf_cstr(&s->text), "second");
    assert_true(metrics_have(s, "kc_file_reloads_total{flag=\"flag\",result=\"success\"} 1"));
}

static void file_that_still_changes_is_reloaded_after_it_settles(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    write_text(s->path, "half");
    poll_times(s, 1);
    write_text(s->path, "whole");
    poll_times(s, 1);
    assert_int_equal(s->reloads, 0);
    poll_times(s, 1);
    assert_string_equal(kc_buf_cstr(&s->text), "whole");
}

static void change_of_the_second_file_reloads_both(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    write_text(s->other, "other key");
    poll_times(s, 3);
    assert_int_equal(s->reloads, 1);
}

static void link_to_another_file_is_a_change(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    unlink(s->path);
    assert_int_equal(symlink(s->other, s->path), 0);
    poll_times(s, 3);
    assert_string_equal(kc_buf_cstr(&s->text), "key");
}

static void failed_reload_is_counted_and_repeated_after_the_next_change(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    s->refuse = true;
    write_text(s->path, "broken");
    poll_times(s, 4);
    assert_int_equal(s->reloads, 1);
    assert_int_equal(s->text.n, 0);
    assert_true(metrics_have(s, "kc_file_reloads_total{flag=\"flag\",result=\"failure\"} 1"));
    s->refuse = false;
    write_text(s->path, "mended");
    poll_times(s, 3);
    assert_string_equal(kc_buf_cstr(&s->text), "mended");
}

static void missing_file_fails_and_its_return_is_reloaded(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    unlink(s->path);
    poll_times(s, 3);
    assert_int_equal(s->reloads, 1);
    write_text(s->path, "back");
    poll_times(s, 3);
    assert_string_equal(kc_buf_cstr(&s->text), "back");
}

TESTS(unchanged_file_is_not_reloaded, changed_file_is_reloaded_once,
      file_that_still_changes_is_reloaded_after_it_settles, change_of_the_second_file_reloads_both,
      link_to_another_file_is_a_change, failed_reload_is_counted_and_repeated_after_the_next_change,
      missing_file_fails_and_its_return_is_reloaded)
