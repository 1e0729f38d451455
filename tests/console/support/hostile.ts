// Texts with which people, models and tools may try to become markup, links or requests.

/** Pages that show such texts are expected to show them as texts. */
export const HOSTILE_TEXTS: readonly string[] = [
  "<script>globalThis.hacked = 1</script>",
  "<img src=x onerror='globalThis.hacked = 1'>",
  "<svg onload='globalThis.hacked = 1'><style>*{display:none}</style>",
  "<iframe srcdoc='<script>parent.hacked = 1</script>'></iframe>",
  "</textarea></title></style></script><b onclick=alert(1)>x</b>",
  "[click](javascript:globalThis.hacked=1) [data](data:text/html,<script>1</script>) <javascript:alert(1)>",
  "[spaced](java\nscript:alert(1)) [mixed](JaVaScRiPt:alert(1)) [entity](javascript&#58;alert(1)) [vb](vbscript:x)",
  "![tracking](https://tracker.example/pixel.png?id=1) ![](//tracker.example/x.gif)",
  "[![x](https://tracker.example/a.png)](https://example.com)",
  "<link rel=prefetch href=https://tracker.example><meta http-equiv=refresh content='0;url=https://tracker.example'>",
  "<form action=https://tracker.example><input name=password autofocus></form>",
  "<base href=https://tracker.example/>",
  "\u202Egnp.exe\u202C \u2066hidden\u2069 \u200F\u200E",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: templates of others
  "{{constructor.constructor('globalThis.hacked=1')()}} ${globalThis.hacked=1}",
  `long${"x".repeat(20_000)}line`,
  "word ".repeat(100_000),
  `${">".repeat(300)} deep ${"[".repeat(500)}${"*".repeat(500)}`,
  "| a | b |\n|---|---|\n| <img src=x> | [x](javascript:1) |",
  "```html\n<script>globalThis.hacked = 1</script>\n```",
  "\u0000\u0007\u001B[31mred\u001B[0m",
];
