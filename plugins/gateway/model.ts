// Defines the schemas of responses with a gateway token.
import { t } from "elysia";

export const gatewayToken = t.Object({ token: t.String({ description: "64 hex digits" }) });
export const rotatedToken = t.Object({
  token: t.Union([t.String({ description: "64 hex digits" }), t.Null()], {
    description: "Null in a response that is repeated for its `Idempotency-Key`: `GET …/token` shows the token",
  }),
});
