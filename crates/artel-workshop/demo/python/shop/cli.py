"""The command line of the shop."""

from shop.invoice import total


def show(lines, tax_percent=0):
    """Returns an invoice as text."""
    rows = [f"{quantity} x {price}" for quantity, price in lines]
    return "\n".join(rows + [f"total {total(lines, tax_percent)}"])
