/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_go_error.h: what Kubernetes says about a text that is not valid YAML. */
#ifndef KC_YAML_GO_ERROR_H
#define KC_YAML_GO_ERROR_H

#include "kc/buf.h"

/* Appends the error of Kubernetes' YAML decoder for the first document: "yaml: line 4: did not find
 * expected key", "json: unsupported value: NaN". Appends nothing if that decoder accepts the text:
 * it exceeds a limit of this one. */
void kc__yaml_go_error(kc_buf *out, kc_str yaml);

#endif
