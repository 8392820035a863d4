/* SPDX-License-Identifier: Apache-2.0 */
/*
 * password_prompt.c: reads passwords. They are never arguments of a command: other users see those
 * in the list of processes, and shells keep them in a file.
 *
 * The prompt goes to /dev/tty, so that standard output can be redirected. While it waits, the echo
 * is off, and so are the signals of the keyboard: Ctrl-C ends the line instead, so that the
 * settings are restored before the signal ends the process. A signal of another process leaves them
 * as they are.
 */
#include "password_prompt.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <signal.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

enum { MAX_PASSWORD = 1024, RANDOM_LENGTH = 24 };

/* ---- reading ---- */

/* Reads up to the end of a line, byte by byte: the next line belongs to the next password. Returns
 * the number of bytes without the end, or -1. *ret_end is the end: '\n', `interrupt` or, at the end
 * of the input, 0. */
static ssize_t read_line_bytes(int fd, int interrupt, char line[MAX_PASSWORD], int *ret_end)
{
    size_t n = 0;
    for (;;) {
        unsigned char c = 0;
        const ssize_t got = read(fd, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0 || c == '\n' || (interrupt && c == interrupt)) {
            *ret_end = c;
            return (ssize_t)n;
        }
        if (n == MAX_PASSWORD)
            return -1;
        line[n++] = (char)c;
    }
}

/* `interrupt` is the key that interrupts; 0: there is none. */
static int read_password_line(int fd, int interrupt, bool *ret_interrupted, kc_buf *out,
                              kc_error *err)
{
    char line[MAX_PASSWORD];
    int end = 0;
    const ssize_t length = read_line_bytes(fd, interrupt, line, &end);
    const bool complete = length >= 0;
    size_t n = complete ? (size_t)length : 0;
    *ret_interrupted = interrupt && end == interrupt;
    if (n && line[n - 1] == '\r')
        n--;
    if (complete && !*ret_interrupted)
        kc_buf_append(out, kc_str_of(line, n));
    explicit_bzero(line, sizeof(line));
    if (!complete)
        return kc_error_set(err, KC_INVALID, "cannot read a password of at most %d bytes",
                            MAX_PASSWORD);
    if (*ret_interrupted)
        return kc_error_set(err, KC_INVALID, "interrupted");
    return out->n ? 0 : kc_error_set(err, KC_INVALID, "the password is empty");
}

/* ---- terminal ---- */

/* Without echo and signals; the key that interrupts ends a line. */
static struct termios silent_settings(const struct termios *before)
{
    struct termios silent = *before;
    silent.c_lflag &= (tcflag_t) ~(ECHO | ECHOE | ECHOK | ISIG);
    silent.c_lflag |= ICANON | ECHONL;
    silent.c_cc[VEOL] = before->c_cc[VINTR];
    return silent;
}

static int prompt_terminal(int tty, const char *prompt, kc_buf *out, kc_error *err)
{
    struct termios before;
    bool interrupted = false;
    if (tcgetattr(tty, &before) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot read the settings of the terminal");
    const struct termios silent = silent_settings(&before);
    const int interrupt = before.c_cc[VINTR] == _POSIX_VDISABLE ? 0 : before.c_cc[VINTR];
    /* The echo is off before the prompt appears: what is typed at once is not shown. */
    if (tcsetattr(tty, TCSAFLUSH, &silent) < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot turn off the echo of the terminal");
    dprintf(tty, "%s: ", prompt);
    const int status = read_password_line(tty, interrupt, &interrupted, out, err);
    tcsetattr(tty, TCSAFLUSH, &before);
    if (interrupted) {
        dprintf(tty, "\n");
        raise(SIGINT);
    }
    return status;
}

static int prompt_twice(int tty, const char *prompt, kc_buf *out, kc_error *err)
{
    kc_buf again = {0};
    kc_autofree char *repeat = kc_asprintf("%s (again)", prompt);
    int status = prompt_terminal(tty, prompt, out, err);
    if (status == 0)
        status = prompt_terminal(tty, repeat, &again, err);
    if (status == 0 && !kc_str_eq(kc_buf_str(out), kc_buf_str(&again)))
        status = kc_error_set(err, KC_INVALID, "the passwords differ");
    kc_buf_wipe(&again);
    return status;
}

int kc__cli_password_read(const char *prompt, bool twice, kc_buf *out, kc_error *err)
{
    bool interrupted;
    if (!isatty(STDIN_FILENO))
        return read_password_line(STDIN_FILENO, 0, &interrupted, out, err);
    const int tty = open("/dev/tty", O_RDWR | O_CLOEXEC);
    if (tty < 0)
        return kc_error_set(err, KC_INTERNAL, "cannot open the terminal");
    const int status =
        twice ? prompt_twice(tty, prompt, out, err) : prompt_terminal(tty, prompt, out, err);
    close(tty);
    return status;
}

/* ---- random passwords ---- */

int kc__cli_password_random(kc_buf *out, kc_error *err)
{
    /* 32 characters, without 0, O, 1 and l: a byte selects one without a bias. */
    static const char letters[] = "23456789abcdefghijkmnpqrstuvwxyz";
    unsigned char random[RANDOM_LENGTH];
    _Static_assert(sizeof(letters) == 33, "32 letters");
    if (RAND_bytes(random, sizeof(random)) != 1)
        return kc_error_set(err, KC_INTERNAL, "no random numbers");
    for (size_t i = 0; i < sizeof(random); i++)
        kc_buf_putc(out, letters[random[i] % 32]);
    explicit_bzero(random, sizeof(random));
    return 0;
}
