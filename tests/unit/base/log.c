/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/log.h"
#include "kc/rand.h"
#include "kc/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

static const int64_t some_time = INT64_C(1763368200) * KC_SECOND + 123456789;

#define TIME "2025-11-17T08:30:00.123Z"

/* A logger that writes into a buffer, with a fixed time. */
typedef struct fixture {
    kc_clock *clock;
    kc_buf out;
    kc_log *log;
} fixture;

static void keep(kc_str line, void *user)
{
    kc_buf_append(user, line);
}

static void begin(fixture *f, kc_log_opts opts)
{
    *f = (fixture){.clock = kc_clock_virtual_new(some_time)};
    opts.clock = f->clock;
    opts.write = keep;
    opts.user = &f->out;
    f->log = kc_log_new(&opts);
}

static void fixture_done(fixture *f)
{
    kc_log_free(f->log);
    kc_clock_free(f->clock);
    kc_buf_done(&f->out);
}

#define assert_logged(f, text)                             \
    do {                                                   \
        assert_string_equal(kc_buf_cstr(&(f)->out), text); \
        kc_buf_clear(&(f)->out);                           \
    } while (0)

/* ---- format of a line ---- */

static void console_line_is_aligned(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    kc_auto(kc_log) *log = kc_log_child(f.log, "scheduler");
    kc_log_info(log, "pod bound", kc_kv("pod", "web-1"), kc_kv_duration("took", 1500000));
    assert_logged(&f,
                  TIME " INFO  scheduler    pod bound                      pod=web-1 took=1.5ms\n");
    kc_log_error(f.log, "cannot list");
    assert_logged(&f, TIME " ERROR              cannot list\n");
    kc_log_warn(f.log, "a message that is longer than its column", kc_kv("n", 1));
    assert_logged(&f, TIME " WARN               a message that is longer than its column n=1\n");
    kc_log_info(f.log, "größer", kc_kv("n", 1));
    assert_logged(&f, TIME " INFO               größer                         n=1\n");
}

static void json_line_is_one_object(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    kc_auto(kc_log) *log = kc_log_child(f.log, "scheduler");
    kc_log_info(log, "pod bound", kc_kv("pod", "web-1"), kc_kv_duration("took", 1500000));
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"logger\":\"scheduler\","
                      "\"msg\":\"pod bound\",\"pod\":\"web-1\",\"took\":\"1.5ms\"}\n");
    kc_log_error(f.log, "cannot list");
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"error\",\"msg\":\"cannot list\"}\n");
}

static void caller_option_adds_file_and_line(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON, .caller = true});
    int line = __LINE__ + 1;
    kc_log_info(f.log, "here", kc_kv("n", 1));
    kc_autofree char *expected =
        kc_asprintf("\"msg\":\"here\",\"caller\":\"%s:%d\",\"n\":1}", __FILE__, line);
    assert_contains(kc_buf_cstr(&f.out), expected);
}

/* Fields of every type. */
static void log_every_type(kc_log *log)
{
    bool yes = true;
    unsigned char small = 200;
    char array[] = "array";
    kc_scoped(kc_error) err = {0}, none = {0};
    kc_error_set(&err, KC_NOT_FOUND, "pods \"web\" not found");
    kc_log_info(log, "m", kc_kv("text", array), kc_kv("null", (const char *)NULL),
                kc_kv("slice", kc_str_of("abcdef", 3)), kc_kv("int", -5), kc_kv("small", small),
                kc_kv("most", UINT64_MAX), kc_kv("least", INT64_MIN), kc_kv("bool", yes),
                kc_kv("double", 0.25), kc_kv("nan", (double)NAN), kc_kv("err", &err),
                kc_kv("none", &none));
}

static void json_formats_every_field_type(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    log_every_type(f.log);
    assert_contains(kc_buf_cstr(&f.out),
                    "\"text\":\"array\",\"null\":null,\"slice\":\"abc\",\"int\":-5,\"small\":200,"
                    "\"most\":18446744073709551615,\"least\":-9223372036854775808,\"bool\":true,"
                    "\"double\":0.25,\"nan\":\"NaN\",\"err\":\"pods \\\"web\\\" not found\","
                    "\"none\":null}\n");
}

