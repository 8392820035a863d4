/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h: colours of the output on a terminal. */
#ifndef KC_CMD_COLOUR_H
#define KC_CMD_COLOUR_H

#define KC__CLI_BOLD   "\033[1m"
#define KC__CLI_FAINT  "\033[2m"
#define KC__CLI_RED    "\033[31m"
#define KC__CLI_GREEN  "\033[32m"
#define KC__CLI_YELLOW "\033[33m"
#define KC__CLI_PLAIN  "\033[0m"

/* The escape sequence, or "" if the descriptor is not a terminal, the terminal has no colours, or
 * NO_COLOR is set. */
const char *kc__cli_colour(int fd, const char *colour);

#endif
