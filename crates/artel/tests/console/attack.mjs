// A page from elsewhere tries what it can, and text from models, files and people tries to run.

import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { artel, base, holds, journal, listen, person, play, press, same, shot, troubled, until, visitor } from "./stage.mjs";
import { places } from "./places.mjs";

const hostile = JSON.parse(readFileSync(new URL("hostile.json", import.meta.url), "utf8"));

/** What the page from elsewhere tries; it is put into that page as text. */
const tries = async (target) => {
  const got = [];
  const note = (name, text) => got.push(`${name}: ${text}`);
  const body = JSON.stringify({ words: "from elsewhere" });
  const fetches = {
    "simple post": { method: "POST", body },
    "text/plain": { method: "POST", body, headers: { "Content-Type": "text/plain" } },
    json: { method: "POST", body, headers: { "Content-Type": "application/json" } },
    "with cookies": { method: "POST", body, credentials: "include", headers: { "Content-Type": "text/plain" } },
    "no-cors": { method: "POST", body, mode: "no-cors", credentials: "include" },
    "read with cookies": { credentials: "include" },
    "read no-cors": { mode: "no-cors", credentials: "include" },
  };
  for (const [name, options] of Object.entries(fetches)) {
    for (const path of ["/api/v1/requests", "/api/v1/daemon/pause", "/", "/api/v1/events"]) {
      if (path === "/" && options.method) continue;
      try {
        const answer = await fetch(target + path, options);
        const text = await answer.text();
        if (answer.type !== "opaque" || text !== "") note(name, `${answer.status} ${text}`);
      } catch {}
    }
  }
  await new Promise((resolve) => {
    const source = new EventSource(`${target}/api/v1/events?after=0`, { withCredentials: true });
    source.onmessage = (event) => note("events", event.data);
    source.addEventListener("record", (event) => note("events", event.data));
    source.onopen = () => note("events", "open");
    source.onerror = resolve;
  });
  for (const [tag, source] of [["img", "/assets/mark.svg"], ["script", "/assets/console.js"], ["script", "/api/v1/runs"]]) {
    await new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => (note(tag, `${source} loaded`), resolve());
      element.onerror = resolve;
      element.src = target + source;
      document.body.append(element);
    });
  }
  for (const type of ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]) {
    const frame = document.createElement("iframe");
    frame.name = `frame-${type}`;
    document.body.append(frame);
    const form = document.createElement("form");
    Object.assign(form, { method: "post", action: `${target}/api/v1/requests`, enctype: type, target: frame.name });
    const input = document.createElement("input");
    Object.assign(input, { name: '{"words":"from elsewhere","x":"', value: '"}' });
    form.append(input);
    document.body.append(form);
    await new Promise((resolve) => {
      frame.onload = resolve;
      form.submit();
      setTimeout(resolve, 2000);
    });
  }
  for (const path of ["/", "/settings", "/api/v1/runs"]) {
    const frame = document.createElement("iframe");
    document.body.append(frame);
    await new Promise((resolve) => {
      frame.onload = resolve;
      frame.src = target + path;
      setTimeout(resolve, 2000);
    });
    try {
      note("iframe", frame.contentWindow.document.body.innerText);
    } catch {}
  }
  const other = open(`${target}/settings`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  try {
    if (other?.document?.body?.innerText) note("window", other.document.body.innerText);
  } catch {}
  return got;
};

/** Serves the page from elsewhere. */
const elsewhere = () =>
  new Promise((resolve) => {
    const server = createServer((_, answer) => {
      answer.setHeader("Content-Type", "text/html");
      answer.end("<!doctype html><title>elsewhere</title><body>elsewhere");
    });
    server.listen(0, () => resolve(server));
  });

