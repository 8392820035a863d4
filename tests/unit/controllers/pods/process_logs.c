/* SPDX-License-Identifier: Apache-2.0 */
/* Logs: how they are written, rotated and read. */
#include "process_testing.h"

#include "kc/rand.h"

/* A log without a container: the writer, its folder, and time that is set. */
typedef struct fixture {
    kc__process_runtime rt;
    kc_clock *clock;
    char *folder;
    int fd;
    kc__process_log_file log;
    kc__process_source out, err;
} fixture;

static void set_phase(fixture *f, kc__pod_container_phase phase)
{
    const kc__process_proc_state state = {.report.phase = phase};
    assert_int_equal(kc__process_proc_state_write(f->fd, 0, &state, NULL), 0);
}

static void begin(fixture *f)
{
    static const char *const parts[] = {"pods", "pods/u1", "pods/u1/c"};
    char path[512];
    memset(f, 0, sizeof(*f));
    f->folder = new_folder();
    for (size_t i = 0; i < KC_COUNT(parts); i++) {
        snprintf(path, sizeof(path), "%s/%s", f->folder, parts[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    f->fd = open(path, O_RDONLY | O_DIRECTORY);
    f->clock = kc_clock_virtual_new(1767322800 * KC_SECOND + 7); /* 2026-01-02T03:00:00 */
    f->rt.clock = f->clock;
    f->out.stream = "stdout";
    f->err.stream = "stderr";
    kc__process_log_file_open(&f->log, f->fd, 0);
    set_phase(f, KC__POD_CONTAINER_RUNNING);
}

static void fixture_done(fixture *f)
{
    kc__process_log_file_close(&f->log);
    kc_buf_done(&f->out.line);
    kc_buf_done(&f->err.line);
    close(f->fd);
    kc__process_dir_remove(AT_FDCWD, f->folder, NULL);
    free(f->folder);
    kc_clock_free(f->clock);
}

static void write_text(fixture *f, const char *text)
{
    kc__process_log_file_take(&f->rt, &f->log, &f->out, kc_cstr(text), false);
}

static kc__process_logs *open_logs(fixture *f, const kc__process_logs_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc__process_logs *logs = kc__process_logs_open(f->folder, KC_STR("u1"), KC_STR("c"),
                                                   KC__POD_LATEST_ATTEMPT, opts, &err);
    if (!logs)
        fail_msg("%s", kc_error_text(&err));
    return logs;
}

static char *read_all(fixture *f, const kc__process_logs_opts *opts)
{
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc__process_logs) *logs = open_logs(f, opts);
    while (kc__process_logs_read(logs, &out) == KC__PROCESS_LOGS_MORE)
        ;
    return kc_buf_take(&out);
}

static void assert_logs(fixture *f, const kc__process_logs_opts *opts, const char *expected)
{
    kc_autofree char *text = read_all(f, opts);
    assert_string_equal(text, expected);
}

static void lines_have_time_stream_and_tag(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    write_text(&f, "one\ntwo");
    kc__process_log_file_take(&f.rt, &f.log, &f.err, KC_STR("bad\n"), false);
    kc__process_log_file_take(&f.rt, &f.log, &f.out, KC_STR(" halves\n\n"), false);
    kc_scoped(kc_buf) text = {0};
    kc__process_file_bytes(f.fd, "0.log", 4096, false, &text);
    assert_string_equal(kc_buf_cstr(&text), "2026-01-02T03:00:00.000000007Z stdout F one\n"
                                            "2026-01-02T03:00:00.000000007Z stderr F bad\n"
                                            "2026-01-02T03:00:00.000000007Z stdout F two halves\n"
                                            "2026-01-02T03:00:00.000000007Z stdout F \n");
    assert_logs(&f, NULL, "one\nbad\ntwo halves\n\n");
}

static void long_line_is_written_in_parts_and_read_as_one(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    kc_scoped(kc_buf) line = {0}, raw = {0};
    begin(&f);
    for (int i = 0; i < 40000; i++)
        kc_buf_putc(&line, (char)('a' + i % 26));
    kc_buf_putc(&line, '\n');
    write_text(&f, "before\n");
    for (size_t at = 0; at < line.n; at += 1000) {
        const kc_str part = kc_str_sub(kc_buf_str(&line), at, at + 1000);
        kc__process_log_file_take(&f.rt, &f.log, &f.out, part, false);
    }
    kc__process_file_bytes(f.fd, "0.log", 100000, false, &raw);
    assert_contains(kc_buf_cstr(&raw), "stdout P abc");
    kc_autofree char *text = read_all(&f, NULL);
    assert_int_equal(strlen(text), 7 + line.n);
    assert_string_equal(text + 7, kc_buf_cstr(&line));
    const int64_t one = 1;
    assert_logs(&f, &(kc__process_logs_opts){.tail_lines = &one}, kc_buf_cstr(&line));
}

/* Lines of all lengths, written in pieces of all lengths, through some rotations. */
static void random_writes_are_read_back(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(fixture) f;
    kc_scoped(kc_buf) text = {0}, read = {0};
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    begin(&f);
    kc_auto(kc__process_logs) *logs = open_logs(&f, &(kc__process_logs_opts){.follow = true});
    for (int i = 0; i < 2500; i++) {
        const uint64_t most = kc_rand_below(&rand, 10) ? 200 : 70000;
        for (uint64_t n = kc_rand_below(&rand, most); n > 0; n--)
            kc_buf_putc(&text, (char)(' ' + kc_rand_below(&rand, 95)));
        kc_buf_putc(&text, '\n');
    }
    for (size_t at = 0; at < text.n;) {
        const size_t n = kc_rand_below(&rand, 100000) + 1;
        kc__process_log_file_take(&f.rt, &f.log, &f.out, kc_str_sub(kc_buf_str(&text), at, at + n),
                                  false);
        at += n;
        if (kc_rand_below(&rand, 2))
            kc__process_logs_read(logs, &read);
    }
    set_phase(&f, KC__POD_CONTAINER_ENDED);
    while (kc__process_logs_read(logs, &read) != KC__PROCESS_LOGS_END)
        ;
    assert_int_equal(read.n, text.n);
    assert_memory_equal(read.p, text.p, text.n);
}

static void end_of_stream_ends_its_line(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    write_text(&f, "no end");
    assert_logs(&f, NULL, "");
    kc__process_log_file_take(&f.rt, &f.log, &f.out, (kc_str){0}, true);
    kc__process_log_file_take(&f.rt, &f.log, &f.out, (kc_str){0}, true);
    assert_logs(&f, NULL, "no end\n");
}

/* About 1 MiB: eleven make a rotation. */
static void write_much(fixture *f, int number)
{
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 1024; i++)
        kc_buf_printf(&text, "%d %d %01000d\n", number, i, 0);
    kc__process_log_file_take(&f->rt, &f->log, &f->out, kc_buf_str(&text), false);
}

static void old_log_files_are_removed(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(fixture) f;
    begin(&f);
    for (int i = 0; i < 64; i++)
        write_much(&f, i);
    struct stat st;
    assert_int_equal(fstatat(f.fd, "0.log", &st, 0), 0);
    assert_true(st.st_size < KC__PROCESS_LOG_MAX_BYTES);
    assert_int_equal(fstatat(f.fd, "0.log.4", &st, 0), 0);
    assert_true(st.st_size >= KC__PROCESS_LOG_MAX_BYTES &&
                st.st_size < KC__PROCESS_LOG_MAX_BYTES + (2 << 20));
    assert_int_equal(fstatat(f.fd, "0.log.5", &st, 0), -1);
    kc_autofree char *text = read_all(&f, NULL);
    assert_null(strstr(text, "\n0 1 "));
    assert_contains(text, "63 1023 ");
    const int64_t many = 15000;
    kc_autofree char *tail = read_all(&f, &(kc__process_logs_opts){.tail_lines = &many});
    size_t lines = 0;
    for (const char *c = tail; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 15000);
}

static void follow_continues_through_rotations(void **state)
{
    (void)state;
    one_thread();
    kc_scoped(fixture) f;
    kc_scoped(kc_buf) out = {0};
    begin(&f);
    kc_auto(kc__process_logs) *logs = open_logs(&f, &(kc__process_logs_opts){.follow = true});
    assert_int_equal(kc__process_logs_read(logs, &out), KC__PROCESS_LOGS_WAIT);
    int64_t lines = 0;
    for (int i = 0; i < 30; i++) {
        write_much(&f, i);
        if (i % 7 != 6)
            continue;
        while (kc__process_logs_read(logs, &out) == KC__PROCESS_LOGS_MORE)
            ;
    }
    write_text(&f, "last\n");
    set_phase(&f, KC__POD_CONTAINER_ENDED);
    while (kc__process_logs_read(logs, &out) != KC__PROCESS_LOGS_END)
        ;
    for (size_t i = 0; i < out.n; i++)
        lines += out.p[i] == '\n';
    assert_int_equal(lines, 30 * 1024 + 1);
    assert_true(kc_str_ends(kc_buf_str(&out), KC_STR("\nlast\n")));
}

static void tail_returns_whole_lines(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    int64_t n;
    begin(&f);
    write_text(&f, "1\n2\n3\n");
    n = 2;
    assert_logs(&f, &(kc__process_logs_opts){.tail_lines = &n}, "2\n3\n");
    n = 0;
    assert_logs(&f, &(kc__process_logs_opts){.tail_lines = &n}, "");
    n = 3;
    assert_logs(&f, &(kc__process_logs_opts){.tail_lines = &n}, "1\n2\n3\n");
    n = 100;
    assert_logs(&f, &(kc__process_logs_opts){.tail_lines = &n}, "1\n2\n3\n");
}

static void older_lines_are_skipped_with_since(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    write_text(&f, "old\n");
    kc_clock_advance(f.clock, KC_SECOND);
    const kc_time now = kc_clock_wall(f.clock);
    write_text(&f, "new\n");
    assert_logs(&f, &(kc__process_logs_opts){.since = now}, "new\n");
    assert_logs(&f, &(kc__process_logs_opts){.since = now, .timestamps = true},
                "2026-01-02T03:00:01.000000007Z new\n");
}

static void limit_bytes_truncates_the_output(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f);
    write_text(&f, "12345\n67890\n");
    assert_logs(&f, &(kc__process_logs_opts){.limit_bytes = 8}, "12345\n67");
    assert_logs(&f, &(kc__process_logs_opts){.limit_bytes = 6}, "12345\n");
}

