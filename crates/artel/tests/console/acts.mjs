// Everything that pages offer to do is pressed once, and is on record afterwards.

import { dirname } from "node:path";
import { artel, at, base, holds, journal, person, plan, play, press, project, same, say, send, shot, until } from "./stage.mjs";

const known = (it) => (typeof it.payload === "string" ? JSON.parse(it.payload) : it.payload);
const done = new Set();

/** Does something, and waits until its event is on record as a person's at the console. */
const act = async (name, kind, does, fits = () => true) => {
  const mine = async () =>
    (await journal()).filter((it) => it.kind === kind && it.actor.via === "web" && fits(known(it))).length;
  const before = await mine();
  await does();
  await until(`${name} is on record as ${kind}`, async () => (await mine()) > before);
  done.add(name);
};

const steered = (name) => (it) => it.act === name;

const says = (page, text) => page.locator("#told").getByText(text).waitFor();

const settings = async (ada) => {
  await at(ada, "/settings");
  const policy = ada.locator("#policy");
  for (const rule of ["Bash(npm run build)", "Bash(npm run lint)"]) {
    await policy.getByLabel("Rule").fill(rule);
    await policy.getByLabel("Why").fill("our own");
    await act(`grant ${rule}`, "policy.granted", () => press(ada, "Grant"));
    await policy.getByRole("cell", { name: rule }).or(policy.getByRole("rowheader", { name: rule })).first().waitFor();
  }
  const second = policy.locator("tr", { hasText: "npm run lint" }).getByRole("button", { name: "Revoke" });
  await second.click();
  const sure = ada.locator("dialog#sure[open]");
  await sure.getByText("Bash(npm run lint)").waitFor();
  // The first one goes meanwhile, so that the second has its number.
  await artel("policy", "revoke", "Bash(npm run build)");
  await until("the list follows", async () => (await policy.locator("tbody tr").count()) === 2);
  await sure.getByRole("button", { name: "Yes" }).click();
  await ada.locator("[role=alert]").getByText("it changed while you were asked").first().waitFor();
  const revoked = (it) => it.rule === "Bash(npm run lint)";
  await act("revoke a grant", "policy.revoked", async () => {
    await second.click();
    await sure.getByRole("button", { name: "Yes" }).click();
  }, revoked);
  await says(ada, "no longer granted");
  const stale = await send(ada, "/api/v1/policy/grants/1/revoke", { rule: "Bash(ls)" });
  same([stale.status, stale.value.error.code], [409, "P008"], "one that is another by now stays");

  await policy.getByLabel("Would agents be allowed").fill("git push --force");
  await policy.getByRole("button", { name: "Check" }).click();
  await policy.locator(".told").getByText("decision: deny").waitFor();

  const portals = ada.locator("#portals");
  await portals.getByLabel("Folder").fill(`${dirname(project)}/other`);
  await portals.getByLabel("Name", { exact: true }).fill("other");
  await portals.getByLabel("write", { exact: true }).uncheck();
  await portals.getByLabel("git", { exact: true }).uncheck();
  await portals.getByLabel("Roles").fill("engineer, tester");
  await portals.getByLabel("Content goes").selectOption("local-only");
  await act("open a portal", "portal.opened", () => press(ada, "Open a portal"));
  await says(ada, "The portal is open");
  const row = portals.locator("tr", { hasText: "other" });
  await row.waitFor();
  const cells = await row.getByRole("cell").allInnerTexts();
  same(cells.slice(1, 3), ["read", "engineer, tester"], "it is open as far as was said");
  holds(/local/.test(cells[3]), "and its content stays here");
  await at(ada, "/");
  same(await ada.getByLabel("Portal").inputValue(), "", "of several portals one is to be chosen");
  await ada.getByLabel("Ask for something").fill("Nothing");
  await ada.getByRole("button", { name: "Ask", exact: true }).click();
  holds(await ada.getByLabel("Portal").evaluate((it) => it.matches(":invalid")), "nothing is sent without");
  await at(ada, "/settings");
  await act("close a portal", "portal.closed", async () => {
    await ada.locator("#portals tr", { hasText: "other" }).getByRole("button", { name: "Close" }).click();
    await ada.locator("dialog#sure[open]").getByRole("button", { name: "Yes" }).click();
  });

  const tokens = ada.locator("form[data-post='/api/v1/tokens']");
  await tokens.getByLabel("Name").fill("robot");
  await act("make a token", "token.created", () => press(ada, "Make a token"));
  await tokens.locator(".told").getByText("token: artel_").waitFor();
  await ada.locator("#tokens tr", { hasText: "robot" }).getByText("no, a program holds it").waitFor();
  await act("revoke a token", "token.revoked", async () => {
    await ada.locator("#tokens tr", { hasText: "robot" }).getByRole("button", { name: "Revoke" }).click();
    await ada.locator("dialog#sure[open]").getByRole("button", { name: "Yes" }).click();
  });

  const models = ada.locator("#models");
  await models.getByRole("button", { name: "Test" }).first().click();
  await models.locator(".told").getByText("text: works").waitFor();
  same(await models.locator("[role=alert]").count(), 0, "a model is tested, and says what came of it");
  await visibility(ada);
  const daemon = ada.locator("#daemon");
  await act("hold new work", "daemon.paused", () => daemon.getByRole("button", { name: "Hold new work" }).click());
  await act("resume the daemon", "daemon.resumed", () => daemon.getByRole("button", { name: "Resume" }).click());
};

