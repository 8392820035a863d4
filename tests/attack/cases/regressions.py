# SPDX-License-Identifier: Apache-2.0
"""
Attacks that the server has always withstood, kept as regression tests: malformed framing, nested and aliased documents, patch
bombs, path and log injection, tokens, compressed bodies.
"""
import base64
import functools
import gzip
import json
import os
import struct

from attack import MIB, NS, TOKEN, Reader, attack, connect, head_of

CONFIGMAPS = "/api/v1/namespaces/%s/configmaps" % NS
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def post(t, path, body, kind="application/json"):
    """Sends bytes as they are; the status and the answer's bytes."""
    reader = Reader(connect(t))
    reader.s.sendall(head_of("POST", path, body, kind) + body)
    status, fields = reader.head()
    data = reader.exactly(int(fields.get("content-length", 0)))
    reader.s.close()
    return status, data


def raw(t, request):
    """Sends a whole request as it is; the first bytes of the answer, b"" when the server closed."""
    s = connect(t)
    s.sendall(request)
    try:
        return s.recv(200)
    except OSError:
        return b""
    finally:
        s.close()


def refused(answer):
    return answer == b"" or answer[9:12] in (b"400", b"401", b"404", b"405", b"408", b"411", b"413", b"414", b"431", b"501", b"505")


@attack(mix=True)
def conflicting_lengths_are_refused(t):
    auth = "Authorization: Bearer %s\r\n" % TOKEN
    for fields in ("Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5\r\nTransfer-Encoding: chunked",
                   "Transfer-Encoding: chunked, identity", "Content-Length: +5", "Content-Length: 0x5", "Content-Length: -1",
                   "Content-Length: 99999999999999999999", "Transfer-Encoding: xchunked", "Content-Length : 5"):
        request = "POST %s HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n\r\nhello" % (CONFIGMAPS, auth, fields)
        assert refused(raw(t, request.encode())), fields


@attack(mix=True)
def bad_chunks_are_refused(t):
    head = head_of("POST", CONFIGMAPS)[:-2].replace(b"Content-Length: 0\r\n", b"") + b"Transfer-Encoding: chunked\r\n\r\n"
    for chunk in (b"zz\r\n", b"-5\r\nhello\r\n", b"ffffffffffffffffff\r\n", b"5\nhello\n0\n\n", b"5;" + b"x" * 200000 + b"\r\n"):
        assert refused(raw(t, head + chunk)), chunk[:20]


@attack(mix=True, growth=64 * MIB)
def deeply_nested_documents_are_refused(t):
    for kind, body in (("application/json", b'{"data":' + b"[" * 1000000), ("application/json", b'{"a":' * 300000),
                       ("application/yaml", b"a: " + b"[" * 500000), ("application/yaml", b"- " * 500000)):
        status, _ = post(t, CONFIGMAPS, body, kind)
        assert status in (400, 413), (kind, body[:20], status)


@attack(mix=True, growth=64 * MIB)
def yaml_aliases_do_not_expand(t):
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += ["a%d: &a%d [%s]" % (i, i, ",".join(["*a%d" % (i - 1)] * 9)) for i in range(1, 12)]
    status, _ = post(t, CONFIGMAPS, "\n".join(lines).encode(), "application/yaml")
    assert status in (400, 413), status


@attack(mix=True, growth=64 * MIB)
def json_patch_that_doubles_itself_is_refused(t):
    name, admin = t.unique("patch"), t.admin()
    t.made("%s/%s" % (CONFIGMAPS, name))
    assert admin.request("POST", CONFIGMAPS, {"metadata": {"name": name}, "data": {"a": "x" * 1000}})[0] == 201
    patch = [{"op": "copy", "from": "/data", "path": "/data/k%d" % i} for i in range(60)]
    status, answer = admin.request("PATCH", "%s/%s" % (CONFIGMAPS, name), patch, "application/json-patch+json")
    assert status in (400, 413, 422), answer


@functools.lru_cache()
def bomb():
    return gzip.compress(b" " * (200 << 20), 9)


@attack(mix=True, growth=16 * MIB)
def compressed_bodies_are_refused_and_not_expanded(t):
    """Nothing decompresses a body: 200 MB of spaces, as 200 KB, are bytes that are no JSON."""
    for body in (bomb(), gzip.compress(b'{"metadata":{"name":"zipped"}}'), bomb()[:1000]):
        for coding in ("gzip", "gzip, gzip", "deflate"):
            head = head_of("POST", CONFIGMAPS, body)[:-2] + ("Content-Encoding: %s\r\n\r\n" % coding).encode()
            answer = raw(t, head + body)
            assert answer[9:12] in (b"400", b"415"), (coding, answer)
    assert t.admin().request("GET", CONFIGMAPS + "/zipped")[0] == 404