static void console_formats_every_field_type(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    log_every_type(f.log);
    assert_contains(kc_buf_cstr(&f.out),
                    " text=array null=null slice=abc int=-5 small=200 most=18446744073709551615 "
                    "least=-9223372036854775808 bool=true double=0.25 nan=NaN "
                    "err=\"pods \\\"web\\\" not found\" none=null\n");
}

static void durations_are_formatted_as_in_go(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {{0, " d=0s\n"},
                {1, " d=1ns\n"},
                {1100, " d=1.1µs\n"},
                {2200000, " d=2.2ms\n"},
                {3300 * KC_MILLISECOND, " d=3.3s\n"},
                {4 * KC_MINUTE + 5001 * KC_MILLISECOND, " d=4m5.001s\n"},
                {5 * KC_HOUR + 6 * KC_SECOND + 7, " d=5h0m6.000000007s\n"},
                {KC_MINUTE, " d=1m0s\n"},
                {-1500 * KC_MILLISECOND, " d=-1.5s\n"},
                {INT64_MIN, " d=-2562047h47m16.854775808s\n"}};
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(fixture) f;
        begin(&f, (kc_log_opts){0});
        kc_log_info(f.log, "m", kc_kv_duration("d", rows[i].ns));
        assert_contains(kc_buf_cstr(&f.out), rows[i].text);
    }
}

static void times_before_epoch_are_formatted(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(-1);
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.clock = clock, .write = keep, .user = &out});
    kc_log_info(log, "m");
    assert_contains(kc_buf_cstr(&out), "1969-12-31T23:59:59.999Z");
}

/* ---- levels ---- */

static int evaluated_times(int *n)
{
    return ++*n;
}

static void fields_of_suppressed_message_are_not_evaluated(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    int n = 0;
    begin(&f, (kc_log_opts){.level = KC_LOG_WARN});
    kc_log_info(f.log, "no", kc_kv("n", evaluated_times(&n)));
    kc_log_debug(f.log, "no", kc_kv("n", evaluated_times(&n)));
    kc_log_verbose(f.log, 1, "no", kc_kv("n", evaluated_times(&n)));
    assert_int_equal(n, 0);
    assert_logged(&f, "");
    kc_log_warn(f.log, "yes", kc_kv("n", evaluated_times(&n)));
    assert_int_equal(n, 1);
    assert_true(kc_log_on(f.log, KC_LOG_ERROR));
    assert_false(kc_log_on(f.log, KC_LOG_INFO));
}

static void verbosity_selects_detailed_messages(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.verbosity = 4, .format = KC_LOG_JSON});
    assert_true(kc_log_v(f.log, 4));
    assert_false(kc_log_v(f.log, 5));
    kc_log_verbose(f.log, 5, "too much");
    kc_log_debug(f.log, "too much");
    assert_logged(&f, "");
    kc_log_verbose(f.log, 4, "just right");
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"msg\":\"just right\",\"v\":4}\n");
}

static void set_level_applies_to_children(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    kc_auto(kc_log) *child = kc_log_child(f.log, "child");
    assert_false(kc_log_on(child, KC_LOG_DEBUG));
    kc_log_set_level(f.log, KC_LOG_DEBUG, 99);
    assert_true(kc_log_on(child, KC_LOG_DEBUG));
    assert_true(kc_log_v(child, KC_LOG_MAX_V));
    assert_false(kc_log_v(child, KC_LOG_MAX_V + 1));
}

static void null_logger_writes_nothing(void **state)
{
    (void)state;
    kc_log *none = NULL;
    int n = 0;
    kc_log_error(none, "m", kc_kv("n", evaluated_times(&n)));
    assert_int_equal(n, 0);
    assert_false(kc_log_v(none, 0));
    assert_null(kc_log_child(none, "child"));
    assert_null(kc_log_free(none));
    kc_log_set_level(none, KC_LOG_DEBUG, 1);
}

/* ---- children ---- */

static void children_carry_names_and_fields(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    char kind[] = "Pod";
    kc_auto(kc_log) *manager = kc_log_child(f.log, "manager", kc_kv("kind", kind));
    kind[0] = 'X';
    kc_auto(kc_log) *queue = kc_log_child(manager, "queue", kc_kv("n", 3));
    kc_auto(kc_log) *same = kc_log_child(queue, NULL, kc_kv("more", 4));
    kc_log_info(same, "m", kc_kv("own", 5));
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"logger\":\"manager.queue\","
                      "\"msg\":\"m\",\"kind\":\"Pod\",\"n\":3,\"more\":4,\"own\":5}\n");
    kc_log_info(manager, "m");
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"logger\":\"manager\","
                      "\"msg\":\"m\",\"kind\":\"Pod\"}\n");
}

