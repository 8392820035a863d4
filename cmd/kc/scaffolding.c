/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffolding.c: how the verbs that scaffold talk: a line for each file, questions where a terminal
 * is and a flag is missing. Without one nothing is asked: what has a default gets it, what has none
 * is an error that names the flag.
 */
#include "scaffolding.h"

#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void tell(kc__said what, const char *path, const char *lines, void *user)
{
    (void)user;
    switch (what) {
    case KC__SAID_CREATED: printf("created  %s\n", path); break;
    case KC__SAID_REPLACED: printf("replaced %s\n", path); break;
    case KC__SAID_INSERTED: printf("changed  %s\n", path); break;
    case KC__SAID_LEFT:
        printf("left     %s: it is there, and differs from what would be written (--force "
               "replaces it)\n",
               path);
        break;
    case KC__SAID_BY_HAND: printf("by hand  %s: %s\n", path, lines); break;
    case KC__SAID_NO_MARKER:
        printf("left     %s: the marker for these lines is gone; add them by hand:\n%s", path,
               lines);
        break;
    }
}

kc__scaffold kc_scaffold_here(bool force)
{
    return (kc__scaffold){.folder = ".", .force = force, .say = tell};
}

int kc_scaffold_failed(const char *verb, const kc_error *err)
{
    fflush(stdout);
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(err));
    return kc_failed_with(err, KC_INVALID) ? 2 : 1;
}

/* ---- asking ---- */

static bool can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

int kc_flag_answer(const char *text, void *ret, kc_error *err)
{
    bool on;
    if (kc_flag_switch(text, &on, err) < 0)
        return -1;
    *(kc_answer *)ret = on ? KC_YES : KC_NO;
    return 0;
}

/* Without its line break. */
static int ask(const char *question, char **ret, kc_error *err)
{
    char *line = NULL;
    size_t cap = 0;
    printf("%s ", question);
    fflush(stdout);
    const ssize_t n = getline(&line, &cap, stdin);
    if (n >= 0)
        *ret = kc_str_dup(kc_str_trim(kc_str_of(line, (size_t)n)));
    else
        putchar('\n'); /* The question's line has not ended. */
    free(line);
    return n >= 0 ? 0 : kc_error_set(err, KC_BAD_REQUEST, "not answered; nothing was written");
}

int kc_ask_answer(kc_answer said, const char *question, bool otherwise, bool *ret, kc_error *err)
{
    while (said == KC_UNSAID && can_ask()) {
        kc_autofree char *text = NULL;
        if (ask(question, &text, err) < 0)
            return -1;
        const char c = text[0];
        said = c == 'y' || c == 'Y'   ? KC_YES
               : c == 'n' || c == 'N' ? KC_NO
               : !c                   ? (otherwise ? KC_YES : KC_NO)
                                      : KC_UNSAID;
    }
    *ret = said == KC_UNSAID ? otherwise : said == KC_YES;
    return 0;
}

int kc_ask_text(const char *said, const char *question, kc_answer_check *check, char **ret,
                kc_error *err)
{
    *ret = said ? kc_strdup(said) : NULL;
    while (!*ret && can_ask()) {
        kc_scoped(kc_error) wrong = {0};
        kc_autofree char *text = NULL;
        if (ask(question, &text, err) < 0)
            return -1;
        if (!*text)
            break;
        if (check(text, &wrong) < 0)
            printf("%s\n", kc_error_text(&wrong));
        else
            *ret = kc_take(text);
    }
    return 0;
}

int kc_this_year(void)
{
    struct tm parts;
    const time_t now = time(NULL);
    return gmtime_r(&now, &parts) ? parts.tm_year + 1900 : 0;
}

/* ---- make ---- */

int kc_run_make(const char *target)
{
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    kc_autofree char *kc = kc_asprintf("KC=%s", n > 0 ? self : "kc");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        execlp("make", "make", "--silent", kc, target, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
        return 0;
    fprintf(stderr, "kc: 'make %s' failed; run it again when its cause is removed\n", target);
    return 1;
}
