//! Keys and tokens that are recognised by their prefix.

use super::verdict::{LongSecretEnding, RedactionRuleOutcome};
use super::view::{SecretScanText, contains, is_base64, is_name};

/// One format: its name, its prefix, and the kind and length of the body after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct VendorTokenFormat {
    pub(super) name: &'static str,
    pub(super) prefix: &'static str,
    body: VendorTokenBody,
    least: usize,
    most: usize,
}

/// The characters of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VendorTokenBody {
    Alnum,
    /// Capitals and digits.
    Upper,
    Hex,
    /// Alphanumeric, `_` and `-`.
    Dash,
    /// Like `Dash`, with digits and few words, because the prefix alone says too little.
    Mixed,
    /// Alphanumeric, `_`, `-` and `.`.
    Dotted,
    Base64,
    /// Three parts joined by full stops, the second of 24 characters.
    Harness,
    /// Fourteen characters, a full stop, and 64 hex digits.
    Airtable,
    /// Hexadecimal parts joined by dashes or full stops.
    HexParts,
    /// Base64, with commas between several tokens.
    Listed,
    /// Alphanumeric parts joined by dollar signs.
    Dollars,
    /// Alphanumeric with percent escapes.
    Percent,
}

/// Longest body that is held, in bytes. A longer one is hidden while it is read.
const LONGEST_BODY: usize = 512;

const ANY: usize = usize::MAX;

const fn vendor(
    name: &'static str,
    prefix: &'static str,
    body: VendorTokenBody,
    least: usize,
) -> VendorTokenFormat {
    VendorTokenFormat {
        name,
        prefix,
        body,
        least,
        most: ANY,
    }
}

const fn exact(
    name: &'static str,
    prefix: &'static str,
    body: VendorTokenBody,
    length: usize,
) -> VendorTokenFormat {
    VendorTokenFormat {
        name,
        prefix,
        body,
        least: length,
        most: length,
    }
}

use VendorTokenBody::{
    Airtable, Alnum, Base64, Dash, Dollars, Dotted, Harness, Hex, HexParts, Listed, Mixed, Percent,
    Upper,
};