static void set_fields_replaces_fields_of_child(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    kc_auto(kc_log) *parent = kc_log_child(f.log, NULL, kc_kv("controller", "robot"));
    kc_auto(kc_log) *child = kc_log_child(parent, NULL, kc_kv("name", "a"));
    kc_log_set_fields(child, parent, kc_kv("name", "b"), kc_kv("n", 2));
    kc_log_info(child, "m");
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"msg\":\"m\","
                      "\"controller\":\"robot\",\"name\":\"b\",\"n\":2}\n");
    kc_log_set_fields((kc_log *)NULL, NULL, kc_kv("name", "b"));
}

static void child_outlives_its_parent(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    kc_auto(kc_log) *child = kc_log_child(f.log, "child", kc_kv("n", 1));
    f.log = kc_log_free(f.log);
    kc_log_info(child, "m");
    assert_logged(&f, TIME " INFO  child        m                              n=1\n");
}

/* ---- hostile values ---- */

static void newline_in_value_is_escaped(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    kc_log_info(f.log, "a\nb", kc_kv("k\n", "x\ny\r\t\x1b[31m\x7f"));
    assert_logged(&f, TIME " INFO               a\\nb                           "
                           "\"k\\n\"=\"x\\ny\\r\\t\\x1b[31m\\x7f\"\n");
}

static void values_with_special_characters_are_quoted(void **state)
{
    (void)state;
    static const struct {
        kc_str value;
        const char *text;
    } rows[] = {{KC_STR_INIT("a/b:c,{}"), " v=a/b:c,{}\n"},
                {KC_STR_INIT("größe"), " v=größe\n"},
                {KC_STR_INIT("C:\\x"), " v=C:\\x\n"},
                {KC_STR_INIT(""), " v=\"\"\n"},
                {KC_STR_INIT("a b"), " v=\"a b\"\n"},
                {KC_STR_INIT("a=b"), " v=\"a=b\"\n"},
                {KC_STR_INIT("a\"b"), " v=\"a\\\"b\"\n"},
                {KC_STR_INIT("a\\ b"), " v=\"a\\\\ b\"\n"},
                {KC_STR_INIT("a\0b"), " v=\"a\\x00b\"\n"},
                {KC_STR_INIT("\xff\xc3"), " v=\"\\xff\\xc3\"\n"},
                {KC_STR_INIT("\xc0\x80"), " v=\"\\xc0\\x80\"\n"},
                {KC_STR_INIT("\xed\xa0\x80"), " v=\"\\xed\\xa0\\x80\"\n"},
                {KC_STR_INIT("\xc2\x9b"), " v=\"\\u009b\"\n"},
                {KC_STR_INIT("\xe2\x80\xae"), " v=\"\\u202e\"\n"},
                {KC_STR_INIT("\xf0\x9f\x98\x80"), " v=\xf0\x9f\x98\x80\n"}};
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        kc_scoped(fixture) f;
        begin(&f, (kc_log_opts){0});
        kc_log_info(f.log, "m", kc_kv("v", rows[i].value));
        assert_contains(kc_buf_cstr(&f.out), rows[i].text);
    }
}

static void json_escapes_forbidden_characters(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    kc_log_info(f.log, "m", kc_kv("x", KC_STR("\"\\\n\r\t\b\0\x1f\x7f/\xff\xe2\x80\xa8\xc3\xbc")));
    assert_contains(kc_buf_cstr(&f.out), "\"x\":\"\\\"\\\\\\n\\r\\t\\u0008\\u0000\\u001f\\u007f/"
                                         "\\ufffd\\u2028\xc3\xbc\"}\n");
}

static void reserved_field_names_are_prefixed(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    kc_log_info(f.log, "m", kc_kv("level", "error"), kc_kv("msg", "other"));
    assert_logged(&f, "{\"ts\":\"" TIME "\",\"level\":\"info\",\"msg\":\"m\","
                      "\"fields.level\":\"error\",\"fields.msg\":\"other\"}\n");
}

