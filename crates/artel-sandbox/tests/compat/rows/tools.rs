//! The shell, archives, text, and what tells about the machine.

use crate::both::{ROW, Row};

/// A few files to be packed, searched and compared.
const FILES: &[(&str, &str)] = &[
    ("tree/a.txt", "apple 3\nbanana 1\ncherry 2\n"),
    ("tree/below/b.txt", "banana split\n"),
    ("tree/below/c.md", "# Title\n"),
];

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "bash pipelines",
        needs: &["bash"],
        script: r#"
            seq 1000 | sort -rn | sed -n 1,5p | paste -sd+ | tee sum
            diff <(echo a) <(echo b) || echo "differs $?"
            coproc { while read -r line; do echo "<$line>"; done; }
            echo hi >&"${COPROC[1]}"; read -r answer <&"${COPROC[0]}"; echo "$answer"
            mkfifo pipe; echo through > pipe & cat pipe; wait $!
            trap 'echo bye' EXIT; (exit 7) || echo "$?"; cat <<< "here $((6*7))"
        "#,
        says: r"(?s)^1000\+999\+998\+997\+996\n.*differs 1\n<hi>\nthrough\n7\nhere 42\nbye\n$",
        ..ROW
    },
    Row {
        name: "bash job control",
        needs: &["bash"],
        script: r#"
            set -m
            mkfifo pipe
            cat pipe > out & kill -STOP %1; wait %1 || echo "stopped $?"
            jobs -s | wc -l; kill -CONT %1; echo hi > pipe; wait %1; cat out
            cat pipe & kill %+; wait $! || echo "ended $?"
        "#,
        says: r"^stopped 147\n1\nhi\nended 143\n$",
        ..ROW
    },
    Row {
        name: "tar and gzip",
        needs: &["tar", "gzip"],
        files: FILES,
        script: "tar -czf a.tgz tree; tar -tzf a.tgz | sort; mkdir out; tar -xzf a.tgz -C out
                 diff -r tree out/tree; gzip -k tree/a.txt; zcat tree/a.txt.gz | cksum",
        says: r"tree/below/c.md\n\d+ 26\n$",
        ..ROW
    },
    Row {
        name: "xz",
        needs: &["xz", "tar"],
        files: FILES,
        script: "tar -cJf a.txz tree; tar -tJf a.txz | wc -l; seq 100000 | xz -T2 | xz -dc | cksum",
        says: r"^5\n\d+ 588895\n$",
        ..ROW
    },
    Row {
        name: "bzip2",
        needs: &["bzip2"],
        script: "seq 1000 | bzip2 | bzip2 -dc | wc -l",
        says: r"^1000\n$",
        ..ROW
    },
    Row {
        name: "zstd",
        needs: &["zstd"],
        script: "seq 1000 | zstd -q -T2 | zstd -dcq | wc -l",
        says: r"^1000\n$",
        ..ROW
    },
    Row {
        name: "zip",
        needs: &["zip", "unzip"],
        files: FILES,
        script: "zip -qr a.zip tree; unzip -qd out a.zip; diff -r tree out/tree; unzip -l a.zip | tail -n 1",
        says: r"5 files",
        ..ROW
    },
    Row {
        name: "find and xargs",
        needs: &["find", "xargs"],
        files: FILES,
        script: "find tree -type f -name '*.txt' -print0 | sort -z | xargs -0 -P2 -n1 wc -l | sort
                 find tree -newer tree/a.txt -type d -empty; find tree -name '*.md' -delete; ls -R tree",
        says: r"^1 tree/below/b.txt\n3 tree/a.txt\n",
        ..ROW
    },
    Row {
        name: "grep, sed, awk and sort",
        needs: &["grep", "sed", "awk", "sort"],
        files: FILES,
        script: "grep -rn banana tree | sort; sed -i 's/apple/pear/' tree/a.txt
                 awk '{ sum += $2 } END { print sum }' tree/a.txt; sort -k2n -S 1M tree/a.txt
                 seq 200000 | sort -R | sort -n --parallel=2 -S 200K | tail -n 1",
        says: r"(?s)a.txt:2:banana 1\n.*\n6\nbanana 1\ncherry 2\npear 3\n200000\n$",
        ..ROW
    },
    Row {
        name: "diff and patch",
        needs: &["diff", "patch"],
        files: FILES,
        script: "cp -a tree new; sed -i 's/1/9/' new/a.txt; diff -u tree/a.txt new/a.txt > p || true
                 patch tree/a.txt < p; cmp tree/a.txt new/a.txt && cat tree/a.txt",
        says: r"^patching file tree/a.txt\napple 3\nbanana 9\n",
        ..ROW
    },
    Row {
        name: "rg",
        needs: &["rg"],
        files: FILES,
        script: "rg --sort path -n banana tree; rg --files tree | wc -l",
        says: r"^tree/a.txt:2:banana 1\n(?s).*\n3\n$",
        ..ROW
    },
    Row {
        name: "fd",
        needs: &["fd|fdfind"],
        files: FILES,
        script: "\"$(command -v fd || command -v fdfind)\" -e txt . tree | sort",
        says: r"^tree/a.txt\n",
        ..ROW
    },
    Row {
        name: "jq",
        needs: &["jq"],
        script: r#"echo '{"a": [1, {"b": "x"}]}' | jq -c '.a[1].b, (.a[0] + 41)'"#,
        says: "^\"x\"\n42\n$",
        ..ROW
    },
    Row {
        name: "sqlite3",
        needs: &["sqlite3"],
        script: "sqlite3 a.db 'pragma journal_mode=wal; create table t(x); insert into t values(42)'
                 sqlite3 a.db 'select x from t; pragma integrity_check'",
        says: r"^wal\n42\nok\n$",
        ..ROW
    },
    Row {
        name: "perl",
        needs: &["perl"],
        script: r#"perl -MFile::Temp -MPOSIX -e '
            my $file = File::Temp->new; print $file "x\n"; close $file;
            my $pid = fork // die; if (!$pid) { exit 3 } waitpid $pid, 0;
            printf "%d %d %s", $? >> 8, -s $file->filename, `echo hi`'"#,
        says: r"^3 2 hi\n$",
        ..ROW
    },
    Row {
        name: "curl from a server inside",
        needs: &["curl", "python3"],
        files: &[(
            "serve.py",
            "import http.server\nserver = http.server.HTTPServer(('127.0.0.1', 0), \
             http.server.SimpleHTTPRequestHandler)\nprint(server.server_port, flush=True)\n\
             server.handle_request()\nserver.handle_request()\n",
        ), ("page", "served\n")],
        script: r#"
            coproc python3 serve.py 2> log
            read -r port <&"${COPROC[0]}"
            curl -sS "http://127.0.0.1:$port/page"
            curl -sS -o /dev/null -w '%{http_code}\n' "http://localhost:$port/none"
            wait
        "#,
        says: r"^served\n404\n$",
        ..ROW
    },
    Row {
        name: "openssl",
        needs: &["openssl"],
        script: "openssl version; echo hi | openssl dgst -sha256
                 openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -subj /CN=a 2>/dev/null
                 openssl x509 -in cert -noout -subject",
        says: r"^OpenSSL (?s).*CN ?= ?a\n$",
        ..ROW
    },
    Row {
        name: "processors and memory",
        needs: &["nproc", "getconf"],
        script: "nproc; getconf _NPROCESSORS_ONLN; getconf PAGE_SIZE; getconf NAME_MAX .
                 grep -c ^processor /proc/cpuinfo; grep MemTotal /proc/meminfo; uname -srm",
        says: r"^\d+\n\d+\n4096\n",
        ..ROW
    },
    Row {
        name: "locale and date",
        needs: &["locale", "date"],
        script: "locale; locale -a; date -u -d @0; TZ=Europe/Berlin date -d @0 +%c%Z; ls -l --time-style=+ / > /dev/null",
        says: r"(?s)LANG=.*1970",
        ..ROW
    },
    Row {
        name: "who one is",
        needs: &["id"],
        script: "id -u; id -g; id -un; stat -c %U .; echo ~; umask; touch a; chmod 700 a; stat -c %a a",
        says: r"(?s)^\d+\n\d+\n.*\n700\n$",
        ..ROW
    },
    Row {
        name: "/dev/shm and /tmp",
        needs: &["dd"],
        script: "name=/dev/shm/artel-$$; seq 10 > $name; wc -l < $name; rm $name; df /dev/shm | wc -l
                 file=$(mktemp); printf '#!/bin/sh\necho ran\n' > $file; chmod +x $file; $file; rm $file
                 dd if=/dev/zero of=/tmp/artel-$$ bs=1M count=8 2>/dev/null; rm /tmp/artel-$$
                 head -c 16 /dev/urandom | wc -c; echo gone > /dev/null; echo out > /dev/stdout",
        says: r"^10\n2\nran\n16\nout\n$",
        ..ROW
    },
    Row {
        name: "flock, timeout and links",
        needs: &["flock", "timeout"],
        script: "flock lock echo locked; timeout 60 echo in-time; nice -n 5 echo nice
                 timeout -s KILL 0.01 cat <> /dev/zero > /dev/null || echo $?
                 ln -s a link; ln lock hard; readlink link; stat -c %h hard; mv hard moved; test -f moved",
        says: r"^locked\nin-time\nnice\n137\na\n2\n$",
        ..ROW
    },
    Row {
        name: "headless browser",
        needs: &["chromium|chromium-browser|google-chrome|chrome"],
        files: &[(
            "a.html",
            "<p id=p></p><script>document.getElementById('p').textContent = 6 * 7</script>",
        )],
        script: r#"
            for name in chromium chromium-browser google-chrome chrome; do
                if browser=$(command -v $name); then break; fi
            done
            "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" \
                --dump-dom "file://$PWD/a.html"
        "#,
        says: r#"<p id="p">42</p>"#,
        ..ROW
    },
];
