#!/bin/bash
# Makes `workshop.tar.gz`: a workshop as Artel 0.1.0 of 18 November 2026 (41c068f) left it.
#
#   make.sh OLD_BINARY OUT.tar.gz
#
# The journal is a chain of hashes over text that names folders, so nothing in it can be rewritten
# afterwards: the fixture is made, and unpacked by its tests, at one fixed path. It holds
#
#   work/            a portal; the workshop lies in it, at work/Artel
#   project/         a portal like any other, in which the runs work
#   home/            the person's home, with the keys of the journal
#   cookie.txt       what a browser that signed in sends
#
# and in the workshop: four skills that were used, the grant `Bash(:*)`, `[budget.session]`, a run
# whose called skill was killed while its model answered, and a run that waits for an answer.
set -euo pipefail
old=$1 out=$(realpath -m "$2")
R=/tmp/artel-upgrade-fixture
[ ! -e $R ] || { echo "$R is in the way" >&2; exit 1; }
umask 022
mkdir -p $R/home $R/work $R/project
cd $R/project
trap 'artel daemon stop >/dev/null 2>&1 || true' EXIT

artel() {
  env -i HOME=$R/home PATH=/usr/local/bin:/usr/bin:/bin ARTEL_WORKSHOP=$R/work/Artel \
    ARTEL_MODEL="rehearsal:$R/script.yaml" "$old" "$@"
}

printf '[user]\n\temail = ada@example.org\n\tname = Ada\n' >$R/home/.gitconfig
echo 'month,sum' >$R/project/sales.csv
echo 'mine' >$R/work/notes.txt
(cd $R/work && artel init $R/work/Artel >/dev/null)
artel portal add $R/work
artel portal add $R/project

for name in summary totals reader helper; do
  mkdir -p $R/work/Artel/Skills/$name
  tools=''
  [ $name != reader ] || tools=$'\nallowed-tools: Read'
  cat >$R/work/Artel/Skills/$name/SKILL.md <<SKILL
---
name: $name
description: The $name of the sales, for whoever asks for it.$tools
---

You are the skill $name. \$ARGUMENTS
SKILL
done

cat >$R/script.yaml <<'SCRIPT'
rules:
  - expect: { system: "You are", says: "call the helper" }
    call: { skill: { skill: helper, arguments: "please stay" } }
  - expect: { says: "please stay" }
    call: { read: { path: sales.csv } }
  - expect: { says: "month,sum" }
    then: silent
  - expect: { says: "which one" }
    call: { ask_person: { question: "Which one shall it be?", choices: [account, address] } }
otherwise: { call: { finish: { answer: "done" } } }
SCRIPT

for name in summary totals reader helper; do
  artel run $name "for November" --yes </dev/null
done

# A run that is bound to reading calls a skill that is not; both are killed while a model answers.
artel run reader "call the helper" --yes </dev/null >$R/killed.txt 2>&1 &
run=$!
until artel journal export --kind model.requested | grep -q "month,sum"; do :; done
pkill -KILL -P $run || true
kill -KILL $run 2>/dev/null || true
wait $run 2>/dev/null || true

# A question that was shown at a terminal and left there.
OLD=$old R=$R python3 - <<'PYTHON'
import os, pty, signal

child, terminal = pty.fork()
if child == 0:
    root = os.environ["R"]
    env = {
        "HOME": f"{root}/home",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "ARTEL_WORKSHOP": f"{root}/work/Artel",
        "ARTEL_MODEL": f"rehearsal:{root}/script.yaml",
    }
    os.execve(os.environ["OLD"], ["artel", "run", "--task", "which one"], env)
shown = b""
while b"2 address" not in shown:
    shown += os.read(terminal, 4096)
os.kill(child, signal.SIGTERM)
try:
    while os.read(terminal, 4096):
        pass
except OSError:
    pass
os.waitpid(child, 0)
PYTHON
artel waiting
artel runs

mkdir -p $R/work/Artel/Policy
artel policy grant 'Bash(ls:*)' --reason 'it only looks'
sed -i 's/Bash(ls:\*)/Bash(:*)/' $R/work/Artel/Policy/grants.toml
sed -i 's/^#\[budget.session\]/[budget.session]/; /^\[budget.session\]/,/^#usd/ s/^#usd = 10/usd = 10/' \
  $R/work/Artel/artel.toml
artel config show --origin | grep -n 'budget.session'

artel daemon start --listen 127.0.0.1:0 --json >$R/daemon.json
url=$(artel open --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["url"])')
curl -s -o /dev/null -D - "$url" | tr -d '\r' | sed -n 's/^set-cookie: \([^;]*\).*/\1/Ip' >$R/cookie.txt
cat $R/cookie.txt
artel daemon stop
trap - EXIT
rm -f $R/daemon.json $R/killed.txt $R/script.yaml
rm -rf $R/work/Artel/.artel/backups/* $R/work/Artel/.artel/logs/*
tar -C /tmp --owner=0 --group=0 --sort=name -czf "$out" artel-upgrade-fixture
ls -l "$out"