pub(super) const VENDORS: &[VendorTokenFormat] = &[
    exact("aws access key id", "AKIA", Upper, 16),
    exact("aws access key id", "ASIA", Upper, 16),
    exact("aws access key id", "ABIA", Upper, 16),
    exact("aws access key id", "ACCA", Upper, 16),
    vendor("aws bedrock key", "ABSK", Base64, 60),
    vendor("github token", "ghp_", Alnum, 30),
    vendor("github token", "gho_", Alnum, 30),
    vendor("github token", "ghu_", Alnum, 30),
    vendor("github token", "ghs_", Alnum, 30),
    vendor("github token", "ghr_", Alnum, 30),
    vendor("github token", "github_pat_", Dash, 22),
    vendor("gitlab token", "glpat-", Dotted, 16),
    vendor("gitlab token", "gldt-", Dotted, 16),
    vendor("gitlab token", "glptt-", Dotted, 16),
    vendor("gitlab token", "glrt-", Dotted, 16),
    vendor("gitlab token", "glrtr-", Dotted, 16),
    vendor("gitlab token", "glcbt-", Dotted, 16),
    vendor("gitlab token", "glft-", Dotted, 16),
    vendor("gitlab token", "glsoat-", Dotted, 16),
    vendor("gitlab token", "glimt-", Dotted, 16),
    vendor("gitlab token", "glagent-", Dotted, 16),
    vendor("gitlab token", "gloas-", Dotted, 16),
    vendor("gitlab token", "glffct-", Dotted, 16),
    vendor("gitlab token", "glwt-", Dotted, 16),
    vendor("gitlab token", "GR1348941", Dash, 16),
    vendor("bitbucket token", "ATBB", Alnum, 24),
    vendor("bitbucket token", "ATCTT3", Base64, 40),
    vendor("atlassian token", "ATATT3", Base64, 40),
    vendor("slack token", "xoxb-", Dash, 16),
    vendor("slack token", "xoxp-", Dash, 16),
    vendor("slack token", "xoxa-", Dash, 10),
    vendor("slack token", "xoxr-", Dash, 10),
    vendor("slack token", "xoxs-", Dash, 10),
    vendor("slack token", "xoxc-", Dash, 10),
    vendor("slack token", "xoxd-", Base64, 10),
    vendor("slack token", "xoxe-", Dash, 10),
    vendor("slack token", "xoxe.xox", Dash, 10),
    vendor("slack token", "xoxo-", Dash, 10),
    vendor("slack token", "xapp-", Dash, 16),
    vendor("stripe key", "sk_live_", Alnum, 10),
    vendor("stripe key", "sk_test_", Alnum, 10),
    vendor("stripe key", "rk_live_", Alnum, 10),
    vendor("stripe key", "rk_test_", Alnum, 10),
    vendor("stripe key", "sk_prod_", Alnum, 10),
    vendor("stripe key", "rk_prod_", Alnum, 10),
    vendor("stripe webhook secret", "whsec_", Base64, 20),
    vendor("anthropic key", "sk-ant-", Dash, 16),
    vendor("openai key", "sk-proj-", Dash, 16),
    vendor("openai key", "sk-svcacct-", Dash, 16),
    vendor("openai key", "sk-admin-", Dash, 20),
    vendor("openai key", "sk-None-", Dash, 20),
    vendor("openrouter key", "sk-or-v1-", Dash, 16),
    vendor("langfuse key", "sk-lf-", Dash, 16),
    vendor("openai key", "sk-", Mixed, 20),
    vendor("secret key", "sk_", Hex, 32),
    vendor("openai session", "sess-", Alnum, 30),
    vendor("google api key", "AIza", Dash, 30),
    vendor("google oauth secret", "GOCSPX-", Dash, 20),
    vendor("google oauth token", "ya29.", Dash, 20),
    vendor("google refresh token", "1//0", Dash, 30),
    vendor("firebase key", ":APA91b", Dash, 60),
    vendor("npm token", "npm_", Alnum, 30),
    vendor("pypi token", "pypi-AgE", Dash, 16),
    vendor("pypi token", "pypi-", Mixed, 50),
    vendor("rubygems key", "rubygems_", Hex, 32),
    vendor("crates.io token", "cio", Alnum, 32),
    vendor("nuget key", "oy2", Alnum, 43),
    vendor("clojars token", "CLOJARS_", Alnum, 40),
    vendor("docker token", "dckr_pat_", Dash, 20),
    vendor("docker token", "dckr_oat_", Dash, 20),
    vendor("hugging face token", "hf_", Alnum, 30),
    vendor("hugging face token", "api_org_", Alnum, 30),
    vendor("replicate token", "r8_", Alnum, 30),
    vendor("groq key", "gsk_", Alnum, 30),
    vendor("xai key", "xai-", Alnum, 40),
    vendor("perplexity key", "pplx-", Alnum, 32),
    vendor("cerebras key", "csk-", Alnum, 30),
    vendor("fireworks key", "fw_", Alnum, 20),
    vendor("tavily key", "tvly-", Dash, 24),
    vendor("pinecone key", "pcsk_", Dash, 40),
    vendor("langsmith key", "lsv2_", Dash, 32),
    vendor("nvidia key", "nvapi-", Dash, 40),
    vendor("digitalocean token", "dop_v1_", Hex, 40),
    vendor("digitalocean token", "doo_v1_", Hex, 40),
    vendor("digitalocean token", "dor_v1_", Hex, 40),
    vendor("doppler token", "dp.pt.", Dotted, 24),
    vendor("doppler token", "dp.st.", Dotted, 24),
    vendor("doppler token", "dp.ct.", Dotted, 24),
    vendor("doppler token", "dp.sa.", Dotted, 24),
    vendor("doppler token", "dp.scim.", Dotted, 24),
    vendor("doppler token", "dp.audit.", Dotted, 24),
    vendor("vault token", "hvs.", Dash, 20),
    vendor("vault token", "hvb.", Dash, 20),
    vendor("vault token", "hvr.", Dash, 20),
    vendor("databricks token", "dapi", HexParts, 32),
    vendor("databricks token", "dose", Hex, 32),
    vendor("datadog key", "ddpub_", Alnum, 30),
    vendor("new relic key", "NRAK-", Alnum, 20),
    vendor("new relic key", "NRJS-", Alnum, 16),
    vendor("new relic key", "NRII-", Dash, 20),
    vendor("new relic key", "NRRA-", Alnum, 30),
    vendor("sentry token", "sntrys_", Base64, 32),
    vendor("sentry token", "sntryu_", Hex, 32),
    vendor("grafana token", "glsa_", Dash, 24),
    vendor("grafana token", "glc_", Base64, 24),
    vendor("grafana key", "eyJrIjoi", Base64, 40),
    vendor("linear key", "lin_api_", Alnum, 20),
    vendor("linear token", "lin_oauth_", Alnum, 20),
    vendor("notion token", "secret_", Alnum, 30),
    vendor("notion token", "ntn_", Alnum, 30),
    vendor("figma token", "figd_", Dash, 20),
    vendor("figma token", "figo_", Dash, 20),
    vendor("shopify token", "shpat_", Alnum, 24),
    vendor("shopify token", "shpca_", Alnum, 24),
    vendor("shopify token", "shppa_", Alnum, 24),
    vendor("shopify token", "shpss_", Alnum, 24),
    vendor("shopify token", "shptka_", Alnum, 24),
    vendor("square token", "sq0atp-", Dash, 20),
    vendor("square secret", "sq0csp-", Dash, 30),
    vendor("square token", "EAAA", Mixed, 36),
    vendor("facebook token", "EAAC", Mixed, 60),
    vendor("facebook token", "EAAM", Mixed, 60),
    exact("twilio key", "SK", Hex, 32),
    vendor("sendgrid key", "SG.", Dotted, 40),
    exact("mailgun key", "key-", Hex, 32),
    vendor("brevo key", "xkeysib-", Dash, 40),
    vendor("brevo key", "xsmtpsib-", Dash, 40),
    vendor("resend key", "re_", Mixed, 24),
    vendor("postmark token", "POSTMARK_", Alnum, 30),
    vendor("supabase token", "sbp_", Alnum, 32),
    vendor("supabase secret", "sb_secret_", Dash, 20),
    vendor("planetscale token", "pscale_tkn_", Dotted, 24),
    vendor("planetscale password", "pscale_pw_", Dotted, 24),
    vendor("planetscale token", "pscale_oauth_", Dotted, 24),
    vendor("neon key", "napi_", Alnum, 30),
    vendor("postman key", "PMAK-", Dash, 40),
    vendor("age key", "AGE-SECRET-KEY-1", Upper, 40),
    vendor("tailscale key", "tskey-", Dash, 16),
    vendor("pulumi token", "pul-", Hex, 32),
    vendor("buildkite token", "bkua_", Alnum, 24),
    vendor("buildkite token", "bkpt_", Alnum, 24),
    vendor("circleci token", "CCIPAT_", Dash, 24),
    vendor("circleci token", "CCIPRJ_", Dash, 24),
    vendor("netlify token", "nfp_", Alnum, 30),
    vendor("vercel token", "vcp_", Alnum, 24),
    vendor("render key", "rnd_", Alnum, 24),
    vendor("deno token", "ddp_", Alnum, 30),
    vendor("fly token", "fm2_", Listed, 60),
    vendor("fly token", "fm1r_", Listed, 60),
    vendor("fly token", "fm1a_", Listed, 60),
    vendor("fly token", "fo1_", Dash, 30),
    vendor("heroku key", "HRKU-", Dash, 30),
    vendor("cloudflare key", "v1.0-", Dash, 150),
    vendor("cloudflare token", "cfut_", Alnum, 30),
    vendor("cloudflare token", "cfat_", Alnum, 30),
    vendor("sonar token", "squ_", Hex, 40),
    vendor("sonar token", "sqp_", Hex, 40),
    vendor("sonar token", "sqa_", Hex, 40),
    vendor("sourcegraph token", "sgp_", Dash, 40),
    vendor("artifactory key", "AKCp", Alnum, 60),
    vendor("artifactory token", "cmVmdGtuOj", Base64, 40),
    vendor("dynatrace token", "dt0c01.", Dotted, 60),
    vendor("dynatrace token", "dt0s16.", Dotted, 60),
    vendor("contentful token", "CFPAT-", Dash, 40),
    vendor("hubspot token", "pat-na1-", Dash, 32),
    vendor("hubspot token", "pat-na2-", Dash, 32),
    vendor("hubspot token", "pat-eu1-", Dash, 32),
    vendor("launchdarkly key", "sdk-", Mixed, 36),
    vendor("plaid token", "access-sandbox-", Mixed, 32),
    vendor("plaid token", "access-production-", Mixed, 32),
    vendor("plaid token", "access-development-", Mixed, 32),
    vendor("posthog key", "phx_", Alnum, 30),
    vendor("typeform token", "tfp_", Dash, 40),
    vendor("prefect token", "pnu_", Alnum, 36),
    vendor("readme key", "rdme_", Alnum, 60),
    vendor("shippo token", "shippo_live_", Hex, 32),
    vendor("shippo token", "shippo_test_", Hex, 32),
    vendor("duffel token", "duffel_", Dash, 40),
    vendor("easypost key", "EZAK", Alnum, 50),
    vendor("easypost key", "EZTK", Alnum, 50),
    vendor("flutterwave key", "FLWSECK", Dash, 16),
    vendor("frame.io token", "fio-u-", Dash, 40),
    vendor("infracost key", "ico-", Alnum, 32),
    vendor("adafruit key", "aio_", Alnum, 26),
    vendor("linkedin token", "WPL_AP1.", Dotted, 16),
    vendor("alibaba key id", "LTAI", Alnum, 16),
    vendor("tencent key id", "AKID", Alnum, 30),
    vendor("yandex key", "AQVN", Dash, 34),
    vendor("openshift token", "sha256~", Dash, 40),
    vendor("1password token", "ops_eyJ", Base64, 60),
    vendor("mapbox token", "sk.eyJ", Dotted, 40),
    vendor("dropbox token", "sl.", Mixed, 60),
    vendor("airtable token", "pat", Airtable, 76),
    vendor("1password secret key", "A3-", Dash, 32),
    vendor("adobe secret", "p8e-", Alnum, 32),
    vendor("aws bedrock key", "bedrock-api-key-", Base64, 20),
    vendor("clickhouse key", "4b1d", Alnum, 38),
    vendor("octopus key", "API-", Upper, 26),
    vendor("scalingo token", "tk-us-", Dash, 48),
    vendor("settlemint token", "sm_aat_", Alnum, 16),
    vendor("settlemint token", "sm_pat_", Alnum, 16),
    vendor("settlemint token", "sm_sat_", Alnum, 16),
    vendor("intra42 secret", "s-s4t2", Dash, 64),
    vendor("harness token", "pat.", Harness, 60),
    vendor("harness token", "sat.", Harness, 60),
    vendor("replit token", "replit_", Dash, 40),
    vendor("aws session token", "IQoJb3JpZ2lu", Base64, 80),
    vendor("aws session token", "FwoGZXIvYXdz", Base64, 80),
    vendor("jina key", "jina_", Mixed, 40),
    vendor("voyage key", "pa-", Mixed, 40),
    exact("firecrawl key", "fc-", Hex, 32),
    vendor("together key", "tgp_v1_", Dash, 32),
    vendor("wandb key", "wandb_v1_", Dash, 32),
    vendor("e2b key", "e2b_", Hex, 32),
    vendor("apify token", "apify_api_", Alnum, 24),
    vendor("browserbase key", "bb_live_", Dash, 20),
    vendor("cursor key", "crsr_", Hex, 40),
    vendor("cursor key", "key_", Hex, 64),
    vendor("coze token", "pat_", Alnum, 60),
    exact("modal token", "ak-", Mixed, 22),
    exact("modal token", "as-", Mixed, 22),
    vendor("kaggle token", "KGAT_", Hex, 32),
    vendor("stripe key", "sk_live_", Mixed, 30),
    vendor("stripe key", "sk_test_", Mixed, 30),
    vendor("secret key", "sk_prod_", Mixed, 30),
    vendor("razorpay key", "rzp_live_", Alnum, 14),
    vendor("razorpay key", "rzp_test_", Alnum, 14),
    vendor("paddle key", "pdl_live_", Dash, 40),
    vendor("paddle key", "pdl_sdbx_", Dash, 40),
    vendor("braintree token", "access_token$production$", Dollars, 40),
    vendor("braintree token", "access_token$sandbox$", Dollars, 40),
    vendor("square secret", "sq0idb-", Dash, 20),
    vendor("paypal token", "A21AA", Mixed, 70),
    vendor("netlify token", "nfc_", Alnum, 30),
    vendor("netlify token", "nfo_", Alnum, 30),
    vendor("netlify token", "nfu_", Alnum, 30),
    vendor("vercel token", "vck_", Alnum, 24),
    vendor("vercel token", "vca_", Alnum, 24),
    vendor("vercel token", "vci_", Alnum, 24),
    vendor("vercel token", "vcr_", Alnum, 24),
    vendor("vercel token", "vercel_blob_rw_", Dash, 24),
    vendor("neon password", "npg_", Alnum, 12),
    vendor("mongodb secret", "mdb_sa_sk_", Dash, 30),
    vendor("confluent secret", "cflt", Base64, 58),
    vendor("dropbox token", "sl.u.", Mixed, 60),
    vendor("trello token", "ATTA", Hex, 60),
    vendor("intercom token", "dG9rO", Base64, 50),
    vendor("mailersend token", "mlsn.", Hex, 40),
    vendor("honeycomb key", "hcaik_", Alnum, 50),
    vendor("honeycomb key", "hcbik_", Alnum, 50),
    vendor("honeycomb key", "hcxik_", Alnum, 50),
    vendor("logfire token", "pylf_v1_", Dash, 32),
    vendor("axiom token", "xaat-", HexParts, 36),
    vendor("axiom token", "xapt-", HexParts, 36),
    vendor("infisical token", "st.", HexParts, 80),
    vendor("cloudflare key", "cfk_", Alnum, 30),
    exact("scaleway key", "SCW", Upper, 17),
    vendor("yandex token", "y0_", Mixed, 50),
    vendor("vk token", "vk1.a.", Dash, 80),
    vendor("instagram token", "IGQV", Mixed, 80),
    exact("twitch token", "oauth:", Alnum, 30),
    vendor("shopify token", "shpua_", Alnum, 24),
    vendor("shopify token", "shprt_", Alnum, 24),
    vendor("google authorization code", "4/0A", Dash, 50),
    vendor("google api key", "AQ.Ab8", Dash, 40),
    vendor("slack token", "xwfp-", Dash, 20),
    vendor("age key", "AGE-SECRET-KEY-PQ-1", Upper, 40),
    exact("nostr key", "nsec1", Alnum, 58),
    vendor("snyk token", "snyk_uat.", Dotted, 40),
    vendor("snyk token", "snyk_sat.", Dotted, 40),
    vendor("unkey key", "unkey_", Alnum, 16),
    vendor("twitter token", "AAAAAAAAAAAAAAAAAAAA", Percent, 60),
    vendor("telnyx key", "KEY0", Mixed, 50),
];

