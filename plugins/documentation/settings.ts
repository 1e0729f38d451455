// The setting of the documentation site.

import { oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";

export const documentationSettings = defineSettings({
  name: "documentation",
  variables: {
    DOCUMENTATION: withDefault(
      oneOf("on", "off"),
      "on",
      "The documentation of this version at `/docs`, for everybody, or none. It holds nothing of this service.",
    ),
  },
  build: (v) => ({ isServed: v.DOCUMENTATION === "on" }),
});
