/* SPDX-License-Identifier: Apache-2.0 */
/* website.h: the controller of Websites, for the program (main.c) and its tests (../testing). */
#ifndef WEBSITE_H
#define WEBSITE_H

#include "kc/controller.h"

extern const kc_kind website_kind;

/* Adds the controller to a manager. Negative with an error. */
int website_setup(kc_manager *manager, kc_error *err);

#endif
