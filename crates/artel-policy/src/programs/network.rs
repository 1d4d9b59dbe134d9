//! Programs that use the network. A grant covers a plain request, but neither reading,
//! sending or writing local files nor starting programs on the way.

use super::options::ParsedProgramArguments;
use super::table::{
    DoubtReason, OperandMeaning, ProgramOptionEntry, ProgramOptionStyle, ProgramSpec, asks,
    asks_flag, calls, checks, lists, reads, starts, writes,
};
use super::view::CommandInspector;

pub(super) const TABLE: &[ProgramSpec] = &[
    ProgramSpec::reads("curl")
        .values(CURL_VALUES)
        .flags(CURL_FLAGS)
        .entries(CURL)
        .operands(OperandMeaning::Call(urls)),
    ProgramSpec::reads("wget wget2")
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
            asks("--post-file --body-file --load-cookies", DoubtReason::Sends),
            asks("-e --execute --config", DoubtReason::Loads),
            starts("--use-askpass"),
            asks("-i --input-file -B --base", DoubtReason::Sends),
            asks(
                "--ca-certificate --ca-directory --certificate --private-key",
                DoubtReason::Sends,
            ),
        ])
        .operands(OperandMeaning::Call(wget)),
    ProgramSpec::reads("http https httpie xh xhs")
        .entries(&[
            writes("-o --output"),
            asks_flag("-d --download", DoubtReason::Writes),
            asks(
                "--cert --cert-key --session --session-read-only",
                DoubtReason::Sends,
            ),
            asks("--unix-socket", DoubtReason::Socket),
        ])
        .operands(OperandMeaning::Call(httpie)),
    ProgramSpec::doubtful(
        "ssh autossh sshpass mosh rsh rlogin telnet",
        DoubtReason::Remote,
    )
    .style(ProgramOptionStyle::Posix)
    .values(&["-b -c -e -I -J -l -m -p -Q -w -W -B"])
    .entries(&[
        calls("-o", ssh_option),
        asks("-F -i", DoubtReason::Loads),
        asks("-E", DoubtReason::Writes),
        asks("-S -D -L -R", DoubtReason::Socket),
    ])
    .operands(OperandMeaning::Call(ssh)),
    ProgramSpec::doubtful("scp sftp ftp lftp tftp ncftp", DoubtReason::Sends)
        .values(&["-c -J -l -P -X -s -B -R"])
        .entries(&[
            calls("-o", ssh_option),
            starts("-S -D"),
            asks("-F -i -b", DoubtReason::Loads),
        ]),
    ProgramSpec::doubtful(
        "ssh-add ssh-agent ssh-copy-id ssh-keygen",
        DoubtReason::Service,
    ),
    ProgramSpec::reads("ssh-keyscan").entries(&[asks("-f", DoubtReason::Sends)]),
    ProgramSpec::reads("nc ncat netcat")
        .values(&["-w -p -s -i -q -X -T -O -I"])
        .entries(&[
            starts("-e -c --exec --sh-exec --lua-exec"),
            asks_flag("-U --unixsock", DoubtReason::Socket),
            asks_flag("-l --listen -k --keep-open", DoubtReason::Socket),
            asks("-x --proxy", DoubtReason::Elsewhere),
            writes("-o --output --hex-dump"),
        ]),
    ProgramSpec::doubtful("socat", DoubtReason::Socket).operands(OperandMeaning::Call(socat)),
    ProgramSpec::reads("openssl")
        .style(ProgramOptionStyle::Dash)
        .entries(OPENSSL)
        .operands(OperandMeaning::Call(openssl)),
    ProgramSpec::reads("gpg gpg2")
        .style(ProgramOptionStyle::Posix)
        .flags(&["--list-keys --list-secret-keys --fingerprint --version --with-colons -k -K"])
        .entries(&[
            writes("-o --output"),
            asks(
                "--homedir --options --load-extension --keyring",
                DoubtReason::Loads,
            ),
            starts("--photo-viewer --agent-program --dirmngr-program --pinentry-mode"),
            asks_flag(
                "--import --recv-keys --delete-keys --gen-key --edit-key \
                --export-secret-keys",
                DoubtReason::Service,
            ),
        ]),
    ProgramSpec::works("gh glab hub")
        .values(&["--body -b --title -t --json --jq -q --repo -R --limit -L"])
        .entries(&[
            asks("-F --field --input --body-file", DoubtReason::Sends)
                .of("api gist release issue pr"),
            asks_flag("-w --web -e --editor", DoubtReason::Interactive),
            writes("-D --dir -O --output"),
        ])
        .operands(OperandMeaning::Call(gh)),
    ProgramSpec::works("hg chg")
        .entries(&[
            asks("--config", DoubtReason::Loads),
            asks("-R --repository --cwd", DoubtReason::Elsewhere),
        ])
        .operands(OperandMeaning::Ignored),
    ProgramSpec::works("svn svnadmin")
        .entries(&[
            asks("--diff-cmd --diff3-cmd --editor-cmd", DoubtReason::Starts),
            asks("--config-option --config-dir", DoubtReason::Loads),
        ])
        .operands(OperandMeaning::Ignored),
    ProgramSpec::reads("dig nslookup host drill ping ping6 traceroute tracepath mtr whois")
        .entries(&[asks("-f", DoubtReason::Sends)]),
    ProgramSpec::doubtful(
        "aws gcloud az heroku vercel netlify flyctl fly wrangler s3cmd rclone",
        DoubtReason::Service,
    ),
    ProgramSpec::doubtful(
        "nmap masscan tcpdump tshark wireshark iptables nft ip ifconfig route",
        DoubtReason::Privilege,
    ),
    ProgramSpec::doubtful("mail mailx sendmail mutt msmtp", DoubtReason::Sends),
    ProgramSpec::doubtful("ngrok cloudflared localtunnel chisel", DoubtReason::Socket),
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
const CURL: &[ProgramOptionEntry] = &[
    writes("-o --output --output-dir"),
    asks_flag(
        "-O --remote-name --remote-name-all -J --remote-header-name",
        DoubtReason::Writes,
    ),
    writes(
        "-D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save \
        --libcurl --hsts --alt-svc --ssl-sessions",
    ),
    asks("-T --upload-file", DoubtReason::Sends),
    checks(
        "-d --data --data-ascii --data-binary --json -H --header --proxy-header",
        names_file,
    ),
    checks("--data-urlencode --url-query", names_encoded_file),
    asks("--proto-default", DoubtReason::Sends),
    writes("--tls-keylog"),
    checks("-F --form", names_form_file),
    checks("-b --cookie", names_cookie_file),
    asks("-K --config", DoubtReason::Loads),
    asks("--unix-socket --abstract-unix-socket", DoubtReason::Socket),
    asks(
        "-E --cert --key --cacert --capath --proxy-cert --proxy-key --pinnedpubkey --crlfile",
        DoubtReason::Sends,
    ),
    asks("--engine --egd-file --random-file", DoubtReason::Loads),
    asks_flag("-n --netrc --netrc-optional", DoubtReason::Sends),
    asks("--netrc-file --etag-compare", DoubtReason::Sends),
];

