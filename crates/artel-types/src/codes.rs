//! Every error code, with the page that `artel explain` prints.

use std::fmt;
use std::str::FromStr;

use crate::FailureKind;

/// The explanation page of one error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureCodePage {
    /// The kind of failure, which sets the exit code.
    pub kind: FailureKind,
    /// The meaning in one line.
    pub title: &'static str,
    /// The full text: what the code means and what to do about it.
    pub text: &'static str,
}

macro_rules! codes {
    ($( $code:ident $kind:ident $title:literal $text:literal )+) => {
        /// A stable name for one thing that can go wrong.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FailureCode {
            $( #[doc = $title] $code, )+
        }

        impl FailureCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[ $( Self::$code, )+ ];

            /// Returns the explanation page of this code.
            pub fn page(self) -> FailureCodePage {
                match self {
                    $( Self::$code => FailureCodePage {
                        kind: FailureKind::$kind, title: $title, text: $text,
                    }, )+
                }
            }
        }

        impl fmt::Display for FailureCode {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $( Self::$code => stringify!($code), )+ })
            }
        }
    };
}

codes! {
    C001 Usage "the command line does not make sense"
        "Artel could not tell what was meant. `artel --help` lists the commands, and every command \
         has `--help` with an example."
    C002 Usage "unknown flag"
        "The command has no flag of that name. The nearest one is named where there is one."
    C003 Usage "unknown command"
        "There is no such command. The nearest one is named where there is one."
    C004 Usage "a value is not allowed"
        "The flag or argument exists, but not with that value. The message lists what is allowed."
    C005 Usage "something is missing"
        "The command needs an argument that was not given."
    C006 Refused "a person has to say yes first"
        "The command changes or removes something and asks before it does. Without a terminal \
         nobody can answer: run it in one, or add `--yes` if you mean it."
    C007 NotFound "no such error code"
        "Codes are a letter and three digits, as printed in `error[J003]`. `artel explain` without \
         a code lists them all."
    C008 Failed "the output could not be written"
        "Standard output or the named file refused what was printed: often a full disk. A reader \
         that stops early (`| head`) is not an error."
    S001 Usage "a settings file cannot be read"
        "The file exists but could not be read as text. Nothing was started."
    S002 Usage "a settings file is not TOML"
        "The message names file, line and column. Nothing was started."
    S003 Usage "unknown setting"
        "There is no setting of that name; unknown names are refused, because a misspelt one would \
         silently do nothing. `artel config show` lists all settings."
    S004 Usage "a setting has the wrong type"
        "For example a number where text is expected. The message names file, line and what is \
         expected."
    S005 Usage "a setting has a value that is not allowed"
        "The message names file, line and the allowed values."
    W001 NotFound "no workshop"
        "A workshop is looked for in this order: `--workshop DIR`, `ARTEL_WORKSHOP`, the nearest \
         parent folder that is a workshop you made or trusted, `~/Artel`. `artel init` makes one."
    W002 NotFound "the named workshop does not exist"
        "`--workshop` or `ARTEL_WORKSHOP` names a folder that is not there. Artel never makes a \
         folder that was named by mistake; `artel init DIR` makes one on purpose."
    W003 NotFound "the folder is not a workshop"
        "The folder exists but has no `.artel/workshop.json`. `artel init DIR` turns a folder into \
         a workshop without touching what is in it."
    W004 Failed "the workshop could not be laid out"
        "A folder or file could not be made. The message says which one and why."
    W005 NotFound "nothing has that id"
        "No event carries an id that begins like that. `artel journal tail` shows recent ids."
    W006 Usage "the id is not unique"
        "Several ids begin like that. Type more characters."
    W007 Refused "somebody else could change the workshop"
        "`.artel` must be a real folder that belongs to you and that nobody else can write; \
         otherwise another user could change what Artel remembers. What decides about agents \
         (`artel.toml`, `Policy`, `Agents`, `Tools`, `Skills`, `Knowledge/Context`) must be yours, \
         too: the message says what is not, and how to mend it. For the root user, files of the \
         user who owns the workshop's folder count as well."
    W008 Failed "a file of the workshop could not be read or written"
        "The message names the file and what the system said."
    W009 Refused "the workshop is not one you made or trusted"
        "The folder holds a workshop that came from elsewhere, for example with a repository. Its \
         settings could send your work to other machines. Look at its `artel.toml`, then run \
         `artel workshop trust DIR`. Where a folder that is no workshop has settings, policy, roles, \
         skills or the like, `artel init` shows them and makes it yours once you say yes. Or a run \
         put roles, tools or policy into your own workshop, as older versions let it: look at the \
         files that are named, then `artel workshop trust`."
    W010 NotFound "the named file does not exist"
        "The command line names a file that is not there. The message says where such files are \
         kept."
    J001 Failed "the journal cannot be opened"
        "The file exists but could not be opened. The message carries what the system said."
    J002 Failed "the journal was written by a newer Artel"
        "This build does not know the journal's format and will not guess. Install the newer \
         version, or read a copy that it exported."
    J003 Failed "the journal is damaged"
        "An event does not fit the chain, or a page of the file is unreadable. Events before the \
         damage can still be read; nothing more is written. `artel journal verify` names the first \
         bad event; `artel journal restore` offers the longest intact part or a backup, whichever \
         holds more."
    J004 Failed "the journal is shorter than it was"
        "The newest signed head, kept in your data folder, names an event that the file no longer \
         holds: the file was cut, or an older copy was put in its place. `artel journal restore` \
         lets you go on from what is there, and records that you did."
    J005 Failed "the journal is busy"
        "Another process held the journal's write turn for longer than the limit. Artel processes \
         take turns within a second; a tool with an open write transaction, or a stopped process, \
         does not."
    J006 Failed "the disk is full"
        "Nothing was recorded and nothing half-written remains. Artel waits for room by itself and \
         goes on within seconds once there is; this is said by a command that was told to stop \
         meanwhile. Free some space (`artel clean` shows what Artel itself could free), or raise \
         the quota or the limit of file sizes, and repeat."
    J007 Failed "the journal is read-only"
        "The file or its folder cannot be written by you. Reading commands still work."
    J008 Failed "the disk reported an error"
        "The system could not read or write the journal. What was acknowledged before is on disk. \
         What was being written is not, unless the message says that it may turn up: `artel journal \
         tail` shows what is there. A full disk is waited for and is not this error; see whether \
         there is room all the same (`df -h`, `df -i`), then what the system's log says of the disk \
         (`journalctl -k`), and copy the workshop to another one if it fails."
    J009 Failed "somebody else wrote first"
        "The stream has moved on since it was read. Read it again and decide anew."
    J010 Failed "the lease has passed to another process"
        "This process was paused or too slow to renew, and another took over. It must stop; \
         nothing that it tried to write was recorded."
    J011 Refused "another process is at work on it"
        "One process at a time may drive a run or an inbox. The message names the owner."
    J012 Failed "cannot recover"
        "Neither the journal nor any backup holds an intact event. The damaged file was left as it \
         is."
    J013 Failed "a stored value is missing or damaged"
        "A blob's bytes do not have the hash they are filed under, or are gone. The event that \
         names it is intact. Put the blob back from a copy of `.artel/blobs`."
    J014 Failed "the journal could not be brought to the new format"
        "Nothing was changed, and a backup was taken before the attempt. Report this with the \
         message."
    J015 Failed "the signing key cannot be used"
        "The key in your data folder is missing, damaged or readable by others. Without it events \
         cannot be signed, so nothing is recorded. Or the journal was signed with a key that is not \
         known on this machine: if the workshop is yours, `artel workshop trust` accepts it."
    J016 Failed "the file is not a journal of Artel"
        "It is another kind of file, or an empty database. Nothing was changed."
    J017 Failed "the journal was closed"
        "Something was still being recorded while the journal was being closed. What was \
         acknowledged is on disk."
    J018 Failed "an event cannot be decoded"
        "The event is intact, but its payload does not have the shape its kind has in this build."
    J019 Usage "the event cannot be recorded"
        "It is larger than an event may be, or refers to something that does not exist."
    J020 Failed "an archive of the journal is missing or damaged"
        "`prune` moved finished streams there, and the chain cannot be followed without it. Put \
         the file back into `.artel/archive`."
    J021 Failed "the journal was replaced while it was in use"
        "Another file was put in its place, as `artel journal restore` does. What was read before \
         may no longer be so; nothing of what was asked for has been recorded. Repeat it."
    M001 Usage "no such provider"
        "A model is named as `provider:model`, or by an alias whose entry names the provider. The \
         message lists the providers there are. Artel never falls back to another one."
    M002 Usage "no such model alias"
        "Aliases are the names under `[models]` in `artel.toml`, and `default`, `inherit`, `fast`, \
         `balanced`, `strong`, `haiku`, `sonnet`, `opus`. `artel model list` shows what each means \
         here."
    M003 Usage "the provider needs a key"
        "No key was found for it: not in the environment, not in the system key store, not in the \
         encrypted file. `artel auth set PROVIDER` stores one, after trying it."
    M004 Usage "no model is configured"
        "Artel found no key in the environment or in the key store, no Ollama on this machine, and \
         no `[models]` in `artel.toml`. Store a key with `artel auth set anthropic`, or start \
         Ollama, or name a script: `ARTEL_MODEL=rehearsal:FILE.yaml`."
    M005 Refused "a budget is used up"
        "The call would pass a limit, so it was not made. The message names the level, the limit \
         and, where it has a period, when it counts from zero again. Limits stand in `[budget]` in \
         `artel.toml`; `artel usage` shows what was spent on what."
    M006 Refused "the content must stay on this machine"
        "It comes from a portal with the label `local-only`, and the model is not on this machine. \
         Choose a local model, or change the portal's label."
    M007 Failed "the provider is not well"
        "It failed so often that it is left alone for a while; one call then tries whether it is \
         back. `artel model reset PROVIDER` asks again at once."
    M008 Failed "the provider asks for a long pause"
        "It named a wait of more than ten minutes. The work is parked until then and goes on by \
         itself; nothing is lost."
    M009 Failed "the model did not answer"
        "The message says what the provider or the network said. What could be tried again, was."
    M010 Failed "the model or its request is not accepted"
        "The provider does not know the model, or does not understand or accept the request. \
         Trying again would not help."
    M011 Usage "a rehearsal script cannot be used"
        "The script or recording is missing, or is not what one looks like. The message \
         names file and line; `docs/rehearsal.md` describes the format."
    M012 Failed "the rehearsal expected something else"
        "The request is not the one that the script or the recording has next. The message shows \
         the difference."
    M013 Interrupted "the call was called off"
        "Somebody stopped it. What had come by then was kept."
    K001 Failed "the key store cannot be used"
        "The encrypted file or its key is damaged, unreadable, or readable by others. The message \
         names it. Make it private again, or move it away, or run `artel auth remove --all`; then \
         give the keys again."
    K002 Usage "the key was not accepted"
        "The provider refused the key in a call that costs nothing, so it was not stored."
    K003 NotFound "no such key"
        "Nothing is stored for that provider and account. `artel auth status` lists what is."
    K004 Usage "no key was given"
        "`artel auth set` reads the key from a prompt or from standard input, never from the \
         command line, where others could see it."
    P001 Refused "policy does not allow it"
        "The message names the rule that decided. A built-in rule (`never.…`) cannot be lifted; for \
         others `artel policy list` shows what is granted, and `artel policy check -- COMMAND` why a \
         command is not."
    P002 Refused "a person has to be asked, and nobody can answer"
        "It needs a yes, and there is no terminal to ask at. Run it where you can answer. Where a \
         rule would allow it from now on, the message names it; `artel policy grant RULE --reason \
         WHY` grants it."
    P003 Usage "a rule cannot be read"
        "A rule that does not parse grants nothing. The message shows the place and what a rule \
         looks like, such as `Bash(git status:*)`, `Edit(src/**)`, `Read`, `git_log`."
    P004 Usage "a policy file cannot be used"
        "A file in `Policy/` is not what it should be, so nothing in it counts. The message names \
         line and column."
    P005 NotFound "no such grant"
        "`artel policy list` shows the grants with their numbers."
    P006 Refused "the text holds what looks like a secret"
        "Keys do not belong into requests, hints or arguments: they would be sent and stored. The \
         message names the sort, not the value. Take it out, or let it be replaced."
    P007 Refused "the rule is too broad to be granted for good"
        "Shells, interpreters, wrappers and bare `git` run anything. Grant the narrow form that you \
         need, such as `Bash(python -m pytest:*)`."
    P008 Refused "another grant has that number by now"
        "Grants are numbered by their places in the list, and those move when one is taken back. \
         Nothing was changed: look at `artel policy list`, and name the rule itself."
    H001 Usage "the server cannot listen there"
        "Another program holds the address, or it is not one of this machine. Beyond loopback the \
         server listens only where `--public` says so."
    H002 Refused "the daemon is already running"
        "One daemon serves a workshop. `artel daemon status` shows which; `artel daemon restart` \
         starts it anew."
    H003 NotFound "the daemon is not running"
        "`artel daemon start` starts it; `artel serve` runs it in this terminal."
    H004 Refused "the token does not allow it"
        "Tokens have the role user, developer or admin. The message names the role that is needed; \
         `artel token create --role ROLE` makes one."
    H005 NotFound "no such token"
        "`artel token list` shows the tokens with their ids."
    H006 Failed "the daemon did not come up"
        "It ended right after it was started. The message shows what it said; `artel daemon logs` \
         shows more."
    H007 Refused "the request is not from the console or a program of yours"
        "Its Host, Origin or Sec-Fetch-Site names another site, or it came from a page without the \
         key that a sign-in gives. Call the server by its own address. A page that has no key can \
         be read; `artel open` prints a link that gives this browser one."
    H008 Refused "a token is needed"
        "Send `Authorization: Bearer TOKEN`; `artel token create --role ROLE` makes one. For the \
         console, `artel open` prints a link."
    H009 Refused "too much at once"
        "The server bounds sizes, connections and failed tokens. The message names the bound."
    H010 Refused "a fresh sign-in is needed"
        "Tokens, grants and trust are given, and roles changed, at the console within five minutes of \
         a sign-in, so that a browser somebody left open cannot do so. `artel open` prints a link: \
         follow it in the same browser, then repeat what you did. In a terminal no sign-in is needed."
    H011 Usage "a browser has no name for the console"
        "The console is reached at a name of its own below `localhost`, which leads to 127.0.0.1 and \
         [::1] alone. Where the server listens elsewhere, `server.hosts` names the proxy before it."
    B001 Refused "the sandbox does not reach the level that is demanded"
        "The message names each missing layer and what would help; `artel doctor` shows all of \
         them. Nothing was run."
    B002 Failed "the sandbox could not be built"
        "The message names the step that failed. Nothing was run."
    B003 NotFound "the program could not be started"
        "It was not found inside the sandbox, or is not a program. Only what the sandbox shows can \
         be run; `sandbox.read` adds folders."
    B004 Failed "the command was ended at its limit"
        "It took too long or too much. The message names the limit and what raises it."
    B005 Usage "such a host cannot be granted"
        "A grant names one host, such as `example.com`, `example.com:8443` or `127.0.0.1:5432`."
    T001 NotFound "no such tool"
        "`artel tool list` shows what there is, built in and declared in `Tools/`."
    T002 Usage "the input does not fit the tool"
        "`artel tool show NAME` prints the schema with what each field means."
    T003 Failed "the tool could not do it"
        "The message is what an agent would see, with what to try instead."
    T004 Usage "a declared tool cannot be used"
        "A file in `Tools/` is not right. The message names the file, the place and the remedy."
    R001 NotFound "no such skill"
        "Skills are folders with a `SKILL.md`: in `Skills/` of the workshop, in `.agents/skills` \
         and `.claude/skills` of the project and of your home folder. `artel skill list` shows what \
         was found, and what could not be loaded."
    R002 Usage "a skill cannot be used"
        "Its `SKILL.md` is not right. The message names the file, the line, the field and the \
         remedy; `artel skill validate` checks it as a whole."
    R003 Refused "the skill is not trusted"
        "It comes from outside the workshop, or a run put it there, and you have not yet said that \
         you trust it as it is. \
         `artel skill show NAME` shows what it may run; `artel skill trust NAME` trusts it until a \
         file of it changes."
    R004 NotFound "no such run"
        "`artel runs` shows the runs there are, the newest first. An id may be cut short as long as \
         only one run begins like it."
    R005 Failed "the run did not come to its end"
        "It is over, and not all was achieved: the message says why. `artel trace RUN` shows \
         everything that happened."
    R006 Refused "files were changed meanwhile"
        "You, or another program, touched files that the run changed, too. Nothing was put in \
         place. The message names them; the run's own files are still there."
    R007 Interrupted "the run was left and can be taken up"
        "Nothing is lost: `artel resume RUN` goes on from the last event."
    R008 Refused "the run is not in a state for that"
        "A run that is over cannot be steered, and one that is under way cannot be applied. A run \
         whose recorded limits are missing or cannot be read cannot be resumed alone: the message \
         says what to do instead."
    R009 Usage "a hook cannot be used"
        "Its declaration is not right. The message names the file and the remedy."
    F001 NotFound "no such portal"
        "A portal is a project folder that you opened to agents. `artel portal list` shows those \
         there are; `artel portal add PATH` opens one."
    F002 Refused "the portal does not admit it"
        "Each portal says which roles may work there and what they may do: read, write, git. \
         `artel portal show NAME` shows it; `artel portal add PATH` with other flags changes it."
    F003 Refused "the folder is not opened to agents"
        "It would open more than a project (your home folder, the whole machine, a workshop in it, \
         Artel's own state), or you have not said yes to it. The message says which."
    X001 Bug "a mistake in Artel"
        "This should not have happened. Please report it with the message and what you did."
    X002 Interrupted "interrupted"
        "You stopped it. What was acknowledged is on disk."
}

impl FromStr for FailureCode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let wanted = text.to_ascii_uppercase();
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.to_string() == wanted)
            .ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_back_in_any_case() {
        for code in FailureCode::ALL {
            assert_eq!(code.to_string().to_lowercase().parse(), Ok(*code));
        }
        assert_eq!("J999".parse::<FailureCode>(), Err(()));
    }

    #[test]
    fn every_page_says_something_to_do_or_know() {
        for code in FailureCode::ALL {
            let page = code.page();
            assert!(page.text.len() > 40, "{code}");
            assert!(!page.title.ends_with('.'), "{code}: a title is a clause");
        }
    }
}
