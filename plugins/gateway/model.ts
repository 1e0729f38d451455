// What the routes of the gateway token answer.
import { t } from "elysia";

export const gatewayToken = t.Object({ token: t.String({ description: "64 hex digits" }) });
export const rotatedToken = t.Object({
  token: t.Union([t.String({ description: "64 hex digits" }), t.Null()], {
    description: "Null in an answer that is replayed for its `Idempotency-Key`: `GET …/token` shows it",
  }),
});
