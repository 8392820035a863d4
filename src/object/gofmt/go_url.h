/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_url.h: parses URLs as Go's net/url does, with its errors. The schema format "uri", the CEL
 * functions of URLs and the URLs of webhooks use it.
 */
#ifndef KC_GO_URL_H
#define KC_GO_URL_H

#include "kc/buf.h"

/* The parts of a URL: slices of the text, escapes included. */
typedef struct kc__go_url {
    kc_str scheme; /* As written; compare case-insensitively. */
    kc_str opaque; /* What follows the scheme of a URL such as mailto:user. */
    kc_str user, host, path, query, fragment;
    bool has_user, has_query; /* The part exists, even if it is empty. */
    bool omits_host;          /* A scheme and a path without "//": file:/etc. */
} kc__go_url;

typedef enum kc__go_url_form {
    KC__GO_URL_REFERENCE, /* url.Parse: relative references and fragments are accepted. */
    KC__GO_URL_REQUEST,   /* url.ParseRequestURI: an absolute URL or an absolute path. */
} kc__go_url_form;

/* Parses a URL. On failure returns false and, unless `why` is NULL, appends Go's error to it. */
bool kc__go_url_parse(kc_str text, kc__go_url_form form, kc__go_url *ret, kc_buf *why);

/* URL.Host: the host and the port, unescaped. */
void kc__go_url_write_host(const kc__go_url *url, kc_buf *out);
/* URL.EscapedPath: appends the path as the client wrote it if that is a valid escaping; else the
 * path escaped by Go's rules. */
void kc__go_url_write_path(const kc__go_url *url, kc_buf *out);
/* URL.String: the normalized URL, which is absolute or has an absolute path. */
void kc__go_url_write(const kc__go_url *url, kc_buf *out);

/* Splits an unescaped host: URL.Hostname and URL.Port. */
kc_str kc__go_url_split_port(kc_str host, kc_str *ret_port);

/* QueryUnescape: decodes a part of a query. False when an escape is invalid. */
bool kc__go_url_unescape_query(kc_str text, kc_buf *out);

#endif
