//! Programs that use the network. A grant covers a plain request, but neither reading,
//! sending or writing local files nor starting programs on the way.

use super::options::Parsed;
use super::table::{
    Entry, Operands, Program, Style, Why, asks, asks_flag, calls, checks, lists, reads, starts,
    writes,
};
use super::view::View;

pub(super) const TABLE: &[Program] = &[
    Program::reads("curl")
        .values(CURL_VALUES)
        .flags(CURL_FLAGS)
        .entries(CURL)
        .operands(Operands::Call(urls)),
    Program::reads("wget wget2")
        .values(&[
            "-t --tries -T --timeout -w --wait -U --user-agent --header -Q --quota -l --level \
                -A -R",
            "--accept --reject -D --domains -I -X --limit-rate --method --post-data --body-data",
            "--user --password --http-user --http-password --referer --dns-timeout \
                --connect-timeout",
            "--read-timeout --max-redirect --secure-protocol --bind-address --prefer-family",
        ])
        .flags(&["--spider --quiet -q --no-check-certificate"])
        .entries(&[
            calls("-O --output-document", wget_output),
            writes("-P --directory-prefix -o --output-file -a --append-output --warc-file"),
            writes("--save-cookies --hsts-file --rejected-log"),
            asks("--post-file --body-file --load-cookies", Why::Sends),
            asks("-e --execute --config", Why::Loads),
            starts("--use-askpass"),
            asks("-i --input-file -B --base", Why::Sends),
            asks(
                "--ca-certificate --ca-directory --certificate --private-key",
                Why::Sends,
            ),
        ])
        .operands(Operands::Call(wget)),
    Program::reads("http https httpie xh xhs")
        .entries(&[
            writes("-o --output"),
            asks_flag("-d --download", Why::Writes),
            asks(
                "--cert --cert-key --session --session-read-only",
                Why::Sends,
            ),
            asks("--unix-socket", Why::Socket),
        ])
        .operands(Operands::Call(httpie)),
    Program::doubtful("ssh autossh sshpass mosh rsh rlogin telnet", Why::Remote)
        .style(Style::Posix)
        .values(&["-b -c -e -I -J -l -m -p -Q -w -W -B"])
        .entries(&[
            calls("-o", ssh_option),
            asks("-F -i", Why::Loads),
            asks("-E", Why::Writes),
            asks("-S -D -L -R", Why::Socket),
        ])
        .operands(Operands::Call(ssh)),
    Program::doubtful("scp sftp ftp lftp tftp ncftp", Why::Sends)
        .values(&["-c -J -l -P -X -s -B -R"])
        .entries(&[
            calls("-o", ssh_option),
            starts("-S -D"),
            asks("-F -i -b", Why::Loads),
        ]),
    Program::doubtful("ssh-add ssh-agent ssh-copy-id ssh-keygen", Why::Service),
    Program::reads("ssh-keyscan").entries(&[asks("-f", Why::Sends)]),
    Program::reads("nc ncat netcat")
        .values(&["-w -p -s -i -q -X -T -O -I"])
        .entries(&[
            starts("-e -c --exec --sh-exec --lua-exec"),
            asks_flag("-U --unixsock", Why::Socket),
            asks_flag("-l --listen -k --keep-open", Why::Socket),
            asks("-x --proxy", Why::Elsewhere),
            writes("-o --output --hex-dump"),
        ]),
    Program::doubtful("socat", Why::Socket).operands(Operands::Call(socat)),
    Program::reads("openssl")
        .style(Style::Dash)
        .entries(OPENSSL)
        .operands(Operands::Call(openssl)),
    Program::reads("gpg gpg2")
        .style(Style::Posix)
        .flags(&["--list-keys --list-secret-keys --fingerprint --version --with-colons -k -K"])
        .entries(&[
            writes("-o --output"),
            asks("--homedir --options --load-extension --keyring", Why::Loads),
            starts("--photo-viewer --agent-program --dirmngr-program --pinentry-mode"),
            asks_flag(
                "--import --recv-keys --delete-keys --gen-key --edit-key \
                --export-secret-keys",
                Why::Service,
            ),
        ]),
    Program::works("gh glab hub")
        .values(&["--body -b --title -t --json --jq -q --repo -R --limit -L"])
        .entries(&[
            asks("-F --field --input --body-file", Why::Sends).of("api gist release issue pr"),
            asks_flag("-w --web -e --editor", Why::Interactive),
            writes("-D --dir -O --output"),
        ])
        .operands(Operands::Call(gh)),
    Program::works("hg chg")
        .entries(&[
            asks("--config", Why::Loads),
            asks("-R --repository --cwd", Why::Elsewhere),
        ])
        .operands(Operands::Ignored),
    Program::works("svn svnadmin")
        .entries(&[
            asks("--diff-cmd --diff3-cmd --editor-cmd", Why::Starts),
            asks("--config-option --config-dir", Why::Loads),
        ])
        .operands(Operands::Ignored),
    Program::reads("dig nslookup host drill ping ping6 traceroute tracepath mtr whois")
        .entries(&[asks("-f", Why::Sends)]),
    Program::doubtful(
        "aws gcloud az heroku vercel netlify flyctl fly wrangler s3cmd rclone",
        Why::Service,
    ),
    Program::doubtful(
        "nmap masscan tcpdump tshark wireshark iptables nft ip ifconfig route",
        Why::Privilege,
    ),
    Program::doubtful("mail mailx sendmail mutt msmtp", Why::Sends),
    Program::doubtful("ngrok cloudflared localtunnel chisel", Why::Socket),
];