static void long_values_are_truncated_between_characters(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){0});
    kc_scoped(kc_buf) value = {0};
    kc_buf_putc(&value, 'x');
    while (value.n < 2 * KC_LOG_MAX_VALUE)
        kc_buf_puts(&value, "ü");
    kc_log_info(f.log, "m", kc_kv("v", kc_buf_str(&value)));
    assert_contains(kc_buf_cstr(&f.out), "üü… (8194 more bytes)\"\n");
    assert_true(f.out.n < KC_LOG_MAX_VALUE + 200);
}

/* For any bytes: one line, and in JSON an object whose member has the input value. */
static void arbitrary_bytes_keep_line_structure(void **state)
{
    (void)state;
    kc_rand rand;
    kc_rand_seed(&rand, 7);
    for (int i = 0; i < 3000; i++) {
        kc_scoped(fixture) f;
        begin(&f, (kc_log_opts){.format = i % 2 ? KC_LOG_JSON : KC_LOG_CONSOLE});
        char bytes[41] = {0}, key[5] = {0};
        kc_rand_bytes(&rand, bytes, kc_rand_below(&rand, sizeof(bytes)));
        kc_rand_bytes(&rand, key, sizeof(key) - 1);
        key[0] = 'k';
        kc_log_info(f.log, bytes, kc_kv(key, kc_str_of(bytes, sizeof(bytes))));
        assert_int_equal(kc_str_find(kc_buf_str(&f.out), '\n'), (ptrdiff_t)f.out.n - 1);
        if (i % 2) {
            kc_scoped(kc_error) err = {0};
            kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&f.out), NULL, &err);
            if (!view)
                fail_msg("%s: %s", kc_error_text(&err), kc_buf_cstr(&f.out));
        }
    }
}

/* ---- colour ---- */

static void levels_and_keys_are_coloured(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.colour = KC_LOG_COLOUR_ALWAYS});
    kc_log_error(f.log, "m", kc_kv("k", "v"));
    assert_logged(&f, "\x1b[2m" TIME "\x1b[0m \x1b[31mERROR\x1b[0m              "
                      "m                              \x1b[2mk=\x1b[0mv\n");
}

static void json_has_no_colour(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.colour = KC_LOG_COLOUR_ALWAYS, .format = KC_LOG_JSON});
    kc_log_error(f.log, "m");
    assert_null(strchr(kc_buf_cstr(&f.out), '\x1b'));
}

/* True if a logger on a new terminal writes in colour. */
static bool colours_on_a_terminal(kc_log_colour colour)
{
    char text[200] = "";
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0)
        skip(); /* A chroot or container without /dev/pts. */
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    kc_log *log = kc_log_new(&(kc_log_opts){.fd = terminal, .colour = colour});
    kc_log_info(log, "m");
    assert_true(read(master, text, sizeof(text) - 1) > 0);
    kc_log_free(log);
    close(terminal);
    close(master);
    return strchr(text, '\x1b') != NULL;
}

static void terminal_output_is_coloured_unless_disabled(void **state)
{
    (void)state;
    unsetenv("NO_COLOR");
    setenv("TERM", "xterm", 1);
    assert_true(colours_on_a_terminal(KC_LOG_COLOUR_AUTO));
    assert_false(colours_on_a_terminal(KC_LOG_COLOUR_NEVER));
    setenv("NO_COLOR", "", 1);
    assert_true(colours_on_a_terminal(KC_LOG_COLOUR_AUTO));
    setenv("NO_COLOR", "1", 1);
    assert_false(colours_on_a_terminal(KC_LOG_COLOUR_AUTO));
    assert_true(colours_on_a_terminal(KC_LOG_COLOUR_ALWAYS));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    assert_false(colours_on_a_terminal(KC_LOG_COLOUR_AUTO));
}

/* ---- output ---- */

static void line_is_one_write(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), 0);
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.fd = ends[0]});
    kc_log_info(log, "first", kc_kv("k", "v"));
    kc_log_info(log, "second");
    char text[200];
    ssize_t n = recv(ends[1], text, sizeof(text), 0);
    assert_true(n > 0 && text[n - 1] == '\n');
    assert_non_null(memmem(text, (size_t)n, "first", 5));
    n = recv(ends[1], text, sizeof(text), 0);
    assert_true(n > 0 && text[n - 1] == '\n');
    assert_non_null(memmem(text, (size_t)n, "second", 6));
    close(ends[0]);
    close(ends[1]);
}

