# The command line of the shop.

. ./shop/invoice.sh

# Prints an invoice as text: show TAX LINE...
show() {
    percent=$1
    shift
    for row in "$@"; do
        echo "${row%x*} x ${row#*x}"
    done
    echo "total $(total "$percent" "$@")"
}
