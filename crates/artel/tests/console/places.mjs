// Every page there is, with some words of it, for a piece of work that is done.

export const places = (id) => [
  ["/", "Needs you"],
  ["/plans", "Mend add"],
  [`/plans/${id}`, "Steps and what they may do"],
  ["/runs", "Mend add"],
  [`/runs/${id}`, "Milestones"],
  [`/runs/${id}?view=full`, "Time line"],
  ["/changesets", "Mend add"],
  [`/changesets/${id}`, "Difference"],
  [`/changesets/${id}?side=split`, "Evidence"],
  ["/reports", "Mend add"],
  [`/reports/${id}`, "Files changed"],
  ["/skills", "Skills"],
  ["/agents", "Architect"],
  ["/agents/architect", "May use"],
  ["/usage", "Usage"],
  ["/journal", "changeset.created"],
  ["/settings", "Who sees what"],
];