/** Who sees what is said here, and is in force for those who look then. */
const visibility = async (ada) => {
  const rules = ada.locator("#visibility");
  const user = rules.locator("tr", { has: ada.getByRole("rowheader", { name: "user", exact: true }) });
  const inForce = async () => ada.evaluate(async () => (await fetch("/api/v1/visibility")).json());
  for (const [button, wanted, next] of [
    ["Show everything", "full", "Show summaries alone"],
    ["Show summaries alone", "summary", "Show everything"],
  ]) {
    await act(`have users see: ${wanted}`, "config.loaded", async () => {
      await user.getByRole("button", { name: button }).click();
      const sure = ada.locator("dialog#sure[open]");
      if (wanted === "full") await sure.getByRole("button", { name: "Yes" }).click();
    });
    await user.getByRole("button", { name: next }).waitFor();
    const { roles } = await inForce();
    same(roles.find((it) => it.role === "user").sees, wanted, `and that is in force: ${wanted}`);
  }
  const hidden = ada.getByLabel(/^Hidden tools/);
  for (const [names, words] of [[["mcp__db__*"], "mcp__db__*"], [[], "No tools are hidden."]]) {
    await hidden.fill(names.join("\n"));
    await act(`hide ${names.length} tools`, "config.loaded", () => press(ada, "Hide these"));
    await rules.getByText(words).first().waitFor();
    same((await inForce()).hidden_tools, names, "so many are hidden");
  }
};

