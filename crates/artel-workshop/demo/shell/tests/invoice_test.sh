. ./tests/check.sh
. ./shop/cli.sh

check net 399 "$(net 2x150 1x99)"
check total_without_tax 300 "$(total 0 3x100)"
# 1.21 and 20 % are 1.452.
check total_rounds_down 145 "$(total 20 1x121)"
check show "2 x 150
total 300" "$(show 0 2x150)"

exit "$failures"
