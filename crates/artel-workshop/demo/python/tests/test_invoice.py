import unittest

from shop.cli import show
from shop.invoice import net, total


class Invoices(unittest.TestCase):
    def test_net(self):
        self.assertEqual(net([(2, 150), (1, 99)]), 399)

    def test_total_without_tax(self):
        self.assertEqual(total([(3, 100)]), 300)

    def test_total_rounds_down(self):
        # 1.21 and 20 % are 1.452.
        self.assertEqual(total([(1, 121)], 20), 145)

    def test_total_rounds_up(self):
        # 1.23 and 20 % are 1.476.
        self.assertEqual(total([(1, 123)], 20), 148)

    def test_show(self):
        self.assertEqual(show([(2, 150)]), "2 x 150\ntotal 300")


if __name__ == "__main__":
    unittest.main()
