// The door of the console in a real browser: whoever else listens on this machine gets no cookie,
// and with one could read and not act; tabs hand on the key; a link works through a forwarded port.

import { createServer, request } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { artel, at, base, holds, journal, keyed, link, listen, person, play, press, same, shot, town, troubled, visitor } from "./stage.mjs";

const { hostname: name, port } = new URL(base);

/** Does something at a page that takes the key, and returns what the page says of it. */
const acts = async (page) => {
  const form = page.locator("form[data-post='/api/v1/policy/check']");
  await form.getByLabel("Would agents be allowed").fill("git push --force");
  await form.getByRole("button", { name: "Check" }).click();
  const said = form.locator(".told, [role=alert]");
  await said.waitFor();
  return said.innerText();
};
const actsAt = async (page) => acts(await at(page, "/settings"));
const isDone = (said) => /decision: deny/.test(said);
const isKeyless = (said) => /can read and not act/.test(said) && /artel open/.test(said);

/** Another program on this machine: it keeps what browsers send it. */
const neighbour = () =>
  new Promise((resolve) => {
    const came = [];
    const server = createServer((asked, answer) => {
      came.push({ host: asked.headers.host, cookie: asked.headers.cookie ?? "" });
      answer.setHeader("Content-Type", "text/html");
      answer.end("<!doctype html><title>neighbour</title><body>neighbour");
    });
    server.listen(0, "::", () => resolve({ server, came, port: server.address().port }));
  });

