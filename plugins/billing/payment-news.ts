// Says that money has come in or gone back: an event for webhooks and an entry of the audit log, in the write of the payment.

import type { Statement } from "../../src/kernel/database/database.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { AuditRecorder, User } from "../auth/index.ts";
import type { Payment } from "./payment-rows.ts";

export type PaymentNews = ReturnType<typeof createPaymentNews>;

/** @param audit records as the place from which the payment came */
export const createPaymentNews =
  ({ events }: Pick<Kernel, "events">, audit: AuditRecorder) =>
  ({ id, email }: Pick<User, "id" | "email">, payment: Payment): Statement[] => {
    const { kind, amount, currency, credits } = payment;
    const data = { id: payment.id, kind, amount, currency, credits };
    const isReceived = amount > 0 && kind !== "refund";
    return [
      events.recordStatement(isReceived ? "payment.received" : "payment.returned", { userId: id, data }),
      audit({ action: isReceived ? "user.payment" : "user.payment-returned", user: { id, email }, details: data }),
    ];
  };