@attack(mix=True)
def traversal_in_paths_finds_nothing(t):
    for path in ("/api/v1/namespaces/../../etc/passwd", "/api/v1/../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/namespaces/%00",
                 "/api/v1/namespaces/a%0d%0aX:y", "//etc/passwd", "/api/v1/namespaces/default/configmaps/..", "/api\\..\\v1"):
        answer = raw(t, head_of("GET", path))
        assert answer[9:12] in (b"400", b"403", b"404", b"301"), (path, answer)


@attack(mix=True)
def control_characters_do_not_reach_the_log(t):
    agent = "\x1b[31mroot\x1b[0m"
    request = head_of("GET", "/api/v1/nowhere%1b%5b31m%0aERROR")[:-2] + ("User-Agent: %s\r\n\r\n" % agent).encode()
    raw(t, request)
    assert "\x1b[31mroot" not in t.log_text() and "\nERROR" not in t.log_text()


@attack(mix=True)
def wrong_tokens_are_unauthorized(t):
    for token in ("x", "", "a" * 8000, TOKEN[:-1], "null", "%00"):
        request = "GET /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % token
        if token:
            assert raw(t, request.encode())[9:12] == b"401", token[:20]


@attack(mix=True)
def bad_http2_frames_end_the_connection_only(t):
    for frame in (struct.pack(">I", 1 << 24)[1:] + b"\x00\x00" + struct.pack(">I", 1), b"\x00\x00\x08\x06\x00\x00\x00\x00\x01" + bytes(8),
                  b"\x00\x00\x04\x08\x00\x00\x00\x00\x00" + bytes(4), b"\x00\x00\x05\x02\x00\x00\x00\x00\x01" + bytes(5)):
        s = connect(t)
        s.sendall(PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00" + frame + os.urandom(64))
        try:
            while s.recv(1 << 16):
                pass
        except OSError:
            pass
        s.close()


@attack(mix=True)
def rapid_resets_of_http2_streams_do_not_delay_others(t):
    s = connect(t)
    s.sendall(PREFACE + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00")
    headers = bytes([0x82, 0x86, 0x84, 0x41, 0x09]) + b"localhost"  # GET http / of localhost.
    try:
        for i in range(20000):
            stream = struct.pack(">I", 2 * i + 1)
            s.sendall(struct.pack(">I", len(headers))[1:] + b"\x01\x05" + stream + headers +
                      b"\x00\x00\x04\x03\x00" + stream + struct.pack(">I", 8))
    except OSError:
        pass  # The server ends such a connection.
    s.close()


@attack(mix=True)
def websocket_handshake_with_a_bad_key_is_refused(t):
    for key in ("", "x", base64.b64encode(b"short").decode(), "a" * 10000):
        request = head_of("GET", "/api/v1/namespaces?watch=1")[:-2] + (
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n" % key).encode()
        assert raw(t, request)[9:12] != b"101", key[:20]


@attack(mix=True, growth=64 * MIB)
def invalid_utf8_and_surrogates_are_answered(t):
    for text in (b'"\xff\xfe"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\xed\xa0\x80"', b'"' + b"\\u0000" * 1000 + b'"'):
        status, _ = post(t, CONFIGMAPS, b'{"metadata":{"name":' + text + b"}}")
        assert status in (400, 422), (text[:20], status)


@attack(mix=True, growth=64 * MIB)
def numbers_beyond_any_range_are_answered(t):
    for number in (b"1e400", b"-1e400", b"9" * 100000, b"0." + b"9" * 100000, b"1e-400", b"1" + b"0" * 400):
        status, _ = post(t, CONFIGMAPS + "?dryRun=All", b'{"metadata":{"name":"n","generation":' + number + b"}}")
        assert status in (201, 400, 422), (number[:20], status)


@attack(mix=True)
def queries_with_thousands_of_parameters_are_answered(t):
    answer = raw(t, head_of("GET", "/api/v1/namespaces?" + "&".join("a%d=%d" % (i, i) for i in range(8000))))
    assert answer[9:12] in (b"200", b"400", b"414", b"431"), answer[:60]


@attack(mix=True, growth=64 * MIB)
def forged_continue_tokens_are_refused(t):
    admin = t.admin()
    for token in ("x", base64.b64encode(json.dumps({"v": "meta.k8s.io/v1", "rv": 1, "start": "../../x"}).encode()).decode(),
                  base64.b64encode(b"\x00" * 5000).decode(), "A" * 50000):
        status, answer = admin.request("GET", "%s?limit=1&continue=%s" % (CONFIGMAPS, token.replace("=", "%3D").replace("+", "%2B")))
        assert status in (400, 410, 414), (token[:20], answer)
