// Makes the blocks of a message that offers answers, and removes its buttons when one was pressed.
// https://docs.slack.dev/reference/block-kit/blocks/actions-block
import type { KnownBlock } from "@slack/types";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Binding, Choice } from "../../port.ts";
import { findCut } from "../../shared/cut-position.ts";
import { asBot } from "../bot.ts";
import { toChannelError } from "../errors.ts";
import type { PressedButton } from "../receiving/messages.ts";
import type { WebApi } from "../web-api.ts";

/** Characters of a section. */
const MAX_SECTION_LENGTH = 3_000;
const REMOVE_TIMEOUT_MS = 10 * SECOND;

/** The field of a message that shows its buttons below the text; no field if it offers no answers. */
export function blockFields(text: string, choices: readonly Choice[]): { blocks?: KnownBlock[] } {
  if (choices.length === 0) return {};
  const sections = sectionsOf(text).map(
    (part): KnownBlock => ({
      type: "section",
      text: { type: "mrkdwn", text: part },
      expand: true,
    }),
  );
  const buttons = choices.map(({ label, text: value }, index) => ({
    type: "button" as const,
    // Unique within the message.
    action_id: `choice_${index}`,
    text: { type: "plain_text" as const, text: label },
    value,
  }));
  return { blocks: [...sections, { type: "actions", elements: buttons }] };
}

function sectionsOf(text: string): string[] {
  const sections: string[] = [];
  let start = 0;
  while (start < text.length) {
    const end =
      text.length - start <= MAX_SECTION_LENGTH ? text.length : findCut(text, start, MAX_SECTION_LENGTH, () => false);
    sections.push(text.slice(start, end));
    start = end;
  }
  return sections;
}

/** Shows a message without its buttons, in the background: that is for the eye, so a failure is only reported. */
export const createButtonRemoval =
  (api: WebApi, onFailure: (binding: Binding, reason: string) => void) =>
  (binding: Binding, { channel, ts, text, blocks }: PressedButton): void => {
    const kept = blocks.filter(({ type }) => type !== "actions");
    const body = { channel, ts, text, blocks: kept };
    api
      .call(asBot(binding), "chat.update", body, AbortSignal.timeout(REMOVE_TIMEOUT_MS))
      .catch((error: unknown) => onFailure(binding, toChannelError(error, "peer").message));
  };
