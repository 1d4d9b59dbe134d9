// Without JavaScript every page reads; acting needs it, and the page says so.

import { base, holds, person, plan, play, press, shot, until } from "./stage.mjs";
import { places } from "./places.mjs";

play(async () => {
  const ada = await person("admin");
  const id = await plan(ada);
  await ada.goto(`${base}/plans/${id}`);
  await press(ada, "Approve version 1");
  await ada.waitForURL(/\/runs\//);
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await until("the plan is done", async () => {
    await ada.goto(`${base}/`);
    return (await ada.locator(`#needs a[href='/changesets/${id}']`).count()) > 0;
  });

  const pat = await person("admin", { javaScriptEnabled: false });
  for (const [path, words] of places(id)) {
    const answer = await pat.goto(`${base}${path}`);
    holds(answer.status() === 200, `${path} answers`);
    const text = await pat.locator("body").innerText();
    holds(text.includes(words), `${path} says ${words}`);
    holds(/switch it on/.test(text), `${path} says that acting needs JavaScript`);
    await shot(pat, path.replace(id, "one").replaceAll(/[^a-z]+/g, "-"));
  }
  const filtered = await pat.goto(`${base}/journal?kind=plan.approved`);
  holds(filtered.ok(), "the journal can be searched");
  holds((await pat.locator("tbody tr").count()) === 1, "and finds one approval");
});