impl VendorTokenFormat {
    /// Judges the text after the prefix at `at`.
    pub(super) fn judge(&self, view: &SecretScanText<'_>, at: usize) -> RedactionRuleOutcome {
        let own_break = !self.prefix.as_bytes()[0].is_ascii_alphanumeric();
        // In the middle of base64 four letters prove nothing.
        let data = self.body == Mixed && matches!(view.before(at), Some(b'/' | b'+'));
        if !own_break && !view.begins_word(at) || data && self.prefix.starts_with("EAA") {
            return RedactionRuleOutcome::Nothing;
        }
        let body = at + self.prefix.len();
        let mut end = view.run(body, LONGEST_BODY, |byte| self.body.has(byte));
        if end - body == LONGEST_BODY && self.most == ANY {
            return RedactionRuleOutcome::Long(at..end, LongSecretEnding::Token, self.name);
        }
        if self.body == Listed {
            end = end_of_list(view, body, end);
        }
        // A full stop or dash after a token ends the sentence, not the token.
        while end > body && matches!(view.before(end), Some(b'.' | b'-' | b',')) {
            end -= 1;
        }
        let length = end - body;
        let goes_on = self.most != ANY && view.get(end).is_some_and(|b| b.is_ascii_alphanumeric());
        let text = &view.text()[body..end];
        if length < self.least || length > self.most || goes_on || !self.body.accepts(text) {
            return RedactionRuleOutcome::Nothing;
        }
        RedactionRuleOutcome::Secret(at..end, self.name)
    }
}

