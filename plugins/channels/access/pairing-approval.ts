// Approves, refuses and removes people on requests of the API, for the owner of the agent.
import { type ChannelId, type IncomingMessage, UNPROVEN } from "../../../channels/port.ts";
import { AppError, notFound } from "../../../src/kernel/errors.ts";
import { translateText } from "../../../src/kernel/pages/page-template.ts";
import type { KeyedQueue } from "../../../src/kernel/util/keyed-queue.ts";
import type { ReaderLanguage } from "../../runtime/index.ts";
import type { OpenConnection, OpenConnections } from "../connections/open-connections.ts";
import type { OwnerNotices } from "../connections/owner-notices.ts";
import type { Supervisor } from "../connections/supervisor.ts";
import type { MessageIntake } from "./message-intake.ts";
import { OWNER_WELCOME_TEXT, WELCOME_TEXT } from "./owner-commands.ts";
import type { Pairings } from "./pairings.ts";

interface Deps {
  pairings: Pairings;
  openConnections: OpenConnections;
  supervisor: Pick<Supervisor, "stopConnection" | "reconcile">;
  intake: Pick<MessageIntake, "sendNotice">;
  reportPairing: OwnerNotices["reportPairing"];
  readerLanguage: ReaderLanguage;
  inAgentQueue: KeyedQueue;
}

export interface PairingApproval {
  /**
   * Approves the sender of a code and welcomes them. With `asOwner` the sender becomes the owner of the bot: their messages
   * then count as the owner's, and by default nobody else may talk to it. Throws 404 `PAIRING_NOT_FOUND` if the code is
   * unknown or expired, and 409 `UNPROVEN_SENDER` for an owner whom no trusted server has checked.
   */
  approveCode(agentId: string, channel: ChannelId, code: string, asOwner: boolean): Promise<{ senderId: string }>;
  /** The same by the person's id, also without a request of theirs. 409 `TOO_MANY_PEOPLE`. */
  approvePerson(
    agentId: string,
    channel: ChannelId,
    person: { senderId: string; name: string | undefined },
    asOwner: boolean,
  ): Promise<void>;
  /** Makes the person who wrote the bot's code its owner, in place of an earlier one, and tells them. */
  claim(openConnection: OpenConnection, message: Pick<IncomingMessage, "sender" | "language" | "peer">): Promise<void>;
  /** Refuses a person who asked or was approved, for a week. 404 `PAIRING_NOT_FOUND`. */
  deny(agentId: string, channel: ChannelId, senderId: string): Promise<void>;
  /** Forgets a person, who may then ask again. 404 `PAIRING_NOT_FOUND`. */
  remove(agentId: string, channel: ChannelId, senderId: string): Promise<void>;
}

export function createPairingApproval(deps: Deps): PairingApproval {
  const { pairings, openConnections, supervisor, intake, reportPairing, readerLanguage, inAgentQueue } = deps;

  /** Runs an approval. An open connection holds the owner that it was opened with, so a new owner reopens it. */
  const runApproval = <T>(
    agentId: string,
    channel: ChannelId,
    asOwner: boolean,
    approve: () => Promise<T>,
  ): Promise<T> =>
    inAgentQueue(agentId, async () => {
      const approved = await approve();
      if (approved && asOwner) {
        openConnections.drop(agentId, channel);
        await supervisor.stopConnection(agentId, channel);
        await supervisor.reconcile(agentId);
      }
      return approved;
    });

  /** @param person their language is as the platform has named it */
  async function welcome(
    agentId: string,
    channel: ChannelId,
    person: { peer: string; language?: string | null | undefined },
    asOwner: boolean,
  ): Promise<void> {
    const openConnection = await openConnections.find(agentId, channel);
    if (!openConnection) return;
    const language = await readerLanguage(agentId, person.language);
    await intake.sendNotice(
      openConnection,
      person.peer,
      translateText(asOwner ? OWNER_WELCOME_TEXT : WELCOME_TEXT, language),
    );
  }

  return {
    async approveCode(agentId, channel, code, asOwner) {
      const [waiting] = asOwner ? await pairings.listPending(agentId, channel, code) : [];
      if (waiting?.senderId.startsWith(UNPROVEN)) {
        const text = "It is not proven who this person is, so they can't be the owner. Approve them as a guest.";
        throw new AppError(409, "UNPROVEN_SENDER", text);
      }
      const approve = () => pairings.approve(agentId, channel, code, asOwner);
      const found = await runApproval(agentId, channel, asOwner, approve);
      if (!found) {
        throw notFound(
          "This code is unknown, or older than one hour. Ask the person to write again for a new one.",
          "PAIRING_NOT_FOUND",
        );
      }
      const { senderId, name } = found;
      reportPairing({ agentId, channel, senderId, name, status: "approved" });
      await welcome(agentId, channel, found, asOwner);
      return { senderId };
    },

    async approvePerson(agentId, channel, person, asOwner) {
      const approve = () => pairings.approvePerson(agentId, channel, person, asOwner);
      const { name, hasWaited, ...reached } = await runApproval(agentId, channel, asOwner, approve);
      reportPairing({ agentId, channel, senderId: person.senderId, name, status: "approved" });
      if (hasWaited) await welcome(agentId, channel, reached, asOwner);
    },

    async claim({ connection: { agentId, channel } }, { sender: { id: senderId, name }, language, peer }) {
      const approve = () => pairings.approvePerson(agentId, channel, { senderId, name }, true);
      await runApproval(agentId, channel, true, approve);
      reportPairing({ agentId, channel, senderId, name, status: "approved" });
      await welcome(agentId, channel, { peer, language }, true);
    },

    async deny(agentId, channel, senderId) {
      const denied = await pairings.denyPerson(agentId, channel, senderId);
      if (!denied) throw personNotFound();
      reportPairing({ agentId, channel, senderId, name: denied.name, status: "denied" });
    },

    async remove(agentId, channel, senderId) {
      const removed = await pairings.remove(agentId, channel, senderId);
      if (!removed) throw personNotFound();
      reportPairing({ agentId, channel, senderId, name: removed.name, status: "removed" });
    },
  };
}

const personNotFound = () => notFound("No person with this id is paired or asked to be.", "PAIRING_NOT_FOUND");
