/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_conn.h: a connection without a socket, for tests of a protocol: a call passes bytes in,
 * and output is in conn.out. Its loop runs on its own thread and has nothing to do; the protocol
 * runs on the test's thread, as if that were the loop's.
 */
#ifndef MEMORY_CONN_H
#define MEMORY_CONN_H

#include "http/server/conn.h"
#include "http/server/transport.h"

typedef struct memory_conn {
    kc__conn conn; /* Must be first. */
    kc__http_limits limits;
    bool changed;
    bool closed;
} memory_conn;

static inline void memory_conn_changed(kc__conn *conn)
{
    ((memory_conn *)conn)->changed = true;
}

/* The caller owns the loop, and sets limits before the call. */
static inline void memory_conn_open(memory_conn *m, kc__loop *loop,
                                    const kc__conn_protocol *protocol,
                                    kc__exchange_handle_fn *handle, void *user)
{
    kc__http_limits_default(&m->limits);
    m->conn.loop = loop;
    m->conn.protocol = protocol;
    m->conn.deadline = KC_FOREVER;
    m->conn.limits = &m->limits;
    m->conn.handle = handle;
    m->conn.user = user;
    m->conn.changed = memory_conn_changed;
    protocol->open(&m->conn);
}

/* Passes bytes to the protocol, in a separate allocation so that overreads are detected. */
static inline void memory_conn_receive(memory_conn *m, kc_str bytes)
{
    char *alone = kc_alloc(bytes.n);
    if (bytes.n)
        memcpy(alone, bytes.p, bytes.n);
    m->conn.protocol->receive(&m->conn, kc_str_of(alone, bytes.n));
    free(alone);
}

/* Lets the protocol append as much output as there is room for. */
static inline void memory_conn_fill(memory_conn *m)
{
    do {
        m->changed = false;
        if (m->conn.disposition == KC__CONN_OPEN && kc__conn_room(&m->conn))
            m->conn.protocol->fill(&m->conn);
    } while (m->changed && m->conn.disposition == KC__CONN_OPEN && kc__conn_room(&m->conn));
}

static inline void memory_conn_close(memory_conn *m)
{
    if (!m->closed)
        m->conn.protocol->close(&m->conn);
    m->closed = true;
    kc_buf_done(&m->conn.out);
}

#endif
