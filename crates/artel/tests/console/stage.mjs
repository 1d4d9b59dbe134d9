// What every scene uses: a browser, people who come in by a link, and commands in the town.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(`${process.env.CONSOLE_NODE}/package.json`);
const { chromium } = require("playwright-core");

/** The file of axe, to be put into a page. */
export const axe = require.resolve("axe-core/axe.min.js");
/** Where the daemon listens; programs call it there. */
export const listen = process.env.CONSOLE_LISTEN;
export const project = process.env.CONSOLE_PROJECT;

const scene = process.env.CONSOLE_SCENE;
const troubles = [];
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const browser = await chromium.launch({
  executablePath: process.env.CONSOLE_BROWSER,
  args: ["--no-sandbox", "--headless=new", "--disable-background-networking", "--host-resolver-rules=MAP rebound.example 127.0.0.1"],
});

export const say = (text) => console.log(text);

/** Demands something, and says that it is so. */
export const holds = (fact, text) => {
  if (!fact) throw new Error(`not so: ${text}`);
  say(`ok ${text}`);
};

export const same = (got, wanted, text) => {
  const [one, other] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${text}: ${one} instead of ${other}`);
  say(`ok ${text}`);
};

let queue = Promise.resolve();
/** Has the other side do something; one after the other. */
const ask = (line) => {
  const asked = queue.then(async () => {
    console.log(line);
    return JSON.parse((await answers.next()).value);
  });
  queue = asked.catch(() => {});
  return asked;
};

/** Runs a command in the town. */
export const artel = async (...words) => {
  const seen = await ask(`artel: ${JSON.stringify(words)}`);
  if (seen.code !== 0) throw new Error(`artel ${words.join(" ")}: ${seen.code}\n${seen.err}`);
  return seen.out;
};

/** Has the test do what it was written for. */
export const town = (word) => ask(`town: ${word}`);

export const journal = async () => JSON.parse(await artel("journal", "query", "--json"));
export const link = async (role) => JSON.parse(await artel("open", "--role", role, "--json")).url;

/** Where browsers find the console. */
export const base = new URL(await link("user")).origin;

/** Somebody at a browser of their own, not signed in. What their pages do wrong is kept. */
export const visitor = async (options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(30_000);
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const page = await context.newPage();
  watch(page);
  context.on("page", watch);
  return page;
};

/** The same, signed in. */
export const person = async (role = "admin", options = {}) => {
  const page = await visitor(options);
  await page.goto(await link(role));
  // Without scripts the page that a link leads to waits for its button.
  if (options.javaScriptEnabled === false) await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Now", level: 1 }).waitFor();
  return page;
};

const watched = new Set();
const watch = (page) => {
  if (watched.has(page)) return;
  watched.add(page);
  page.on("pageerror", (error) => troubles.push(`${page.url()}: ${error}`));
  page.on("console", (message) => {
    const text = message.text();
    if (/CSP:|Content.Security.Policy/i.test(text)) troubles.push(`${page.url()}: ${text}`);
  });
};

/** Takes what pages did wrong so far, where a scene looks at it itself. */
export const troubled = () => troubles.splice(0);

/** Keeps a picture of the whole page. */
export const shot = async (page, name) => {
  const path = `${process.env.CONSOLE_SHOTS}/${scene}-${name}.png`;
  await page.screenshot({ path, fullPage: true });
};

/** Goes to a page of the console. */
export const at = async (page, path) => {
  await page.goto(`${base}${path}`);
  return page;
};

/** Waits until a tab has the key of its sign-in. */
export const keyed = (page) => page.waitForFunction(() => sessionStorage.getItem("artel-key"));

/** Sends something as the pages do, where no page offers it. */
export const send = async (page, path, body) => {
  await keyed(page);
  return page.evaluate(
    async ([path, body]) => {
      const { key } = JSON.parse(sessionStorage.getItem("artel-key"));
      const headers = { "Content-Type": "application/json", "X-Artel-Proof": key };
      const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: answer.status, value: JSON.parse((await answer.text()) || "null") };
    },
    [path, body],
  );
};

/** Presses a button that asks once more, and says yes. */
export const press = async (page, name) => {
  await page.getByRole("button", { name, exact: true }).click();
  const sure = page.locator("dialog#sure[open]");
  if (await sure.isVisible()) await sure.getByRole("button", { name: "Yes" }).click();
};

/** Waits for something that is asked for again and again. */
export const until = async (text, is) => {
  for (let round = 0; round < 600; round += 1) {
    if (await is()) return say(`ok ${text}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`never: ${text}`);
};

/** Asks in the page, and returns the id of the work when its plan is in review. */
export const plan = async (page, words = "Mend add in calc.py. It must add.") => {
  await page.goto(`${base}/`);
  await page.getByLabel("Ask for something").fill(words);
  await page.getByLabel("Portal").selectOption("calc");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const ready = page.locator("#needs a[href^='/plans/']").first();
  await ready.waitFor();
  return (await ready.getAttribute("href")).split("/").pop();
};

/** Plays the scene; its pages must not have done anything wrong either. */
export const play = async (act) => {
  let code = 0;
  try {
    await act();
    if (troubles.length > 0) throw new Error(`pages did wrong:\n${troubles.join("\n")}`);
  } catch (error) {
    code = 1;
    console.log(`FAILED ${scene}: ${error.stack}`);
    for (const context of browser.contexts()) {
      for (const page of context.pages()) {
        console.log(`at ${page.url()}`);
        await shot(page, `failed-${context.pages().indexOf(page)}`).catch(() => {});
        console.log((await page.locator("main").innerText().catch(() => "")).slice(0, 3000));
      }
    }
  }
  await browser.close();
  process.exit(code);
};
