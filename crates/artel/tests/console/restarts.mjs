// The daemon is restarted many times, politely and by a kill, while a plan waits to be approved and
// four pages are open. Rows come while it is away and while it is there.

import { artel, base, listen, person, plan, play, press, same, say, shot, town, until } from "./stage.mjs";


/** Opens a page, and marks it, so that a reload would be noticed. */
const open = async (context, path) => {
  const page = await context.newPage();
  await page.goto(`${base}${path}`);
  await page.evaluate(() => {
    window.heron = "not reloaded";
    window.lost = 0;
    new MutationObserver(() => {
      if (/reconnecting/.test(document.getElementById("line").textContent)) window.lost += 1;
    }).observe(document.getElementById("line"), { childList: true, characterData: true, subtree: true });
  });
  return page;
};

const isConnected = async (page) => (await page.locator("#line").innerText()) === "";
const titles = (page) => page.locator("#runs tbody tr a").allInnerTexts();

play(async () => {
  const ada = await person("admin");
  const id = await plan(ada);
  const context = ada.context();
  const now = await open(context, "/");
  const review = await open(context, `/plans/${id}`);
  const runs = await open(context, "/runs");
  const journal = await open(context, "/journal?kind=run.started");
  const pages = [now, review, runs, journal];
  const first = await titles(runs);
  const told = await journal.locator("tbody tr").count();
  const rows = [];
  const took = [];
  const count = await town("rounds");
  for (let round = 1; round <= count; round += 1) {
    const losses = await Promise.all(pages.map((page) => page.evaluate(() => window.lost)));
    if (round % 2 === 0) await town("kill");
    else await artel("daemon", "stop");
    for (const [index, page] of pages.entries()) {
      await until(`${round}: page ${index} notices`, () => page.evaluate((lost) => window.lost > lost, losses[index]));
    }
    if (round % 3 === 0) rows.unshift(await town("row"));
    await artel("daemon", "start", "--listen", listen, "--json");
    const began = Date.now();
    if (round % 3 !== 0) rows.unshift(await town("row"));
    for (const [index, page] of pages.entries()) {
      await until(`${round}: page ${index} is connected again`, () => isConnected(page));
    }
    took.push(Date.now() - began);
    await until(`${round}: the new row is there`, async () => (await titles(runs))[0] === rows[0]);
    same(await titles(runs), [...rows, ...first], `${round}: each row once, in order`);
    await until(`${round}: so it is in the journal`, async () => {
      return (await journal.locator("tbody tr").count()) === told + rows.length;
    });
    same(await now.locator("#needs a[href^='/plans/']").count(), 1, `${round}: one plan waits`);
    same(await review.getByRole("button", { name: "Approve version 1" }).count(), 1, `${round}: it can be approved`);
  }
  for (const page of pages) {
    same(await page.evaluate(() => window.heron), "not reloaded", "no page was loaded anew");
  }
  took.sort((one, other) => one - other);
  say(`figure: pages connected again after a start | ${took.at(-1)} ms at most | ${took.at(took.length / 2)} ms in the middle`);
  await shot(runs, "runs");

  // What was on the page before all of this is decided now, from that page.
  await press(review, "Approve version 1");
  await review.waitForURL(/\/runs\//);
  await review.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await until("the run goes on to its end", async () => {
    const states = await review.locator("#steps details.step > summary .state").allInnerTexts();
    return states.length === 2 && states.every((state) => /done|passed/i.test(state));
  });
  await review.locator("#head a[href^='/changesets/']").waitFor();
});