impl VendorTokenBody {
    fn has(self, byte: u8) -> bool {
        match self {
            Alnum => byte.is_ascii_alphanumeric(),
            Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Hex => byte.is_ascii_hexdigit(),
            Dash | Mixed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Dotted | Harness => is_name(byte),
            Base64 => is_base64(byte),
            Airtable => byte.is_ascii_alphanumeric() || byte == b'.',
            HexParts => byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'.'),
            Listed => is_base64(byte) || byte == b',',
            Dollars => byte.is_ascii_alphanumeric() || byte == b'$',
            Percent => byte.is_ascii_alphanumeric() || byte == b'%',
        }
    }

    /// Tells a real body from one that only shows where a body goes.
    fn accepts(self, body: &[u8]) -> bool {
        let filler = |byte: &u8| matches!(byte, b'x' | b'X' | b'0' | b'_' | b'-' | b'.');
        if body.iter().all(filler) {
            return false;
        }
        let lower = body.to_ascii_lowercase();
        let says = |word: &[u8]| contains(&lower, word);
        if [&b"xxxxxx"[..], b"your-", b"your_", b"-here", b"_here"]
            .into_iter()
            .any(says)
        {
            return false;
        }
        match self {
            Mixed => is_mixed(body),
            Percent => body.contains(&b'%'),
            Harness => body.split(|byte| *byte == b'.').nth(1).map(<[u8]>::len) == Some(24),
            Airtable => body.get(14) == Some(&b'.') && body.len() == 79,
            Alnum | Upper | Hex | Dash | Dotted | Base64 | HexParts | Listed | Dollars => true,
        }
    }
}

/// Returns where a list of tokens ends: after a comma comes another token or something
/// else.
fn end_of_list(view: &SecretScanText<'_>, start: usize, end: usize) -> usize {
    let ends = |at: &usize| view.text()[*at] == b',' && !view.starts(*at + 1, b"fm");
    (start..end.min(view.len())).find(ends).unwrap_or(end)
}

/// Returns whether a body looks like a token: it has digits among its letters, while words
/// joined by dashes are a class name or a slug.
fn is_mixed(body: &[u8]) -> bool {
    let digits = body.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = body.iter().filter(|byte| byte.is_ascii_alphabetic());
    let (digits_enough, letters_enough) = (digits >= 2, letters.count() >= 2);
    let longest_part = body
        .split(|byte| matches!(byte, b'-' | b'_'))
        .map(<[u8]>::len);
    let named = [&b"ecdsa-"[..], b"ssh-"]
        .iter()
        .any(|start| body.starts_with(start));
    // Zeros in base64 are data.
    !named
        && !contains(body, b"AAA")
        && digits_enough
        && letters_enough
        && longest_part.max().unwrap_or(0) >= 8
}