const steering = async (ada) => {
  const id = await plan(ada);
  await says(ada, "Asked");
  const link = ada.locator("#told a[href^='/runs/']");
  holds((await link.getAttribute("href")).includes(id), "what was asked is a link away");
  same(await ada.getByLabel("Ask for something").inputValue(), "", "and the box is empty");
  await at(ada, `/plans/${id}`);
  await act("approve", "plan.approved", () => press(ada, "Approve version 1"));
  await ada.waitForURL(/\/runs\//);
  await ada.getByText("Which numbers shall the test add?").first().waitFor();
  await ada.getByRole("textbox", { name: "Tell the agent something" }).fill("Mind the heron.");
  await act("hint", "run.steered", () => press(ada, "Send"), steered("hint"));
  await says(ada, "It will be given your hint");
  const pause = ada.getByRole("button", { name: "Pause", exact: true });
  await until("what nobody drives cannot be paused", async () => (await pause.count()) === 0);

  const second = ada.locator("#steps details.step").nth(1);
  await second.evaluate((it) => (it.open = true));
  await act("hold a step", "step.steered", () => press(ada, "Hold step 2"), steered("pause"));
  await act("let a step go on", "step.steered", () => press(ada, "Let step 2 go on"), steered("resume"));
  await ada.getByRole("button", { name: "Hold step 2" }).waitFor();

  await ada.locator("#steps details.step").first().evaluate((it) => (it.open = true));
  const waive = ada.locator("details[data-keep^='waive-']").first();
  await waive.evaluate((it) => (it.open = true));
  await waive.getByLabel("Check").fill("inspector");
  await waive.getByLabel("Why").fill("it is small");
  await act("waive", "step.waived", () => press(ada, "Waive"));
  await at(ada, `/plans/${id}`);
  const skip = ada.locator("#steps details", { hasText: "Leave this step out" }).last();
  await skip.evaluate((it) => (it.open = true));
  await skip.getByLabel("Why").fill("nobody reads notes");
  await act("skip", "step.settled", () => press(ada, "Skip step 2"));

  await at(ada, `/runs/${id}?view=full`);
  await ada.locator("#events details").evaluate((it) => (it.open = true));
  await ada.locator("#events input[type=radio]").first().check();
  await act("fork", "run.forked", () => press(ada, "Fork"));
  await ada.waitForURL((url) => url.pathname.startsWith("/runs/") && !url.pathname.endsWith(id));
  await act("cancel a run", "run.steered", () => press(ada, "Cancel"), steered("cancel"));
  await says(ada, "cancelled");

  await at(ada, `/runs/${id}`);
  await act("answer", "run.answered", () => press(ada, "2 and 3"));
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  await at(ada, `/changesets/${id}`);
  await ada.getByLabel("Why it is turned down").fill("half of it");
  await act("reject a changeset", "changeset.rejected", () => press(ada, "Reject"));
};

const deciding = async (ada) => {
  const id = await plan(ada, "Mend add a second time. It must add.");
  await at(ada, `/plans/${id}`);
  await ada.getByLabel("What should be different").fill("Say it shorter.");
  await act("revise", "plan.commented", () => press(ada, "Ask for a revision"));
  await ada.getByRole("button", { name: "Approve version 2" }).waitFor();
  const said = ada.locator("#versions .said li", { hasText: "Say it shorter." });
  holds(/\d{4}-\d\d-\d\d \d\d:\d\d/.test(await said.innerText()), "a comment says when, and by whom");
  await ada.route(`**/plans/${id}/text`, (route) => route.abort());
  const edit = ada.locator("#decide details", { hasText: "Edit it yourself" });
  await edit.locator("summary").click();
  await edit.getByText("the text could not be fetched").waitFor();
  await ada.unroute(`**/plans/${id}/text`);
  await edit.locator("summary").click();
  await edit.locator("summary").click();
  const text = ada.getByLabel("The plan as Markdown");
  await until("the text is there", async () => (await text.inputValue()).includes("One line in the notes"));
  await text.fill((await text.inputValue()).replace("One line in the notes", "Two lines in the notes"));
  await act("edit", "plan.drafted", () => press(ada, "Hand in as a new version"));
  await ada.getByRole("button", { name: "Approve version 3" }).waitFor();
  await ada.locator("#versions .changes .changed, #versions .changes .added").first().waitFor();
  await ada.locator("#versions select[name=from]").selectOption("1");
  await ada.locator("#versions").getByRole("button", { name: "Compare" }).click();
  await ada.getByText("From version 1 to 3").waitFor();
  holds(true, "any two versions are compared");
  await shot(ada, "versions");
  await at(ada, `/plans/${id}`);
  await press(ada, "Approve version 3");
  await ada.waitForURL(/\/runs\//);
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().click();
  await ada.locator("#head a[href^='/changesets/']").waitFor();
  await at(ada, `/changesets/${id}`);
  await act("merge", "changeset.merged", () => press(ada, "Merge"));
  await act("undo", "changeset.merged", () => press(ada, "Undo the merge"), (it) => it.act === "undo");
  await act("redo", "changeset.merged", () => press(ada, "Bring it back"), (it) => it.act === "redo");
  await ada.getByRole("button", { name: "Undo the merge" }).waitFor();
  await at(ada, `/runs/${id}?view=full`);
  await ada.locator("#events details").evaluate((it) => (it.open = true));
  await ada.locator("#events input[type=radio]").first().check();
  await act("fork what is done", "run.forked", () => press(ada, "Fork"));
};

/** Asks, and goes to the plan when there is one: others may wait for somebody, too. */
const asked = async (ada, words) => {
  const { value } = await send(ada, "/api/v1/requests", { words, portal: "calc", planning: "always" });
  await at(ada, `/runs/${value.trace_id}`);
  await ada.locator("#head a[href^='/plans/']").waitFor();
  await at(ada, `/plans/${value.trace_id}`);
  await ada.getByRole("button", { name: "Approve version 1" }).waitFor();
  return value.trace_id;
};

const refusing = async (ada) => {
  const turned = await plan(ada, "Mend add a third time. It must add.");
  await at(ada, `/plans/${turned}`);
  await ada.getByLabel("Why it is turned down").fill("not now");
  await act("reject a plan", "plan.rejected", () => press(ada, "Reject"));
  await says(ada, "The plan is turned down");
  const off = await plan(ada, "Mend add a fourth time. It must add.");
  await at(ada, `/plans/${off}`);
  await act("call off", "plan.cancelled", () => press(ada, "Call it off"));

  await asked(ada, "Mend add a sixth time. It must add.");
  await press(ada, "Approve version 1");
  await ada.waitForURL(/\/runs\//);
  await ada.getByRole("button", { name: "2 and 3", exact: true }).first().waitFor();
  const first = ada.locator("#steps details.step").first();
  await first.evaluate((it) => (it.open = true));
  await first.getByLabel("Why it ends").fill("nobody needs it");
  const gone = (it) => it.state === "cancelled" && it.why === "nobody needs it";
  await act("end a step", "step.settled", () => press(ada, "End step 1"), gone);
  await ada.locator("#head .state").getByText("failed").waitFor();

  const broken = await asked(ada, "Break add in calc.py.");
  await press(ada, "Approve version 1");
  await ada.waitForURL(/\/runs\//);
  const waive = ada.getByRole("button", { name: "waive-tester", exact: true });
  await waive.waitFor();
  await waive.click();
  const why = ada.locator("#needs input[data-reason]");
  await ada.locator("#needs [role=alert]").getByText("this answer needs a reason").waitFor();
  holds(await why.evaluate((it) => it === document.activeElement), "nothing is waived without a reason");
  await shot(ada, "waive");
  await act("give up", "run.answered", () => press(ada, "give-up"), (it) => it.answer === "give-up");
  await ada.locator("#head .state").getByText("failed").waitFor();
  await at(ada, `/plans/${broken}`);
  const runs = async () => (await journal()).filter((it) => it.kind === "step.started").length;
  const before = await runs();
  await press(ada, "Try again what failed");
  await ada.waitForURL(/\/runs\//);
  await until("it is tried again", async () => (await runs()) > before);
  await waive.waitFor();
  await why.fill("it is meant to break");
  const wanted = "waive-tester: it is meant to break";
  await act("waive in an answer", "run.answered", () => press(ada, "waive-tester"), (it) => it.answer === wanted);
  await until("the reason is kept", async () =>
    (await journal()).some((it) => it.kind === "step.waived" && known(it).reason === "it is meant to break"),
  );

  await at(ada, "/");
  await ada.getByLabel("Ask for something").fill("Never plan this, but do it. It must be done.");
  await press(ada, "Ask");
  const card = ada.locator("#needs article", { hasText: "no plan" });
  await card.waitFor();
  await card.getByLabel("What should be different").fill("Do not plan it.");
  await act("plan again", "plan.commented", () => press(ada, "Plan it again"));
  await card.waitFor();
  const plans = ada.locator("#needs a[href^='/plans/']").first();
  await until("it has come to something again", async () => (await card.count()) + (await plans.count()) > 0);
};

// Every answer that a call can have, and what is said before it counts.
const ANSWERS = [
  ["Allow once", "yes", /bash does exactly this, once/],
  ["Allow for this run", "yes, for this run", /for every agent of this run/],
  ["Refuse", "no", null],
  ["Always allow", "yes, for good", /for good in this workshop/],
];

const running = async (ada) => {
  for (const [answer, words, sure] of ANSWERS) {
    await at(ada, "/");
    const { value } = await send(ada, "/api/v1/runs", { task: "Look outside", portal: "calc" });
    const isFirst = answer === ANSWERS[0][0];
    if (isFirst) {
      await at(ada, `/runs/${value.run}`);
      await ada.locator("#needs article", { hasText: "needs a yes" }).waitFor();
      await act("pause", "run.steered", () => press(ada, "Pause"), steered("pause"));
      await says(ada, "pause sent to ");
      await at(ada, "/");
    }
    const card = ada.locator("#needs article", { hasText: "needs a yes" });
    await card.waitFor();
    if (["Refuse", "Always allow"].includes(answer)) await card.getByLabel("Reason").fill("it rains");
    await card.getByRole("button", { name: answer, exact: true }).waitFor();
    const kind = answer === "Always allow" ? "policy.granted" : "tool.answered";
    await act(`say ${words} to a call`, kind, async () => {
      await card.getByRole("button", { name: answer, exact: true }).click();
      if (!sure) return;
      const dialog = ada.locator("dialog#sure[open]");
      await dialog.getByText(sure).waitFor();
      await dialog.getByText(/ls/).waitFor();
      await dialog.getByRole("button", { name: "Yes" }).click();
    });
    await card.waitFor({ state: "detached" });
    if (!isFirst) continue;
    await at(ada, `/runs/${value.run}`);
    await ada.getByRole("button", { name: "Resume", exact: true }).waitFor();
    await act("resume", "run.steered", () => press(ada, "Resume"), steered("resume"));
    await says(ada, "goes on");
  }
  const { value } = await send(ada, "/api/v1/runs", { task: "Write a note", portal: "calc" });
  await at(ada, `/runs/${value.run}`);
  await act("put files in place", "run.applied", () => press(ada, "Put 1 files in place"));
};

const rest = async (ada) => {
  await artel("skill", "new", "greeting");
  await send(ada, "/api/v1/skills/greeting/lessons", { text: "Say hello first." });
  await at(ada, "/skills/greeting");
  await act("delete a lesson", "lesson.removed", () => press(ada, "Delete"));
  await at(ada, "/journal");
  await press(ada, "Verify");
  await ada.locator(".told").getByText("ok: true").waitFor();
  const [file] = await Promise.all([ada.waitForEvent("download"), press(ada, "Export what is found")]);
  holds((await file.failure()) === null, `what is found is exported as ${file.suggestedFilename()}`);

  // Nobody takes up what is asked while nothing new begins, until somebody says so.
  await at(ada, "/");
  await press(ada, "Hold new work");
  await ada.getByText("held: nothing new begins").waitFor();
  await ada.getByLabel("Ask for something").fill("Mend add a fifth time. It must add.");
  await press(ada, "Ask");
  await ada.locator("#running").getByRole("button", { name: "Try now" }).click();
  await says(ada, "the daemon is held until artel daemon resume");
  await press(ada, "Resume");
  await act("sign out", "login.ended", () => press(ada, "Sign out"));
  await ada.getByRole("heading", { name: "Sign in" }).waitFor();
  const face = await ada.locator("main").evaluate((it) => getComputedStyle(it).maxWidth);
  holds(face !== "none", "the way in is styled too");
};

play(async () => {
  const ada = await person("admin", { acceptDownloads: true });
  await settings(ada);
  await steering(ada);
  await deciding(ada);
  await refusing(ada);
  await running(ada);
  await rest(ada);
  say(`${done.size} acts: ${[...done].join(", ")}`);
});
