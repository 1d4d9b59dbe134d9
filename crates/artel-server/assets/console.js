// The console's script: it keeps pages current, sends what people decide, and knows a few keys.
// Pages are whole without it; it only fetches them again and puts in what differs.
"use strict";

(() => {
  const line = document.getElementById("line");
  const say = (text) => {
    if (line && line.textContent !== text) line.textContent = text;
  };

  // ---- The key ----------------------------------------------------------------------------

  // The cookie shows pages. What changes something shows a key as well, which tabs alone hold: the
  // one that signed in, and those that asked it. Another port of this host is another origin, which
  // reads neither the storage nor the channel.
  const KEY = "artel-key";
  const PATIENCE = 500;
  let login = document.querySelector('meta[name="artel-login"]').content;
  const channel = new BroadcastChannel(KEY);
  const keyless = document.getElementById("keyless");
  let held;
  let waiting = [];

  const stored = () => {
    try {
      return JSON.parse(sessionStorage.getItem(KEY)) || undefined;
    } catch {
      return undefined;
    }
  };

  const ownKey = () => {
    held ??= stored();
    return held?.login === login ? held.key : undefined;
  };

  const keep = (given) => {
    login = given.login;
    held = { login: given.login, key: given.key };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(held));
    } catch {
      // It holds for as long as this page does.
    }
    keyless.hidden = true;
    waiting.splice(0).forEach((settle) => settle(held.key));
  };

  channel.onmessage = ({ data }) => {
    const key = ownKey();
    if (data.wants) {
      if (key && data.wants === login) channel.postMessage({ login, key });
      return;
    }
    // A new sign-in replaces this browser's cookie, so its key is the one that fits from now on.
    if (data.isNew || (data.login === login && !key)) keep(data);
  };

  // Returns the key of this sign-in, from another tab if need be; nothing if no tab has it.
  const findKey = () => {
    const key = ownKey();
    if (key || !login) return Promise.resolve(key);
    return new Promise((settle) => {
      waiting.push(settle);
      channel.postMessage({ wants: login });
      setTimeout(() => {
        if (!waiting.includes(settle)) return;
        waiting = waiting.filter((it) => it !== settle);
        keyless.hidden = false;
        settle(undefined);
      }, PATIENCE);
    });
  };

  // Another sign-in may have replaced the cookie while no tab was told.
  const follows = (page) => {
    const now = page.querySelector('meta[name="artel-login"]')?.content;
    if (!now || now === login) return;
    login = now;
    findKey();
  };

  // ---- Live -------------------------------------------------------------------------------

  const DEBOUNCE = 150;
  const stale = new Set();
  let timer = 0;
  let isFetching = false;
  let last = Number(document.body.dataset.seq) || 0;

  // `trace:ID|kind:run.,plan.`: either is enough; a kind is meant by how it begins.
  const concerns = (rule, record) =>
    rule.split("|").some((part) => {
      const [sort, rest] = [part.slice(0, part.indexOf(":")), part.slice(part.indexOf(":") + 1)];
      if (sort === "trace") return record.trace === rest;
      return rest.split(",").some((kind) => record.kind.startsWith(kind));
    });

  const hear = (event) => {
    let record;
    try {
      record = JSON.parse(event.data);
    } catch {
      return;
    }
    last = Math.max(last, record.seq);
    for (const section of document.querySelectorAll("[data-live]")) {
      if (concerns(section.dataset.live, record)) stale.add(section.id);
    }
    if (stale.size > 0) soon();
  };

  const soon = () => {
    if (!timer && !isFetching) timer = setTimeout(refresh, DEBOUNCE);
  };

  const refresh = async () => {
    timer = 0;
    isFetching = true;
    const wanted = [...stale];
    stale.clear();
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.status === 401) {
        say("signed out: run artel open");
        return;
      }
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        follows(page);
        if (document.title !== page.title) document.title = page.title;
        if (page.body.dataset.view) document.body.dataset.view = page.body.dataset.view;
        for (const id of wanted) replace(id, page);
        for (const section of page.querySelectorAll("section[id]")) {
          // A section that was not there before stands where the new page has it.
          if (!document.getElementById(section.id)) place(section);
        }
      }
    } catch {
      // The stream says when the server is there again; what was missed is fetched then.
      wanted.forEach((id) => stale.add(id));
    } finally {
      isFetching = false;
      if (stale.size > 0 && navigator.onLine) setTimeout(soon, 1000);
    }
  };

  const replace = (id, page) => {
    const [old, fresh] = [document.getElementById(id), page.getElementById(id)];
    if (old && fresh) morph(old, fresh);
  };

  const place = (section) => {
    const before = section.previousElementSibling;
    const anchor = before && before.id && document.getElementById(before.id);
    const copy = document.importNode(section, true);
    if (anchor) anchor.after(copy);
    else document.getElementById("main").append(copy);
  };

  const keyOf = (node) =>
    node.nodeType === 1 ? node.id || node.dataset.keep || node.dataset.post || "" : "";

  // Makes `old` like `fresh` with as few changes as there are, so that focus, scrolling, what was
  // opened and what was typed stay.
  const morph = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !(name === "open" && old.localName === "details")) {
        old.removeAttribute(name);
      }
    }
    for (const { name, value } of fresh.attributes) {
      if (name === "open" && old.localName === "details") continue;
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    // A button that has the focus says what it does now, as everything else does.
    const isTyping = old === document.activeElement || isTouched(old);
    if (isTyping && old.matches("textarea, select")) return;
    children(old, fresh);
  };

  // Tells whether somebody wrote or chose something there.
  const isTouched = (field) => {
    if (field.localName === "textarea") return field.value !== field.defaultValue;
    if (field.localName !== "select") return false;
    const chosen = [...field.options].findIndex((it) => it.defaultSelected);
    return field.selectedIndex !== Math.max(chosen, 0);
  };

  const children = (old, fresh) => {
    const known = new Map();
    for (const node of old.children) if (keyOf(node)) known.set(keyOf(node), node);
    const kept = new Set([...fresh.children].map(keyOf).filter(Boolean));
    let at = old.firstChild;
    for (const next of [...fresh.childNodes]) {
      const twin = keyOf(next) ? known.get(keyOf(next)) : undefined;
      if (twin) {
        // A node that is moved loses the focus: what stood before it and goes makes room instead.
        if (isGone(at, twin, kept)) while (at !== twin) at = dropped(at);
        if (twin !== at) old.insertBefore(twin, at);
        morph(twin, next);
        at = twin.nextSibling;
      } else if (at && isAlike(at, next)) {
        if (at.nodeType === 3) {
          if (at.data !== next.data) at.data = next.data;
        } else morph(at, next);
        at = at.nextSibling;
      } else {
        const copy = document.importNode(next, true);
        if (copy.nodeType === 1 && copy.matches("li, tr, article")) copy.classList.add("fresh");
        old.insertBefore(copy, at);
      }
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      // What the script itself said beside a form stays.
      if (!(gone.nodeType === 1 && gone.matches("[role=alert], .told"))) drop(gone);
    }
  };

  const dropped = (node) => {
    const next = node.nextSibling;
    drop(node);
    return next;
  };

  // Tells whether nothing from a node up to another has a place on the fresh page.
  const isGone = (from, to, kept) => {
    let at = from;
    while (at && at !== to) {
      if (kept.has(keyOf(at))) return false;
      at = at.nextSibling;
    }
    return at === to;
  };

  // What was said beside a form that goes is still to be read: whoever decided second has to learn
  // that they were late.
  const drop = (gone) => {
    if (gone.nodeType === 1) {
      const said = gone.querySelectorAll("form > [role=alert], form > .told");
      if (said.length > 0) announce(...said);
    }
    gone.remove();
  };

  const isAlike = (one, other) =>
    one.nodeType === other.nodeType &&
    one.nodeName === other.nodeName &&
    !keyOf(one) &&
    !keyOf(other);

  // A browser keeps few connections to one server, and every stream holds one: a page that nobody
  // sees lets go of its own, so that those that are looked at never wait for a free one.
  const follow = () => {
    if (!document.querySelector("[data-live]")) return;
    let isLost = false;
    let source;
    let again = 0;
    const close = () => {
      clearTimeout(again);
      source?.close();
      source = undefined;
    };
    const open = () => {
      close();
      if (document.hidden) return;
      const view = document.body.dataset.view || "summary";
      const own = new EventSource(`/api/v1/events?view=${view}&after=${last}`);
      source = own;
      own.addEventListener("record", hear);
      own.onopen = () => {
        say("");
        // What happened meanwhile is replayed; what left no event (the queue) is fetched.
        if (isLost) everything();
        isLost = false;
      };
      own.onerror = () => {
        isLost = true;
        say("reconnecting…");
        // A browser gives up after an answer that is no stream; the server may be starting.
        // Or the page may follow less closely by now, which a fresh one says.
        if (own === source && own.readyState === EventSource.CLOSED) {
          everything();
          again = setTimeout(open, 2000);
        }
      };
    };
    open();
    addEventListener("pagehide", close);
    addEventListener("pageshow", (event) => {
      if (event.persisted) open();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) return close();
      open();
      everything();
    });
  };

  // Has everything that can change fetched anew.
  const everything = () => {
    document.querySelectorAll("[data-live]").forEach((it) => stale.add(it.id));
    if (stale.size > 0) soon();
  };

  // ---- Acting -----------------------------------------------------------------------------

  const valueOf = (field) => {
    const sort = field.dataset.json;
    if (sort === "number") return Number(field.value);
    if (sort === "flag") return field.value === "true";
    if (sort === "lines") return field.value.split("\n").map((it) => it.trim()).filter(Boolean);
    if (sort === "words") return field.value.split(/[\s,]+/).filter(Boolean);
    return field.value;
  };

  const bodyOf = (form, button) => {
    const body = {};
    for (const field of form.elements) {
      if (!field.name || field.localName === "button") continue;
      if (field.type === "radio" && !field.checked) continue;
      if ("optional" in field.dataset && field.value === "") continue;
      if (field.type === "checkbox") {
        // Boxes of one name are a list of those that are ticked.
        body[field.name] ??= [];
        if (field.checked) body[field.name].push(field.value);
        continue;
      }
      body[field.name] = valueOf(field);
    }
    if (button && button.name) body[button.name] = answerOf(form, button);
    return body;
  };

  // An answer can be followed by a colon and a reason.
  const reasonOf = (form) => form.querySelector("input[data-reason]");
  const answerOf = (form, button) => {
    const reason = reasonOf(form)?.value.trim();
    return reason ? `${button.value}: ${reason}` : button.value;
  };

  // What names the thing that is decided about, just as it was seen.
  const subjectOf = (form) =>
    JSON.stringify([form.dataset.post, ...[...form.querySelectorAll("input[type=hidden]")].map((it) => it.value)]);

  const beside = (form, sort) => {
    let place = form.querySelector(sort === "alert" ? '[role="alert"]' : ".told");
    if (!place) {
      place = document.createElement("div");
      if (sort === "alert") place.setAttribute("role", "alert");
      else {
        place.className = "told";
        place.setAttribute("role", "status");
      }
      form.append(place);
    }
    return place;
  };

  // What stands between backticks is a command, a name or a value.
  const coded = (text) =>
    text.split("`").map((part, index, all) => {
      const isCode = index % 2 === 1 && index < all.length - 1;
      if (!isCode) return index % 2 === 1 ? `\`${part}` : part;
      const code = document.createElement("code");
      code.textContent = part;
      return code;
    });

  // Says something at the top of the page, where no refresh takes it away.
  const announce = (...words) => {
    const place = document.getElementById("told");
    const close = document.createElement("button");
    close.type = "button";
    close.className = "quiet";
    close.textContent = "Close";
    close.addEventListener("click", () => place.replaceChildren());
    const said = document.createElement("div");
    said.append(...words);
    place.replaceChildren(said, close);
  };

  const complain = (form, error) => {
    const place = beside(form, "alert");
    const what = document.createElement("strong");
    what.append(...coded(error.what || "it did not work"));
    place.replaceChildren(what);
    for (const [word, text] of [["why", error.why], ["try", error.advice]]) {
      if (!text) continue;
      const row = document.createElement("span");
      row.className = "why";
      row.append(`${word}: `, ...coded(text));
      place.append(row);
    }
    // The form may have gone with a refresh while its answer was under way.
    if (!form.isConnected) announce(place);
  };

  const isSure = (text) =>
    new Promise((decide) => {
      const dialog = document.getElementById("sure");
      document.getElementById("sure-text").textContent = text;
      dialog.returnValue = "no";
      dialog.addEventListener("close", () => decide(dialog.returnValue === "yes"), { once: true });
      dialog.showModal();
    });

  const tell = (value) =>
    Object.entries(value)
      .filter(([, it]) => it !== null && it !== "")
      .map(([name, it]) => `${name}: ${typeof it === "object" ? JSON.stringify(it) : it}`)
      .join("\n");

  const send = async (form, button) => {
    if (form.getAttribute("aria-busy") === "true" || !hasReason(form, button)) return;
    // What is sent is what was seen when the button was pressed. The page goes on living under the
    // question, so what the form names may be something else by the time it is answered.
    const [subject, body] = [subjectOf(form), JSON.stringify(bodyOf(form, button))];
    if (button && button.dataset.sure && !(await isSure(button.dataset.sure))) return;
    if (form.getAttribute("aria-busy") === "true") return;
    if (!form.isConnected || subjectOf(form) !== subject) {
      complain(form, { what: "nothing was sent: it changed while you were asked", advice: "look at it again, and decide about what is shown now" });
      return;
    }
    document.getElementById("told").replaceChildren();
    form.querySelectorAll('[role="alert"], .told').forEach((it) => it.remove());
    form.setAttribute("aria-busy", "true");
    try {
      const key = await findKey();
      if (!key) {
        complain(form, { what: "this page can read and not act", why: "it has no key", advice: "run `artel open`, follow its link in this browser, and press this once more" });
        return;
      }
      const answer = await fetch(form.dataset.post, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Artel-Proof": key },
        body,
      });
      const text = await answer.text();
      let value = {};
      try {
        value = text ? JSON.parse(text) : {};
      } catch {
        value = { answer: text };
      }
      if (!answer.ok) {
        complain(form, value.error || { what: `the server answered ${answer.status}` });
        return;
      }
      succeed(form, button, value);
    } catch {
      complain(form, { what: "the server cannot be reached", advice: "`artel daemon status`" });
    } finally {
      form.removeAttribute("aria-busy");
    }
  };

  // Some answers need a reason, others do not.
  const hasReason = (form, button) => {
    const reason = reasonOf(form);
    const isMissing = reason && button && "needsReason" in button.dataset && !reason.value.trim();
    if (!isMissing) return true;
    // The browser's own check would keep the other answers back as well.
    complain(form, { what: "this answer needs a reason", advice: "say why, and answer again" });
    reason.focus();
    return false;
  };

  // Says what came of an act, with the way to what it made.
  const report = (form, button, value) => {
    const words = value.text || value.done || form.dataset.said || `${(button?.textContent || "It").trim()}: done`;
    const parts = coded(words);
    if (form.dataset.leads && value.trace_id) {
      const link = document.createElement("a");
      link.href = `${form.dataset.leads}${encodeURIComponent(value.trace_id)}`;
      link.textContent = value.title || value.trace_id;
      parts.push(": ", link);
    }
    announce(...parts);
  };

  const succeed = (form, button, value) => {
    if ("clear" in form.dataset) form.reset();
    if (form.dataset.refresh) {
      // What is kept for audit alone is not in the stream.
      stale.add(form.dataset.refresh);
      soon();
    }
    if (button && "thenRun" in button.dataset && value.run) {
      location.assign(`/runs/${encodeURIComponent(value.run)}`);
    } else if (form.dataset.then) {
      location.assign(form.dataset.then);
    } else if ("show" in form.dataset) {
      beside(form, "told").textContent = tell(value);
    } else {
      report(form, button, value);
      const section = form.closest("[data-live]");
      if (section) {
        stale.add(section.id);
        soon();
      }
    }
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.post) return;
    event.preventDefault();
    send(form, event.submitter);
  });

  document.addEventListener("click", (event) => {
    const opens = event.target.closest?.("[data-opens]");
    if (opens) document.getElementById(opens.dataset.opens).showModal();
  });

  // What is edited is fetched when it is opened, just as it is on record.
  document.addEventListener(
    "toggle",
    async (event) => {
      const field = event.target.open && event.target.querySelector?.("textarea[data-from]");
      if (!field || field.value) return;
      const failed = (why) => complain(field.form, { what: "the text could not be fetched", why, advice: "close this and open it again" });
      try {
        const answer = await fetch(field.dataset.from);
        if (!answer.ok) return failed(`the server answered ${answer.status}`);
        const text = await answer.text();
        field.form.querySelectorAll('[role="alert"]').forEach((it) => it.remove());
        // What was typed meanwhile is the person's.
        if (!field.value) field.value = text;
      } catch {
        failed("the server cannot be reached");
      }
    },
    true,
  );

  // ---- Keys -------------------------------------------------------------------------------

  let isGoing = 0;
  const isWriting = (target) =>
    target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]");

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    if (isGoing) {
      clearTimeout(isGoing);
      isGoing = 0;
      const link = document.querySelector(`nav a[data-key="${CSS.escape(event.key)}"]`);
      if (link) {
        event.preventDefault();
        link.click();
      }
      return;
    }
    if (event.key === "g") {
      isGoing = setTimeout(() => (isGoing = 0), 1500);
    } else if (event.key === "?") {
      event.preventDefault();
      document.getElementById("keys").showModal();
    } else if (event.key === "a") {
      event.preventDefault();
      const words = document.getElementById("words");
      if (words) words.focus();
      else location.assign("/#words");
    }
  });

  // Ctrl+Enter sends from a text of several lines, as Enter does from one line.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.localName === "textarea") {
      event.target.form?.requestSubmit();
    }
  });

  // What leaves no event (a lease that ran out, the queue) is seen within a while all the same.
  setInterval(() => {
    if (!document.hidden) everything();
  }, 20_000);

  document.querySelector("nav a[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  if (location.hash === "#words") document.getElementById("words")?.focus();
  findKey();
  follow();
})();
