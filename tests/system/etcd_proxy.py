#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
etcd_proxy.py: TCP proxies between API servers and members of etcd, in a process of their own.

    proxies = Proxies([2379, 22379])     # the ports of the targets
    proxies.ports                        # where clients connect, in the same order
    proxies.set(0, "freeze")             # connections stay open and carry nothing; new ones are accepted
    proxies.set(0, "refuse")             # connections are closed, and new ones too, at once
    proxies.set(0, "forward")            # what was frozen goes on
    proxies.stop()

A frozen proxy is a blackhole or a half-open connection: the client gets no error. The process reads
commands (`INDEX MODE`) from its standard input and answers each with a line, so that a mode holds
when `set` returns.
"""
import selectors
import socket
import subprocess
import sys

CHUNK = 1 << 16


class Proxies:
    """The parent's side."""

    def __init__(self, targets):
        self.process = subprocess.Popen([sys.executable, __file__] + [str(t) for t in targets], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, bufsize=1)
        self.ports = [int(p) for p in self.process.stdout.readline().split()]

    def set(self, index, mode):
        self.process.stdin.write("%d %s\n" % (index, mode))
        self.process.stdin.flush()
        self.process.stdout.readline()

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Pair:
    """A client's connection and the one to its target."""

    def __init__(self, loop, proxy, client):
        self.loop, self.proxy = loop, proxy
        self.sides = [client, None]
        self.held = [b"", b""]  # To be sent to each side.
        if proxy.mode == "forward":
            self.join()

    def join(self):
        """Connects to the target, on the first moment of forwarding."""
        try:
            self.sides[1] = socket.create_connection(("127.0.0.1", self.proxy.target), 5)
        except OSError:
            self.close()
            return
        for s in self.sides:
            s.setblocking(False)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.listen()

    def listen(self):
        """Tells the loop what each side waits for."""
        for i, s in enumerate(self.sides):
            events = selectors.EVENT_READ if len(self.held[1 - i]) < 16 * CHUNK else 0
            events |= selectors.EVENT_WRITE if self.held[i] else 0
            if self.proxy.mode != "forward":
                events = 0
            self.loop.watch(s, events, (self, i))

    def ready(self, side, mask):
        try:
            if mask & selectors.EVENT_READ:
                got = self.sides[side].recv(CHUNK)
                if not got:
                    raise OSError("closed")
                self.held[1 - side] += got
            for i in (0, 1):
                if self.held[i]:
                    self.held[i] = self.held[i][self.sides[i].send(self.held[i]):]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return
        self.listen()

    def close(self):
        for s in self.sides:
            if s:
                self.loop.watch(s, 0, None)
                s.close()
        self.proxy.pairs.discard(self)


class Proxy:
    def __init__(self, loop, target):
        self.loop, self.target, self.mode, self.pairs = loop, target, "forward", set()
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        loop.watch(self.listener, selectors.EVENT_READ, (self, 0))

    def ready(self, side, mask):
        del side, mask
        client = self.listener.accept()[0]
        if self.mode == "refuse":
            client.close()
            return
        pair = Pair(self.loop, self, client)
        if pair.sides[0].fileno() >= 0:
            self.pairs.add(pair)

    def set(self, mode):
        self.mode = mode
        for pair in list(self.pairs):
            if mode == "refuse":
                pair.close()
            elif not pair.sides[1]:
                if mode == "forward":
                    pair.join()
            else:
                pair.listen()


class Loop:
    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.known = {}

    def watch(self, s, events, data):
        """Changes what a socket waits for; nothing: it is forgotten."""
        if self.known.get(s, 0) == events:
            return
        if not events:
            self.selector.unregister(s)
        elif self.known.get(s):
            self.selector.modify(s, events, data)
        else:
            self.selector.register(s, events, data)
        self.known[s] = events
        if not events:
            del self.known[s]

    def run(self, proxies):
        self.selector.register(sys.stdin, selectors.EVENT_READ, None)
        while True:
            for key, mask in self.selector.select():
                if key.data:
                    if key.fileobj in self.known:
                        key.data[0].ready(key.data[1], mask)
                    continue
                line = sys.stdin.readline()
                if not line:
                    return
                index, mode = line.split()
                proxies[int(index)].set(mode)
                print("done", flush=True)


def main():
    loop = Loop()
    proxies = [Proxy(loop, int(target)) for target in sys.argv[1:]]
    print(*[p.listener.getsockname()[1] for p in proxies], flush=True)
    loop.run(proxies)


if __name__ == "__main__":
    main()
