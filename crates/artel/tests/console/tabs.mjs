// Many tabs of one browser: those that nobody sees hold no connection, and one that is looked at
// again is current.

import { artel, base, holds, person, plan, play, same, say, until } from "./stage.mjs";

const MANY = 8;

/** Puts a tab into the background, or in front. A browser without windows shows them all. */
const turn = (page, isHidden) =>
  page.evaluate((isHidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
    document.dispatchEvent(new Event("visibilitychange"));
  }, isHidden);

play(async () => {
  const ada = await person("admin");
  const context = ada.context();
  const open = new Set();
  const watch = (page) => {
    page.on("request", (it) => it.url().includes("/api/v1/events") && open.add(it));
    const over = (it) => open.delete(it);
    page.on("requestfinished", over);
    page.on("requestfailed", over);
  };
  context.on("page", watch);
  await turn(ada, true);
  const tabs = [];
  for (let at = 0; at < MANY; at += 1) {
    const tab = await context.newPage();
    await tab.goto(`${base}/`);
    await tab.getByRole("heading", { name: "Now", level: 1 }).waitFor();
    tabs.push(tab);
    if (at < MANY - 1) await turn(tab, true);
  }
  holds(true, `${MANY} tabs are open`);
  await until("only the one in front follows", () => open.size === 1);
  const front = tabs.at(-1);
  const id = await plan(front);
  say(`the one in front asks and is told: ${id}`);

  const first = tabs[0];
  same(await first.locator(`#needs a[href='/plans/${id}']`).count(), 0, "one in the background does not follow");
  await turn(front, true);
  await turn(first, false);
  await first.locator(`#needs a[href='/plans/${id}']`).waitFor();
  holds((await first.title()).startsWith("(1) "), "it is current once it is looked at, its title too");
  await artel("plan", "reject", id, "--reason", "not now");
  await until("and it follows again", async () => (await first.locator(`#needs a[href='/plans/${id}']`).count()) === 0);
  await until("with one connection in all", () => open.size === 1);

  // Every page says how much waits, wherever it is.
  await first.goto(`${base}/agents`);
  holds(!(await first.title()).startsWith("("), "nothing waits");
  const other = await person("admin");
  await plan(other, "Mend add in calc.py once more. It must add.");
  await until("another page counts what waits in its title", async () => (await first.title()).startsWith("(1) "));
});
