// Runs on the page that a link of `artel open` leads to, where it sends the code of the link, and on
// the answer: there it hands the key of the sign-in to this tab and to the others of this browser, and
// goes on to the console.
"use strict";

(() => {
  const form = document.querySelector("form[action='/login']");
  if (form) {
    // The address with the code is not to come back by the browser's way back.
    history.replaceState(null, "", "/login");
    form.submit();
    return;
  }
  const of = (name) => document.querySelector(`meta[name="${name}"]`).content;
  const given = { login: of("artel-login"), key: of("artel-key") };
  try {
    sessionStorage.setItem("artel-key", JSON.stringify(given));
  } catch {
    // Without storage the pages ask other tabs, or can only be read.
  }
  const channel = new BroadcastChannel("artel-key");
  channel.postMessage({ ...given, isNew: true });
  channel.close();
  location.replace("/");
})();
