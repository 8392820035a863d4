# SPDX-License-Identifier: Apache-2.0
"""
etcd.py: one etcd that several servers share.

    with SharedEtcd() as etcd, Server(flags=etcd.flags()) as server:
        etcd.share_keys(server)
        server.start()
"""
import os
import shutil
import tempfile

from harness import Etcd, Skipped


class SharedEtcd(Etcd):
    """One member, on a directory that is removed with the object."""

    def __init__(self):
        if not shutil.which("etcd"):
            raise Skipped("there is no etcd")
        super().__init__(tempfile.mkdtemp(prefix="kc-etcd-"))
        self.url = None

    def flags(self):
        return ["--backend", "etcd", "--etcd-servers", self.url]

    def share_keys(self, *servers):
        """Gives the servers the keys that all servers of one etcd have in common."""
        keys = os.path.join(self.directory, "keys")
        self.make_keys(keys)
        for server in servers:
            shutil.copytree(os.path.join(keys, "certs"), os.path.join(server.directory, "certs"))

    def __enter__(self):
        self.url = self.start()
        return self

    def __exit__(self, *_):
        self.discard()
