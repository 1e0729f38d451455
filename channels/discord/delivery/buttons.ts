// Shows the answers that a message offers as buttons, and finishes a pressed one: acknowledges it at once, and removes
// the message's buttons when the answer is stored.
// https://discord.com/developers/docs/components/reference#button
import type { RouteLike } from "discord.js";
import type { Binding, Choice } from "../../port.ts";
import { isAcknowledged, toChannelError } from "../errors.ts";
import type { PressedButton } from "../gateway/messages.ts";
import type { RestClients } from "../rest/rest-clients.ts";

const ACTION_ROW = 1;
const BUTTON = 2;
/** One style for all: no answer is emphasized. */
const SECONDARY = 2;
/** Nothing changes for now, and the button stops waiting. */
const DEFERRED_UPDATE = 6;
/** Discord shows "This interaction failed" after this time. */
const ACKNOWLEDGE_TIMEOUT_MS = 3_000;
const REMOVE_TIMEOUT_MS = 10_000;
const NO_BUTTONS = { components: [] };

/** The field of a message's body that shows its buttons; no field if it offers no answers. */
export function buttonFields(choices: readonly Choice[]) {
  if (choices.length === 0) return {};
  const buttons = choices.map(({ label, text }) => ({ type: BUTTON, style: SECONDARY, label, custom_id: text }));
  return { components: [{ type: ACTION_ROW, components: buttons }] };
}

export interface ButtonPresses {
  /**
   * Acknowledges a press; returns at once. The returned function removes the buttons of the message: call it when the
   * answer is stored. Both are for the eye, so failures are only reported.
   */
  acknowledge(binding: Binding, pressed: PressedButton): () => void;
}

interface Deps {
  clients: RestClients;
  onFailure(binding: Binding, reason: string): void;
}

export function createButtonPresses({ clients, onFailure }: Deps): ButtonPresses {
  const report = (binding: Binding, error: unknown) => onFailure(binding, toChannelError(error, "peer").message);

  async function confirm(binding: Binding, { id, token }: PressedButton): Promise<boolean> {
    try {
      const path: RouteLike = `/interactions/${id}/${token}/callback`;
      const signal = AbortSignal.timeout(ACKNOWLEDGE_TIMEOUT_MS);
      await clients.call(binding, signal, { method: "post", path, body: { type: DEFERRED_UPDATE }, auth: false });
      return true;
    } catch (error) {
      // An earlier process acknowledged it and ended before the answer was stored.
      if (isAcknowledged(error)) return true;
      report(binding, error);
      return false;
    }
  }

  /** Edits by the press, which needs no permission; if Discord does not take it any more, by the message's id. */
  async function removeButtons(binding: Binding, pressed: PressedButton, isConfirmed: boolean): Promise<void> {
    const { application_id: application, token, channel_id: channel, message } = pressed;
    const path: RouteLike = isConfirmed
      ? `/webhooks/${application}/${token}/messages/@original`
      : `/channels/${channel}/messages/${message.id}`;
    const signal = AbortSignal.timeout(REMOVE_TIMEOUT_MS);
    await clients.call(binding, signal, { method: "patch", path, body: NO_BUTTONS, auth: !isConfirmed });
  }

  return {
    acknowledge(binding, pressed) {
      const confirmed = confirm(binding, pressed);
      return () => {
        confirmed
          .then((isConfirmed) => removeButtons(binding, pressed, isConfirmed))
          .catch((error: unknown) => report(binding, error));
      };
    },
  };
}
