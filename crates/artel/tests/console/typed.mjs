// What somebody types stays where they typed it, whatever comes and goes around it.

import { artel, base, holds, person, plan, play, press, same, until } from "./stage.mjs";

play(async () => {
  const ada = await person("admin");
  const ben = await person("admin");
  const asked = [];
  for (const words of ["Mend add in calc.py. It must add.", "Mend add once more in calc.py. It must add."]) {
    const id = await plan(ada, words);
    await ada.goto(`${base}/plans/${id}`);
    await press(ada, "Approve version 1");
    await ada.waitForURL(/\/runs\//);
    await ada.getByText("Which numbers shall the test add?").first().waitFor();
    asked.push(id);
  }
  const cards = (page) => page.locator("#needs article");
  for (const page of [ada, ben]) {
    await page.goto(`${base}/`);
    await until("both ask", async () => (await cards(page).count()) === 2);
  }
  const card = ada.locator(`[id="${await cards(ada).nth(1).getAttribute("id")}"]`);
  const field = card.getByLabel("Answer");
  await field.fill("four and fi");
  await field.focus();
  await cards(ben).nth(0).getByLabel("Answer").fill("2 and 3");
  await cards(ben).nth(0).getByRole("button", { name: "Answer" }).click();
  await until("the first question is answered", async () => (await cards(ada).count()) === 1);
  same(await field.inputValue(), "four and fi", "what was typed is in its card");
  holds(await field.evaluate((it) => it === document.activeElement), "and is still being typed");
  await ada.keyboard.type("ve");
  same(await field.inputValue(), "four and five", "to its end");
  await ada.keyboard.press("Enter");
  await until("the second question is answered", async () => (await cards(ada).count()) === 0);
  await ada.locator("#told").getByText("Answered").waitFor();
  const answers = JSON.parse(await artel("journal", "query", "--json"))
    .filter((it) => it.kind === "run.answered")
    .map((it) => (typeof it.payload === "string" ? JSON.parse(it.payload) : it.payload).answer);
  same(answers, ["2 and 3", "four and five"], "each question has its own answer");
});
