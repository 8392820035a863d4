/* SPDX-License-Identifier: Apache-2.0 */
/* colour.c: decides whether output has colours: on a terminal, unless NO_COLOR or TERM=dumb. */
#include "colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *kc__cli_colour(int fd, const char *colour)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const bool dumb = terminal && !strcmp(terminal, "dumb");
    return isatty(fd) && !(no && *no) && !dumb ? colour : "";
}
