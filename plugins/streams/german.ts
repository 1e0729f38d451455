// The German texts of the player page.
import type { Translation } from "../../src/kernel/pages/page-template.ts";

export const german: Translation = {
  texts: {
    "Live stream": "Livestream",
    "Live · {seconds} s behind": "Live · {seconds} s verzögert",
    "Made with Berth": "Mit Berth gemacht",
    "Off the air": "Nicht auf Sendung",
    "One moment …": "Einen Moment …",
    "The page starts playing as soon as the stream is on the air.":
      "Die Seite spielt los, sobald der Stream auf Sendung ist.",
    "To play here, this page needs JavaScript.": "Zum Abspielen braucht diese Seite JavaScript.",
  },
};