static void line_after_torn_line_starts_with_newline(void **state)
{
    (void)state;
    int ends[2];
    static char text[1 << 17];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
    kc_auto(kc_log) *log = kc_log_new(&(kc_log_opts){.fd = ends[1]});
    memset(text, 'x', 8000);
    errno = 0;
    for (int i = 0; i < 20; i++) /* More than a pipe of this size can buffer. */
        kc_log_info(log, "long", kc_kv("v", kc_str_of(text, 8000)));
    assert_int_equal(errno, 0);
    ssize_t n = read(ends[0], text, sizeof(text));
    assert_true(n > 0 && text[n - 1] == 'x');
    kc_log_info(log, "short");
    n = read(ends[0], text, sizeof(text) - 1);
    assert_true(n > 1 && text[0] == '\n' && text[n - 1] == '\n');
    kc_log_info(log, "short");
    n = read(ends[0], text, sizeof(text) - 1);
    assert_true(n > 1 && text[0] == '2');
    close(ends[0]);
    close(ends[1]);
}

enum { THREADS = 4, LINES = 500 };

static void log_many(void *user)
{
    kc_auto(kc_log) *log = kc_log_child(user, "worker", kc_kv("a", "b"));
    for (int i = 0; i < LINES; i++) {
        kc_log_info(log, "m", kc_kv("i", i));
        kc_log_set_level(log, KC_LOG_INFO, i % 5);
        kc_log_verbose(log, 9, "never");
    }
}

static void lines_of_threads_do_not_interleave(void **state)
{
    (void)state;
    kc_scoped(fixture) f;
    begin(&f, (kc_log_opts){.format = KC_LOG_JSON});
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = kc_thread_start("logger", log_many, f.log, NULL);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    int seen[LINES] = {0};
    kc_str rest = kc_buf_str(&f.out);
    while (rest.n) {
        kc_str line = kc_str_cut(&rest, '\n');
        kc_str head = KC_STR("{\"ts\":\"" TIME "\",\"level\":\"info\",\"logger\":\"worker\","
                             "\"msg\":\"m\",\"a\":\"b\",\"i\":");
        uint64_t i;
        assert_true(kc_str_starts(line, head));
        assert_true(kc_str_to_u64(kc_str_sub(line, head.n, line.n - 1), &i) && i < LINES);
        seen[i]++;
    }
    for (int i = 0; i < LINES; i++)
        assert_int_equal(seen[i], THREADS);
}

static void levels_and_formats_are_parsed(void **state)
{
    (void)state;
    kc_log_level level = KC_LOG_INFO;
    kc_log_format format = KC_LOG_CONSOLE;
    assert_true(kc_log_level_from(KC_STR("error"), &level) && level == KC_LOG_ERROR);
    assert_true(kc_log_level_from(KC_STR("debug"), &level) && level == KC_LOG_DEBUG);
    assert_false(kc_log_level_from(KC_STR("loud"), &level));
    assert_true(kc_log_format_from(KC_STR("json"), &format) && format == KC_LOG_JSON);
    assert_false(kc_log_format_from(KC_STR("xml"), &format));
    assert_true(kc_log_format_from(KC_STR("text"), &format) && format == KC_LOG_CONSOLE);
    assert_int_equal(level, KC_LOG_DEBUG);
}

TESTS(console_line_is_aligned, json_line_is_one_object, caller_option_adds_file_and_line,
      json_formats_every_field_type, console_formats_every_field_type,
      durations_are_formatted_as_in_go, times_before_epoch_are_formatted,
      fields_of_suppressed_message_are_not_evaluated, verbosity_selects_detailed_messages,
      set_level_applies_to_children, null_logger_writes_nothing, children_carry_names_and_fields,
      set_fields_replaces_fields_of_child, child_outlives_its_parent, newline_in_value_is_escaped,
      values_with_special_characters_are_quoted, json_escapes_forbidden_characters,
      reserved_field_names_are_prefixed, long_values_are_truncated_between_characters,
      arbitrary_bytes_keep_line_structure, levels_and_keys_are_coloured, json_has_no_colour,
      terminal_output_is_coloured_unless_disabled, line_is_one_write,
      line_after_torn_line_starts_with_newline, lines_of_threads_do_not_interleave,
      levels_and_formats_are_parsed)