const CURL_VALUES: &[&str] = &[
    "-X --request -A --user-agent -e --referer -H --header -u --user -m --max-time -r --range \
        -y -Y",
    "-w --write-out -x --proxy -U --proxy-user -C --continue-at -z --time-cond -Q --quote -P -t",
    "--connect-timeout --retry --retry-delay --retry-max-time --max-redirs --resolve --limit-rate",
    "--interface --dns-servers --ciphers --tls-max --max-filesize --json-pp \
        --aws-sigv4",
    "--data-raw --oauth2-bearer --local-port --keepalive-time --speed-limit --speed-time --noproxy",
    "--parallel-max --rate --variable --doh-url --proto --proto-redir \
        --form-string",
    "--haproxy-clientip --happy-eyeballs-timeout-ms --expect100-timeout --socks5 --socks5-hostname",
    "--socks4 --socks4a --preproxy --service-name --login-options --sasl-authzid --tls13-ciphers",
    "--curves --request-target --connect-to --krb --delegation --pass --proxy-pass --key-type",
];

const CURL_FLAGS: &[&str] = &[
    "--compressed --fail --fail-with-body --fail-early --location --silent --show-error --head \
        --get",
    "--include --insecure --verbose --globoff --http1.0 --http1.1 --http2 --http3 --ipv4 --ipv6",
    "--progress-bar --parallel --path-as-is --post301 --no-buffer --no-keepalive \
        --retry-all-errors",
    "--retry-connrefused --ssl --ssl-reqd --tcp-nodelay --tlsv1.2 --tlsv1.3 --tr-encoding \
        --anyauth",
    "--basic --digest --styled-output --create-dirs --next --version --help --raw --url",
];

/// Options such as `--data` read a file if the value says so.
const CURL: &[Entry] = &[
    writes("-o --output --output-dir"),
    asks_flag(
        "-O --remote-name --remote-name-all -J --remote-header-name",
        Why::Writes,
    ),
    writes(
        "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save \
        --libcurl --hsts --alt-svc --ssl-sessions",
    ),
    asks("-T --upload-file", Why::Sends),
    checks(
        "-d --data --data-ascii --data-binary --json -H --header --proxy-header",
        names_file,
    ),
    checks("--data-urlencode --url-query", names_encoded_file),
    asks("--proto-default", Why::Sends),
    writes("--tls-keylog"),
    checks("-F --form", names_form_file),
    checks("-b --cookie", names_cookie_file),
    asks("-K --config", Why::Loads),
    asks("--unix-socket --abstract-unix-socket", Why::Socket),
    asks(
        "-E --cert --key --cacert --capath --proxy-cert --proxy-key --pinnedpubkey --crlfile",
        Why::Sends,
    ),
    asks("--engine --egd-file --random-file", Why::Loads),
    asks_flag("-n --netrc --netrc-optional", Why::Sends),
    asks("--netrc-file --etag-compare", Why::Sends),
];

const OPENSSL: &[Entry] = &[
    writes("-out -keyout -writerand -sess_out -keylogfile -outdir"),
    reads("-in -inkey -key -CAkey"),
    asks(
        "-engine -provider -provider-path -config -extfile -conf",
        Why::Loads,
    ),
    asks("-proxy -unix", Why::Socket),
];

fn names_file(value: &str) -> Option<Why> {
    value.starts_with('@').then_some(Why::Sends)
}

/// Doubts `@file` and `name@file`; after `=` the sign has no meaning.
fn names_encoded_file(value: &str) -> Option<Why> {
    let before = value.split('=').next().unwrap_or_default();
    before.contains('@').then_some(Why::Sends)
}

fn names_form_file(value: &str) -> Option<Why> {
    let content = value.split_once('=').map(|(_, content)| content);
    let reads_file = |content: &str| {
        let is_more = [",@", "=@", "=<", ",<"]
            .iter()
            .any(|sign| content.contains(sign));
        content.starts_with(['@', '<']) || is_more
    };
    content.is_some_and(reads_file).then_some(Why::Sends)
}