/** Asks the daemon as that program can: with any name and any header. */
const ask = (method, path, headers, body = "") =>
  new Promise((resolve, reject) => {
    const [address, at] = listen.split(":");
    const asked = request({ host: address, port: at, method, path, headers }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    asked.on("error", reject);
    asked.end(body);
  });

/** What a page of the neighbour finds out, at whatever name. */
const looks = async (base) => {
  const got = [];
  for (const store of [localStorage, sessionStorage]) {
    if (store.length > 0) got.push(JSON.stringify(store));
  }
  if (document.cookie) got.push(document.cookie);
  const channel = new BroadcastChannel("artel-key");
  channel.onmessage = ({ data }) => got.push(JSON.stringify(data));
  for (let number = 0; number < 16; number += 1) channel.postMessage({ wants: String(number) });
  const other = open(`${base}/settings`);
  await new Promise((resolve) => setTimeout(resolve, 700));
  try {
    got.push(other.sessionStorage.getItem("artel-key"));
  } catch {}
  try {
    const body = JSON.stringify({ role: "admin", name: "x", program: false });
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${base}/api/v1/tokens`, { method: "POST", credentials: "include", headers, body });
    got.push(`${answer.status} ${await answer.text()}`);
  } catch {}
  other?.close();
  return got;
};

const strangers = async (ada) => {
  const tokens = async () => (await journal()).filter((it) => it.kind === "token.created").length;
  const before = await tokens();
  const { server, came, port: theirs } = await neighbour();
  const page = await ada.context().newPage();
  for (const host of ["127.0.0.1", "localhost", "[::1]", `other.localhost`, name]) {
    await page.goto(`http://${host}:${theirs}/`);
    same(await page.evaluate(looks, base), [], `a page at ${host}:* finds nothing`);
  }
  const sent = came.filter((it) => /artel-/.test(it.cookie)).map((it) => it.host.split(":").slice(0, -1).join(":"));
  same([...new Set(sent)], [name], "the cookie goes to nobody who does not know the console's name");
  // Somebody learnt the name all the same, and has the cookie.
  const { cookie } = came.find((it) => it.cookie);
  const at = { Host: `${name}:${port}`, Cookie: cookie };
  const read = await ask("GET", "/settings", at);
  same(read.status, 200, "with it pages can be read");
  const key = await ada.evaluate(() => JSON.parse(sessionStorage.getItem("artel-key")).key);
  holds(/^[0-9a-f]{64}$/.test(key) && !read.text.includes(key), "and none has the key");
  const secrets = [...read.text.matchAll(/content="([^"]*)"/g)].map((it) => it[1]);
  for (const proof of ["", cookie.split("=")[1], ...secrets]) {
    const headers = { ...at, "Content-Type": "application/json", "X-Artel-Proof": proof };
    const made = await ask("POST", "/api/v1/tokens", headers, '{"role":"admin","name":"x","program":false}');
    same(made.status, 403, "nothing in it makes a token");
  }
  const elsewhere = await ask("GET", "/settings", { Host: listen, Cookie: cookie });
  same(elsewhere.status, 401, "at the address it is no cookie");
  same(await tokens(), before, "no token was made");
  await page.close();
  server.close();
  // Pages of the neighbour were told what they may not; ours are looked at from here on.
  troubled();
};

const tabs = async (ada) => {
  const context = ada.context();
  holds(isDone(await actsAt(ada)), "the tab that signed in acts");
  holds(!ada.url().includes("code="), "the code is not in its address");
  await ada.goBack();
  holds(!ada.url().includes("code="), "nor a step back");
  await at(ada, "/settings");
  const second = await context.newPage();
  holds(isDone(await actsAt(second)), "a second tab has the key of the first");
  await second.reload();
  holds(isDone(await acts(second)), "and keeps it when it is loaded again");
  await ada.close();
  await at(second, "/runs");
  holds(isDone(await actsAt(second)), "also once the first is closed");
  await second.close();

  // The browser still has its cookie, and no tab has the key.
  const left = await context.newPage();
  await at(left, "/settings");
  await left.getByText("This tab can be read and not acted on").waitFor();
  holds(isKeyless(await acts(left)), "a browser that only has its cookie reads, and is told how to act");
  await shot(left, "keyless");
  same(await left.locator("#portals tbody tr").count(), 1, "it reads");
  await left.evaluate(() => (window.heron = "not loaded again"));
  const fresh = await context.newPage();
  await fresh.goto(await link("admin"));
  await fresh.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  await left.getByText("This tab can be read and not acted on").waitFor({ state: "hidden" });
  holds(isDone(await acts(left)), "a fresh link gives the tab a key, as it is");
  same(await left.evaluate(() => window.heron), "not loaded again", "without loading it");
  const form = left.locator("form[data-post='/api/v1/tokens']");
  await form.getByLabel("Name").fill("robot");
  await press(left, "Make a token");
  await form.locator(".told").getByText("token: artel_").waitFor();
  holds(true, "and a token is made after it");

  // Somebody else signs in at the same browser: their cookie and their key go together.
  await fresh.goto(await link("user"));
  await fresh.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  await at(left, "/");
  same(await left.locator("#self .tag").innerText(), "user", "all tabs are theirs");
  await fresh.goto(await link("admin"));
  await fresh.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  await fresh.close();
  return left;
};

const restart = async (ada) => {
  await at(ada, "/settings");
  await artel("daemon", "restart", "--listen", listen);
  holds(isDone(await acts(ada)), "a tab acts after a restart of the daemon, as it is");
  const second = await ada.context().newPage();
  holds(isDone(await actsAt(second)), "and hands on its key");
  await second.close();
};

const forwarded = async () => {
  const forwarder = createTcpServer((from) => {
    const [address, at] = listen.split(":");
    const to = connect(Number(at), address);
    from.pipe(to).pipe(from);
    from.on("error", () => to.destroy());
    to.on("error", () => from.destroy());
  });
  await new Promise((resolve) => forwarder.listen(0, "127.0.0.1", resolve));
  const { port: theirs } = forwarder.address();
  const url = JSON.parse(await artel("open", "--role", "admin", "--port", String(theirs), "--json")).url;
  same(new URL(url).port, String(theirs), "the link names the forwarded port");
  const page = await visitor();
  await page.goto(url);
  await page.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  await page.goto(`http://${name}:${theirs}/settings`);
  holds(isDone(await acts(page)), "through a forwarded port somebody signs in and acts");
  await page.goto(`http://${name}:${theirs}/`);
  const [events] = await Promise.all([page.waitForResponse(/api\/v1\/events/), page.reload()]);
  same(events.status(), 200, "and follows what happens");
  // The same by an address that others share: nobody is signed in, and the link is not used up.
  const other = JSON.parse(await artel("open", "--json")).url;
  const lost = await visitor();
  const answer = await lost.goto(other.replace(`${name}:${port}`, listen));
  same(answer.status(), 401, "at the address a link signs nobody in");
  await lost.getByRole("heading", { name: "Sign in" }).waitFor();
  await lost.goto(other);
  await lost.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  holds(true, "and still holds where it leads");
  await page.context().close();
  await lost.context().close();
  forwarder.close();
};

const two = async (ada) => {
  const url = (await town("other workshop")).url;
  const there = await ada.context().newPage();
  await there.goto(url);
  await there.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  const other = new URL(url);
  holds(other.hostname !== name, "another workshop has another name");
  await there.goto(`${other.origin}/settings`);
  holds(isDone(await acts(there)), "one acts in the other workshop");
  holds(isDone(await actsAt(ada)), "and in the first, from the same browser");
  const cookies = await ada.context().cookies();
  const at = (host) => cookies.filter((it) => it.domain === host).map((it) => it.name);
  same([at(name).length, at(other.hostname).length], [1, 1], "each host has its own cookie alone");
  holds(at(name)[0] !== at(other.hostname)[0], "of its own name");
  await there.close();
};

const before = async () => {
  const pat = await visitor();
  const [address] = listen.split(":");
  const cookie = { value: "0".repeat(64), domain: address, path: "/", httpOnly: true, sameSite: "Strict" };
  await pat.context().addCookies([{ name: `artel-${name.split("-")[0]}`, ...cookie }]);
  for (const path of ["/", "/settings", "/plans"]) {
    const answer = await pat.goto(`http://${listen}${path}`);
    same(answer.status(), 401, `a cookie of before at ${path}`);
    await pat.getByRole("heading", { name: "Sign in" }).waitFor();
    await pat.getByText("artel open").waitFor();
  }
  await shot(pat, "sign-in");
  await pat.goto(await link("admin"));
  await pat.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  holds(isDone(await actsAt(pat)), "they sign in again, and all is as it was");
  await pat.context().close();
};

play(async () => {
  const ada = await person("admin");
  await keyed(ada);
  await strangers(ada);
  const left = await tabs(ada);
  await restart(left);
  await two(left);
  await forwarded();
  await before();
  const spelled = await visitor();
  for (const host of [name.toUpperCase(), `x.${name}`]) {
    const answer = await spelled.goto(`http://${host}:${port}/`);
    same(answer.status(), host === `x.${name}` ? 403 : 401, `a stranger at ${host.slice(0, 12)}…`);
  }
});
