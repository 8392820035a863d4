/* SPDX-License-Identifier: Apache-2.0 */
/* password_prompt.h: reads passwords from the terminal or from standard input. */
#ifndef KC_CMD_PASSWORD_PROMPT_H
#define KC_CMD_PASSWORD_PROMPT_H

#include "kc/buf.h"
#include "kc/error.h"

/*
 * Appends a password: from the terminal, without echo, if standard input is one; otherwise the next
 * line of standard input, without its end. With `twice`, the terminal asks again, and differing
 * passwords are an error. The caller wipes it (kc_buf_wipe).
 */
int kc__cli_password_read(const char *prompt, bool twice, kc_buf *out, kc_error *err);
/* Appends a random password of 24 characters that are easy to tell apart: 120 bits. */
int kc__cli_password_random(kc_buf *out, kc_error *err);

#endif
