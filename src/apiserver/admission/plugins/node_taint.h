/* SPDX-License-Identifier: Apache-2.0 */
/* node_taint.h: a new Node gets the not-ready taint. */
#ifndef KC_APISERVER_NODE_TAINT_H
#define KC_APISERVER_NODE_TAINT_H

#include "apiserver/call/call.h"

kc__rest_phase_fn kc__admission_node_taint;

#endif
