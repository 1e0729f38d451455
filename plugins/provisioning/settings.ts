// The setting of provisioning: whether people without an account may have an agent made.
import { oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

export const provisioningSettings = defineSettings({
  name: "provisioning",
  variables: {
    ANONYMOUS_PROVISIONING: withDefault(
      oneOf("on", "off"),
      "on",
      "Whether `POST /api/provision` makes agents without an account, to be claimed later.",
    ),
  },
  build: ({ ANONYMOUS_PROVISIONING }) => ({ isAnonymousAllowed: ANONYMOUS_PROVISIONING === "on" }),
});
