# Invoices: what is owed, in cents. A line is QUANTITYxPRICE, such as 2x150.

# Prints the sum of the lines.
net() {
    sum=0
    for line in "$@"; do
        sum=$((sum + ${line%x*} * ${line#*x}))
    done
    echo "$sum"
}

# Prints the sum with tax in percent, rounded half up to the cent: total TAX LINE...
total() {
    tax=$1
    shift
    echo $(($(net "$@") * (100 + tax) / 100))
}
