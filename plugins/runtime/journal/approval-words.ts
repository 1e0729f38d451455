// The words by which an agent says that it waits for its owner, and asks the owner.
import type { Choice } from "../../../channels/port.ts";
import { channelDefinition, isChannelId } from "../../../channels/registry.ts";
import { pageText, translateText } from "../../../src/kernel/pages/page-template.ts";
import { translateCall } from "../../../src/kernel/pages/sentences.ts";
import { REDACTED } from "../../../src/kernel/telemetry/redact.ts";
import { plainName } from "../../../src/kernel/util/text/quoted-text.ts";
import { visibleText } from "../../../src/kernel/util/text/visible-text.ts";
import type { Approval } from "../../approvals/index.ts";
import { highestTaint, TAINT, type Taint } from "../../skills/index.ts";
import type { InboxEntry } from "../inbox/entries.ts";
import type { Language } from "../reader-language.ts";

type Asked = Pick<Approval, "summary" | "code" | "taint">;

/** Said once below the calls: how they may have come about without the owner's wish. */
const WARNINGS: Readonly<Record<Taint, string>> = {
  [TAINT.none]: "",
  [TAINT.people]: pageText(
    "Other people have written in the conversation, and one of them may be behind this. Approve only what you want yourself.",
  ),
  [TAINT.outside]: pageText(
    "I have read something here that you did not write, and it may be behind this. Approve only what you want yourself.",
  ),
};

/** Said below a call that is not shown as a whole. */
const HIDDEN = pageText(
  "A part of it has the form of a secret, so no chat shows it. Look at it in the console before you approve.",
);

/** Whether the answers are shown below a question: by the console, and by channels, as buttons where they can. */
export const showsChoices = (platform: string): boolean => platform === "web" || isChannelId(platform);

/**
 * Asks the owner. `withChoices`: the answers are shown below it; if not, the text says what to write. `from`: the message that led
 * to it, where the owner is asked in another conversation.
 */
export function askingText(
  requests: readonly Asked[],
  withChoices: boolean,
  language: Language,
  from?: Pick<InboxEntry, "senderName" | "platform">,
): string {
  const lines = requests.map(({ summary, code }) => {
    const words = verbatim(visibleText(translateCall(summary, language)));
    return withChoices ? words : `${words}\n/approve ${code}\n/deny ${code}`;
  });
  const warnings = [
    requests.some(({ summary }) => summary.includes(REDACTED)) ? HIDDEN : "",
    WARNINGS[highestTaint(requests.map(({ taint }) => taint))],
  ];
  const question =
    lines.length === 1
      ? translateText("May I do this?", language)
      : translateText("May I do these {n} things?", language, { n: String(lines.length) });
  const below = warnings.filter((text) => text !== "").map((text) => translateText(text, language));
  return [question, ...(from ? originText(from, language) : []), ...lines, ...below].join("\n\n");
}

/** What a chat app would show otherwise than it is written: links under other words, what is struck out or hidden. */
const MARKUP = /[`*~\\[\]]|\|\||(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/u;

/** The words as they are, also where a platform would take a part of them for markup: in a block of code it takes nothing. */
const verbatim = (words: string) =>
  // What ends a block is shown by a letter that looks like it.
  MARKUP.test(words) ? `\`\`\`\n${words.replaceAll("`", "ˋ")}\n\`\`\`` : words;

/** Whose message it answers; their name must not pass for more than a name. */
function originText(
  { senderName, platform }: Pick<InboxEntry, "senderName" | "platform">,
  language: Language,
): string[] {
  if (!isChannelId(platform)) return [];
  const values = { name: plainName(senderName), channel: channelDefinition(platform).label };
  return [translateText("It is about a message of {name} on {channel}.", language, values)];
}

/** The notice in the conversation: to the owner alone the question itself, to others only that there is one. */
export const noticeText = (
  requests: readonly Asked[],
  isOwnersChat: boolean,
  platform: string,
  language: Language,
): string =>
  isOwnersChat
    ? askingText(requests, showsChoices(platform), language)
    : translateText(
        "I need my owner's approval for this. I have asked, and go on as soon as I have the answer.",
        language,
      );

/** The answers to a question, as the commands that give them. A button has room for 20 characters. */
export const choicesOf = ({ code }: Pick<Asked, "code">, language: Language): Choice[] => [
  { label: translateText("Approve", language), text: `/approve ${code}` },
  { label: translateText("Deny", language), text: `/deny ${code}` },
];
