// The words by which an agent says that it waits for its owner, and asks the owner.
import type { Choice } from "../../../channels/port.ts";
import { isChannelId } from "../../../channels/registry.ts";
import type { Approval } from "../../approvals/index.ts";
import { highestTaint, TAINT, type Taint } from "../../skills/index.ts";

type Asked = Pick<Approval, "summary" | "code" | "taint">;

/** Said once below the calls: how they may have come about without the owner's wish. */
const WARNINGS: Readonly<Record<Taint, string>> = {
  [TAINT.none]: "",
  [TAINT.people]:
    "Other people have written in this conversation, and one of them may be behind this. Approve only what you want yourself.",
  [TAINT.outside]:
    "I have read something here that you did not write, and it may be behind this. Approve only what you want yourself.",
};

/** Whether the answers are shown below a question: by the console, and by channels, as buttons where they can. */
export const showsChoices = (platform: string): boolean => platform === "web" || isChannelId(platform);

/** Asks the owner. `withChoices`: the answers are shown below it; if not, the text says what to write. */
export function askingText(requests: readonly Asked[], withChoices: boolean): string {
  const lines = requests.map(({ summary, code }) =>
    withChoices ? summary : `${summary}\n/approve ${code} or /deny ${code}`,
  );
  const warning = WARNINGS[highestTaint(requests.map(({ taint }) => taint))];
  const question = lines.length === 1 ? "May I do this?" : `May I do these ${lines.length} things?`;
  return [question, ...lines, ...(warning === "" ? [] : [warning])].join("\n\n");
}

/** The notice in the conversation: to the owner alone the question itself, to others only that there is one. */
export const noticeText = (requests: readonly Asked[], isOwnersChat: boolean, platform: string): string =>
  isOwnersChat
    ? askingText(requests, showsChoices(platform))
    : "I need my owner's approval for this. I have asked, and go on as soon as I have the answer.";

/** The answers to a question, as the commands that give them. */
export const choicesOf = ({ code }: Pick<Asked, "code">): Choice[] => [
  { label: "Approve", text: `/approve ${code}` },
  { label: "Deny", text: `/deny ${code}` },
];
