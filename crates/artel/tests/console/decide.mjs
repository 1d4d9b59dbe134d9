// What is decided about is what was seen: pages change under a question, and two people decide at
// once.

import { base, holds, journal, listen, person, plan, play, press, same, shot, until } from "./stage.mjs";

const count = async (kind) => (await journal()).filter((it) => it.kind === kind).length;

/** Presses a button and leaves the question open. */
const begin = async (page, name) => {
  await page.getByRole("button", { name, exact: true }).click();
  const sure = page.locator("dialog#sure[open]");
  await sure.waitFor();
  return () => sure.getByRole("button", { name: "Yes" }).click();
};

const aPlan = async (ada, ben, id) => {
  for (const page of [ada, ben]) await page.goto(`${base}/plans/${id}`);
  await ada.locator("#about").getByText("The first heron").waitFor();
  const yes = await begin(ada, "Approve version 1");
  await ben.getByLabel("What should be different").fill("One line in the notes is enough.");
  await ben.getByRole("button", { name: "Ask for a revision" }).click();
  await ada.locator("#decide button", { hasText: "Approve version 2" }).waitFor();
  await ada.locator("#about").getByText("The second heron").waitFor();
  same(await ada.getByText("The first heron").count(), 1, "of the first version's risks only the difference tells");
  await yes();
  await ada.locator("[role=alert]").getByText("it changed while you were asked").waitFor();
  same(await count("plan.approved"), 0, "a yes to the first version approves nothing");
  await shot(ada, "changed");
};

const twoApprovers = async (ada, ben, id) => {
  await ben.locator("#decide button", { hasText: "Approve version 2" }).waitFor();
  let go;
  const held = new Promise((resolve) => (go = resolve));
  // What the second one looks at does not follow in time.
  await ben.route(`**/plans/${id}`, async (route) => {
    await held;
    await route.continue();
  });
  const yes = await begin(ben, "Approve version 2");
  await press(ada, "Approve version 2");
  await ada.waitForURL(/\/runs\//);
  await yes();
  await ben.locator("#decide form > [role=alert]").waitFor();
  go();
  await ben.locator("#told [role=alert]").getByText("the plan is already decided").waitFor();
  same(await ben.locator("#decide button", { hasText: "Approve" }).count(), 0, "the form has gone");
  holds(true, "and still the second one reads that they were late");
  same(await count("plan.approved"), 1, "one of two approves");
  await shot(ben, "late");
};

const aChangeset = async (ada, ben, id) => {
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  for (const page of [ada, ben]) await page.goto(`${base}/changesets/${id}`);
  const head = await ben.locator("#decide input[name=head]").inputValue();
  const other = "f".repeat(head.length);
  await ben.route(`**/changesets/${id}`, async (route) => {
    // It is fetched by Node, which knows no names below `localhost`.
    const headers = { ...(await route.request().allHeaders()), host: new URL(base).host };
    const answer = await route.fetch({ url: route.request().url().replace(base, `http://${listen}`), headers });
    const text = (await answer.text()).replaceAll(head, other).replaceAll("add adds", "add divides");
    await route.fulfill({ response: answer, body: text });
  });
  const yes = await begin(ben, "Merge");
  await ben.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await until("the difference follows as well as the decision", async () => {
    const diff = await ben.locator("#diff").innerText();
    return diff.includes("add divides") && (await ben.locator("#decide input[name=head]").inputValue()) === other;
  });
  await yes();
  await ben.locator("#decide [role=alert]").getByText("it changed while you were asked").waitFor();
  same(await count("changeset.merged"), 0, "nothing else than what was seen is merged");

  await ben.unroute(`**/changesets/${id}`);
  await ben.reload();
  const late = await begin(ben, "Merge");
  await press(ada, "Merge");
  await ada.getByRole("button", { name: "Undo the merge" }).waitFor();
  await ben.locator("#decide button", { hasText: "Undo the merge" }).waitFor();
  await late();
  await ben.locator("#told [role=alert]").getByText("it changed while you were asked").waitFor();
  same(await count("changeset.merged"), 1, "it is merged once");
};

play(async () => {
  const ada = await person("admin");
  const ben = await person("admin");
  const id = await plan(ada);
  await aPlan(ada, ben, id);
  await twoApprovers(ada, ben, id);
  await aChangeset(ada, ben, id);
});
