import unittest

from keyhearth import Vault

ETHEREUM = {
    "curve": "CURVE_SECP256K1",
    "pathFormat": "PATH_FORMAT_BIP32",
    "path": "m/44'/60'/0'/0/0",
    "addressFormat": "ADDRESS_FORMAT_ETHEREUM",
}


class WalletTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.vault = Vault()
        cls.addClassCleanup(cls.vault.close)

    def setUp(self):
        self.vault.reset()

    def test_a_wallet_signs(self):
        wallet = self.vault.submit("create_wallet", walletName="Savings", accounts=[ETHEREUM])
        signed = self.vault.submit(
            "sign_raw_payload",
            "_V2",
            signWith=wallet["addresses"][0],
            payload="hello",
            encoding="PAYLOAD_ENCODING_TEXT_UTF8",
            hashFunction="HASH_FUNCTION_KECCAK256",
        )
        self.assertEqual([len(signed[part]) for part in "rsv"], [64, 64, 2])

    def test_a_seed_makes_the_same_addresses(self):
        first = self.vault.submit("create_wallet", walletName="Savings", accounts=[ETHEREUM])
        self.vault.reset()
        again = self.vault.submit("create_wallet", walletName="Savings", accounts=[ETHEREUM])
        self.assertEqual(again["addresses"], first["addresses"])
        self.assertEqual(self.vault.query("whoami")["username"], "Root user")


if __name__ == "__main__":
    unittest.main()
