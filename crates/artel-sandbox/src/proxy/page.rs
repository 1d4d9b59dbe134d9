//! The short plain page that a command gets in place of the response.

use super::grants::TargetRefusedError;

/// A page that says what happened and what would help.
#[derive(Debug)]
pub(crate) struct ProxyErrorPage {
    status: &'static str,
    text: String,
}

impl ProxyErrorPage {
    pub(crate) fn new(status: &'static str) -> Self {
        Self {
            status,
            text: String::new(),
        }
    }

    /// Creates the page for a refusal.
    pub(crate) fn refusing(refused: &TargetRefusedError) -> Self {
        let page = Self::new("403 Forbidden").what(&refused.to_string());
        let text = format!("{}  try: {}\n", page.text, refused.advice());
        Self { text, ..page }
    }

    pub(crate) fn what(self, what: &str) -> Self {
        let text = format!("{}artel: {what}\n", self.text);
        Self { text, ..self }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (status, text) = (self.status, &self.text);
        let length = text.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        )
        .into_bytes()
    }
}
