// Maps rows of `webhook_deliveries` and `events` to deliveries and to the bodies that are sent.
import type { Row } from "@libsql/client";

/** The address of a delivery and the opened secrets that sign it, the newest first. */
export interface DeliveryTarget {
  url: string;
  secrets: string[];
  ownerDeleted: boolean;
}

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** The delivery of one event to one endpoint. Times are epoch ms. */
export interface Delivery {
  id: string;
  eventId: string;
  type: string;
  status: DeliveryStatus;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  nextAttemptAt: number | null;
  createdAt: number;
  deliveredAt: number | null;
}

/** A delivery that this process has claimed and is to attempt. */
export interface ClaimedDelivery {
  id: string;
  endpointId: string;
  /** The header `webhook-id`: the event's id, the same for all attempts, replays and endpoints. */
  messageId: string;
  /** The agent that the event is about, if the webhook is its owner's. */
  agentId: string | undefined;
  /** The body, the same bytes in every attempt; or the reason why it can never be sent. */
  message: { body: string } | { lost: string };
  /** Failed attempts so far. */
  attempts: number;
  /** Epoch ms. */
  claimedUntil: number;
  target: DeliveryTarget;
}

/**
 * The request body: `{ type, timestamp, data }`. The data is inserted as the stored text, so that every attempt signs the
 * same bytes.
 */
export const bodyOf = ({ type, created_at, data }: Row) =>
  `{"type":${JSON.stringify(type)},"timestamp":"${new Date(Number(created_at)).toISOString()}","data":${data}}`;

/** The user that an event is about; null for none. */
export const subjectUserIdOf = ({ user_id }: Row) => (user_id === null ? null : String(user_id));

export const toDelivery = (row: Row): Delivery => ({
  id: String(row.id),
  eventId: String(row.event_id),
  type: String(row.type),
  status: String(row.status) as DeliveryStatus,
  attempts: Number(row.attempts),
  lastStatus: row.last_status === null ? null : Number(row.last_status),
  lastError: row.last_error === null ? null : String(row.last_error),
  nextAttemptAt: row.next_attempt_at === null ? null : Number(row.next_attempt_at),
  createdAt: Number(row.created_at),
  deliveredAt: row.delivered_at === null ? null : Number(row.delivered_at),
});
