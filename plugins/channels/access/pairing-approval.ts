// Approves pairing codes for the owner of an agent, who is signed in to their account.
import type { ChannelId } from "../../../channels/port.ts";
import { notFound } from "../../../src/kernel/errors.ts";
import type { KeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { OpenConnections } from "../connections/open-connections.ts";
import type { Supervisor } from "../connections/supervisor.ts";
import type { MessageIntake } from "./message-intake.ts";
import { OWNER_WELCOME_TEXT, WELCOME_TEXT } from "./owner-commands.ts";
import type { Pairings } from "./pairings.ts";

interface Deps {
  pairings: Pairings;
  openConnections: OpenConnections;
  supervisor: Pick<Supervisor, "stopConnection" | "reconcile">;
  intake: Pick<MessageIntake, "sendNotice">;
  inAgentQueue: KeyedQueue;
}

/**
 * Returns the function that approves the sender of a code and welcomes them. With `asOwner` the sender becomes the owner of
 * the bot: their messages then count as the owner's, and by default nobody else may talk to it.
 * Throws 404 `PAIRING_NOT_FOUND` if the code is unknown or expired.
 */
export function createPairingApproval({ pairings, openConnections, supervisor, intake, inAgentQueue }: Deps) {
  return async (agentId: string, channel: ChannelId, code: string, asOwner: boolean): Promise<{ senderId: string }> => {
    const found = await inAgentQueue(agentId, async () => {
      const approved = await pairings.approve(agentId, channel, code, asOwner);
      if (approved && asOwner) {
        // An open connection holds the owner that it was opened with.
        openConnections.drop(agentId, channel);
        await supervisor.stopConnection(agentId, channel);
        await supervisor.reconcile(agentId);
      }
      return approved;
    });
    if (!found) {
      throw notFound(
        "This code is unknown, or older than one hour. Ask the person to write again for a new one.",
        "PAIRING_NOT_FOUND",
      );
    }
    const openConnection = await openConnections.find(agentId, channel);
    const welcome = asOwner ? OWNER_WELCOME_TEXT : WELCOME_TEXT;
    if (openConnection) await intake.sendNotice(openConnection, found.peer, welcome);
    return { senderId: found.senderId };
  };
}

export type ApprovePairing = ReturnType<typeof createPairingApproval>;