const OPENSSL: &[ProgramOptionEntry] = &[
    writes("-out -keyout -writerand -sess_out -keylogfile -outdir"),
    reads("-in -inkey -key -CAkey"),
    asks(
        "-engine -provider -provider-path -config -extfile -conf",
        DoubtReason::Loads,
    ),
    asks("-proxy -unix", DoubtReason::Socket),
];

fn names_file(value: &str) -> Option<DoubtReason> {
    value.starts_with('@').then_some(DoubtReason::Sends)
}

/// Doubts `@file` and `name@file`; after `=` the sign has no meaning.
fn names_encoded_file(value: &str) -> Option<DoubtReason> {
    let before = value.split('=').next().unwrap_or_default();
    before.contains('@').then_some(DoubtReason::Sends)
}

fn names_form_file(value: &str) -> Option<DoubtReason> {
    let content = value.split_once('=').map(|(_, content)| content);
    let reads_file = |content: &str| {
        let is_more = [",@", "=@", "=<", ",<"]
            .iter()
            .any(|sign| content.contains(sign));
        content.starts_with(['@', '<']) || is_more
    };
    content
        .is_some_and(reads_file)
        .then_some(DoubtReason::Sends)
}

/// Doubts a cookie without `=`, which is the name of a file.
fn names_cookie_file(value: &str) -> Option<DoubtReason> {
    (!value.contains('=') && !value.is_empty()).then_some(DoubtReason::Sends)
}

