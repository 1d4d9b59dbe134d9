// Accessibility: axe on every page, wide and narrow, light and dark; a plan approved with keys alone.

import { artel, at, axe, base, holds, person, plan, play, press, same, say, send, shot, town, visitor } from "./stage.mjs";
import { places } from "./places.mjs";

const looks = [
  ["desktop-light", { colorScheme: "light" }],
  ["desktop-dark", { colorScheme: "dark" }],
  ["phone-light", { colorScheme: "light", viewport: { width: 375, height: 800 } }],
  ["phone-dark", { colorScheme: "dark", viewport: { width: 375, height: 800 } }],
];

const found = [];

/** What is found where nothing is said; in the dark only colours differ. */
const everything = { resultTypes: ["violations"] };
const colours = { ...everything, runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

const judge = async (page, where, options = everything) => {
  // Axe is put in past the page's policy; the page itself could not do that.
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate((options) => window.axe.run(document, options), options);
  for (const it of violations) {
    const line = `${it.impact} ${it.id} at ${where}: ${it.help}: ${it.nodes[0].html.slice(0, 160)}`;
    if (["serious", "critical"].includes(it.impact)) found.push(line);
    else say(`slight: ${line}`);
  }
};

const fits = async (page, where) => {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) found.push(`${where} is ${over} px wider than the screen`);
};

/** Presses Tab until something has the focus. */
const reach = async (page, name) => {
  for (let round = 0; round < 80; round += 1) {
    const text = await page.evaluate(() => document.activeElement.innerText?.trim());
    if (text === name) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab never reaches ${name}`);
};

/** A call that waits for a yes, a plan that was turned down, work that failed. */
const troubles = async (ada) => {
  const refused = await plan(ada);
  await ada.goto(`${base}/plans/${refused}`);
  await ada.getByLabel("Why it is turned down").fill("not now");
  await press(ada, "Reject");
  await ada.locator("#head .state").getByText("rejected").waitFor();
  await judge(ada, "a rejected plan");

  const broken = await plan(ada, "Break add in calc.py.");
  await ada.goto(`${base}/plans/${broken}`);
  await press(ada, "Approve version 1");
  await ada.waitForURL(/\/runs\//);
  await ada.getByRole("button", { name: "give-up", exact: true }).first().waitFor();
  await judge(ada, "a step that did not pass");
  await press(ada, "give-up");
  await ada.locator("#head .state").getByText("failed").waitFor();
  await judge(ada, "a failed run");
  await judge(await at(ada, `/plans/${broken}`), "a failed plan");

  const begun = await send(ada, "/api/v1/runs", { task: "Look outside", portal: "calc" });
  same(begun.status, 201, "a run begins that needs a yes");
  await at(ada, "/");
  await ada.locator("#needs article", { hasText: "needs a yes" }).waitFor();
  await judge(ada, "/ with a call");
  await ada.getByRole("button", { name: "Allow once", exact: true }).click();
  await ada.locator("dialog#sure[open]").waitFor();
  await judge(ada, "a call that is about to be allowed");
  await ada.keyboard.press("Escape");
  await ada.getByRole("button", { name: "Refuse", exact: true }).click();
  await ada.locator("#told").getByText("The agent has your answer").waitFor();
  await judge(ada, "/ that says what came of it");
};

play(async () => {
  const ada = await person("admin", { bypassCSP: true });
  // Keys alone: ask, go to the plan, approve, answer.
  await ada.keyboard.press("a");
  await ada.keyboard.type("Mend add in calc.py. It must add.");
  await ada.keyboard.press("Tab");
  await ada.keyboard.type("calc");
  await ada.keyboard.press("Shift+Tab");
  await ada.keyboard.press("Control+Enter");
  const ready = ada.locator("#needs a[href^='/plans/']").first();
  await ready.waitFor();
  const id = (await ready.getAttribute("href")).split("/").pop();
  await judge(ada, "/ with a plan");
  await reach(ada, await ready.innerText());
  await ada.keyboard.press("Enter");
  await ada.waitForURL(/\/plans\//);
  await judge(ada, "a plan in review");
  await reach(ada, "Approve version 1");
  await ada.keyboard.press("Enter");
  await ada.locator("dialog#sure[open]").waitFor();
  await judge(ada, "the dialog");
  await reach(ada, "Yes");
  await ada.keyboard.press("Enter");
  await ada.waitForURL(/\/runs\//);
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().waitFor();
  await judge(ada, "a run with a question");
  await reach(ada, "2 and 3");
  await ada.keyboard.press("Enter");
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  holds(true, "asked, approved and answered with keys alone");

  await artel("skill", "new", "greeting");
  await troubles(ada);
  // All that an administrator sees, then what is there to be told that something is not.
  await ada.goto(`${base}/runs/${id}?view=full`);
  const call = await ada.locator("a[href*='/calls/']").first().getAttribute("href");
  const all = [...places(id).map(([path]) => path), call, `/changesets/${id}?file=1`, "/skills/greeting", "/plans/nowhere", "/nowhere"];
  for (const [look, options] of looks) {
    const page = await person("admin", { bypassCSP: true, ...options });
    for (const path of all) {
      await page.goto(`${base}${path}`);
      await page.evaluate(() => {
        // What is folded is looked at too; of long lists of the same some.
        [...document.querySelectorAll("main details")].slice(0, 12).forEach((it) => (it.open = true));
      });
      await judge(page, `${look} ${path}`, look.endsWith("dark") ? colours : everything);
      if (look.startsWith("phone")) await fits(page, `${look} ${path}`);
      if (["desktop-dark", "phone-light"].includes(look)) await shot(page, `${look}-${path.replace(id, "one").replaceAll(/[^a-z]+/g, "-")}`);
    }
    await page.context().close();
    const stranger = await visitor({ bypassCSP: true, ...options });
    await stranger.goto(`${base}/`);
    await judge(stranger, `${look} for a stranger`);
    await stranger.context().close();
  }
  // Others see the same pages with less on them, or are told that they are not theirs.
  for (const role of ["user", "developer"]) {
    const page = await person(role, { bypassCSP: true });
    for (const path of all) {
      await page.goto(`${base}${path}`);
      await judge(page, `${role} ${path}`);
    }
  }
  // What is wrong is told where people look first and where they can mend it.
  await town("trouble");
  for (const [look, options] of looks) {
    const page = await person("admin", { bypassCSP: true, ...options });
    for (const path of ["/", "/settings"]) {
      await page.goto(`${base}${path}`);
      for (const words of ["are not in force", "by a fault of its own", "is paused until"]) {
        await page.locator("#wrong").getByText(words).first().waitFor();
      }
      await judge(page, `${look} ${path} with troubles`, look.endsWith("dark") ? colours : everything);
      if (look.startsWith("phone")) await fits(page, `${look} ${path} with troubles`);
      await shot(page, `${look}-trouble-${path.replaceAll(/[^a-z]+/g, "")}`);
    }
    if (look === looks.at(-1)[0]) {
      await press(page, "Ask openai-chat:127.0.0.1:8080 again now");
      await page.locator("#wrong").getByText("is paused until").waitFor({ state: "detached" });
      holds(true, "a provider is asked again at a press of a button");
    }
    await page.context().close();
  }
  if (found.length > 0) throw new Error(`axe found:\n${found.join("\n")}`);
  holds(true, `${looks.length * (all.length + 1) + 2 * all.length} views without a serious finding`);
});
