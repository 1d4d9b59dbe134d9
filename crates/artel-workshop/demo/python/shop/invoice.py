"""Invoices: what is owed, in cents."""


def net(lines):
    """Returns the sum of the lines, each a quantity and a price in cents."""
    return sum(quantity * price for quantity, price in lines)


def total(lines, tax_percent=0):
    """Returns the sum with tax, rounded half up to the cent."""
    return round(net(lines) * (100 + tax_percent) / 100)