/// Doubts a cookie without `=`, which is the name of a file.
fn names_cookie_file(value: &str) -> Option<Why> {
    (!value.contains('=') && !value.is_empty()).then_some(Why::Sends)
}

fn urls(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for url in parsed
        .operands
        .iter()
        .copied()
        .chain(parsed.values_of("--url"))
    {
        let lower = url.to_ascii_lowercase();
        // A pattern in the scheme expands to another scheme: `{file}://`, `[f-f]ile://`.
        let scheme = lower.split(':').next().unwrap_or_default();
        if scheme.contains(['{', '[']) && !scheme.starts_with('[') || lower.starts_with("[f") {
            view.doubt_word(Why::Sends, url);
        }
        let is_web = lower.starts_with("http://") || lower.starts_with("https://");
        if !is_web && (lower.contains("://") || lower.starts_with("file:")) {
            view.doubt_word(Why::Sends, url);
        }
    }
    let detours = "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --doh-url \
        --resolve --connect-to -Q --quote --dns-servers --interface";
    for value in parsed.values_of(detours) {
        view.doubt_word(Why::Elsewhere, value);
    }
    for text in parsed.values_of("-w --write-out") {
        if text.starts_with('@') || text.contains("%output{") {
            view.doubt_word(Why::Writes, text);
        }
    }
    for text in parsed.values_of("--variable") {
        if text.contains('@') || text.contains('%') {
            view.doubt_word(Why::Sends, text);
        }
    }
}

fn gh(view: &mut View<'_>, parsed: &Parsed<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    let action = rest.first().copied().unwrap_or_default();
    match *sub {
        "gist" | "release" if lists("create upload edit", action) => {
            view.doubt_word(Why::Sends, sub)
        }
        "repo" if lists("delete archive rename edit create sync", action) => {
            view.doubt_word(Why::Service, action);
        }
        "auth" | "config" | "alias" | "extension" | "extensions" | "ssh-key" | "gpg-key"
        | "secret" | "variable" => view.doubt_word(Why::Service, sub),
        "codespace" | "cs" | "copilot" | "browse" => view.doubt_word(Why::Starts, sub),
        _ if lists(
            "pr issue repo run workflow search status release label api version help \
            gist",
            sub,
        ) => {}
        _ => view.doubt_word(Why::Unknown, sub),
    }
}

fn wget_output(view: &mut View<'_>, path: &str) {
    view.write(path);
}

/// Asks unless an output is named: by default the address decides the name of the written
/// file.
fn wget(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if let Some(url) = parsed.operands.first()
        && !parsed.has("-O --output-document --spider")
    {
        view.doubt_word(Why::Writes, url);
    }
}

fn httpie(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for item in parsed.operands.iter().skip(1) {
        let is_file = [":=@", "=@", ":@"].iter().any(|sign| item.contains(sign));
        if is_file || item.contains('@') && !item.contains('=') && !item.contains("://") {
            view.doubt_word(Why::Sends, item);
        }
    }
}

fn ssh_option(view: &mut View<'_>, option: &str) {
    let cut = option.find(['=', ' ', '\t']).unwrap_or(option.len());
    let (name, value) = option.split_at(cut);
    let launching = "proxycommand localcommand permitlocalcommand knownhostscommand \
        pkcs11provider securitykeyprovider include match identityagent controlpath remotecommand \
        xauthlocation sendenv setenv proxyusefdpass userknownhostsfile globalknownhostsfile";
    if lists(launching, &name.to_ascii_lowercase()) {
        view.doubt_word(Why::Starts, option);
        view.start_script(value.trim_start_matches(['=', ' ', '\t']));
    }
}

fn ssh(view: &mut View<'_>, parsed: &Parsed<'_>) {
    if parsed.operands.len() > 1 {
        view.start_script(&parsed.operands[1..].join(" "));
    }
}

fn socat(view: &mut View<'_>, parsed: &Parsed<'_>) {
    for address in &parsed.operands {
        let (kind, rest) = address.split_once(':').unwrap_or((address, ""));
        match kind.to_ascii_lowercase().as_str() {
            "exec" | "system" | "shell" => {
                view.doubt_word(Why::Starts, address);
                view.start_script(rest.split(',').next().unwrap_or_default());
            }
            "open" | "create" | "gopen" | "file" => {
                view.write(rest.split(',').next().unwrap_or_default())
            }
            _ => {}
        }
    }
}

fn openssl(view: &mut View<'_>, parsed: &Parsed<'_>) {
    match parsed.operands.first() {
        Some(&("s_server" | "ocsp" | "ca")) => view.doubt_word(Why::Socket, parsed.operands[0]),
        None => view.doubt_word(Why::Interactive, ""),
        _ => {}
    }
}