static void missing_log_is_not_found(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    kc_scoped(kc_error) err = {0};
    begin(&f);
    assert_null(kc__process_logs_open(f.folder, KC_STR("u2"), KC_STR("c"), KC__POD_LATEST_ATTEMPT,
                                      NULL, &err));
    assert_error(&err, KC_NOT_FOUND, "no log found for container c");
    assert_null(kc__process_logs_open(f.folder, KC_STR("u1"), KC_STR("c"), 5, NULL, &err));
    assert_null(kc__process_logs_open(f.folder, KC_STR("u1"), KC_STR("c"), KC__POD_LATEST_ATTEMPT,
                                      &(kc__process_logs_opts){.previous = true}, &err));
    assert_error(&err, KC_NOT_FOUND, "no previous log found for container c");
    assert_null(kc__process_logs_open(f.folder, KC_STR("../u1"), KC_STR("c"), 0, NULL, &err));
    assert_null(kc__process_logs_open(f.folder, KC_STR("u1"), KC_STR(".."), 0, NULL, &err));
}

static void fast_writer_does_not_delay_others(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *fast = pod_named("u1", "'containers':[{'name':'c','command':['yes']}]");
    kc_auto(kc_pod) *slow =
        pod_named("u2", "'containers':[{'name':'c','command':['sh','-c','echo here; sleep 60']}]");
    start(n, fast, 0);
    await(has_logged(n, fast, "c", "y\n"));
    start(n, slow, 0);
    await(has_logged(n, slow, "c", "here\n"));
    stop(n, fast, "c", 0, true);
    await_end(n, fast, "c", 0);
}

