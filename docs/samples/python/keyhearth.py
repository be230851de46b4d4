"""A temporary vault for tests. Needs the command `keyhearth`; with the package `cryptography`, requests take less time."""

import base64
import json
import os
import subprocess
import time
import urllib.request

try:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
except ImportError:
    ec = None


class Vault:
    """Starts `keyhearth dev`, and ends it: `with Vault() as vault: ...`"""

    def __init__(self, seed="python"):
        # The vault holds on to its standard input: it ends with this process, however that ends.
        self._process = subprocess.Popen(
            ["keyhearth", "dev", "--port", "0", "--seed", seed, "--stdin-lifetime"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("keyhearth dev did not start")
        vault = json.loads(line)
        self.url = vault["url"]
        self.organization_id = vault["organizationId"]
        self._public_key = vault["apiPublicKey"]
        self._private_key = vault["apiPrivateKey"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def query(self, operation, **parameters):
        """Posts a query, such as `whoami`, and returns its answer."""
        return self._post(f"query/{operation}", {"organizationId": self.organization_id, **parameters})

    def submit(self, operation, version="", **parameters):
        """Posts an activity, such as `create_wallet`, and returns its result. Some have a version, such as `_V2`."""
        body = {
            "type": f"ACTIVITY_TYPE_{operation.upper()}{version}",
            "organizationId": self.organization_id,
            "timestampMs": str(time.time_ns() // 1_000_000),
            "parameters": parameters,
        }
        return next(iter(self._post(f"submit/{operation}", body)["activity"]["result"].values()))

    def reset(self):
        """Makes the vault what it was at its start."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/dev/reset", method="POST")).close()

    def _post(self, path, body):
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json", "X-Stamp": self._stamp(data)}
        request = urllib.request.Request(f"{self.url}/public/v1/{path}", data, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def _stamp(self, data):
        if ec is None:
            # The command makes a stamp too, in a process of its own. No argument that others can read holds the key.
            key = {"KEYHEARTH_API_KEY": f"{self._public_key}:{self._private_key}"}
            argv = ["keyhearth", "stamp", "--body", "-"]
            made = subprocess.run(argv, input=data, stdout=subprocess.PIPE, env={**os.environ, **key}, check=True)
            return made.stdout.decode().strip()
        key = ec.derive_private_key(int(self._private_key, 16), ec.SECP256R1())
        stamp = {
            "publicKey": self._public_key,
            "scheme": "SIGNATURE_SCHEME_TK_API_P256",
            "signature": key.sign(data, ec.ECDSA(hashes.SHA256())).hex(),
        }
        return base64.urlsafe_b64encode(json.dumps(stamp).encode()).decode().rstrip("=")
