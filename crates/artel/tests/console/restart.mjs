// The daemon is restarted while pages are open: they go on by themselves.

import { artel, base, holds, journal, listen, person, plan, play, press, same, shot, until } from "./stage.mjs";

play(async () => {
  const ada = await person("admin");
  const id = await plan(ada);
  await ada.goto(`${base}/plans/${id}`);
  await press(ada, "Approve version 1");
  await ada.waitForURL(/\/runs\//);
  await ada.getByText("Which numbers shall the test add?").first().waitFor();
  await ada.evaluate(() => {
    window.heron = "not reloaded";
    window.lost = 0;
    new MutationObserver(() => {
      if (/reconnecting/.test(document.getElementById("line").textContent)) window.lost += 1;
    }).observe(document.getElementById("line"), { childList: true, characterData: true, subtree: true });
  });
  await artel("daemon", "stop");
  await until("the page says that it reconnects", () => ada.evaluate(() => window.lost > 0));
  await shot(ada, "reconnecting");
  await artel("daemon", "start", "--listen", listen, "--json");
  await until("the page is connected again", async () => (await ada.locator("#line").innerText()) === "");
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await until("the run goes on to its end", async () => {
    const states = await ada.locator("#steps details.step > summary .state").allInnerTexts();
    return states.length === 2 && states.every((state) => /done|passed/i.test(state));
  });
  same(await ada.evaluate(() => window.heron), "not reloaded", "in the same page");
  await artel("daemon", "restart", "--listen", listen);
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  holds(true, "a second restart, and the page goes on");
  const events = await journal();
  for (const kind of ["request.created", "plan.approved", "run.answered", "plan.ended", "changeset.created"]) {
    same(events.filter((it) => it.kind === kind).length, 1, `one ${kind}`);
  }
  const told = await ada.locator("#milestones").innerText();
  await ada.reload();
  same(await ada.locator("#milestones").innerText(), told, "what was shown live is what a reload shows");
});
