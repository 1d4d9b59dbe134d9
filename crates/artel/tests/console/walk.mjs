// The whole way of a piece of work, from the ask to the merge, with a second browser watching.

import { artel, base, holds, person, plan, play, press, same, say, shot, until } from "./stage.mjs";

play(async () => {
  const ada = await person("admin");
  const ben = await person("developer");
  await shot(ada, "01-now-empty");

  const id = await plan(ada);
  say(`asked: ${id}`);
  await shot(ada, "02-now-plan");
  await ben.locator(`#needs a[href='/plans/${id}']`).waitFor();
  holds(true, "the second browser shows the plan without a reload");

  await ada.locator(`#needs a[href='/plans/${id}']`).click();
  await ada.getByRole("heading", { name: "Mend add", level: 1 }).waitFor();
  await shot(ada, "03-plan");
  await ben.goto(`${base}/plans/${id}`);
  await ada.getByLabel("What should be different").fill("One line in the notes is enough.");
  await ada.getByRole("button", { name: "Ask for a revision" }).click();
  for (const page of [ada, ben]) {
    await page.getByRole("button", { name: "Approve version 2" }).waitFor();
    await page.getByText("From version 1 to 2").waitFor();
    await page.locator("#versions").getByText("One line in the notes is enough.").waitFor();
  }
  const difference = await ada.locator("#versions pre").innerText();
  holds(/One line in the notes/.test(difference), "version 2 is shown with what differs");
  await shot(ada, "04-plan-version-2");

  await press(ada, "Approve version 2");
  await ada.waitForURL(/\/runs\//);
  await ada.getByText("Which numbers shall the test add?").first().waitFor();
  await ben.goto(ada.url());
  await ada.reload();
  await ada.getByText("Which numbers shall the test add?").first().waitFor();
  holds(true, "a reload in the middle keeps the question");
  await ada.evaluate(() => (window.heron = "not reloaded"));
  await shot(ada, "05-run-question");
  const states = (page) => page.locator("#steps details.step > summary .state").allInnerTexts();
  const before = await states(ada);
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await until("both steps are done", async () => {
    const now = await states(ada);
    return now.length === 2 && now.every((state) => /done|passed/i.test(state));
  });
  const after = await states(ada);
  holds(before.join() !== after.join(), `steps changed live: ${before.join(", ")} → ${after.join(", ")}`);
  same(await ada.evaluate(() => window.heron), "not reloaded", "the page was not loaded anew");
  await until("the second browser shows the same", async () => (await states(ben)).join() === after.join());

  const words = (page) => page.locator("#milestones").innerText();
  await until("the run is over", async () => /complete|done/i.test(await ada.locator("#head .crumb").innerText()));
  const told = await words(ada);
  await ada.reload();
  same(await words(ada), told, "a reload loses nothing");
  await shot(ada, "06-run-done");
  await ada.goto(`${ada.url().split("?")[0]}?view=full`);
  await ada.evaluate(() => document.querySelectorAll("#steps details").forEach((it) => (it.open = true)));
  await ada.locator("#steps").getByText("heronthought: now I know").first().waitFor();
  await shot(ada, "07-run-full");

  await ada.goto(`${base}/`);
  await ada.locator(`#needs a[href='/changesets/${id}']`).click();
  await ada.locator("table.diff .line", { hasText: "return a + b" }).first().waitFor();
  await shot(ada, "08-changeset");
  await ada.getByRole("link", { name: "side by side" }).click();
  await ada.locator("table.diff.split").first().waitFor();
  holds(await ada.locator("table.diff.split .line", { hasText: "return a - b" }).count(), "old and new stand side by side");
  await shot(ada, "09-changeset-split");
  await ben.goto(`${base}/changesets/${id}`);
  await press(ada, "Merge");
  for (const page of [ada, ben]) {
    await page.getByRole("button", { name: "Undo the merge" }).waitFor();
  }
  holds(true, "both browsers show that it is merged");
  await shot(ada, "10-merged");
  const shown = JSON.parse(await artel("changeset", "show", id, "--json"));
  same(shown.state, "merged", "so does the command line");
  const ends = [];
  for (const page of [ada, ben]) {
    await page.goto(`${base}/runs/${id}`);
    ends.push(await words(page));
  }
  same(ends[0], ends[1], "both browsers see the same end");
});