fn urls(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
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
            view.doubt_word(DoubtReason::Sends, url);
        }
        let is_web = lower.starts_with("http://") || lower.starts_with("https://");
        if !is_web && (lower.contains("://") || lower.starts_with("file:")) {
            view.doubt_word(DoubtReason::Sends, url);
        }
    }
    let detours = "-x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --doh-url \
        --resolve --connect-to -Q --quote --dns-servers --interface";
    for value in parsed.values_of(detours) {
        view.doubt_word(DoubtReason::Elsewhere, value);
    }
    for text in parsed.values_of("-w --write-out") {
        if text.starts_with('@') || text.contains("%output{") {
            view.doubt_word(DoubtReason::Writes, text);
        }
    }
    for text in parsed.values_of("--variable") {
        if text.contains('@') || text.contains('%') {
            view.doubt_word(DoubtReason::Sends, text);
        }
    }
}

fn gh(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    let Some((sub, rest)) = parsed.operands.split_first() else {
        return;
    };
    let action = rest.first().copied().unwrap_or_default();
    match *sub {
        "gist" | "release" if lists("create upload edit", action) => {
            view.doubt_word(DoubtReason::Sends, sub)
        }
        "repo" if lists("delete archive rename edit create sync", action) => {
            view.doubt_word(DoubtReason::Service, action);
        }
        "auth" | "config" | "alias" | "extension" | "extensions" | "ssh-key" | "gpg-key"
        | "secret" | "variable" => view.doubt_word(DoubtReason::Service, sub),
        "codespace" | "cs" | "copilot" | "browse" => view.doubt_word(DoubtReason::Starts, sub),
        _ if lists(
            "pr issue repo run workflow search status release label api version help \
            gist",
            sub,
        ) => {}
        _ => view.doubt_word(DoubtReason::Unknown, sub),
    }
}

fn wget_output(view: &mut CommandInspector<'_>, path: &str) {
    view.write(path);
}

/// Asks unless an output is named: by default the address decides the name of the written
/// file.
fn wget(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if let Some(url) = parsed.operands.first()
        && !parsed.has("-O --output-document --spider")
    {
        view.doubt_word(DoubtReason::Writes, url);
    }
}

fn httpie(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for item in parsed.operands.iter().skip(1) {
        let is_file = [":=@", "=@", ":@"].iter().any(|sign| item.contains(sign));
        if is_file || item.contains('@') && !item.contains('=') && !item.contains("://") {
            view.doubt_word(DoubtReason::Sends, item);
        }
    }
}

fn ssh_option(view: &mut CommandInspector<'_>, option: &str) {
    let cut = option.find(['=', ' ', '\t']).unwrap_or(option.len());
    let (name, value) = option.split_at(cut);
    let launching = "proxycommand localcommand permitlocalcommand knownhostscommand \
        pkcs11provider securitykeyprovider include match identityagent controlpath remotecommand \
        xauthlocation sendenv setenv proxyusefdpass userknownhostsfile globalknownhostsfile";
    if lists(launching, &name.to_ascii_lowercase()) {
        view.doubt_word(DoubtReason::Starts, option);
        view.start_script(value.trim_start_matches(['=', ' ', '\t']));
    }
}

fn ssh(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    if parsed.operands.len() > 1 {
        view.start_script(&parsed.operands[1..].join(" "));
    }
}

fn socat(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    for address in &parsed.operands {
        let (kind, rest) = address.split_once(':').unwrap_or((address, ""));
        match kind.to_ascii_lowercase().as_str() {
            "exec" | "system" | "shell" => {
                view.doubt_word(DoubtReason::Starts, address);
                view.start_script(rest.split(',').next().unwrap_or_default());
            }
            "open" | "create" | "gopen" | "file" => {
                view.write(rest.split(',').next().unwrap_or_default())
            }
            _ => {}
        }
    }
}

fn openssl(view: &mut CommandInspector<'_>, parsed: &ParsedProgramArguments<'_>) {
    match parsed.operands.first() {
        Some(&("s_server" | "ocsp" | "ca")) => {
            view.doubt_word(DoubtReason::Socket, parsed.operands[0])
        }
        None => view.doubt_word(DoubtReason::Interactive, ""),
        _ => {}
    }
}