const foreign = async () => {
  const ada = await person("admin");
  const server = await elsewhere();
  const { port } = server.address();
  const here = new URL(base);
  const before = (await journal()).map((it) => it.kind);
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    for (const target of [base, `http://${listen}`, `http://localhost:${here.port}`]) {
      const page = await ada.context().newPage();
      await page.goto(origin);
      const got = await page.evaluate(tries, target);
      same(got, [], `a page at ${origin} gets nothing of ${target}`);
      for (const frame of page.frames().slice(1)) {
        const text = await frame.locator("body").innerText().catch(() => "");
        holds(!/Needs you|Who sees what|trace/.test(text), `a frame holds ${JSON.stringify(text.slice(0, 40))}`);
      }
      for (const other of ada.context().pages()) {
        if (other === ada || other === page) continue;
        const text = await other.locator("body").innerText();
        holds(!/Who sees what/.test(text), `what it opened holds ${JSON.stringify(text.slice(0, 40))}`);
        await other.close();
      }
      await page.close();
    }
  }
  // A name that somebody else's server gave to this address.
  const rebound = await visitor();
  const answer = await rebound.goto(`http://rebound.example:${here.port}/`);
  same(answer.status(), 403, "a name that is not ours is refused");
  same((await journal()).map((it) => it.kind), before, "nothing was changed");
  await ada.goto(`${base}/`);
  await ada.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  server.close();
  // The pages from elsewhere were told what they may not; ours are looked at from here on.
  troubled();
  return ada;
};

const stored = async (ada) => {
  const still = async (page, where) => {
    const ran = await page.evaluate(() => window.__xss);
    if (ran !== undefined) throw new Error(`text was run on ${where}`);
    const links = await page.locator("[href^='javascript:' i], [src^='javascript:' i], [onerror], [onload]").count();
    if (links > 0) throw new Error(`${where} has ${links} elements that text made`);
  };
  await ada.getByLabel("Ask for something").fill(hostile.join("\n"));
  await ada.getByLabel("Portal").selectOption("calc");
  await ada.getByRole("button", { name: "Ask", exact: true }).click();
  const ready = ada.locator("#needs a[href^='/plans/']").first();
  await ready.waitFor();
  await still(ada, "/ with a plan");
  const id = (await ready.getAttribute("href")).split("/").pop();
  await ada.goto(`${base}/plans/${id}`);
  await ada.getByLabel("What should be different").fill(hostile.join("\n"));
  await ada.getByRole("button", { name: "Ask for a revision" }).click();
  await ada.getByRole("button", { name: "Approve version 2" }).waitFor();
  await still(ada, "a plan");
  await shot(ada, "plan");
  await press(ada, "Approve version 2");
  await ada.waitForURL(/\/runs\//);
  await ada.locator("#needs form button").first().waitFor();
  await still(ada, "a question");
  await shot(ada, "question");
  await ada.locator("#needs form button").first().click();
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  await still(ada, "a run, live");
  await artel("token", "create", "--role", "user", "--name", hostile[4], "--json");

  for (const [path] of places(id)) {
    await ada.goto(`${base}${path}`);
    await ada.evaluate(() => document.querySelectorAll("main details").forEach((it) => (it.open = true)));
    await still(ada, path);
  }
  await ada.goto(`${base}/changesets/${id}`);
  await shot(ada, "changeset");
  for (const [at, text] of hostile.entries()) {
    const code = encodeURIComponent(text);
    const all = [`/plans/${code}`, `/runs/${code}?view=${code}`, `/journal?trace=${code}&kind=${code}`, `/skills/${code}`, `/${code}`];
    // Every string, in two of these places each.
    for (const path of [all[at % all.length], all[(at + 2) % all.length]]) {
      const answer = await ada.goto(`${base}${path}`);
      if (answer.status() >= 500) throw new Error(`${path}: ${answer.status()}`);
      await still(ada, path);
    }
  }
  same(new Set(hostile).size, 120, "as many different strings stayed text");
  await ada.goto(`${base}/changesets/${id}`);
  await press(ada, "Merge");
  await ada.getByRole("button", { name: "Undo the merge" }).waitFor();
  await still(ada, "a merged changeset");
};

play(async () => {
  const ada = await foreign();
  await stored(ada);
  same(troubled(), [], "no page did anything that its policy forbids");
});
