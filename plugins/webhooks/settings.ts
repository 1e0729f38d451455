// The settings of the operator's own webhook endpoint.

import { anyText, urlWithScheme } from "../../src/kernel/config/parsers.ts";
import { defineSettings, requireBoth } from "../../src/kernel/config/section.ts";
import { optional } from "../../src/kernel/config/variable.ts";

export const webhookSettings = defineSettings({
  name: "webhooks",
  variables: {
    WEBHOOK_URL: optional(
      urlWithScheme("http", "https"),
      "An endpoint of the operator that gets all events.",
      "address",
    ),
    WEBHOOK_SECRET: optional(anyText, "Signs the events sent to `WEBHOOK_URL`.", "secret"),
  },
  build: (v) => ({ url: v.WEBHOOK_URL, secret: v.WEBHOOK_SECRET }),
  validate: (v) => requireBoth(v, "WEBHOOK_URL", "WEBHOOK_SECRET"),
});
