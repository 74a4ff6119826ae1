# SPDX-License-Identifier: MIT
"""A server for the tests of a class."""
import e2b_client
import support


class Serving(support.TempDir):
    """One server for all tests of a class."""
    options = ()

    @classmethod
    def setUpClass(cls):
        cls.server = e2b_client.Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def sandbox(self, **body):
        box = self.server.create(**body)
        self.addCleanup(self.server.ask, "DELETE", "/sandboxes/" + box.id)
        return box
