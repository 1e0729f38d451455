// The settings of /v1.
import { oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

export const openaiApiSettings = defineSettings({
  name: "openai-api",
  variables: {
    AI_PUBLIC_ON_WEB: withDefault(
      oneOf("off", "on"),
      "off",
      "Whether `/v1` of the web port serves callers without an account, within `AI_PUBLIC_BUDGET_USD_PER_DAY`; otherwise they get 401.",
    ),
  },
  build: (v) => ({ isPublicOnWeb: v.AI_PUBLIC_ON_WEB === "on" }),
});
