# Says whether what came is what was to come: check NAME WANTED GOT
failures=0
check() {
    if [ "$3" = "$2" ]; then
        echo "ok   $1"
    else
        echo "FAIL $1: wanted '$2', got '$3'"
        failures=1
    fi
}