static void previous_attempt_can_be_read(void **state)
{
    (void)state;
    kc_auto(node) *n = node_start(&(node_opts){0});
    kc_auto(kc_pod) *pod = pod_running("echo attempt $N");
    for (int i = 0; i < 2; i++) {
        kc_scoped(kc_error) err = {0};
        const kc_string_pair env = pair("N", i ? "one" : "zero");
        assert_int_equal(start_with(n, pod, 0, i, &env, 1, &err), 0);
        await_end(n, pod, "c", i);
    }
    kc_autofree char *now = logs_of(n, pod, "c", KC__POD_LATEST_ATTEMPT, NULL);
    kc_autofree char *before =
        logs_of(n, pod, "c", KC__POD_LATEST_ATTEMPT, &(kc__process_logs_opts){.previous = true});
    assert_string_equal(now, "attempt one\n");
    assert_string_equal(before, "attempt zero\n");
}

TESTS(lines_have_time_stream_and_tag, long_line_is_written_in_parts_and_read_as_one,
      random_writes_are_read_back, end_of_stream_ends_its_line, old_log_files_are_removed,
      follow_continues_through_rotations, tail_returns_whole_lines,
      older_lines_are_skipped_with_since, limit_bytes_truncates_the_output,
      missing_log_is_not_found, fast_writer_does_not_delay_others, previous_attempt_can_be_read)
