/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.c: see token.h.
 *
 * An existing file is used as it is, so that clients keep their token across restarts; it is opened
 * without following links, and the open file is checked.
 */
#include "network/service/token.h"

#include "kc/base64.h"
#include "kc/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_BYTES = 32, MIN_TOKEN = 16, MAX_FILE = 4096 };

/* ---- the file ---- */

static int check_file(int fd, const char *path, kc_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return kc_error_set(err, KC_INVALID, "token file %s is not a regular file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return kc_error_set(err, KC_INVALID, "token file %s belongs to uid %u", path,
                            (unsigned)st.st_uid);
    if (st.st_mode & (S_IRWXG | S_IRWXO))
        return kc_error_set(err, KC_INVALID,
                            "token file %s is accessible to other users (mode %o); use chmod 600",
                            path, (unsigned)st.st_mode & 07777);
    return 0;
}

static char *read_open(int fd, const char *path, kc_error *err)
{
    char text[MAX_FILE];
    const ssize_t n = read(fd, text, sizeof(text));
    const kc_str token = kc_str_trim(kc_str_of(text, n > 0 ? (size_t)n : 0));
    if (token.n >= MIN_TOKEN && n < (ssize_t)sizeof(text) && !memchr(token.p, '\n', token.n))
        return kc_str_dup(token);
    kc_error_set(err, KC_INVALID, "token file %s has no token of at least %d characters", path,
                 MIN_TOKEN);
    return NULL;
}

static char *read_token(int fd, const char *path, kc_error *err)
{
    char *token = check_file(fd, path, err) < 0 ? NULL : read_open(fd, path, err);
    close(fd);
    return token;
}

static char *make_token(const char *path, kc_error *err)
{
    char bytes[TOKEN_BYTES];
    kc_scoped(kc_buf) text = {0};
    if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
        kc_error_set(err, KC_INTERNAL, "getrandom: %s", strerror(errno));
        return NULL;
    }
    kc_base64_write(&text, kc_str_of(bytes, sizeof(bytes)), KC_BASE64_URL);
    char *token = kc_strdup(kc_buf_cstr(&text));
    kc_buf_putc(&text, '\n');
    if (kc_file_write(path, 0600, kc_buf_str(&text), err) == 0)
        return token;
    free(token);
    return NULL;
}

char *kc__network_token_ensure(const char *path, kc_error *err)
{
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
        return read_token(fd, path, err);
    if (errno == ENOENT)
        return make_token(path, err);
    kc_error_set(err, KC_INVALID, "cannot open token file %s: %s", path, strerror(errno));
    return NULL;
}

/* ---- requests ---- */

bool kc__network_token_matches(const char *token, kc_str authorization)
{
    kc_str rest = kc_str_trim(authorization);
    const kc_str scheme = kc_str_cut(&rest, ' '), shown = kc_str_trim(rest);
    const size_t n = strlen(token);
    unsigned char differs = 0;
    if (!kc_str_eq_nocase(scheme, KC_STR("Bearer")) || shown.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        differs |= (unsigned char)(shown.p[i] ^ token[i]);
    return !differs;
}
