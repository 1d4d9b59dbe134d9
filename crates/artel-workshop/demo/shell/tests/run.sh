#!/bin/sh
# Runs every test, each file of them in a shell of its own.
cd "$(dirname "$0")/.." || exit 2

bad=0
for file in tests/*_test.sh; do
    sh "$file" || bad=1
done
exit "$bad"
