#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mirror has what the server has, goes on where it stopped, and takes no forged byte.

mirror_check.py PROGRAM SAMPLE
"""
import functools
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main(program, sample):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        environment = dict(os.environ, KERNELINDEX_LEDGER=folder + "/ledger",
                           XDG_STATE_HOME=folder + "/state")

        def run(*words, code=0):
            done = subprocess.run([program, *words], env=environment, capture_output=True, text=True)
            assert done.returncode == code, (words, done.returncode, done.stderr)
            return done.stdout.strip(), done.stderr

        run("init", "--quiet")
        run("import", "sol-execbench", sample, "--quiet")
        run("export", "tiles", folder + "/public")
        key = run("key", "export", "--role", "log")[0]
        handler = functools.partial(Quiet, directory=folder + "/public")
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}"
            mirror = ("mirror", url, folder + "/copy", "--key", key, "--allow-host", "127.0.0.1")
            run(*mirror)
            run("verify", "tiles", folder + "/copy", "--key", key)
            judge = ("verify", "tiles", url, "--key", key, "--allow-host", "127.0.0.1")
            assert run(*judge)[0].endswith("OK")
            public = {p.relative_to(root / "public") for p in (root / "public").rglob("*")}
            assert public == {p.relative_to(root / "copy") for p in (root / "copy").rglob("*")}
            run(*mirror)  # again: all is there
            # A forged byte of an entry, then of an object, is refused and never kept.
            entries = next((root / "public/tile/entries").rglob("000*/*"))
            forged = next(p for p in (root / "public/object").rglob("*") if p.is_file())
            for number, path in enumerate((entries, forged)):
                whole = path.read_bytes()
                path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
                place = f"{folder}/forged{number}"
                said = run("mirror", url, place, "--key", key, "--allow-host", "127.0.0.1", code=4)
                assert "MISMATCH" in said[1], said
                run(*judge, code=1)
                assert not (pathlib.Path(place) / "checkpoint").exists()
                path.write_bytes(whole)
            # Without the switch no plain connection and no private address is asked.
            run("mirror", url, folder + "/none", "--key", key, code=5)
            server.shutdown()


main(*sys.argv[1:])
