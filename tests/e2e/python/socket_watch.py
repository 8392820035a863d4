# SPDX-License-Identifier: Apache-2.0
"""A watch over WebSocket, with the library the Python client of Kubernetes uses.

    socket_watch.py URL [NAME=VALUE…]

Prints every message; `pong TEXT` when the ping it sends first is answered; in the end `closed CODE`, or `refused STATUS` where there is no
upgrade. Names: token (in a header field), protocol, page_token (as a subprotocol), origin (`none`: without), ca, cert (files; cert has the
key too), leave (closes after so many messages).
"""

import base64
import struct
import sys

import websocket


def arguments(options):
    """What the library calls them."""
    files = {"ca_certs": options.get("ca"), "certfile": options.get("cert")}
    given = {"timeout": 90, "sslopt": {name: file for name, file in files.items() if file}}
    protocols = [options["protocol"]] if "protocol" in options else []
    if "page_token" in options:
        encoded = base64.urlsafe_b64encode(options["page_token"].encode()).decode().rstrip("=")
        protocols.insert(0, f"base64url.bearer.authorization.k8s.io.{encoded}")
    if protocols:
        given["subprotocols"] = protocols
    if "token" in options:
        given["header"] = [f"Authorization: Bearer {options['token']}"]
    if options.get("origin") == "none":
        given["suppress_origin"] = True
    elif "origin" in options:
        given["origin"] = options["origin"]
    return given


def follow(connection, leave):
    """Prints what comes, to the end."""
    messages = 0
    while True:
        opcode, data = connection.recv_data(control_frame=True)
        if opcode == websocket.ABNF.OPCODE_CLOSE:
            print("closed", struct.unpack("!H", data[:2])[0] if data else "without a code", flush=True)
            return
        if opcode == websocket.ABNF.OPCODE_PONG:
            print("pong", data.decode(), flush=True)
            continue
        print(data.decode().rstrip("\n"), flush=True)
        messages += 1
        if messages == leave:
            connection.send_close(4000, b"enough")


def main():
    options = dict(argument.split("=", 1) for argument in sys.argv[2:])
    try:
        connection = websocket.create_connection(sys.argv[1], **arguments(options))
    except websocket.WebSocketBadStatusException as refusal:
        print("refused", refusal.status_code)
        return
    if connection.getsubprotocol():
        print("protocol", connection.getsubprotocol(), flush=True)
    connection.ping("hello")
    follow(connection, int(options.get("leave", 0)))


main()
