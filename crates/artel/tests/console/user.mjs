// A person with the role `user`: sees what came of it, and neither thoughts nor tools, anywhere.

import { base, holds, person, plan, play, press, same, say, shot, until } from "./stage.mjs";

const canaries = ["heronthought", "herontool"];

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

  const una = await person("user");
  const seen = new Map();
  const look = async (path) => {
    const answer = await una.goto(`${base}${path}`);
    const html = await una.content();
    seen.set(path, answer.status());
    for (const word of canaries) {
      if (html.includes(word)) throw new Error(`${path} holds ${word}`);
    }
    return una.locator("a[href^='/']").evaluateAll((all) => all.map((it) => it.getAttribute("href")));
  };
  const open = ["/", `/runs/${id}`, `/plans/${id}`, `/changesets/${id}`, `/reports/${id}`];
  while (open.length > 0) {
    const path = open.shift().split("#")[0];
    if (seen.has(path) || seen.size > 150 || path.startsWith("/api/v1/journal/export")) continue;
    open.push(...(await look(path)));
  }
  holds(seen.size > 10, `none of ${seen.size} pages shows a thought or a call`);
  // A call is opened by those who may see it, and nobody else.
  await ada.goto(`${base}/runs/${id}?view=full`);
  const call = await ada.locator("a[href*='/calls/']").first().getAttribute("href");
  await ada.goto(`${base}${call}`);
  await ada.getByText("What came of it").first().waitFor();
  await look(call);
  same(seen.get(call), 403, "what a call was given is not theirs");
  seen.delete(call);
  await una.goto(`${base}/runs/${id}`);
  await una.locator("#steps").getByText("Mend add").first().waitFor();
  await shot(una, "run");
  holds((await una.getByRole("link", { name: "full", exact: true }).count()) === 0, "there is no way to the full view");
  await look(`/runs/${id}?view=full`);
  for (const word of canaries) {
    // Of a developer it is seen, so its absence says something.
    await ada.goto(`${base}/runs/${id}?view=full`);
    holds((await ada.content()).includes(word), `${word} is there for those who may see it`);
  }

  await una.goto(`${base}/`);
  same(await una.locator("#needs a[href^='/changesets/']").count(), 0, "what only others decide needs them not");
  same(await una.locator(`#theirs a[href='/changesets/${id}']`).count(), 1, "and is shown as what others decide");
  same(await una.title(), "Now · Artel", "nor is it counted");
  await shot(una, "now");
  await ada.goto(`${base}/`);
  holds((await ada.title()).startsWith("("), "of those who decide it is");
  same(await ada.locator("#theirs li").count(), 0, "who leave it to nobody");

  const api = (page, path, options) =>
    page.evaluate(
      async ([path, options]) => {
        const { key } = JSON.parse(sessionStorage.getItem("artel-key"));
        const headers = { "Content-Type": "application/json", "X-Artel-Proof": key };
        const answer = await fetch(path, { headers, ...options });
        return { status: answer.status, text: await answer.text() };
      },
      [path, options],
    );
  for (const path of [`/api/v1/runs/${id}/story?view=full`, "/api/v1/events?view=full", "/api/v1/tokens"]) {
    const { status, text } = await api(una, path);
    holds(status === 403, `${path} is refused: ${status}`);
    holds(!canaries.some((word) => text.includes(word)), "and says nothing of it");
  }
  for (const path of [`/api/v1/runs/${id}/story`, "/api/v1/events", `/api/v1/plans/${id}`, `/api/v1/changesets/${id}`]) {
    const { status, text } = await api(una, path);
    same(status, 200, `${path} is theirs`);
    holds(!canaries.some((word) => text.includes(word)), "without thoughts and calls");
  }
  for (const path of ["daemon/pause", "tokens", `changesets/${id}/approve`, "portals", "policy/grants"]) {
    const { status } = await api(una, `/api/v1/${path}`, { method: "POST", body: "{}" });
    same(status, 403, `POST ${path} is not theirs`);
  }
  await una.goto(`${base}/settings`);
  await shot(una, "settings");
  const buttons = await una.locator("main button").allInnerTexts();
  same(buttons, [], "the settings offer them nothing to change");
  await una.goto(`${base}/changesets/${id}`);
  holds((await una.getByRole("button", { name: "Merge" }).count()) === 0, "nor does the changeset");
  await shot(una, "changeset");
  const elsewhere = [...seen].filter(([, status]) => status !== 200);
  same(elsewhere, [], `every one of ${seen.size} links that they are shown leads to a page of theirs`);
});
